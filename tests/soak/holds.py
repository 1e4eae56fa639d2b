"""What must hold at the end: the store is what a fresh sync gives, and the changes lead from each state to the next."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.soak.world import World, synced_afresh
from tests.store.databases import OwnDatabase

__all__ = ["changes_lead_to_what_is", "equals_a_fresh_sync"]

COMPONENTS = "store_componentresult c JOIN store_serviceresult s ON s.id = c.result_id"
QUERIES = {
    "objects": "SELECT kind, namespace, name, digest FROM store_storedobject",
    "services": "SELECT namespace, name, outcome, selected_kind, selected_namespace, selected_name, score, qualified,"
    " message, admitted FROM store_serviceresult",
    "components": "SELECT s.namespace, s.name, c.component, c.requested, c.declared, c.running, c.running_source,"
    f" c.conflict, c.migration, c.workloads FROM {COMPONENTS}",
    "conflicts": "SELECT namespace, service, component, code, runtime_kind, runtime_namespace, runtime_name, ordinal,"
    " requested, declared, running FROM store_conflictrow",
    "runtimes": "SELECT kind, namespace, name, disabled, formats, engine_mode, chain_problem, selected_by, named_by"
    " FROM store_runtimeresult",
    "models": "SELECT kind, namespace, name, qualified, first_kind, first_name, services FROM store_modelresult",
    "findings": "SELECT kind, namespace, name, component, code, about, path, evidence"
    " FROM store_finding WHERE gone_at IS NULL",
}


def equals_a_fresh_sync(world: World, other: OwnDatabase) -> int:
    """Compare every row with those of another database that was filled just now; return how many were compared.

    Raises:
        AssertionError: with some of the rows that differ.
    """
    synced_afresh(world, other)
    compared = 0
    for name, query in QUERIES.items():
        mine, fresh = sorted(map(str, world.database.ask(query))), sorted(map(str, other.ask(query)))
        missing, more = sorted(set(fresh) - set(mine)), sorted(set(mine) - set(fresh))
        assert mine == fresh, f"{name}: missing {missing[:3]} ({len(missing)}), too many {more[:3]} ({len(more)})"
        compared += len(fresh)
    return compared


def changes_lead_to_what_is(world: World) -> int:
    """Follow each service's changes: each begins where the one before ended, and the last ends at what is stored.

    A change that was recorded twice, or not at all, breaks the chain.

    Raises:
        AssertionError: with the chain that breaks.

    Returns:
        how many changes were followed.
    """
    chains: dict[tuple[Any, ...], list[tuple[str, str]]] = defaultdict(list)
    rows = world.database.ask("SELECT namespace, service, what, component, before, after FROM store_change ORDER BY id")
    for namespace, service, what, component, before, after in rows:
        if what == "service":
            # It comes with an outcome or goes with its last one. What else it was or will be isn't told apart.
            for key in [key for key in chains if key[:2] == (namespace, service) and key[2] != "outcome"]:
                del chains[key]
            what = "outcome"
        code = (before or after) if what == "conflict" else ""
        chain = chains[(namespace, service, what, component, code)]
        assert not chain or chain[-1][1] == before, (
            f"{namespace}/{service} {what} {component}: {chain[-1]}, then from {before!r} to {after!r}"
        )
        assert before != after, f"{namespace}/{service} {what} {component}: from {before!r} to the same"
        chain.append((before, after))
    now = _now(world)
    for key, chain in chains.items():
        assert chain[-1][1] == now.get(key, ""), (
            f"{key}: the last change ends at {chain[-1][1]!r}, not {now.get(key)!r}"
        )
    return len(rows)


def _now(world: World) -> dict[tuple[Any, ...], str]:
    """What changes are about, as it is stored."""
    found: dict[tuple[Any, ...], str] = {}
    query = "SELECT namespace, name, outcome, selected_kind, selected_namespace, selected_name FROM store_serviceresult"
    for namespace, name, outcome, kind, there, runtime in world.database.ask(query):
        found[(namespace, name, "outcome", "", "")] = outcome
        found[(namespace, name, "runtime", "", "")] = f"{kind}/{there}/{runtime}" if runtime else ""
    query = f"SELECT s.namespace, s.name, c.component, c.running FROM {COMPONENTS}"
    for namespace, name, component, running in world.database.ask(query):
        found[(namespace, name, "mode", component, "")] = running
    query = "SELECT namespace, service, component, code FROM store_conflictrow WHERE service <> ''"
    for namespace, name, component, code in world.database.ask(query):
        found[(namespace, name, "conflict", component, code)] = code
    return found
