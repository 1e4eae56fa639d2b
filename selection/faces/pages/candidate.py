"""One candidate of a service or a model: what it fails, and what it would take to have it selected."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.exports import export
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.pages.errors import missing_object
from selection.faces.remedying import Change, Manifests, Outlook, as_value, candidate_of, needed, outlook, reached
from selection.faces.tables import CANDIDATES, asked_table, candidate_rows
from selection.faces.what_if_results import echo, editable
from selection.rules.candidates import Candidate
from selection.rules.explain import explain_model, explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.patches import applied
from selection.rules.reading import Unreadable
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster, objects_of
from selection.store.models import Cluster
from selection.store.results import Version

__all__ = ["candidate", "model_candidate"]


@require_GET
def candidate(
    request: HttpRequest, cluster: str, namespace: str, name: str, scope: str, runtime: str
) -> HttpResponseBase:
    """What it would take for a runtime to be selected for a service.

    ``?format=json`` answers with JSON, as ``manage.py remedies -o json`` prints it, ``?format=csv`` with its place
    beside the first (``?table=ranks&format=json`` the same as JSON).
    """
    found = find_cluster(cluster)
    subject = ObjectRef("InferenceService", namespace, name)
    if found is None:
        return _missing(request, cluster, subject)
    fleet = fleet_of(found)
    try:
        explanation = explain_service(fleet, namespace, name)
    except LookupError:
        return _missing(request, cluster, subject)
    return _page(request, found, fleet, explanation, namespace, _runtime(scope, runtime))


@require_GET
def model_candidate(
    request: HttpRequest, cluster: str, scope: str, name: str, runtime_scope: str, runtime: str
) -> HttpResponseBase:
    """The same for a model and a service that asks for nothing else, in ``?namespace=`` or the model's own."""
    found = find_cluster(cluster)
    namespace = "" if scope == CLUSTER_SCOPE else scope
    subject = ObjectRef("BaseModel" if namespace else "ClusterBaseModel", namespace, name)
    if found is None:
        return _missing(request, cluster, subject)
    fleet, judged_in = fleet_of(found), namespace or request.GET.get("namespace", "")
    try:
        explanation = explain_model(fleet, judged_in, name)
    except LookupError:
        return _missing(request, cluster, subject)
    if namespace and explanation.subject != subject:
        return _missing(request, cluster, subject)
    return _page(request, found, fleet, explanation, judged_in, _runtime(runtime_scope, runtime))


def _runtime(scope: str, name: str) -> ObjectRef:
    if scope == CLUSTER_SCOPE:
        return ObjectRef("ClusterServingRuntime", "", name)
    return ObjectRef("ServingRuntime", scope, name)


def _missing(request: HttpRequest, cluster: str, ref: ObjectRef) -> HttpResponse:
    return missing_object(request, cluster, ref.kind, ref.namespace, ref.name)


def _page(
    request: HttpRequest, cluster: Cluster, fleet: Fleet, explanation: Explanation, namespace: str, ref: ObjectRef
) -> HttpResponseBase:
    chosen = candidate_of(explanation, ref)
    if chosen is None:
        if (ref.namespace, ref.name) not in fleet.runtimes and ref not in fleet.problems:
            return _missing(request, cluster.name, ref)
        raise Http404(_no_candidate(fleet, explanation, ref))
    objects = objects_of(cluster, needed(explanation, ref))
    manifests = {each: objects[each].manifest for each in needed(explanation, ref) if each in objects}
    told = _outlook(fleet, explanation, chosen, namespace, manifests)
    if table := asked_table(request, "ranks"):
        return export(table[1], "ranks", CANDIDATES, candidate_rows(_beside(told)))
    reaches = reached(fleet, told.changes, manifests, cluster)
    if request.GET.get("format") == "json":
        value = as_value(told, reaches, cluster.name, explanation.ome_version)
        return JsonResponse(value, json_dumps_params={"indent": 2, "ensure_ascii": False})
    context = {
        "cluster": cluster,
        "explanation": explanation,
        "namespace": namespace,
        "subject": told.subject,
        "told": told,
        "verdict": told.candidate.verdict,
        "runtime": ref,
        "changes": [
            (change, reach, _tried(change, manifests)) for change, reach in zip(told.changes, reaches, strict=True)
        ],
        "named_tried": _tried(told.named, manifests) if told.named is not None else "",
        "targets": list(dict.fromkeys(change.target.kind for change in told.changes)),
        "codes": {failure.code for failure in told.candidate.verdict.failures},
        "versions": [Version(each, objects[each].resource_version) for each in manifests],
    }
    return render(request, "candidate/page.html", context)


def _tried(change: Change, manifests: Manifests) -> str:
    """The manifest that a change leads to, for a what-if; ``""`` when it is no patch of one."""
    if not change.operations or change.target not in manifests:
        return ""
    return echo([editable(applied(manifests[change.target], change.operations))])


def _beside(told: Outlook) -> list[Candidate]:
    """The first of the ranking, when it is another, and the candidate."""
    first = told.first if told.candidate.rank != 1 else None
    return [each for each in (first, told.candidate) if each is not None]


def _no_candidate(fleet: Fleet, explanation: Explanation, ref: ObjectRef) -> str:
    problem = fleet.problems.get(ref)
    if problem is not None:
        return f"{ref} can't be read, by OME either, so it is no candidate: {problem.path}: {problem.message}."
    if not explanation.considered:
        return f"Nothing can be selected for {explanation.subject} as it stands, so it has no candidates."
    return f"{ref} is no candidate for {explanation.subject}: it is in another namespace."


def _outlook(
    fleet: Fleet,
    explanation: Explanation,
    chosen: Candidate,
    namespace: str,
    manifests: Manifests,
) -> Outlook:
    try:
        return outlook(fleet, explanation, chosen, namespace, manifests)
    except (LookupError, Unreadable):
        # A sync put another object in its place since the fleet was read.
        raise Http404("It changed while this page was made. Reload it.") from None
