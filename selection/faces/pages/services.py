"""The list of services: what each gets, how it runs and where its modes don't agree."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import ServiceFilter
from selection.faces.lists import Column, Group, Listing, ListState, show_list
from selection.faces.words import OUTCOMES
from selection.store.models import ServiceResult
from selection.store.overview import count_by_outcome

__all__ = ["SERVICES", "services"]


def _modes(row: ServiceResult) -> list[str]:
    """The running modes, as an export says them: ``engine=OMENative``."""
    return [f"{name}={modes['running']['mode']}" for name, modes in row.modes.items() if modes["rendered"]]


SERVICES = Listing(
    name="services",
    noun="service",
    filters=ServiceFilter,
    columns=(
        Column("cluster", "", value="cluster.name"),
        Column("namespace", "", value="namespace"),
        Column("name", "Service", ("cluster__name", "namespace", "name"), "name"),
        Column("outcome", "Outcome", ("outcome",), "outcome"),
        Column("runtime", "Runtime", ("selected_name", "selected_namespace"), "selected_name"),
        Column("runtime_kind", "", value="selected_kind"),
        Column("runtime_namespace", "", value="selected_namespace"),
        Column("score", "Score", ("score",), "score", numeric=True),
        Column("qualified", "", value="qualified"),
        Column("model", "Model", ("model_name",), "model_name"),
        Column("modes", "Runs in", value=_modes),
        Column("conflicts", "Conflicts", value="conflicts"),
        Column("admitted", "", value="admitted"),
        Column("message", "", value="message"),
        Column("computed_at", "", value="computed_at"),
    ),
    row="services/row.html",
    empty="services/empty.html",
    sort="name",
    groups={
        "outcome": Group("outcome", ("outcome",)),
        "namespace": Group("namespace", ("cluster__name", "namespace")),
        "runtime": Group("runtime", ("selected_name",)),
        "model": Group("model", ("model_name",)),
    },
    summary="services/summary.html",
)


@require_GET
def services(request: HttpRequest) -> HttpResponseBase:
    """Every InferenceService of every cluster."""
    rows = ServiceResult.objects.select_related("cluster")
    return show_list(request, SERVICES, rows, "services/list.html", _summary)


def _summary(state: ListState) -> dict[str, Any]:
    """The count of each outcome; it counts what the other filters leave."""
    counts = count_by_outcome(state.narrowed_without("outcome"))
    total = sum(counts.values())
    if not state.query.get("outcome"):
        state.counted = total
    return {"outcomes": [(code, counts[code]) for code in OUTCOMES if counts.get(code)], "all_outcomes": total}
