"""What changed, for people who look: lists, timelines and counts of changes.

A timeline tells moments. One object's change may be felt by ten thousand services, so a moment holds a few of its
changes and says how many there are; the list of changes, filtered by the cause, has them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from selection.rules.objects import ObjectRef

from .models import Change, Cluster, ObjectChange

__all__ = [
    "DayCount",
    "Moment",
    "changes",
    "changes_per_day",
    "got_or_lost",
    "latest_changes",
    "model_timeline",
    "object_changes",
    "runtime_key",
    "runtime_of",
    "runtime_timeline",
    "service_timeline",
]

SHOWN = 5
"""So many of a moment's changes are told one by one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened at one time for one reason.

    Attributes:
        at: when it was seen.
        cause: the object's change that is the reason; None when none is, then each change's ``reason`` has words.
        changes: what became different, at most :data:`SHOWN` of them; empty when the object's change had no effect.
        count: how many changes there are in all.
    """

    at: datetime
    cause: ObjectChange | None
    changes: tuple[Change, ...] = ()
    count: int = 0

    @property
    def more(self) -> int:
        """How many changes aren't told one by one."""
        return self.count - len(self.changes)


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many changes a cluster had on one day (UTC)."""

    day: date
    cluster: int
    count: int


def runtime_key(ref: ObjectRef | None) -> str:
    """A runtime as a change names it: ``kind/namespace/name``; ``""`` for none.

    >>> runtime_key(ObjectRef("ClusterServingRuntime", "", "vllm"))
    'ClusterServingRuntime//vllm'
    """
    return f"{ref.kind}/{ref.namespace}/{ref.name}" if ref is not None and ref.name else ""


def runtime_of(key: str) -> ObjectRef | None:
    """The runtime that a change names, or None when it names none.

    >>> runtime_of("ServingRuntime/ml/vllm"), runtime_of("")
    (ObjectRef(kind='ServingRuntime', namespace='ml', name='vllm'), None)
    """
    kind, _, rest = key.partition("/")
    namespace, _, name = rest.partition("/")
    return ObjectRef(kind, namespace, name) if name else None


def changes() -> QuerySet[Change]:
    """Every change with its cluster and its cause, the newest first: what a list filters and pages. One query."""
    return Change.objects.select_related("cluster", "cause")


def object_changes(cluster: Cluster, ref: ObjectRef) -> QuerySet[ObjectChange]:
    """How one object itself changed, the newest first. One query."""
    return ObjectChange.objects.filter(cluster=cluster, kind=ref.kind, namespace=ref.namespace, name=ref.name)


def got_or_lost(cluster: Cluster, ref: ObjectRef) -> QuerySet[Change]:
    """The changes by which a service got this runtime, or lost it. One query."""
    key = runtime_key(ref)
    # Each half by its own index; asked for together, SQLite would look through all of the cluster's. That they are
    # changes of a runtime needs no saying, since nothing else is written like that: it would take that index instead.
    rows = Change.objects.filter(cluster=cluster).order_by().values("pk")
    return Change.objects.filter(Q(pk__in=rows.filter(before=key)) | Q(pk__in=rows.filter(after=key)))


def latest_changes(count: int = 10) -> list[Change]:
    """The newest changes of all clusters. One query."""
    return list(changes()[:count])


def changes_per_day(days: int, *, now: datetime | None = None) -> list[DayCount]:
    """How many changes each cluster had on each of the last days (UTC), today included, the oldest first. One query.

    Days and clusters without a change are left out.
    """
    today = (now or timezone.now()).date()
    starts = [_midnight(today - timedelta(days=back)) for back in reversed(range(days))]
    # A count of each day follows an index; grouping by the day would make a text of every moment, and sort them.
    counts = {
        f"day_{place}": Subquery(
            Change.objects.filter(cluster=OuterRef("pk"), at__gte=start, at__lt=start + timedelta(days=1))
            .order_by()
            .values("cluster")
            .annotate(count=Count("pk"))
            .values("count")
        )
        for place, start in enumerate(starts)
    }
    rows = list(Cluster.objects.order_by("pk").annotate(**counts).values_list("pk", *counts))
    return [
        DayCount(start.date(), cluster, found[place])
        for place, start in enumerate(starts)
        for cluster, *found in rows
        if found[place]
    ]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), tzinfo=UTC)


def service_timeline(cluster: Cluster, namespace: str, name: str, *, limit: int = 50) -> list[Moment]:
    """What became different for a service, and how it changed itself, also without effect; newest first.

    At most four queries.

    Args:
        cluster: its cluster.
        namespace: its namespace.
        name: its name.
        limit: how many moments at most.
    """
    felt = Change.objects.filter(cluster=cluster, namespace=namespace, service=name)
    return _timeline(felt, object_changes(cluster, ObjectRef("InferenceService", namespace, name)), limit)


def runtime_timeline(cluster: Cluster, ref: ObjectRef, *, limit: int = 50) -> list[Moment]:
    """When services got a runtime or lost it, what its own changes caused, and those without effect; newest first.

    At most five queries.
    """
    own = object_changes(cluster, ref)
    won = got_or_lost(cluster, ref)
    caused = Change.objects.filter(cause__in=own.order_by().values("pk"))
    return _merged(
        _moments(won.exclude(cause__in=own.order_by().values("pk")), limit), _timeline(caused, own, limit), limit
    )


def model_timeline(cluster: Cluster, ref: ObjectRef, *, limit: int = 50) -> list[Moment]:
    """How a model changed, and what that caused, also without effect; newest first. At most four queries."""
    own = object_changes(cluster, ref)
    return _timeline(Change.objects.filter(cause__in=own.order_by().values("pk")), own, limit)


def _timeline(felt: QuerySet[Change], own: QuerySet[ObjectChange], limit: int) -> list[Moment]:
    """The moments of some changes, and of an object's own changes that none of them names as its cause."""
    moments = _moments(felt, limit)
    told = {moment.cause.pk for moment in moments if moment.cause is not None}
    silent = [Moment(change.at, change) for change in own[:limit] if change.pk not in told]
    return _merged(moments, silent, limit)


def _moments(felt: QuerySet[Change], limit: int) -> list[Moment]:
    """Changes by cause and generation, a few of each."""
    groups = list(
        felt.order_by()
        .values_list("cause_id", "generation")
        .annotate(at=Max("at"), count=Count("pk"))
        .order_by("-at")[:limit]
    )
    if not groups:
        return []
    place = Window(RowNumber(), partition_by=[F("cause_id"), F("generation")], order_by="pk")
    oldest = min(generation for _, generation, _, _ in groups)
    some = felt.filter(generation__gte=oldest).order_by().annotate(place=place).filter(place__lte=SHOWN)
    by_group: dict[tuple[int | None, int], list[Change]] = {}
    rows = Change.objects.filter(pk__in=some.values("pk")).select_related("cause")
    for change in rows.order_by("namespace", "service", "pk"):
        by_group.setdefault((change.cause_id, change.generation), []).append(change)
    moments = []
    for cause, generation, at, count in groups:
        found = by_group.get((cause, generation), [])
        if found:  # else it was pruned between the queries
            moments.append(Moment(at, found[0].cause, tuple(found), count))
    return moments


def _merged(one: Iterable[Moment], other: Iterable[Moment], limit: int) -> list[Moment]:
    return sorted((*one, *other), key=lambda moment: moment.at, reverse=True)[:limit]
