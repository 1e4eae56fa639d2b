"""Keeps evaluations away for a moment, for what changes findings of many clusters at once."""

from __future__ import annotations

from .models import Cluster

__all__ = ["hold_clusters"]


def hold_clusters() -> None:
    """Lock every cluster's row until the transaction ends: who evaluates one holds its row first."""
    list(Cluster.objects.select_for_update().order_by("pk").values_list("pk", flat=True))
