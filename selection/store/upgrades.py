"""The preview of the upgrade from v1.2 to v1.3 for a stored cluster: computed once for each generation, kept in memory.

Judging ten thousand services by two releases takes seconds. So a page gets what is there, if need be of an older
generation, and a thread computes the next one; only few services are judged while somebody waits.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from selection.rules.objects import ObjectRef
from selection.rules.upgrade import UpgradePreview
from selection.rules.upgrade_fields import WORDS
from selection.rules.upgrade_preview import upgrade_preview

from .fleets import fleet_of
from .models import Cluster, StoredObject
from .sight import Sight, current_sight, seeing
from .uncollected import uncollected

__all__ = ["FEW", "Previewed", "compute_preview", "manifests_beside", "preview_of"]

FEW = 200
"""So many services are judged within a tenth of a second, so that nobody needs to come back."""

_SPELL = 0.004
"""Seconds that a thread judges before it lets the pages of this process have a turn of the same length."""

_NAMES = 500
"""So many names are asked for at once."""

_KEPT = 16
Key = tuple[int, frozenset[str] | None]
"""A cluster's primary key, and the namespaces that are seen of it, None for all."""
_kept: OrderedDict[Key, Previewed] = OrderedDict()
_lock = threading.Lock()
_computing: dict[Key, threading.Lock] = {}


@dataclass(frozen=True, slots=True)
class Previewed:
    """A preview and what it was computed from: the cluster's generation, by the rules of which release it is judged."""

    generation: int
    version: str
    preview: UpgradePreview

    def of(self, cluster: Cluster) -> bool:
        """Whether it is the cluster's as it stands."""
        return (self.generation, self.version) == (cluster.generation, cluster.ome_version)


def preview_of(cluster: Cluster) -> Previewed | None:
    """What is known without waiting: the newest preview, maybe of an older generation, None while there is none yet.

    Unless it is the newest, a thread computes the next one.
    """
    with _lock:
        known = _kept.get(_key(cluster))
    if known is not None and known.of(cluster):
        return known
    if len(fleet_of(cluster).services) <= FEW:
        return compute_preview(cluster)
    if not _computing_of(cluster).locked():
        threading.Thread(target=_compute_apart, args=(cluster, current_sight()), daemon=True).start()
    return known


def _at_once() -> None:
    """Go on with the next service."""


def compute_preview(cluster: Cluster, *, between: Callable[[], None] = _at_once) -> Previewed:
    """The preview of the cluster as it stands; computed now unless it is known.

    ``between`` is called between two services.
    """
    key = _key(cluster)
    with _computing_of(cluster):  # one thread computes, and the others wait for it
        with _lock:
            known = _kept.get(key)
        if known is not None and known.of(cluster):
            return known
        with uncollected():
            preview = upgrade_preview(fleet_of(cluster), manifests_beside(cluster), between=between)
        found = Previewed(cluster.generation, cluster.ome_version, preview)
        with _lock:
            _kept[key] = found
            _kept.move_to_end(key)
            while len(_kept) > _KEPT:
                _kept.popitem(last=False)
    return found


def _key(cluster: Cluster) -> Key:
    return cluster.pk, current_sight().namespaces(cluster.pk)


def _computing_of(cluster: Cluster) -> threading.Lock:
    with _lock:
        return _computing.setdefault(_key(cluster), threading.Lock())


def _compute_apart(cluster: Cluster, sight: Sight) -> None:
    try:
        with seeing(sight):
            compute_preview(cluster, between=_Turns())
    finally:
        connection.close()  # a thread of its own has one of its own


class _Turns:
    """Lets others run for half of the time: Python runs one thread at a time, and a page gives way at each query."""

    def __init__(self) -> None:
        self.since = time.perf_counter()

    def __call__(self) -> None:
        if time.perf_counter() - self.since > _SPELL:
            time.sleep(_SPELL)
            self.since = time.perf_counter()


def manifests_beside(cluster: Cluster, names: Collection[str] | None = None) -> Mapping[ObjectRef, Mapping[str, Any]]:
    """The services' manifests that have to be looked at beside the fleet; only of services of these names, unless None.

    One query, or one for every 500 names.
    """
    any_word = Q(pk__in=())
    for word in WORDS:
        any_word |= Q(text__contains=word)
    rows = StoredObject.objects.filter(cluster=cluster, kind="InferenceService")
    found = rows.annotate(text=Cast("manifest", TextField())).filter(any_word)
    wanted = sorted(names or ())
    parts = [wanted[start : start + _NAMES] for start in range(0, len(wanted), _NAMES)]
    return {
        ObjectRef("InferenceService", namespace, name): manifest
        for some in ([found] if names is None else [found.filter(name__in=part) for part in parts])
        for namespace, name, manifest in some.values_list("namespace", "name", "manifest")
    }
