"""What people do with clusters: declare one, say what OME it runs, stop following it, forget it; each in the record.

Whether they may is for the caller to ask (``Act.ADD_CLUSTER``, ``DESCRIBE_CLUSTER``, ``FORGET_CLUSTER``).
"""

from __future__ import annotations

from typing import Any

from selection.store.clusters import AUTO, forget, judge_described, set_described
from selection.store.declarations import Declaration
from selection.store.declared import declare, undeclare
from selection.store.models import Cluster
from selection.store.sight import EVERYTHING, seeing

from .subjects import cluster_subject
from .writing import Writer, note, writing

__all__ = ["declare_cluster", "describe_cluster", "forget_cluster", "stop_following"]

PAGE = Cluster.DeclaredBy.PAGE


def declare_cluster(by: Writer, declaration: Declaration, ome_namespace: str, ome_version: str) -> Cluster:
    """Have a cluster followed from now on, and say where OME is in it and which release line that is.

    Raises:
        DeclarationError: it is declared already by somebody whose word counts more, or otherwise.
    """
    with writing():
        before = _told(_of(declaration.name))
        cluster = declare(declaration, PAGE)
        set_described(cluster, ome_namespace, ome_version)
        _note(by, "cluster-declared", cluster.name, before, _told(cluster))
    judge_described(cluster)
    return cluster


def describe_cluster(by: Writer, cluster: Cluster, ome_namespace: str, ome_version: str) -> None:
    """Say where OME is in a cluster and which release line that is; judge it anew where that matters."""
    with writing():
        before = _told(cluster)
        set_described(cluster, ome_namespace, ome_version)
        _note(by, "cluster-described", cluster.name, before, _told(cluster))
    judge_described(cluster)


def stop_following(by: Writer, cluster: Cluster) -> bool:
    """Stop following a cluster that was declared on a page; what was read of it stays. Says whether it was followed."""
    with writing():
        before = _told(cluster)
        stopped = undeclare(cluster.name, PAGE)
        if stopped:
            _note(by, "cluster-stopped", cluster.name, before, _told(_of(cluster.name)))
    return stopped


def forget_cluster(by: Writer, cluster: Cluster) -> None:
    """Remove everything that was read of a cluster; what people wrote of it stays."""
    with writing():
        before = _told(cluster)
        undeclare(cluster.name, PAGE)
        name = cluster.name
        forget(cluster)
        _note(by, "cluster-forgotten", name, before, None)


def _of(name: str) -> Cluster | None:
    with seeing(EVERYTHING):
        return Cluster.objects.filter(name=name).first()


def _told(cluster: Cluster | None) -> dict[str, Any] | None:
    """What the record keeps of a cluster: never a path of this server, nor an address."""
    if cluster is None:
        return None
    said = cluster.ome_version_source == Cluster.VersionSource.SET
    return {
        "followed": cluster.followed,
        "context": cluster.context,
        "ome_namespace": cluster.ome_namespace,
        "ome_version": cluster.ome_version if said else AUTO,
    }


def _note(by: Writer, act: str, name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
    if before == after:
        return
    if before is None or after is None:
        note(by, act, cluster_subject(name), before, after)
        return
    differing = [key for key in before if before[key] != after[key]]
    note(by, act, cluster_subject(name), *({key: told[key] for key in differing} for told in (before, after)))
