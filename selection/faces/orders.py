"""The order in which a cluster's services leave MultiNode, computed once for each state of the cluster and kept.

A few plans are made while somebody waits. Hundreds take seconds, so a thread makes them; until it is done the order
of a moment before stands, with the moment that it is of.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.utils import timezone

from selection.faces.migrating import fleet_order
from selection.faces.pages.plan_parts import stored_manifests
from selection.rules.migration_order import FleetOrder
from selection.store.fleets import fleet_of
from selection.store.models import Cluster
from selection.store.sight import Sight, current_sight, seeing
from selection.store.uncollected import uncollected
from selection.store.waiting import on_the_way

__all__ = ["AT_ONCE", "Ordered", "forget_orders", "make_order", "order_of"]

AT_ONCE = 20
"""So many services are planned while the reader waits: a plan takes some ten milliseconds."""

REST = 4
"""A thread rests so many times as long as it took, so that one that changes all the time leaves room for pages."""

RESTING = 256
"""So many rests are remembered."""

_KEPT = 16
Key = tuple[int, frozenset[str] | None]
"""A cluster's primary key, and the namespaces that are seen of it, None for all."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order.

    Attributes:
        generation: of which state of the cluster it is.
        version: by which release's rules.
        order: the order itself.
        at: when it was computed.
        took: how many seconds that took.
        fresh: whether the cluster is still in that state.
    """

    generation: int
    version: str
    order: FleetOrder
    at: datetime
    took: float
    fresh: bool = True


_kept: OrderedDict[Key, Ordered] = OrderedDict()
_running: dict[Key, threading.Thread] = {}
_rests: dict[Key, float] = {}
_lock = threading.Lock()


def order_of(cluster: Cluster) -> Ordered | None:
    """The cluster's order; an older one, or None at first, while a thread makes it for many services."""
    with _lock:
        known = _kept.get(_key(cluster))
    if known is not None and _is_of(known, cluster):
        return known
    if on_the_way(cluster) <= AT_ONCE:
        return make_order(cluster)
    _begin(cluster)
    if known is None or known.version != cluster.ome_version:
        return None
    return Ordered(known.generation, known.version, known.order, known.at, known.took, fresh=False)


def forget_orders() -> None:
    """Wait for the threads and forget every order: for tests, where primary keys begin anew."""
    for thread in list(_running.values()):
        thread.join()
    with _lock:
        _kept.clear()
        _rests.clear()


def _is_of(known: Ordered, cluster: Cluster) -> bool:
    return (known.generation, known.version) == (cluster.generation, cluster.ome_version)


def make_order(cluster: Cluster) -> Ordered:
    """Make the cluster's order now, however long that takes, and keep it."""
    begun, key = time.monotonic(), _key(cluster)
    fleet = fleet_of(cluster)
    with uncollected():
        order = fleet_order(fleet, stored_manifests(cluster))
    took = time.monotonic() - begun
    found = Ordered(cluster.generation, cluster.ome_version, order, timezone.now(), took)
    with _lock:
        _kept[key] = found
        _kept.move_to_end(key)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
        _rests[key] = time.monotonic() + REST * took
        while len(_rests) > RESTING:
            del _rests[next(iter(_rests))]
    return found


def _key(cluster: Cluster) -> Key:
    return cluster.pk, current_sight().namespaces(cluster.pk)


def _begin(cluster: Cluster) -> None:
    """Have a thread compute the order, unless one does or the last one has just done."""
    key = _key(cluster)
    with _lock:
        if key in _running or time.monotonic() < _rests.get(key, 0.0):
            return
        thread = threading.Thread(target=_work, args=(cluster, key, current_sight()), name="order", daemon=True)
        _running[key] = thread
    thread.start()


def _work(cluster: Cluster, key: Key, sight: Sight) -> None:
    try:
        with seeing(sight):
            make_order(cluster)
    except Exception:
        # The page says that the order is being computed, and the next look begins anew.
        _log.exception("computing the order of %s failed", cluster.name)
    finally:
        with _lock:
            _running.pop(key, None)
        connection.close()  # a thread of its own has one of its own
