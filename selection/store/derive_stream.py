"""Keeps the stream of findings: what came is added, what went is marked, and nothing else is touched.

It is written in the transaction that writes the other rows of an evaluation. A row stays when its finding goes, so that
it is known again when it comes back, until it was gone for as long as changes are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from selection.rules.codes import urgency_of
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet, remember
from selection.rules.objects import ObjectRef
from selection.rules.reach import Reach
from selection.rules.semantics import V1_2, V1_3
from selection.rules.stream import Told, digest_of
from selection.rules.streams import other_stream, service_stream, unreadable_stream
from selection.rules.upgrade_preview import as_of
from selection.rules.upgrade_stream import runtime_upgrade_stream, service_upgrade_stream

from .models import Cluster, Finding, FindingEvent
from .rows import Written
from .severities import severities
from .upgrades import manifests_beside

__all__ = ["every_told", "write_stream"]

SERVICE = "InferenceService"
_BATCH = 500
_CHANGING = (
    *("path", "severity", "urgency", "evidence", "told", "facts"),
    *("changed_at", "gone_at", "came_back", "came_back_at", "generation"),
)

_ahead: dict[int, tuple[Fleet, Fleet]] = {}
"""By cluster, a fleet of v1.2 that was judged and the same by v1.3: what the next one can take over."""


class _Known(NamedTuple):
    """What is compared and carried on of a row, without its facts."""

    pk: int
    key: str
    evidence: str
    told: str
    severity: str
    urgency: int
    first_seen: datetime
    changed_at: datetime | None
    gone_at: datetime | None
    came_back: int
    came_back_at: datetime | None


def every_told(
    fleet: Fleet, explanations: Iterable[Explanation], manifests: Mapping[ObjectRef, Mapping[str, Any]] | None = None
) -> Iterator[Told]:
    """Everything that is to be said of a fleet, as the rows have it.

    ``manifests`` are those of services, as :func:`selection.rules.upgrade_preview.upgrade_preview` takes them.
    """
    new = as_of(fleet, V1_3)
    yield from _of_services(fleet, new, explanations, manifests or {})
    yield from _of_others(fleet, new)
    yield from unreadable_stream(fleet)


def _of_services(
    fleet: Fleet, new: Fleet, explanations: Iterable[Explanation], manifests: Mapping[ObjectRef, Mapping[str, Any]]
) -> Iterator[Told]:
    for explanation in explanations:
        yield from service_stream(fleet, explanation)
        if fleet.semantics == V1_2:
            yield from service_upgrade_stream(explanation, new, manifests)


def _of_others(fleet: Fleet, new: Fleet) -> Iterator[Told]:
    yield from other_stream(fleet)
    if fleet.semantics == V1_2:
        yield from runtime_upgrade_stream(fleet, new)


def write_stream(
    cluster: Cluster, fleet: Fleet, explanations: Sequence[Explanation], touched: Reach | None, generation: int
) -> Written:
    """Write what differs about the cluster's findings; returned is how many came, became others, and went.

    Those of services are made anew where they are touched; those of runtimes and models together, when any of these
    is, because each may depend on every other. Objects that can't be read are always looked through.
    """
    rows = Finding.objects.filter(cluster=cluster)
    new = _by_v1_3(cluster, fleet)
    found = list(_of_services(fleet, new, explanations, _manifests(cluster, fleet, touched)))
    found += unreadable_stream(fleet)
    if touched is None:
        known = dict(_known(rows))
        found += _of_others(fleet, new)
    else:
        known = dict(_of_touched(rows, touched))
        unread = rows.exclude(kind=SERVICE)
        if touched.runtimes or touched.models:
            found += _of_others(fleet, new)
        else:
            unread = unread.filter(code="unreadable")
        known.update(_known(unread))
    return _Writing(cluster, severities(), generation, known).write(found)


def _by_v1_3(cluster: Cluster, fleet: Fleet) -> Fleet:
    """The fleet by v1.3: with the answers of the one that was judged before, as far as they hold."""
    if fleet.semantics != V1_2:
        return fleet
    before = _ahead.get(cluster.pk)
    if before is not None and before[0] is fleet:
        return before[1]
    new = as_of(fleet, V1_3)
    if before is not None:
        remember(before[1], new)
    _ahead[cluster.pk] = (fleet, new)
    return new


def _manifests(cluster: Cluster, fleet: Fleet, touched: Reach | None) -> Mapping[ObjectRef, Mapping[str, Any]]:
    if fleet.semantics != V1_2 or (touched is not None and not touched.services):
        return {}
    return manifests_beside(cluster, None if touched is None else {name for _, name in touched.services})


def _known(rows: QuerySet[Finding]) -> Iterator[tuple[str, _Known]]:
    for values in rows.order_by().values_list(*_Known._fields).iterator(chunk_size=2000):
        row = _Known(*values)
        yield row.key, row


def _of_touched(rows: QuerySet[Finding], touched: Reach) -> Iterator[tuple[str, _Known]]:
    services = rows.filter(kind=SERVICE).order_by()
    names = sorted({name for _, name in touched.services})
    for start in range(0, len(names), _BATCH):
        some = services.filter(name__in=names[start : start + _BATCH])
        for namespace, name, *values in some.values_list("namespace", "name", *_Known._fields):
            if (namespace, name) in touched.services:
                row = _Known(*values)
                yield row.key, row


@dataclass(slots=True)
class _Writing:
    """One evaluation's differences: ``known`` are the rows that stand for what is looked at, by key."""

    cluster: Cluster
    severities: Mapping[str, str]
    generation: int
    known: dict[str, _Known]
    now: datetime = field(default_factory=timezone.now)
    events: list[FindingEvent] = field(default_factory=list)

    def write(self, found: Iterable[Told]) -> Written:
        """Make the rows what was found."""
        created: dict[str, Finding] = {}
        updated: list[Finding] = []
        before: dict[int, _Known] = {}
        left = dict(self.known)
        for each in found:
            key = each.key(self.cluster.name)
            row = self._row(each, key)
            old = left.pop(key, None)
            if old is None:
                created[key] = row
            elif _differs(old, row):
                self._carry_on(old, row)
                updated.append(row)
                before[old.pk] = old
        gone = [old for old in left.values() if old.gone_at is None]
        self._note(before, updated)
        for old in gone:
            self._event(old.pk, FindingEvent.Act.GONE)
        Finding.objects.bulk_create(created.values(), batch_size=_BATCH)
        Finding.objects.bulk_create(
            updated,
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=list(_CHANGING),
        )
        pks = [old.pk for old in gone]
        for start in range(0, len(pks), _BATCH):
            some = Finding.objects.filter(pk__in=pks[start : start + _BATCH])
            some.update(gone_at=self.now, generation=self.generation)
        FindingEvent.objects.bulk_create(self.events, batch_size=_BATCH)
        return Written(len(created), len(updated), len(gone))

    def _row(self, told: Told, key: str) -> Finding:
        facts = dict(told.facts)
        severity = self.severities[told.code]
        return Finding(
            cluster=self.cluster,
            key=key,
            kind=told.object.kind[:63],
            namespace=told.object.namespace[:253],
            name=told.object.name[:253],
            component=told.component,
            code=told.code,
            about=told.about[:1000],
            path=told.path[:500],
            severity=severity,
            urgency=urgency_of(told.code, severity),
            evidence=told.evidence,
            told=digest_of([told.path, facts]),
            facts=facts,
            first_seen=self.now,
            generation=self.generation,
        )

    def _carry_on(self, old: _Known, row: Finding) -> None:
        """Give a row that replaces another one what was seen before."""
        row.first_seen = old.first_seen
        row.changed_at = self.now if old.evidence != row.evidence else old.changed_at
        row.came_back = old.came_back + (old.gone_at is not None)
        row.came_back_at = self.now if old.gone_at is not None else old.came_back_at

    def _note(self, before: Mapping[int, _Known], updated: Sequence[Finding]) -> None:
        """Keep what became of rows that are replaced, with the facts that no longer hold."""
        evidence = {row.key: row.evidence for row in updated}
        other = [pk for pk, old in before.items() if old.evidence != evidence[old.key]]
        facts: dict[int, Any] = {}
        for start in range(0, len(other), _BATCH):
            rows = Finding.objects.filter(pk__in=other[start : start + _BATCH])
            facts.update(rows.order_by().values_list("pk", "facts"))
        for pk, old in before.items():
            if old.gone_at is not None:
                self._event(pk, FindingEvent.Act.BACK, facts.get(pk))
            elif pk in facts:
                self._event(pk, FindingEvent.Act.CHANGED, facts[pk])

    def _event(self, pk: int, act: str, facts: Any = None) -> None:
        values = {"at": self.now, "act": act, "generation": self.generation, "facts": facts or {}}
        self.events.append(FindingEvent(finding_id=pk, **values))


def _differs(old: _Known, row: Finding) -> bool:
    return old.gone_at is not None or (
        (old.evidence, old.told, old.severity, old.urgency) != (row.evidence, row.told, row.severity, row.urgency)
    )
