"""A model: which runtimes qualify for it, in order and with the arithmetic, and why the others don't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import UserFilter
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.lists import Column, Group, Listing, list_state, respond
from selection.faces.pages.errors import missing_object
from selection.faces.words import CHECKS
from selection.rules.candidates import Candidate
from selection.rules.explain import explain_model
from selection.rules.formats import model_label
from selection.store.basemodels import find_model_row, namespaces_for_model, services_of_model
from selection.store.fleets import fleet_of
from selection.store.models import ModelResult

__all__ = ["USERS", "model"]

SHOWN = 50
"""How many candidates a table names; the rest are counted."""

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


@dataclass(slots=True)
class Excluded:
    """The candidates whose first failed check is the same one."""

    code: str
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def shown(self) -> list[Candidate]:
        """Those that are named."""
        return self.candidates[:SHOWN]

    @property
    def hidden(self) -> int:
        """How many more there are."""
        return len(self.candidates) - len(self.shown)


@require_GET
def model(request: HttpRequest, cluster: str, scope: str, name: str) -> HttpResponseBase:
    """The page of a model, ``/models/<cluster>/<scope>/<name>/``.

    ``?namespace=`` names the namespace in which a ClusterBaseModel is judged; without it only the cluster's
    runtimes are candidates.
    """
    namespace = "" if scope == CLUSTER_SCOPE else scope
    try:
        row = find_model_row(cluster, namespace, name)
    except ModelResult.DoesNotExist:
        kind = "BaseModel" if namespace else "ClusterBaseModel"
        return missing_object(request, cluster, kind, namespace, name)
    judged_in = namespace or request.GET.get("namespace", "")
    state = list_state(request, USERS, services_of_model(row))
    return respond(request, state, "model/page.html", lambda _: _context(row, judged_in))


def _context(row: ModelResult, namespace: str) -> dict[str, Any]:
    choices = namespaces_for_model(row) if not row.namespace else []
    values: dict[str, Any] = {"row": row, "namespace": namespace, "namespaces": choices}
    try:
        explanation = explain_model(fleet_of(row.cluster), namespace, row.name)
    except LookupError:  # the row is older than the objects: it goes with the next evaluation
        return {**values, "gone": True}
    ranked = [candidate for candidate in explanation.candidates if candidate.rank is not None]
    own = explanation.subject.kind == row.kind
    return {
        **values,
        "explanation": explanation,
        "model": explanation.model if own else None,
        "label": model_label(explanation.model) if own and explanation.model else "",
        "instead": None if own else explanation.subject,
        "ranked": ranked[:SHOWN],
        "qualified": len(ranked),
        "more_ranked": max(0, len(ranked) - SHOWN),
        "excluded": _excluded(explanation.candidates),
        "excluded_count": len(explanation.candidates) - len(ranked),
        "unknown_namespace": bool(namespace) and not row.namespace and namespace not in dict(choices),
    }


def _excluded(candidates: Sequence[Candidate]) -> list[Excluded]:
    """The excluded by the first check they fail, in OME's order of checks."""
    found: dict[str, Excluded] = {}
    for candidate in candidates:
        if candidate.reason is not None:
            found.setdefault(candidate.reason.code, Excluded(candidate.reason.code)).candidates.append(candidate)
    return [found[code] for code in CHECKS if code in found]
