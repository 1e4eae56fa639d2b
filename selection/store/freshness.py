"""How old what is shown is, whether it follows its cluster, and what went wrong when it was read."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from .models import Cluster
from .sight import EVERYTHING, current_sight, seeing

__all__ = ["ALIVE", "FAILED", "Freshness", "freshness", "recent_freshness"]

FAILED = ("failed", "forbidden")

ALIVE = timedelta(seconds=20)
"""A holder that hasn't said for so long that it is there watches nothing any more."""

RECENT = 0.25
"""Seconds for which those who look at the same time share one look at the database."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """A cluster with the age of its data.

    Attributes:
        cluster: the cluster.
        listed_at: when the oldest of its kinds was last known to be what the cluster has, None when none ever was.
        newest_at: when the newest was.
        failed: how many kinds the last attempt couldn't read.
        stale: whether objects are newer than the answers that the lists show.
        read: how many kinds were read whole.
        watched: how many of those a living process watches.
        last_event_at: when the last event of any kind came, None when none ever did.
        held: whether a process that watches it is alive.
    """

    cluster: Cluster
    listed_at: datetime | None
    newest_at: datetime | None
    failed: int
    stale: bool
    read: int
    watched: int
    last_event_at: datetime | None
    held: bool

    @property
    def live(self) -> bool:
        """Whether every kind that was read is watched: what is shown is what the cluster has."""
        return self.held and 0 < self.read == self.watched

    @property
    def unwatched(self) -> int:
        """How many kinds were read, and aren't watched although somebody follows the cluster."""
        return self.read - self.watched if self.held else 0

    @property
    def left(self) -> bool:
        """Whether it is to be followed and no process does."""
        return self.cluster.followed and not self.held

    @property
    def problem(self) -> bool:
        """Whether the last attempt failed in whole or in part."""
        return bool(self.failed or self.cluster.sync_error)


def freshness() -> list[Freshness]:
    """Every cluster, those with problems first, then the oldest data first, those that are live last. One query."""
    known = Greatest(Coalesce("kinds__confirmed_at", "kinds__listed_at"), F("kinds__listed_at"))
    rows = Cluster.objects.annotate(
        oldest=Min(known),
        newest=Max(known),
        last_event=Max("kinds__last_event_at"),
        failed=Count("kinds", filter=Q(kinds__outcome__in=FAILED)),
        read=Count("kinds", filter=Q(kinds__outcome="complete")),
        watched=Count("kinds", filter=Q(kinds__outcome="complete", kinds__watching=True)),
    )
    now = timezone.now()
    found = [_freshness(row, now) for row in rows]
    return sorted(
        found,
        key=lambda each: (
            not (each.problem or each.left),
            each.live,
            each.listed_at is not None,
            each.listed_at,
            each.cluster.name,
        ),
    )


def _freshness(row: Any, now: datetime) -> Freshness:
    held = row.heartbeat_at is not None and now - row.heartbeat_at < ALIVE
    return Freshness(
        cluster=row,
        listed_at=row.oldest,
        newest_at=row.newest,
        failed=row.failed,
        stale=row.evaluated_generation < row.generation,
        read=row.read,
        watched=row.watched if held else 0,
        last_event_at=row.last_event,
        held=held,
    )


_lock = threading.Lock()
_recent: tuple[float, list[Freshness]] | None = None


def recent_freshness() -> list[Freshness]:
    """The same as :func:`freshness`, at most a quarter of a second old: a hundred open pages ask once.

    It is asked for everybody, and each gets the clusters that are seen.

    While one thread looks, the others that ask wait for what it finds.
    """
    global _recent
    with _lock:
        now = time.monotonic()
        if _recent is None or now - _recent[0] > RECENT:
            with seeing(EVERYTHING):
                _recent = (now, freshness())
        found = _recent[1]
    sight = current_sight()
    return found if sight.everything else [each for each in found if sight.sees(each.cluster.pk)]
