"""Mode conflicts: which asked-for modes meet which declared ones, and every conflict with what to do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.exports import export, refused
from selection.faces.filters import MODES, ConflictFilter
from selection.faces.lists import Column, Group, Listing, ListState, list_state, respond
from selection.faces.tables import asked_table
from selection.faces.words import word
from selection.store.conflicts import Matrix, conflict_counts, conflict_rows, mode_matrix

__all__ = ["CONFLICTS", "conflicts"]

CONFLICTS = Listing(
    name="conflicts",
    noun="conflict",
    filters=ConflictFilter,
    columns=(
        Column("code", "Kind", ("severity",), "code"),
        Column("cluster", "", value="cluster.name"),
        Column("service", "Service", ("cluster__name", "namespace", "service"), "service"),
        Column("namespace", "", value="namespace"),
        Column("component", "", value="component"),
        Column("what", "What happens, and what to do"),
        Column("runtime", "Runtime", ("runtime_name", "runtime_namespace"), "runtime_name"),
        Column("runtime_kind", "", value="runtime_kind"),
        Column("runtime_namespace", "", value="runtime_namespace"),
        Column("requested", "", value="requested"),
        Column("declared", "", value="declared"),
        Column("running", "", value="running"),
        Column("facts", "", value="facts"),
    ),
    row="conflicts/row.html",
    empty="conflicts/empty.html",
    sort="code",
    groups={
        "code": Group("kind", ("code",), ("severity",), "conflict", heading="conflicts/heading.html"),
        "runtime": Group("runtime", ("runtime_namespace", "runtime_name")),
        "namespace": Group("namespace", ("namespace",)),
        "component": Group("component", ("component",)),
    },
    group="code",
    summary="conflicts/summary.html",
)


@require_GET
def conflicts(request: HttpRequest) -> HttpResponseBase:
    """The page of mode conflicts, ``/conflicts/``; ``?table=modes&format=csv|json`` sends its matrix cell by cell."""
    state = list_state(request, CONFLICTS, conflict_rows())
    table = asked_table(request, "conflicts", "modes")
    if table and table[0] == "modes":
        return _exported(table[1], state)
    return respond(request, state, "conflicts/page.html", _summary)


def _exported(form: str, state: ListState) -> HttpResponseBase:
    if not state.valid:
        return refused(state.form.errors)
    cells = (cell for _, line in _matrix(state).rows for cell in line)
    rows = ({"requested": each.requested, "declared": each.declared, "conflicts": each.count} for each in cells)
    return export(form, "conflicts-by-mode", ("requested", "declared", "conflicts"), rows)


def _matrix(state: ListState) -> Matrix:
    return mode_matrix(state.narrowed_without("requested", "declared", "about"), MODES)


def _summary(state: ListState) -> dict[str, Any]:
    """The matrix, and the count of each kind; each counts what the other filters leave."""
    counts = conflict_counts(state.narrowed_without("code"))
    asked = state.query.get("code", "")
    return {
        "matrix": _matrix(state),
        "kinds": [(code, word("conflict", code), count, code == asked) for code, count in counts],
        "all_kinds": sum(count for _, count in counts),
    }
