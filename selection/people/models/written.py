"""What the models of what people write have in common: where a row belongs, by names, and who sees it."""

from __future__ import annotations

from typing import TypeVar

from django.db import models

from selection.store.sight import Sight, current_sight

__all__ = ["Written", "WrittenManager", "named_places", "narrowed"]

Row = TypeVar("Row", bound=models.Model)


def named_places(sight: Sight, through: str = "") -> models.Q:
    """The rows that are seen by the names of their cluster and namespace; ``through`` is the path that leads to them.

    What was written of a cluster that isn't known any more is only seen by who sees everything.
    """
    if sight.places is None:
        return models.Q()
    found = models.Q(pk__in=[])
    for place in sight.places:
        part = models.Q(**{f"{through}cluster": place.name})
        if place.namespaces is not None:
            part &= models.Q(**{f"{through}namespace__in": ["", *sorted(place.namespaces)]})
        found |= part
    return found


class WrittenManager(models.Manager[Row]):
    """Gives the rows that are seen (:mod:`selection.store.sight`)."""

    def get_queryset(self) -> models.QuerySet[Row]:
        """All rows that are seen."""
        return narrowed(super().get_queryset())


def narrowed(rows: models.QuerySet[Row]) -> models.QuerySet[Row]:
    """Those of the rows that are seen; under the sight of everything the same query."""
    sight = current_sight()
    return rows if sight.everything else rows.filter(named_places(sight))


class Written(models.Model):
    """A row that somebody wrote of a thing in a cluster.

    It names the cluster and the namespace, and never points at what a sync may delete; ``""`` is no namespace.
    """

    cluster = models.CharField(max_length=253, blank=True)
    namespace = models.CharField(max_length=253, blank=True)

    objects = WrittenManager()

    class Meta:
        abstract = True
