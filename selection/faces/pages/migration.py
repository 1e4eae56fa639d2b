"""Migration: every component on MultiNode or on the way from it, and the runtimes that hold it there."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import MigrationFilter, RuntimeFilter
from selection.faces.lists import Column, Group, Listing, ListState, show_list
from selection.faces.pictures import steps
from selection.faces.words import word
from selection.store.daily import progress
from selection.store.lookup import find_cluster
from selection.store.migration import components_on_the_way, runtimes_to_move, state_counts
from selection.store.models import Cluster, ComponentResult, RuntimeResult
from selection.store.overview import OFF_MULTI_NODE

__all__ = ["COMPONENTS", "RUNTIMES", "migration", "progress_values", "tab_values"]

COMPONENTS = Listing(
    name="migration",
    noun="component",
    filters=MigrationFilter,
    columns=(
        Column("state", "State", ("urgency",), "migration"),
        Column("cluster", "", value="result.cluster.name"),
        Column("service", "Service", ("result__cluster__name", "result__namespace", "result__name"), "result.name"),
        Column("namespace", "", value="result.namespace"),
        Column("component", "", value="component"),
        Column("running", "Runs in", ("running",), "running"),
        Column("running_source", "", value="running_source"),
        Column("workloads", "In the cluster", ("workloads",), "workloads"),
        Column("runtime", "Runtime", ("result__selected_name",), "result.selected_name"),
        Column("runtime_kind", "", value="result.selected_kind"),
        Column("runtime_namespace", "", value="result.selected_namespace"),
        Column("next", "What to do"),
    ),
    row="migration/component.html",
    empty="migration/empty.html",
    sort="state",
    groups={
        "state": Group("state", ("migration",), ("urgency",), "migration"),
        "runtime": Group("runtime", ("result__selected_namespace", "result__selected_name")),
        "namespace": Group("namespace", ("result__namespace",)),
    },
    summary="migration/board.html",
)


def _references(runtime: RuntimeResult) -> list[dict[str, object]]:
    """The references of a runtime as exports have them."""
    return [
        {
            "path": row.path,
            "container": row.container,
            "token": row.token,
            "remedy": row.remedy,
            "replacement": row.replacement,
            "why": row.code,
            "from": row.origin_name,
        }
        for row in runtime.reference_rows.all()
    ]


RUNTIMES = Listing(
    name="migration-runtimes",
    noun="runtime",
    filters=RuntimeFilter,
    columns=(
        Column("runtime", "Runtime", ("cluster__name", "name", "namespace"), "name"),
        Column("namespace", "", value="namespace"),
        Column("kind", "", value="kind"),
        Column("cluster", "", value="cluster.name"),
        Column("engine", "Engine declares", ("engine_mode",), "engine_mode"),
        Column("decoder", "Decoder declares", ("decoder_mode",), "decoder_mode"),
        Column("router", "Router declares", ("router_mode",), "router_mode"),
        Column("references", "References", ("references",), "references", numeric=True),
        Column("selected", "Selected by", ("selected_by",), "selected_by", numeric=True),
        Column("named", "Named by", ("named_by",), "named_by", numeric=True),
        Column("found", "", value=_references),
    ),
    row="migration/runtime.html",
    empty="migration/empty_runtimes.html",
    sort="-references",
    fields=4,
)


@require_GET
def migration(request: HttpRequest) -> HttpResponseBase:
    """The page of the migration, ``/migration/``; ``?view=runtimes`` lists the runtimes."""
    view = "runtimes" if request.GET.get("view") == "runtimes" else "components"
    listing = RUNTIMES if view == "runtimes" else COMPONENTS
    rows: QuerySet[Any] = runtimes_to_move() if view == "runtimes" else components_on_the_way()

    def context(state: ListState) -> dict[str, Any]:
        cluster = find_cluster(state.query.get("cluster", ""))
        return {
            **tab_values(view),
            **progress_values(cluster),
            "board": _board(state) if view == "components" else (),
        }

    return show_list(request, listing, rows, f"migration/{view}.html", context)


def tab_values(view: str) -> dict[str, Any]:
    """What the head of the pages of the migration tells; ``view`` is the tab that is open. Two queries."""
    everything = dict(state_counts(components_on_the_way()))
    return {
        "view": view,
        "off": sum(everything[state] for state in OFF_MULTI_NODE),
        "done": everything["done"],
        "at_risk": everything["at-risk"],
        "components": sum(everything.values()),
        "runtimes_count": runtimes_to_move().count(),
    }


def progress_values(cluster: Cluster | None) -> dict[str, Any]:
    """The progress of one cluster or all, day by day, for its picture. One query."""
    return {"progress": steps(progress(cluster))}


def _board(state: ListState) -> list[dict[str, Any]]:
    """Each state with its count under the other filters."""
    rows: QuerySet[ComponentResult] = state.narrowed_without("state")
    asked = state.query.get("state", "")
    return [
        {"code": code, "count": count, "word": word("migration", code), "current": code == asked}
        for code, count in state_counts(rows)
    ]
