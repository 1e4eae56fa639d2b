"""A cluster's objects as the rules' fleet, kept per process until the cluster changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from selection.rules.fleet import Fleet, read_fleet
from selection.rules.semantics import semantics_of

from .models import Cluster, StoredObject

__all__ = ["fleet_of", "load_fleet"]

# More clusters than this share the memory by turns; a fleet of 10,000 services takes some hundred megabytes.
_KEPT = 4
_fleets: OrderedDict[tuple[int, int, str], Fleet] = OrderedDict()
_lock = threading.Lock()


def fleet_of(cluster: Cluster) -> Fleet:
    """The cluster's fleet as of ``cluster.generation``; the same object until the cluster changes."""
    key = (cluster.pk, cluster.generation, cluster.ome_version)
    with _lock:
        fleet = _fleets.get(key)
        if fleet is not None:
            _fleets.move_to_end(key)
            return fleet
    fleet = load_fleet(cluster)
    with _lock:
        for known in [known for known in _fleets if known[0] == cluster.pk]:
            del _fleets[known]
        _fleets[key] = fleet
        while len(_fleets) > _KEPT:
            _fleets.popitem(last=False)
    return fleet


def load_fleet(cluster: Cluster) -> Fleet:
    """Read the cluster's objects from the database anew."""
    return read_fleet(_manifests(cluster), semantics_of(cluster.ome_version))


def _manifests(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    rows = StoredObject.objects.filter(cluster=cluster).order_by("kind", "namespace", "name")
    yield from rows.values_list("manifest", flat=True).iterator(chunk_size=2000)
