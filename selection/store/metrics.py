"""What metrics tell of the clusters: how reading them goes, and what the rules say of their services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from .freshness import Freshness, freshness
from .models import ConflictRow, KindSync, ServiceResult, StoredObject, Tally

__all__ = ["Labels", "Measured", "measure"]

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything at one moment. Mappings are by cluster and what stands in the description.

    Attributes:
        clusters: each with its freshness.
        kinds: how reading each kind of each cluster goes.
        tallies: what the processes that sync have counted.
        objects: by kind.
        services: by outcome.
        conflicts: by code.
    """

    clusters: Sequence[Freshness]
    kinds: Sequence[KindSync]
    tallies: Sequence[Tally]
    objects: Mapping[Labels, int]
    services: Mapping[Labels, int]
    conflicts: Mapping[Labels, int]


def measure() -> Measured:
    """Count everything. Six queries, each over an index where the table is large."""
    return Measured(
        clusters=freshness(),
        kinds=list(KindSync.objects.select_related("cluster")),
        tallies=list(Tally.objects.select_related("cluster")),
        objects=_counted(StoredObject, "kind"),
        services=_counted(ServiceResult, "outcome"),
        conflicts=_counted(ConflictRow, "code"),
    )


def _counted(model: type[StoredObject | ServiceResult | ConflictRow], field: str) -> dict[Labels, int]:
    rows = model._default_manager.order_by().values_list("cluster__name", field)
    return {(cluster, value): count for cluster, value, count in rows.annotate(rows=Count("pk"))}
