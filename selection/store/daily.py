"""How the fleet stood on each day, so that progress can be seen: one small row for each cluster and day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, QuerySet
from django.utils import timezone

from .models import Cluster, ComponentResult, DailyCount
from .overview import OFF_MULTI_NODE, rows_of
from .sight import current_sight

__all__ = ["KEPT", "Stand", "note_day", "progress"]

KEPT = timedelta(days=400)
"""Older days are forgotten."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How far the migration was at the end of a day (UTC), or is now.

    Attributes:
        day: the day.
        multi_node: components that are, or were, on a LeaderWorkerSet.
        off: those of them that run in OMENative.
    """

    day: date
    multi_node: int
    off: int


def note_day(cluster: Cluster, *, changed: bool, now: datetime | None = None) -> None:
    """Keep how a cluster stands today; the last word of a day stays. Call it where the cluster is locked.

    Args:
        cluster: the cluster, just judged.
        changed: whether an answer is another one than before; if not, there is nothing to count when the day has a row.
        now: the moment, for tests.
    """
    day = (now or timezone.now()).date()
    row = DailyCount.objects.filter(cluster=cluster, day=day).first()
    if row is not None and not changed:
        return
    stands = _stands(_states(rows_of(ComponentResult, cluster)))
    if row is None:
        DailyCount.objects.create(cluster=cluster, day=day, **stands)
        DailyCount.objects.filter(cluster=cluster, day__lt=day - KEPT).delete()
    elif (row.multi_node, row.off) != (stands["multi_node"], stands["off"]):
        DailyCount.objects.filter(pk=row.pk).update(**stands)


def progress(cluster: Cluster | None = None, *, days: int = 90, now: datetime | None = None) -> list[Stand]:
    """How one cluster or all stood on each day, the oldest first, today last. One query.

    A day on which nobody looked stands as the day before. The first day is the first that all present clusters have,
    or ``days`` ago: a cluster that comes later would look like a step back. Days are kept of whole clusters, so who
    sees some namespaces only is told of today alone.
    """
    today = (now or timezone.now()).date()
    sight = current_sight()
    if not (sight.whole_everywhere if cluster is None else sight.whole(cluster.pk)):
        return _today(cluster, today)
    rows = DailyCount.objects.filter(day__lte=today)
    if cluster is not None:
        rows = rows.filter(cluster=cluster)
    told = rows.order_by("day").values_list("day", "cluster_id", "multi_node", "off")
    return list(_days(told, max_days=days, today=today))


def _today(cluster: Cluster | None, today: date) -> list[Stand]:
    """How the components that are seen stand now; nothing when there are none."""
    counts = _states(rows_of(ComponentResult, cluster))
    return [Stand(today, **_stands(counts))] if counts else []


def _states(rows: QuerySet[ComponentResult]) -> dict[str, int]:
    found = rows.exclude(migration="").order_by()
    return dict(found.values_list("migration").annotate(Count("pk")))


def _stands(counts: Mapping[str, int]) -> dict[str, int]:
    return {"multi_node": sum(counts.values()), "off": sum(counts.get(state, 0) for state in OFF_MULTI_NODE)}


def _days(rows: Iterable[tuple[date, int, int, int]], *, max_days: int, today: date) -> Iterable[Stand]:
    by_day: dict[date, dict[int, tuple[int, int]]] = {}
    firsts: dict[int, date] = {}
    for at, cluster, multi_node, off in rows:
        by_day.setdefault(at, {})[cluster] = multi_node, off
        firsts.setdefault(cluster, at)
    if not firsts:
        return
    day, first = min(firsts.values()), max(max(firsts.values()), today - timedelta(days=max_days - 1))
    stands: dict[int, tuple[int, int]] = {}
    while day <= today:
        stands |= by_day.get(day, {})
        if day >= first:
            yield Stand(day, sum(each[0] for each in stands.values()), sum(each[1] for each in stands.values()))
        day += timedelta(days=1)
