"""A cluster's objects as the rules' fleet, kept per process and brought up to date by what changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.narrowing import narrowed
from selection.rules.objects import ObjectRef
from selection.rules.semantics import semantics_of

from .models import Cluster, StoredObject
from .sight import EVERYTHING, current_sight, seeing
from .uncollected import uncollected

__all__ = ["Loaded", "advance", "fleet_of", "load", "load_fleet", "read_ahead"]

MANY = 500
"""From so many changed objects on, reading a cluster anew is the quicker way."""

# More clusters than this share the memory by turns; a fleet of 10,000 services takes some hundred megabytes.
_KEPT = 8
_loaded: OrderedDict[int, Loaded] = OrderedDict()
_NARROWED = 64
"""So many fleets with some namespaces only are kept; they share what they hold with the whole ones."""
_narrowed: OrderedDict[tuple[int, frozenset[str]], tuple[Fleet, Fleet]] = OrderedDict()

_lock = threading.Lock()
_reading: dict[int, threading.Lock] = {}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A fleet as of one generation of its cluster. ``rows`` leads from primary keys to objects.

    ``changed`` are the objects that differ from the one it was advanced from.
    """

    generation: int
    version: str
    fleet: Fleet
    rows: dict[int, ObjectRef]
    changed: tuple[ObjectRef, ...] = ()


def fleet_of(cluster: Cluster) -> Fleet:
    """The cluster's fleet as of ``cluster.generation``; the same object until the cluster changes.

    It has the objects that are seen (:mod:`.sight`), and no others: none of a cluster that isn't seen.
    """
    sight = current_sight()
    if not sight.sees(cluster.pk):
        return Fleet(semantics_of(cluster.ome_version))
    namespaces = sight.namespaces(cluster.pk)
    whole = _whole_fleet(cluster)
    return whole if namespaces is None else _narrowed_fleet(cluster, whole, namespaces)


def _narrowed_fleet(cluster: Cluster, whole: Fleet, namespaces: frozenset[str]) -> Fleet:
    """The fleet with these namespaces only; the same object as long as the whole one is."""
    key = (cluster.pk, namespaces)
    with _lock:
        known = _narrowed.get(key)
        if known is not None and known[0] is whole:
            _narrowed.move_to_end(key)
            return known[1]
    new = narrowed(whole, namespaces)
    with _lock:
        # Those of an older state would keep that whole fleet in memory.
        for each in [each for each, (of, _) in _narrowed.items() if each[0] == cluster.pk and of is not whole]:
            del _narrowed[each]
        _narrowed[key] = (whole, new)
        while len(_narrowed) > _NARROWED:
            _narrowed.popitem(last=False)
    return new


@seeing(EVERYTHING)
def _whole_fleet(cluster: Cluster) -> Fleet:
    found = _fresh(cluster)
    if found is not None:
        return found.fleet
    with _lock:
        reading = _reading.setdefault(cluster.pk, threading.Lock())
    with reading:  # one thread reads, and the others that look at this cluster wait for it
        found = _fresh(cluster)
        if found is not None:
            return found.fleet
        known = _loaded.get(cluster.pk)
        new = (advance(cluster, known) if known else None) or load(cluster)
        with _lock:
            _loaded[cluster.pk] = new
            _loaded.move_to_end(cluster.pk)
            while len(_loaded) > _KEPT:
                _loaded.popitem(last=False)
    return new.fleet


def _fresh(cluster: Cluster) -> Loaded | None:
    """What is remembered of the cluster, unless it is another generation's."""
    with _lock:
        known = _loaded.get(cluster.pk)
    same = known is not None and (known.generation, known.version) == (cluster.generation, cluster.ome_version)
    return known if same else None


def read_ahead() -> None:
    """Read the clusters into memory before somebody looks: the first look at a large one takes seconds."""
    try:
        for cluster in Cluster.objects.all()[:_KEPT]:
            fleet_of(cluster)
    finally:
        connection.close()  # a thread of its own has one of its own


def load_fleet(cluster: Cluster) -> Fleet:
    """Read the cluster's objects from the database anew."""
    return load(cluster).fleet


@seeing(EVERYTHING)
def load(cluster: Cluster) -> Loaded:
    """Read the cluster's objects from the database anew."""
    rows: dict[int, ObjectRef] = {}

    def manifests() -> Iterator[Mapping[str, Any]]:
        found = StoredObject.objects.filter(cluster=cluster).order_by("kind", "namespace", "name")
        fields = ("pk", "kind", "namespace", "name", "manifest")
        for pk, kind, namespace, name, manifest in found.values_list(*fields).iterator(chunk_size=2000):
            rows[pk] = ObjectRef(kind, namespace, name)
            yield manifest

    with uncollected():
        fleet = read_fleet(manifests(), semantics_of(cluster.ome_version))
    return Loaded(cluster.generation, cluster.ome_version, fleet, rows)


@seeing(EVERYTHING)
def advance(cluster: Cluster, known: Loaded) -> Loaded | None:
    """Bring a fleet from its generation to the cluster's, or None when reading anew is the better way."""
    if known.version != cluster.ome_version or known.generation > cluster.generation:
        return None
    stored = StoredObject.objects.filter(cluster=cluster)
    newer = list(stored.filter(generation__gt=known.generation)[: MANY + 1])
    if len(newer) > MANY:
        return None
    put = {row.pk: ObjectRef(row.kind, row.namespace, row.name) for row in newer}
    gone = _gone(stored, known.rows, put)
    if len(newer) + len(gone) > MANY:
        return None
    rows = {**known.rows, **put}
    for pk in gone:
        del rows[pk]
    again = set(put.values())
    dropped = [ref for ref in gone.values() if ref not in again]
    fleet = evolved(known.fleet, [row.manifest for row in newer], dropped)
    return Loaded(cluster.generation, known.version, fleet, rows, (*put.values(), *dropped))


def _gone(
    stored: QuerySet[StoredObject], rows: dict[int, ObjectRef], put: dict[int, ObjectRef]
) -> dict[int, ObjectRef]:
    """The rows that aren't there any more. Mostly none is missing, and counting tells that sooner."""
    if stored.count() == len(rows.keys() | put.keys()):
        return {}
    present = set(stored.values_list("pk", flat=True))
    return {pk: ref for pk, ref in rows.items() if pk not in present}
