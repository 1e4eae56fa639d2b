"""The tables of pages that aren't lists, as exports have them: one mapping for each row, made from what the page shows.

An address asks for one with ``?table=<name>&format=csv`` (or ``json``). What a page counts because it is long, an
export has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.http import HttpRequest

from selection.faces.comparing import Part, Value
from selection.faces.exports import EXPORTS
from selection.faces.families import Outranked
from selection.rules.candidates import Candidate
from selection.rules.migration_order import FleetOrder, RuntimeTurn
from selection.rules.objects import ObjectRef
from selection.rules.prospects import Loss, Overlap
from selection.store.daily import Stand
from selection.store.freshness import Freshness
from selection.store.models import ModelResult

__all__ = [
    "CANDIDATES",
    "CLUSTERS",
    "ELSEWHERE",
    "FACTS",
    "LOSSES",
    "OVERLAPS",
    "STANDS",
    "TURNS",
    "WAVES",
    "WINS",
    "asked_table",
    "candidate_rows",
    "cluster_rows",
    "elsewhere_rows",
    "fact_rows",
    "loss_rows",
    "overlap_rows",
    "stand_rows",
    "turn_rows",
    "wave_rows",
    "win_rows",
]

CANDIDATES = (
    "name",
    "scope",
    "compatible",
    "rank",
    "priority",
    "weight",
    "score",
    "size_distance",
    "code",
    "reason",
    "also",
)
"""The columns of candidates, with the names and values of the explanation's JSON (docs/explain.md)."""

CLUSTERS = (
    "cluster",
    "source",
    "ome_version",
    "ome_version_from",
    "oldest_data",
    "last_sync",
    "kinds_not_read",
    "error",
)
STANDS = ("day", "off_multi_node", "multi_node")
ELSEWHERE = ("cluster", "kind", "namespace", "name", "size", "qualified", "first_kind", "first", "services")
FACTS = ("part", "what", "a", "b", "differs")
LOSSES = ("namespace", "service", "how", "outcome", "instead_kind", "instead_namespace", "instead")
WINS = ("namespace", "service", "rank", "winner_kind", "winner_namespace", "winner", "because", "winners", "own")
OVERLAPS = ("kind", "namespace", "name", "models", "ahead", "behind", "tied")
WAVES = (
    "wave",
    "namespace",
    "service",
    "state",
    "ready",
    "runtime_kind",
    "runtime_namespace",
    "runtime",
    "needs",
    "holds",
    "risks",
    "reasons",
)
TURNS = ("kind", "namespace", "name", "need", "waiting", "references", "copy", "ready")

Row = dict[str, object]


def asked_table(request: HttpRequest, *names: str) -> tuple[str, str] | None:
    """The table that a request asks for and the form it should have; None when it asks for a page.

    Without ``?table=`` a CSV is the first of ``names``: that of the table which the page is about. JSON isn't, since
    there a page answers with all it knows.

    >>> from django.test import RequestFactory
    >>> asked_table(RequestFactory().get("/?format=csv"), "candidates")
    ('candidates', 'csv')
    >>> asked_table(RequestFactory().get("/?format=json"), "candidates")
    """
    form, name = request.GET.get("format", ""), request.GET.get("table", "")
    if not name and form == "csv":
        name = names[0]
    return (name, form) if form in EXPORTS and name in names else None


def candidate_rows(candidates: Iterable[Candidate]) -> Iterator[Row]:
    """Candidates in their order, with the values of :data:`CANDIDATES`."""
    for each in candidates:
        value = each.to_dict()
        yield {key: value[key] for key in CANDIDATES}


def cluster_rows(clusters: Iterable[Freshness]) -> Iterator[Row]:
    """Each cluster: whose rules judge it, how old its data is, and how its last sync went."""
    for each in clusters:
        cluster = each.cluster
        yield {
            "cluster": cluster.name,
            "source": cluster.source,
            "ome_version": cluster.ome_version,
            "ome_version_from": cluster.ome_version_source,
            "oldest_data": each.listed_at,
            "last_sync": cluster.sync_finished_at,
            "kinds_not_read": each.failed,
            "error": cluster.sync_error,
        }


def stand_rows(stands: Iterable[Stand]) -> Iterator[Row]:
    """How many components are off MultiNode on each day, and of how many."""
    for each in stands:
        yield {"day": each.day, "off_multi_node": each.off, "multi_node": each.multi_node}


def elsewhere_rows(models: Iterable[ModelResult]) -> Iterator[Row]:
    """The models of one name, each with how many runtimes qualify for it and the one that comes first."""
    for row in models:
        told = ("kind", "namespace", "name", "size", "qualified", "first_kind", "services")
        values = {name: getattr(row, name) for name in told}
        yield {"cluster": row.cluster.name, **values, "first": row.first_name}


def fact_rows(parts: Iterable[Part]) -> Iterator[Row]:
    """The facts of both sides that at least one says something for."""
    for part in parts:
        for fact in part.told:
            sides = {"a": _said(fact.a), "b": _said(fact.b)}
            yield {"part": part.title, "what": fact.label, **sides, "differs": not fact.same}


def loss_rows(losses: Iterable[Loss]) -> Iterator[Row]:
    """Each service that would lose a runtime, how it has it, and what it would get."""
    for each in losses:
        for namespace, service in each.services:
            told = {"namespace": namespace, "service": service, "how": each.how, "outcome": each.outcome}
            yield {**told, **_named("instead", each.instead)}


def win_rows(wins: Iterable[Outranked]) -> Iterator[Row]:
    """Each service that a runtime could win: its rank there, who goes before it, and by what."""
    for each in wins:
        place = each.place
        because: Row = {
            "because": place.code if place else None,
            "winners": place.first if place else None,
            "own": place.second if place else None,
        }
        for namespace, service in each.win.services:
            told = {"namespace": namespace, "service": service, "rank": each.win.rank}
            yield {**told, **_named("winner", each.win.winner.runtime.ref), **because}


def overlap_rows(overlaps: Iterable[Overlap]) -> Iterator[Row]:
    """Each runtime that qualifies for some of the same models, and for how many it goes before and after."""
    for each in overlaps:
        counts = {"models": each.models, "ahead": each.ahead, "behind": each.behind, "tied": each.tied}
        yield {**each.other.to_dict(), **counts}


def wave_rows(order: FleetOrder) -> Iterator[Row]:
    """Each service of each wave, in the order in which they should go; risks and reasons are codes."""
    plans = {plan.service: plan for plan in order.plans}
    for wave in order.waves:
        for plan in (plans[ref] for ref in wave.services):
            yield {
                "wave": wave.kind,
                "namespace": plan.service.namespace,
                "service": plan.service.name,
                "state": plan.state,
                "ready": plan.ready,
                **_named("runtime", plan.runtime),
                "needs": _accelerators(plan.needs),
                "holds": _accelerators(plan.holds),
                "risks": [note.code for note in plan.risks],
                "reasons": [note.code for note in plan.reasons],
            }


def turn_rows(turns: Iterable[RuntimeTurn]) -> Iterator[Row]:
    """Each runtime that services wait on, the one that most wait on first."""
    for turn in turns:
        value = turn.to_dict()
        copy: Mapping[str, Any] = value["copy"] or {}
        told = {key: value[key] for key in ("need", "waiting", "references", "ready")}
        yield {**turn.runtime.to_dict(), **told, "copy": copy.get("name")}


def _said(value: Value) -> str:
    """One side of a fact in the words that the page shows."""
    return " ".join(part for part in (str(value.ref) if value.ref else value.text, value.note) if part)


def _named(key: str, ref: ObjectRef | None) -> Row:
    told: Mapping[str, Any] = ref.to_dict() if ref else {}
    return {f"{key}_kind": told.get("kind"), f"{key}_namespace": told.get("namespace"), key: told.get("name")}


def _accelerators(counted: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{name}={count}" for name, count in counted]
