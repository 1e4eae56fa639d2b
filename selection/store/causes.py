"""Which object's change made a service's answer another.

What can touch a service is what the evaluation itself goes by: :mod:`selection.rules.reach`, asked of the fleet before
and after. A process that starts after another one died has no fleet from before; then it goes by the names that the
service's row before and the fleet after tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from django.db.models import Min

from selection.cluster.kinds import OME_MANAGER
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.reach import reach

from .models import Cluster, ObjectChange, ServiceResult, StoredObject

__all__ = ["Causes", "Key", "Reached"]

Key = tuple[str, str]
Reached = Mapping[ObjectRef, set[Key]]
"""The services that an object's change can touch, before or after."""

MANY = 500
"""From so many changed objects on, only names tell what the others can have touched."""
MOST_OTHERS = 20

SERVICE = "InferenceService"
_MODELS = ("BaseModel", "ClusterBaseModel")
_RUNTIMES = ("ServingRuntime", "ClusterServingRuntime")
_WORKLOADS = ("Deployment", "InferenceReplica", "LeaderWorkerSet")
_OWNER = "metadata.labels["


class Causes:
    """The objects that changed after one evaluation and up to the next.

    Args:
        cluster: the cluster.
        since: the generation that was judged before.
        until: the one that is judged now.
        old: the fleet that was judged before, None when it isn't known.
        new: the fleet that is judged now.
        reached: what the evaluation has found out already about what changed objects can touch.
    """

    def __init__(
        self, cluster: Cluster, since: int, until: int, old: Fleet | None, new: Fleet, reached: Reached
    ) -> None:
        self._cluster, self._since = cluster, since
        self._old, self._new, self._known = old, new, reached
        rows = ObjectChange.objects.filter(cluster=cluster, generation__gt=since, generation__lte=until)
        # Of an object that changed several times the last one stands for all.
        self._changes = {
            ObjectRef(row.kind, row.namespace, row.name): row
            for row in rows.order_by("generation", "pk").defer("differences")
        }

    def of(self, key: Key, before: ServiceResult | None, after: ServiceResult | None) -> list[ObjectChange]:
        """What can have changed the answer of one service, the most direct first: the service itself, the runtimes it
        got, gets or names, its model, other runtimes, and then accelerator classes, revisions and workloads.
        """
        if not self._changes:
            return []
        refs = dict.fromkeys(self._named(key, [row for row in (before, after) if row is not None]))
        refs |= dict.fromkeys(self._reaching.get(key, ()))
        found = [self._changes[ref] for ref in refs if ref in self._changes]
        return found or self._visible(key[0])

    def manager(self) -> ObjectChange | None:
        """The change of OME's own Deployment, whose image says which release runs."""
        return self._changes.get(ObjectRef("Deployment", self._cluster.ome_namespace, OME_MANAGER))

    @cached_property
    def first_read(self) -> list[str]:
        """The kinds that were read for the first time since: their objects leave no change."""
        stored = StoredObject.objects.filter(cluster=self._cluster).order_by()
        oldest = dict(stored.values_list("kind").annotate(oldest=Min("generation")))
        new = {kind for kind, generation in oldest.items() if generation > self._since}
        changed = ObjectChange.objects.filter(cluster=self._cluster, kind__in=new).order_by()
        return sorted(new - set(changed.values_list("kind", flat=True).distinct()))

    def _named(self, key: Key, rows: list[ServiceResult]) -> Iterator[ObjectRef]:
        namespace, name = key
        yield ObjectRef(SERVICE, namespace, name)
        runtimes = [ObjectRef(row.selected_kind, row.selected_namespace, row.selected_name) for row in reversed(rows)]
        for fleet in (self._new, self._old):
            service = fleet.services.get(key) if fleet is not None else None
            if service is not None and service.named_runtime:
                runtimes += _either(_RUNTIMES, namespace, service.named_runtime)
        # One that came or went explains more than one that stayed and changed.
        yield from sorted(dict.fromkeys(runtimes), key=self._stayed)
        for row in rows:
            yield from _either(_MODELS, namespace, row.model_name)

    def _stayed(self, ref: ObjectRef) -> bool:
        change = self._changes.get(ref)
        return change is None or change.act == ObjectChange.Act.CHANGED

    @cached_property
    def _reaching(self) -> dict[Key, list[ObjectRef]]:
        """By service, the objects that can touch it, other than by its own names: runtimes first."""
        found: dict[Key, list[ObjectRef]] = {}
        kinds = (*_RUNTIMES, "AcceleratorClass", "ControllerRevision")
        asked = [ref for kind in kinds for ref in self._changes if ref.kind == kind][:MANY]
        asked += [ref for ref in self._changes if ref.kind in _WORKLOADS]
        for ref in asked:
            for key in sorted(self._reached(ref)):
                found.setdefault(key, []).append(ref)
        return found

    def _reached(self, ref: ObjectRef) -> set[Key]:
        known = self._known.get(ref)
        if known is not None:
            return known
        services = set(reach(self._new, ref).services)
        if self._old is not None:
            services |= reach(self._old, ref).services
        elif ref.kind in _WORKLOADS:
            services |= self._owners.get(ref, set())
        return services

    @cached_property
    def _owners(self) -> dict[ObjectRef, set[Key]]:
        """The services of workloads, from what changed about their labels; they may be gone."""
        pks = [row.pk for ref, row in self._changes.items() if ref.kind in _WORKLOADS]
        found: dict[ObjectRef, set[Key]] = {}
        rows = ObjectChange.objects.filter(cluster=self._cluster, generation__gt=self._since, kind__in=_WORKLOADS)
        for row in rows.order_by() if pks else ():
            for each in row.differences:
                if each["path"].startswith(_OWNER) and "inferenceservice" in each["path"]:
                    names = {(each[side] or "").strip('"') for side in ("before", "after")} - {""}
                    owned = found.setdefault(ObjectRef(row.kind, row.namespace, row.name), set())
                    owned |= {(row.namespace, name) for name in names}
        return found

    def _visible(self, namespace: str) -> list[ObjectChange]:
        """What else changed where the service sees it, when not everything could be asked whom it touches."""
        asked = sum(ref.kind not in (SERVICE, *_MODELS) for ref in self._changes)
        if self._old is not None and asked <= MANY:
            return []
        kinds = (*_RUNTIMES, "AcceleratorClass", "ControllerRevision")
        seen = [ref for ref in self._changes if ref.kind in kinds]
        seen = [ref for ref in seen if ref.kind != "ServingRuntime" or ref.namespace == namespace]
        return [self._changes[ref] for ref in sorted(seen, key=lambda ref: (kinds.index(ref.kind), ref))]


def _either(kinds: tuple[str, str], namespace: str, name: str) -> list[ObjectRef]:
    """An object of this name in the namespace, and one in the whole cluster."""
    return [ObjectRef(kinds[0], namespace, name), ObjectRef(kinds[1], "", name)] if name else []
