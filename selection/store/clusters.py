"""What people do with a cluster beside having it followed: say what OME it runs, and forget it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from .evaluate import evaluate
from .freshness import ALIVE
from .models import Change, Cluster, ServiceResult, StoredObject
from .sight import EVERYTHING, seeing
from .versions import set_version, update_version

__all__ = ["AUTO", "Stored", "describe", "forget", "judge_described", "set_described", "stored_of"]

AUTO = "auto"
"""Stands for the release line that is found out from OME's own Deployment."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What goes with a cluster that is forgotten, in numbers."""

    objects: int
    services: int
    changes: int


def stored_of(cluster: Cluster) -> Stored:
    """What is stored of a cluster. Three queries."""
    return Stored(
        StoredObject.objects.filter(cluster=cluster).count(),
        ServiceResult.objects.filter(cluster=cluster).count(),
        Change.objects.filter(cluster=cluster).count(),
    )


@seeing(EVERYTHING)
def describe(cluster: Cluster, ome_namespace: str, ome_version: str) -> None:
    """Say where OME is installed in a cluster, and which release line it is; judge it anew if that matters.

    A cluster that a process follows is judged by that process.

    Args:
        cluster: the cluster.
        ome_namespace: a namespace's name; what is read there is read from the next sync on.
        ome_version: a release line that is known, or :data:`AUTO`.
    """
    set_described(cluster, ome_namespace, ome_version)
    judge_described(cluster)


@seeing(EVERYTHING)
def set_described(cluster: Cluster, ome_namespace: str, ome_version: str) -> None:
    """Keep what :func:`describe` is told, and leave judging to :func:`judge_described`."""
    source = Cluster.VersionSource
    with transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(ome_namespace=ome_namespace)
        cluster.refresh_from_db()
        if ome_version != AUTO:
            set_version(cluster, ome_version, source.SET)
        elif cluster.ome_version_source == source.SET:
            set_version(cluster, cluster.ome_version, source.DEFAULT)
            update_version(cluster)
    cluster.refresh_from_db()


@seeing(EVERYTHING)
def judge_described(cluster: Cluster) -> None:
    """Judge a cluster anew where what was said of it matters, unless a process that follows it does."""
    followed = cluster.heartbeat_at is not None and timezone.now() - cluster.heartbeat_at < ALIVE
    if cluster.generation != cluster.evaluated_generation and not followed:
        evaluate(cluster)


@seeing(EVERYTHING)
def forget(cluster: Cluster) -> None:
    """Remove everything that was read of a cluster, and what happened to it. A process that follows it lets go."""
    cluster.delete()
