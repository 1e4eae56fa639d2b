"""Two candidates of a service side by side: every check, the ranking, what they declare."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.comparing import candidate_part, check_part, spec_diff
from selection.faces.explaining import why_first
from selection.faces.exports import export
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.pages.errors import missing_object
from selection.faces.remedying import candidate_of
from selection.faces.tables import FACTS, asked_table, fact_rows
from selection.rules.candidates import Candidate
from selection.rules.explain import explain_service
from selection.rules.objects import ObjectRef
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster, objects_of

__all__ = ["compare_candidates"]

OFFERED = 50
"""How many candidates are offered to choose from; the others are found by a search."""


@require_GET
def compare_candidates(request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponseBase:
    """``/services/<cluster>/<namespace>/<name>/compare/?a=<scope>/<runtime>&b=…``; ``-`` stands for no namespace.

    Without both it offers the candidates, those that rank first, narrowed by ``q``.
    ``&table=facts&format=csv|json`` sends what the page says of both, without the manifests.
    """
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    try:
        explanation = explain_service(fleet_of(found), namespace, name)
    except LookupError:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    chosen: list[Candidate] = []
    for address in filter(None, (request.GET.get(side, "").strip() for side in "ab")):
        ref = _runtime(address)
        candidate = candidate_of(explanation, ref)
        if candidate is None:
            raise Http404(f"{ref} is no candidate for {explanation.subject}.")
        chosen.append(candidate)
    context = {"cluster": found, "subject": explanation.subject, "explanation": explanation}
    if len(chosen) < 2:
        return render(
            request, "compare/choose_candidate.html", {**context, **_choices(request, explanation.candidates, chosen)}
        )
    a, b = chosen
    parts = [check_part(a, b), candidate_part(a, b, explanation.ome_version)]
    if table := asked_table(request, "facts"):
        return export(table[1], "compared-candidates", FACTS, fact_rows(parts))
    refs = [each.verdict.runtime.ref for each in chosen]
    objects = objects_of(found, refs)
    manifests = [objects[ref].manifest for ref in refs if ref in objects]
    shown = {
        **context,
        "a": a,
        "b": b,
        "place": _place(a, b),
        "head_a": _head(a, b),
        "head_b": _head(b, a),
        "parts": parts,
        "diff": spec_diff(*manifests) if len(manifests) == 2 else [],
    }
    return render(request, "compare/candidates.html", shown)


def _runtime(address: str) -> ObjectRef:
    scope, _, name = address.partition("/")
    if scope == CLUSTER_SCOPE:
        return ObjectRef("ClusterServingRuntime", "", name)
    return ObjectRef("ServingRuntime", scope, name)


def _head(of: Candidate, other: Candidate) -> str:
    """Its name; with its scope when both have the same."""
    ref = of.verdict.runtime.ref
    same = ref.name == other.verdict.runtime.ref.name
    return f"{of.verdict.runtime.scope.lower()} {ref.name}" if same else ref.name


def _place(a: Candidate, b: Candidate) -> object:
    """Why the one that ranks higher goes before the other; None unless both qualify."""
    if a.rank is None or b.rank is None:
        return None
    return why_first(sorted((a, b), key=lambda each: each.rank or 0))


def _choices(request: HttpRequest, candidates: tuple[Candidate, ...], chosen: list[Candidate]) -> dict[str, object]:
    text = request.GET.get("q", "").strip()
    words = text.lower().split()
    rest = [
        each
        for each in candidates
        if all(each is not one for one in chosen)
        and all(word in str(each.verdict.runtime.ref).lower() for word in words)
    ]
    return {
        "a": chosen[0] if chosen else None,
        "text": text,
        "found": rest[:OFFERED],
        "more": max(0, len(rest) - OFFERED),
    }
