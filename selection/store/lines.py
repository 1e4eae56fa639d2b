"""The line to a cluster, as it is declared: what ``following`` takes its happenings from."""

from __future__ import annotations

from selection.cluster.config import Connection, from_kubeconfig, in_cluster
from selection.cluster.following import FollowedCluster, follow

from .models import Cluster

__all__ = ["open_line"]


def open_line(cluster: Cluster) -> FollowedCluster:
    """A line to the cluster, by the context or the service account that it was declared with.

    Its first connection is made here, so that a process that has no way to the cluster finds out at once and leaves
    it to others. Later ones are made by the line itself, whenever credentials may have expired.

    Raises:
        ConfigurationError: how to reach it isn't known.
    """
    access, kubeconfig, context = cluster.access, cluster.kubeconfig or None, cluster.context or None

    def connect() -> Connection:
        return in_cluster() if access == Cluster.Access.IN_CLUSTER else from_kubeconfig(kubeconfig, context)

    first = [connect()]
    source = f"{first[0].name} at {first[0].server}"
    Cluster.objects.filter(pk=cluster.pk).exclude(source=source[:500]).update(source=source[:500])
    return follow(lambda: first.pop() if first else connect(), ome_namespace=cluster.ome_namespace)
