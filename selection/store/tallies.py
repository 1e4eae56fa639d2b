"""Counts that only grow, kept in the database so that one scrape tells what every process did."""

from __future__ import annotations

from django.db.models import F

from .models import Cluster, Tally

__all__ = ["count"]


def count(cluster: Cluster, name: str, label: str = "", *, times: int = 1, total: float = 0.0) -> None:
    """Add to a count of a cluster, and to the sum beside it (seconds, mostly). Call it where the cluster is locked."""
    rows = Tally.objects.filter(cluster=cluster, name=name, label=label)
    if not rows.update(count=F("count") + times, total=F("total") + total):
        Tally.objects.create(cluster=cluster, name=name, label=label, count=times, total=total)
