"""Reads how well each cluster was read: kind by kind, and the objects that can't be judged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, IntegerField, Min, Q, QuerySet, Value, When

from .freshness import FAILED
from .models import Cluster, KindSync, StoredObject

__all__ = ["ClusterHealth", "cluster_health", "kind_rows", "unreadable_objects"]


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """A cluster with how many kinds are read, how many couldn't be, and how many objects are stored and unreadable."""

    cluster: Cluster
    kinds: int
    failed: int
    objects: int
    unreadable: int
    oldest: datetime | None

    @property
    def stale(self) -> bool:
        """Whether objects are newer than the answers that the lists show."""
        return self.cluster.evaluated_generation < self.cluster.generation


def cluster_health() -> list[ClusterHealth]:
    """Every cluster by name. Three queries."""
    clusters = Cluster.objects.annotate(
        kind_count=Count("kinds"),
        failed=Count("kinds", filter=Q(kinds__outcome__in=FAILED)),
        oldest=Min("kinds__listed_at"),
    )
    objects = _per_cluster(StoredObject.objects.all())
    unreadable = _per_cluster(unreadable_objects())
    return [
        ClusterHealth(
            each, each.kind_count, each.failed, objects.get(each.pk, 0), unreadable.get(each.pk, 0), each.oldest
        )
        for each in clusters
    ]


def _per_cluster(rows: QuerySet[StoredObject]) -> dict[int, int]:
    return dict(rows.order_by().values_list("cluster").annotate(Count("pk")))


def kind_rows() -> QuerySet[KindSync]:
    """How the last read of each kind of each cluster went. ``trouble`` is 0 for what failed and sorts first."""
    trouble = Case(
        When(outcome__in=FAILED, then=Value(0)),
        When(outcome="not-served", then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return KindSync.objects.select_related("cluster").annotate(trouble=trouble)


def unreadable_objects() -> QuerySet[StoredObject]:
    """The objects that were read and can't be judged, without their manifests."""
    return StoredObject.objects.exclude(problem_message="").select_related("cluster").defer("manifest")
