"""How old what is shown is, and what went wrong when it was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q

from .models import Cluster

__all__ = ["Freshness", "freshness"]

FAILED = ("failed", "forbidden")


@dataclass(frozen=True, slots=True)
class Freshness:
    """A cluster with the age of its data.

    Attributes:
        cluster: the cluster.
        listed_at: when the oldest of its kinds was last read, None when none ever was.
        newest_at: when the newest was.
        failed: how many kinds the last attempt couldn't read.
        stale: whether objects are newer than the answers that the lists show.
    """

    cluster: Cluster
    listed_at: datetime | None
    newest_at: datetime | None
    failed: int
    stale: bool

    @property
    def problem(self) -> bool:
        """Whether the last attempt failed in whole or in part."""
        return bool(self.failed or self.cluster.sync_error)


def freshness() -> list[Freshness]:
    """Every cluster, those with problems first, then the oldest data first. One query."""
    rows = Cluster.objects.annotate(
        oldest=Min("kinds__listed_at"),
        newest=Max("kinds__listed_at"),
        failed=Count("kinds", filter=Q(kinds__outcome__in=FAILED)),
    )
    found = [
        Freshness(row, row.oldest, row.newest, row.failed, row.evaluated_generation < row.generation) for row in rows
    ]
    return sorted(
        found, key=lambda each: (not each.problem, each.listed_at is not None, each.listed_at, each.cluster.name)
    )
