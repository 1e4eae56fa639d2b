"""A runtime: who gets it, what it declares and how that is read, what it inherits, what must change to move it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.cli.output import as_yaml
from selection.faces.exports import export
from selection.faces.families import family, shown_stakes, stakes
from selection.faces.filters import UserFilter
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.lists import Column, Group, Listing, list_state, respond
from selection.faces.pages.errors import missing_object
from selection.faces.readings import entry_readings, mode_places, set_by
from selection.faces.tables import (
    LOSSES,
    OVERLAPS,
    WINS,
    asked_table,
    loss_rows,
    overlap_rows,
    win_rows,
)
from selection.faces.tables_runtime import (
    ENTRIES,
    INHERITED,
    PLACES,
    REFERENCES,
    REFUSED,
    entry_rows,
    inherited_rows,
    place_rows,
    reference_rows,
    refused_rows,
)
from selection.faces.timelines import timeline_of
from selection.rules.admission import admit_runtime
from selection.rules.fleet import Fleet
from selection.rules.fleet_answers import Effective
from selection.rules.inheritance import provenance
from selection.rules.merge import WrongType, kind_changes
from selection.rules.objects import ObjectRef, Runtime
from selection.rules.sizes import range_text
from selection.store.findings import findings_about
from selection.store.fleets import fleet_of
from selection.store.migration import references_of
from selection.store.models import RuntimeResult
from selection.store.runtimes import find_runtime_row, refused_services, services_of_runtime

__all__ = ["USERS", "runtime"]

USERS = Listing(
    name="runtime-services",
    noun="service",
    filters=UserFilter,
    columns=(
        Column("cluster", "", value="cluster.name"),
        Column("namespace", "", value="namespace"),
        Column("name", "Service", ("namespace", "name"), "name"),
        Column("named", "How", ("named", "outcome"), "named"),
        Column("outcome", "", value="outcome"),
        Column("score", "Score", ("score",), "score", numeric=True),
        Column("model", "Model", ("model_name",), "model_name"),
        Column("modes", "Runs in"),
        Column("conflicts", "Conflicts", value="conflicts"),
    ),
    row="runtime/service.html",
    empty="runtime/nobody.html",
    sort="name",
    groups={"namespace": Group("namespace", ("namespace",)), "model": Group("model", ("model_name",))},
    fields=6,
)

_TABLES = {
    "losses": LOSSES,
    "wins": WINS,
    "overlaps": OVERLAPS,
    "refused": REFUSED,
    "formats": ENTRIES,
    "modes": PLACES,
    "inherited": INHERITED,
    "references": REFERENCES,
}
"""The tables that can be exported, by what ``?table=`` calls them, with their columns."""


@require_GET
def runtime(request: HttpRequest, cluster: str, scope: str, name: str) -> HttpResponseBase:
    """The page of a runtime, ``/runtimes/<cluster>/<scope>/<name>/``.

    ``?table=…&format=csv|json`` sends one of its other tables (the keys of ``_TABLES``); without ``table`` it is the
    services that get it.
    """
    namespace = "" if scope == CLUSTER_SCOPE else scope
    try:
        row = find_runtime_row(cluster, namespace, name)
    except RuntimeResult.DoesNotExist:
        return missing_object(request, cluster, _kind(namespace), namespace, name)
    table = asked_table(request, "services", *_TABLES)
    if table and table[0] != "services":
        return _exported(*table, row)
    state = list_state(request, USERS, services_of_runtime(row))
    return respond(request, state, "runtime/page.html", lambda _: _context(row))


def _exported(table: str, form: str, row: RuntimeResult) -> HttpResponseBase:
    """One table of the page; without rows for a runtime that can't be read where the page has none, either."""
    fleet = fleet_of(row.cluster)
    if table == "refused":
        return export(form, table, REFUSED, refused_rows(refused_services(fleet, row)))
    if table == "references":
        return export(form, table, REFERENCES, reference_rows(references_of(row)))
    found = fleet.runtimes.get((row.namespace, row.name))
    if found is None:
        return export(form, table, _TABLES[table], ())
    if table in {"losses", "wins", "overlaps"}:
        told = stakes(fleet, found, services_of_runtime(row).values_list("namespace", "name"))
        lost, won, others = loss_rows(told.losses), win_rows(told.wins), overlap_rows(told.overlaps)
        return export(form, table, _TABLES[table], {"losses": lost, "wins": won, "overlaps": others}[table])
    if table == "formats":
        return export(form, table, ENTRIES, entry_rows(entry_readings(found)))
    effective = fleet.effective(found)
    if table == "modes":
        return export(form, table, PLACES, place_rows(mode_places(found, effective, fleet.semantics)))
    return export(form, table, INHERITED, inherited_rows(_merged(fleet, effective).get("set_by", ())))


def _context(row: RuntimeResult) -> dict[str, Any]:
    fleet = fleet_of(row.cluster)
    found = fleet.runtimes.get((row.namespace, row.name))
    values: dict[str, Any] = {
        "row": row,
        "refused": refused_services(fleet, row),
        "references": references_of(row),
        "findings": findings_about(row.cluster, ObjectRef(row.kind, row.namespace, row.name)),
        "semantics": fleet.semantics,
        "timeline": timeline_of(row.cluster, ObjectRef(row.kind, row.namespace, row.name)),
    }
    return {**values, **_judged(fleet, found, row)} if found is not None else values


def _judged(fleet: Fleet, found: Runtime, row: RuntimeResult) -> dict[str, Any]:
    """What the rules say of a runtime that can be read."""
    effective = fleet.effective(found)
    return {
        "runtime": found,
        "entries": entry_readings(found),
        "size_range": range_text(found.size_range) if found.size_range else "",
        "places": mode_places(found, effective, fleet.semantics),
        "admission": admit_runtime(fleet, found),
        "chain": effective.chain,
        "merge_problem": effective.problem,
        **family(fleet, found),
        **shown_stakes(stakes(fleet, found, services_of_runtime(row).values_list("namespace", "name"))),
        **(_merged(fleet, effective) if len(effective.chain.members) > 1 else {}),
    }


def _merged(fleet: Fleet, effective: Effective) -> dict[str, Any]:
    """The merged spec, who set what in it, and what the merge made that nobody wrote."""
    if effective.runtime is None:
        return {}
    members = effective.chain.members
    specs: list[Mapping[str, Any]] = [fleet.runtimes[(each.namespace or "", each.name)].spec for each in members]
    try:
        told = provenance(effective.chain, specs)
        changes = kind_changes(specs)
    except WrongType:  # the chain merged, so this can't be; a page without this part is better than none
        return {"merged": as_yaml(effective.runtime.spec)}
    covered = set_by(told)
    return {
        "merged": as_yaml(effective.runtime.spec),
        "merged_disabled": effective.runtime.disabled,
        "set_by": [(member, covered.get(member, [])) for member in members],
        "kind_changes": [
            (change, [(kind, members[place]) for kind, place in zip(change.kinds, change.members, strict=True)])
            for change in changes
        ],
    }


def _kind(namespace: str) -> str:
    return "ServingRuntime" if namespace else "ClusterServingRuntime"
