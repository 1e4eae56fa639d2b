"""Reads how well each cluster was read: kind by kind, and the objects that can't be judged."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from .freshness import ALIVE, FAILED, Freshness, freshness
from .models import Cluster, KindSync, StoredObject

__all__ = ["STATES", "ClusterHealth", "cluster_health", "kind_rows", "unreadable_objects"]

STATES = ("unreached", "left", "starting", "partly", "live", "once", "never")
"""How a cluster is doing, in one word, see :attr:`ClusterHealth.state`."""


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """A cluster with how it is followed, and what is stored of it.

    Attributes:
        fresh: its age, and who watches what.
        kinds: how many kinds reading was tried for.
        events: how many events were ever received.
        objects: how many objects are stored.
        unreadable: how many of those can't be judged.
    """

    fresh: Freshness
    kinds: int
    events: int
    objects: int
    unreadable: int

    @property
    def cluster(self) -> Cluster:
        """The cluster itself."""
        return self.fresh.cluster

    @property
    def failed(self) -> int:
        """How many kinds the last attempt couldn't read."""
        return self.fresh.failed

    @property
    def state(self) -> str:
        """One of :data:`STATES`, the first that holds.

        ``unreached``: the last attempt failed as a whole; ``left``: it is to be followed and no process does;
        ``starting``: a process holds it and has read nothing yet; ``partly``: some kinds couldn't be read or aren't
        watched; ``live``: everything is watched; ``once``: it was read and isn't followed; ``never``: not even read.
        """
        fresh = self.fresh
        if fresh.cluster.sync_error:
            return "unreached"
        if fresh.left:
            return "left"
        if fresh.held and not (fresh.read or fresh.failed):
            return "starting"
        if fresh.failed or fresh.unwatched:
            return "partly"
        if fresh.live:
            return "live"
        return "once" if fresh.listed_at else "never"


def cluster_health() -> list[ClusterHealth]:
    """Every cluster, those with problems first. Four queries."""
    objects = _per_cluster(StoredObject.objects.all())
    unreadable = _per_cluster(unreadable_objects())
    counted = KindSync.objects.order_by().values_list("cluster").annotate(Count("pk"), Sum("events"))
    kinds = {pk: (count, events) for pk, count, events in counted}
    return [
        ClusterHealth(
            each,
            *kinds.get(each.cluster.pk, (0, 0)),
            objects=objects.get(each.cluster.pk, 0),
            unreadable=unreadable.get(each.cluster.pk, 0),
        )
        for each in freshness()
    ]


def _per_cluster(rows: QuerySet[StoredObject]) -> dict[int, int]:
    return dict(rows.order_by().values_list("cluster").annotate(Count("pk")))


def kind_rows() -> QuerySet[KindSync]:
    """How the last read of each kind of each cluster went, and whether it is watched.

    ``trouble`` sorts what needs a person first: 0 for what failed, 1 for what isn't watched although a process follows
    the cluster. ``watched`` and ``held`` are 1 when a living process watches the kind, or follows the cluster.
    """
    held = Q(cluster__heartbeat_at__gt=timezone.now() - ALIVE)
    trouble = Case(
        When(outcome__in=FAILED, then=Value(0)),
        When(held & Q(outcome="complete", watching=False), then=Value(1)),
        When(outcome="not-served", then=Value(3)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return KindSync.objects.select_related("cluster").annotate(
        trouble=trouble,
        watched=_flag(held & Q(outcome="complete", watching=True)),
        held=_flag(held),
    )


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def unreadable_objects() -> QuerySet[StoredObject]:
    """The objects that were read and can't be judged, without their manifests."""
    return StoredObject.objects.exclude(problem_message="").select_related("cluster").defer("manifest")
