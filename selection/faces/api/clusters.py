"""Clusters: how each is followed, how old what is stored of it is, and what is in it."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from selection.faces.api.lists import list_shape
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.sequences import Entry, SequenceView
from selection.faces.api.shapes import Shape, flag, moment, number, text
from selection.faces.api.states import of_reading
from selection.faces.api.views import ReadView
from selection.store.health import STATES, ClusterHealth, cluster_health

__all__ = ["ClusterDetail", "ClusterList"]


class ClusterRow(Shape):
    """A cluster, or a set of files that stands for one."""

    name = text("The name.")
    state = text(f"One of {', '.join(STATES)}.")
    source = text("Where it was read from, in words.")
    ome_version = text("The release line of OME by whose rules it is judged.")
    ome_version_source = text("`detected`, `set` by a person, or `default`.")
    ome_namespace = text("Where OME is installed.")
    generation = number("Grows with every change of its objects.")
    evaluated_generation = number("The generation that the answers are of.")
    stale = flag("Whether objects are newer than the answers.")
    followed = flag("Whether a process is to watch it.")
    live = flag("Whether every kind that was read is watched.")
    listed_at = moment("When the oldest of its kinds was last known to be what the cluster has.", null=True)
    newest_at = moment("When the newest was.", null=True)
    last_event_at = moment("When the last event came.", null=True)
    sync_started_at = moment("When the last sync began.", null=True)
    sync_finished_at = moment("When it ended.", null=True)
    sync_error = text("Why it failed as a whole.")
    lag_ms = number("From the arrival of the last event to its answers, in milliseconds.", null=True)
    kinds = number("How many kinds reading was tried for.")
    failed = number("How many of them couldn't be read.")
    unwatched = number("How many were read and aren't watched although a process follows the cluster.")
    events = number("How many events were ever received.")
    objects = number("How many objects are stored.")
    unreadable = number("How many of them can't be judged.")
    self = text("The path of this resource.")


def _value(each: ClusterHealth) -> dict[str, Any]:
    cluster, fresh = each.cluster, each.fresh
    own = (
        *("name", "source", "ome_version", "ome_version_source", "ome_namespace", "generation"),
        *("evaluated_generation", "followed", "sync_started_at", "sync_finished_at", "sync_error", "lag_ms"),
    )
    told = {name: getattr(cluster, name) for name in own}
    told |= {name: getattr(fresh, name) for name in ("stale", "live", "listed_at", "newest_at", "last_event_at")}
    told |= {name: getattr(each, name) for name in ("state", "kinds", "failed", "events", "objects", "unreadable")}
    return {**told, "unwatched": fresh.unwatched, "self": address("cluster", {"cluster": cluster.name})}


class ClusterList(SequenceView):
    """List clusters."""

    operation, tag = "listClusters", "clusters"
    row, shape = ClusterRow, list_shape(ClusterRow)
    by = "name"

    def state(self, **names: str) -> Hashable:
        """How reading goes."""
        return of_reading()

    def entries(self, **names: str) -> list[Entry]:
        """Every cluster that is seen."""
        return [((each.cluster.name,), partial(_value, each)) for each in cluster_health()]


class ClusterDetail(ReadView):
    """Read a cluster.

    The same as its row in the list.
    """

    operation, tag, shape = "readCluster", "clusters", ClusterRow

    def state(self, **names: str) -> Hashable:
        """How reading goes."""
        return of_reading()

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The cluster's row."""
        found = next((each for each in cluster_health() if each.cluster.name == names["cluster"]), None)
        if found is None:
            raise NotFound(f"There is no cluster {names['cluster']}.")
        return _value(found)
