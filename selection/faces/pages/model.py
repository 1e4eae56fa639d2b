"""A model: which runtimes qualify for it, in order and with the arithmetic, and why the others don't."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.views.decorators.http import require_GET

from selection.faces.excluded import Exclusion, closest, excluded, exclusion_of, first_check
from selection.faces.explaining import CHECK_ORDER, why_first
from selection.faces.exports import export
from selection.faces.filters import UserFilter
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.lists import Column, Group, Listing, list_state, respond
from selection.faces.pages.errors import missing_object
from selection.faces.tables import CANDIDATES, ELSEWHERE, asked_table, candidate_rows, elsewhere_rows
from selection.faces.timelines import timeline_of
from selection.rules.candidates import Candidate
from selection.rules.explain import explain_model
from selection.rules.formats import SHARDED, model_label
from selection.rules.objects import ObjectRef
from selection.rules.selection import Verdict
from selection.store.basemodels import (
    find_model_row,
    models_named_alike,
    namespaces_for_model,
    runtimes_of_users,
    services_of_model,
)
from selection.store.findings import findings_about
from selection.store.fleets import fleet_of
from selection.store.models import ModelResult

__all__ = ["USERS", "model"]

SHOWN = 50
"""How many of the ranking are named; the rest are counted."""

FEW = 15
"""How many of each group of excluded are named before a reader asks for that group."""

USERS = Listing(
    name="model-services",
    noun="service",
    filters=UserFilter,
    columns=(
        Column("cluster", "", value="cluster.name"),
        Column("namespace", "", value="namespace"),
        Column("name", "Service", ("namespace", "name"), "name"),
        Column("outcome", "Outcome", ("outcome",), "outcome"),
        Column("runtime", "Runtime", ("selected_name",), "selected_name"),
        Column("runtime_kind", "", value="selected_kind"),
        Column("runtime_namespace", "", value="selected_namespace"),
        Column("score", "Score", ("score",), "score", numeric=True),
        Column("modes", "Runs in"),
        Column("conflicts", "Conflicts", value="conflicts"),
    ),
    row="model/service.html",
    empty="model/nobody.html",
    sort="name",
    groups={"namespace": Group("namespace", ("namespace",)), "runtime": Group("runtime", ("selected_name",))},
    fields=6,
)


@dataclass(frozen=True, slots=True)
class Few:
    """The candidates whose first failed check is the same one: how many, and the first of them."""

    code: str
    count: int
    rows: list[Exclusion]

    @property
    def hidden(self) -> int:
        """How many are counted only."""
        return self.count - len(self.rows)


@require_GET
def model(request: HttpRequest, cluster: str, scope: str, name: str) -> HttpResponseBase:
    """The page of a model, ``/models/<cluster>/<scope>/<name>/``.

    ``?namespace=`` names the namespace in which a ClusterBaseModel is judged; without it only the cluster's
    runtimes are candidates. ``?check=`` shows all that one check excludes, ``?among=`` turns their pages.
    ``?table=candidates&format=csv|json`` sends all candidates, ``?table=elsewhere`` the models of its name; without
    ``table`` it is the services that use the model.
    """
    namespace = "" if scope == CLUSTER_SCOPE else scope
    try:
        row = find_model_row(cluster, namespace, name)
    except ModelResult.DoesNotExist:
        kind = "BaseModel" if namespace else "ClusterBaseModel"
        return missing_object(request, cluster, kind, namespace, name)
    judged_in = namespace or request.GET.get("namespace", "")
    table = asked_table(request, "services", "candidates", "elsewhere")
    if table and table[0] == "elsewhere":
        return export(table[1], "elsewhere", ELSEWHERE, elsewhere_rows(models_named_alike(row)))
    if table and table[0] == "candidates":
        return _exported(table[1], row, judged_in)
    state = list_state(request, USERS, services_of_model(row))
    return respond(request, state, "model/page.html", lambda _: _context(row, judged_in, request.GET))


def _exported(form: str, row: ModelResult, namespace: str) -> HttpResponseBase:
    """The candidates, each with how many services of the model get it; none when the model has just gone."""
    users = runtimes_of_users(row)
    try:
        candidates = explain_model(fleet_of(row.cluster), namespace, row.name).candidates
    except LookupError:
        candidates = ()
    rows = (
        {**told, "services": users.get(each.verdict.runtime.ref, 0)}
        for each, told in zip(candidates, candidate_rows(candidates), strict=True)
    )
    return export(form, "candidates", (*CANDIDATES, "services"), rows)


def _context(row: ModelResult, namespace: str, query: QueryDict) -> dict[str, Any]:
    choices = namespaces_for_model(row) if not row.namespace else []
    ref = ObjectRef(row.kind, row.namespace, row.name)
    values: dict[str, Any] = {
        "row": row,
        "namespace": namespace,
        "namespaces": choices,
        "findings": findings_about(row.cluster, ref),
        "timeline": timeline_of(row.cluster, ref),
        "elsewhere": models_named_alike(row),
    }
    try:
        explanation = explain_model(fleet_of(row.cluster), namespace, row.name)
    except LookupError:  # the row is older than the objects: it goes with the next evaluation
        return {**values, "gone": True}
    candidates = explanation.candidates
    ranked = [candidate for candidate in candidates if candidate.rank is not None]
    users = runtimes_of_users(row)
    first = {candidate.verdict.runtime.ref for candidate in ranked}
    own = explanation.subject.kind == row.kind
    check = query.get("check", "")
    return {
        **values,
        "explanation": explanation,
        "model": explanation.model if own else None,
        "label": model_label(explanation.model) if own and explanation.model else "",
        "sharded": explanation.model is not None and explanation.model.distribution == SHARDED,
        "instead": None if own else explanation.subject,
        "ranked": [(each, users.get(each.verdict.runtime.ref, 0)) for each in ranked[:SHOWN]],
        "unranked": sorted((ref, count) for ref, count in users.items() if ref not in first),
        "qualified": len(ranked),
        "more_ranked": max(0, len(ranked) - SHOWN),
        "why_first": why_first(candidates),
        "closest": [] if ranked else closest(candidates),
        "groups": [] if check else _few(candidates),
        "narrowed": excluded(candidates, {"check": check, "page": query.get("among", "")}) if check else None,
        "excluded_count": len(candidates) - len(ranked),
        "unknown_namespace": bool(namespace) and not row.namespace and namespace not in dict(choices),
    }


def _few(candidates: Iterable[Candidate]) -> list[Few]:
    """The excluded by the first check they fail, in OME's order of checks, a few of each."""
    found: dict[str, list[Verdict]] = {}
    for each in candidates:
        if each.verdict.failures:
            found.setdefault(first_check(each.verdict), []).append(each.verdict)
    return [
        Few(code, len(found[code]), [exclusion_of(each) for each in found[code][:FEW]])
        for code in CHECK_ORDER
        if code in found
    ]
