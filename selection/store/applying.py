"""Brings a batch of happenings into the database: all of it in one transaction, or nothing.

Kubernetes API concepts: efficient detection of changes. A follower tells of one kind in order, and goes on from the
version it has seen or lists anew; so what comes last is what the cluster has, and is what is kept. A batch may begin
with what is stored already, when it is applied again after the database was gone: that changes nothing. The order
between kinds has no meaning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import DataError, transaction
from django.utils import timezone

from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.kinds import Kind, KindListing

from .models import Cluster, KindSync, StoredObject
from .rows import having
from .secrettext import storable
from .storing import LostClaim, Rows, locked, note_listing, rows_of, text, write_objects
from .tallies import count
from .uncollected import uncollected

__all__ = ["Applied", "Applier", "LostClaim"]

WHOLE = frozenset({"complete", "not-served"})
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a batch did: how many objects' rows changed, of which kinds, and how many events it held."""

    changed: int = 0
    kinds: frozenset[str] = frozenset()
    events: int = 0


@dataclass(slots=True)
class _Told:
    """What a batch says of one kind in the end.

    ``state`` is the last list that was whole, ``listing`` the last one however it went; ``events`` hold the last word
    on each object since ``state``.
    """

    kind: Kind
    state: KindListing | None = None
    listing: KindListing | None = None
    events: dict[Key, Event] = field(default_factory=dict)
    listed: float = 0.0
    received: int = 0
    last_event: float | None = None
    confirmed: float | None = None
    version: str = ""
    watching: bool | None = None
    trouble: str = ""
    failures: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=Rows)

    def hear(self, happening: Happening) -> None:
        """Take in the next happening of this kind."""
        match happening:
            case Listed(listing=listing, received=received):
                self.listing, self.listed, self.watching, self.trouble = listing, received, False, ""
                if listing.outcome in WHOLE:
                    self.state, self.confirmed = listing, received
                    self.version = listing.resource_version or ""
                    self.events.clear()
                else:
                    self.failures.append(listing.outcome)
            case Event(manifest=manifest, resource_version=version, received=received):
                self.events[_key(manifest)] = happening
                self.received += 1
                self.last_event = self.confirmed = received
                self.version = version or self.version
            case Watching(resource_version=version, received=received):
                self.watching, self.trouble, self.confirmed = True, "", received
                self.version = version or self.version
            case Lost(reason=reason, trouble=trouble):
                self.watching, self.trouble = False, reason
                self.failures.append(trouble)

    def prepare(self, cluster: Cluster) -> None:
        """Make the rows, which takes longest, before the transaction begins."""
        put = {key: event for key, event in self.events.items() if event.type == "put"}
        rows = rows_of(cluster, self.kind.kind, (self.state.objects if self.state else None) or ())
        for key in self.events:
            rows.good.pop(key, None)
            rows.bad.pop(key, None)
        newer = rows_of(cluster, self.kind.kind, (event.manifest for event in put.values()))
        self.rows = Rows({**rows.good, **newer.good}, {**rows.bad, **newer.bad})

    def existing(self, cluster: Cluster) -> Iterable[StoredObject]:
        """The rows that this batch is the last word on; one that can't be kept as it is now stays as it was."""
        rows = StoredObject.objects.filter(cluster=cluster, kind=self.kind.kind).defer("manifest")
        if self.state is None:
            rows_found: Iterable[StoredObject] = having(rows, "name", (name for _, name in self.events))
            rows_found = (row for row in rows_found if (row.namespace, row.name) in self.events)
        else:
            rows_found = rows
        return (row for row in rows_found if (row.namespace, row.name) not in self.rows.bad)


class Applier:
    """Applies batches to one cluster under one claim.

    It remembers which objects can't be kept, so that the kind says so until they can, or are gone.
    """

    def __init__(self, cluster: Cluster, claim: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.cluster = cluster
        self.claim = claim
        self._clock = clock
        self._bad: dict[str, dict[Key, str]] = {}

    def apply(self, happenings: Sequence[Happening]) -> Applied:
        """Store a batch in one transaction.

        Raises:
            LostClaim: the cluster isn't ours any more; nothing was written.
            OperationalError, InterfaceError: the database can't be reached; nothing was written, try the batch again.
        """
        started = self._clock()
        told: dict[str, _Told] = {}
        for happening in happenings:
            kind = happening.kind
            told.setdefault(kind.kind, _Told(kind)).hear(happening)
        with uncollected():
            for each in told.values():
                each.prepare(self.cluster)
        try:
            return self._write(list(told.values()), started)
        except DataError:
            for each in told.values():
                _sift(each.rows)
            return self._write(list(told.values()), started)

    def _write(self, told: list[_Told], started: float) -> Applied:
        bad = {each.kind.kind: self._bad_after(each) for each in told}
        now, clock = timezone.now(), self._clock()
        changed, kinds = 0, set()
        events = sum(each.received for each in told)
        with transaction.atomic():
            generation = locked(self.cluster, self.claim).generation + 1
            known = {row.kind: row for row in KindSync.objects.filter(cluster=self.cluster)}
            for each in told:
                name = each.kind.kind
                status = known.get(name) or KindSync(cluster=self.cluster, kind=name, attempted_at=now)
                first = status.listed_at is None
                _note(each, status, bad[name], lambda moment: now - timedelta(seconds=clock - moment))
                written = self._write_kind(each, status, generation, first=first)
                if written:
                    changed += written
                    kinds.add(name)
                status.save()
                for reason in each.failures:
                    count(self.cluster, "sync_failures", reason)
            if changed:
                Cluster.objects.filter(pk=self.cluster.pk).update(generation=generation)
            if events:
                count(self.cluster, "batches", total=self._clock() - started)
        self._bad.update(bad)
        return Applied(changed, frozenset(kinds), events)

    def _write_kind(self, told: _Told, status: KindSync, generation: int, *, first: bool) -> int:
        if told.state is None and not told.events:
            return 0
        written = write_objects(told.existing(self.cluster), told.rows.good.values(), generation, first=first)
        if told.state is not None:
            status.object_count = len(told.rows.good) + len(told.rows.bad)
        else:
            status.object_count = max(0, status.object_count + written.created - written.deleted)
        return written.total

    def _bad_after(self, told: _Told) -> dict[Key, str]:
        before = {} if told.state is not None else self._bad.get(told.kind.kind, {})
        return {key: why for key, why in before.items() if key not in told.events} | told.rows.bad


def _note(told: _Told, status: KindSync, bad: dict[Key, str], at: Callable[[float], datetime]) -> None:
    """Put on a kind's row what the batch said of it."""
    if told.state is not None:
        note_listing(status, told.state, Rows(bad=bad), at(told.listed))
    if told.listing is not None and told.listing is not told.state:
        note_listing(status, told.listing, Rows(), at(told.listed))
    elif told.state is None and status.outcome == "complete":
        status.reason = storable(Rows(bad=bad).told)
    if told.version:
        status.resource_version = text(told.version, 64)
    if told.confirmed is not None:
        status.confirmed_at = at(told.confirmed)
    if told.last_event is not None:
        status.last_event_at = at(told.last_event)
    status.events += told.received
    if told.watching is not None:
        status.watching, status.watch_trouble = told.watching, storable(told.trouble)


def _sift(rows: Rows) -> None:
    """Set aside what the database doesn't take, trying one after the other and keeping nothing of it."""
    fields = ["uid", "resource_version", "manifest", "digest"]
    with transaction.atomic():
        for key, row in list(rows.good.items()):
            try:
                with transaction.atomic():
                    StoredObject.objects.bulk_create(
                        [row],
                        update_conflicts=True,
                        unique_fields=["cluster", "kind", "namespace", "name"],
                        update_fields=fields,
                    )
            except DataError as error:
                rows.bad[key] = type(error).__name__
                del rows.good[key]
        transaction.set_rollback(True)
    for row in rows.good.values():
        row.pk = None


def _key(manifest: dict[str, object]) -> Key:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return text(metadata.get("namespace"), 253), text(metadata.get("name"), 253)
