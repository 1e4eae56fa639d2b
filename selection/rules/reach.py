"""What the change of one object can touch, so that nothing else has to be judged again.

Ask before and after a change and take both answers together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from .accelerators import required_classes
from .fleet import Fleet, parent_of
from .formats import matching_entry
from .index import Key, entry_key, key_of, serves
from .objects import Model, ObjectRef, Problem, Runtime, Service

__all__ = ["Reach", "Reaching", "reach"]

_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_MODELS = frozenset({"BaseModel", "ClusterBaseModel"})


@dataclass(slots=True)
class Reach:
    """The services (by namespace and name), runtimes and models whose answer may differ."""

    services: set[tuple[str, str]] = field(default_factory=set)
    runtimes: set[ObjectRef] = field(default_factory=set)
    models: set[ObjectRef] = field(default_factory=set)

    def add(self, other: Reach) -> None:
        """Take in what another change reaches."""
        self.services |= other.services
        self.runtimes |= other.runtimes
        self.models |= other.models


def reach(fleet: Fleet, ref: ObjectRef) -> Reach:
    """What the object can touch as it stands in this fleet; nothing but itself when it isn't there.

    A change of how many candidates there are, or of whether one that isn't used can be read, touches nobody: an
    explanation counts and lists them when someone looks. Who uses a model or a runtime is counted, not touched.
    """
    return Reaching(fleet).of(ref)


class Reaching:
    """Tells what many objects of one fleet can touch: what they are looked up by is made once.

    The fleet must not change meanwhile.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._families: dict[str, frozenset[ObjectRef]] = {}

    def of(self, ref: ObjectRef) -> Reach:
        """What one object can touch: :func:`reach`."""
        if ref.kind == "InferenceService":
            return Reach({(ref.namespace, ref.name)})
        if ref.kind in _MODELS:
            return Reach(self._seeing(ref.namespace, self._by_model.get(ref.name, ())), set(), {ref})
        if ref.kind in _RUNTIMES:
            return self._of_runtime(ref)
        if ref in self.fleet.owners:
            return Reach({self.fleet.owners[ref]})
        if ref.kind == "ControllerRevision":
            services = self.fleet.services.items()
            return Reach(services={key for key, service in services if ref.name in _revisions(service)})
        if ref.kind == "AcceleratorClass":
            asking = {key for key, service in self.fleet.services.items() if ref.name in required_classes(service)}
            listing = {each.ref for each in self.fleet.runtimes.values() if ref.name in each.accelerator_classes}
            return Reach(asking, listing)  # the webhook refuses a runtime that lists a class which isn't there
        return Reach()

    def _of_runtime(self, ref: ObjectRef) -> Reach:
        """Who names it or a runtime that inherits from it, and who uses a model that it serves."""
        runtime = self.fleet.find_runtime(ref.namespace, ref.name)
        heirs = self._heirs(ref.name)
        served = self._served(runtime) if runtime is not None and not isinstance(runtime, Problem) else set()
        services: set[tuple[str, str]] = set()
        for name in {ref.name, *(heir.name for heir in heirs)} & self._by_runtime.keys():
            services |= self._seeing(ref.namespace, self._by_runtime[name])
        for name in {model.name for model in served}:
            for key in self._seeing(ref.namespace, self._by_model.get(name, ())):
                model = self.fleet.find_model(key[0], name)
                if isinstance(model, Model) and model.ref in served:
                    services.add(key)
        return Reach(services, {ref, *heirs}, served)

    def _seeing(self, namespace: str, keys: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of these services that see an object of this scope."""
        return {key for key in keys if not namespace or key[0] == namespace}

    def _heirs(self, name: str) -> frozenset[ObjectRef]:
        """The runtimes that have one of this name among their ancestors, or ask for one.

        By name alone: an object that comes or goes changes which of two scopes a chain takes its parent from. A family
        that is known is taken whole, so that a cycle of a thousand isn't walked a thousand times.
        """
        if name not in self._families:
            heirs: set[ObjectRef] = set()
            asked, waiting = {name}, [name]
            while waiting:
                for heir in self._by_parent.get(waiting.pop(), ()):
                    heirs.add(heir)
                    if heir.name in asked:
                        continue
                    asked.add(heir.name)
                    if (known := self._families.get(heir.name)) is None:
                        waiting.append(heir.name)
                    else:
                        heirs |= known
                        asked.update(each.name for each in known)
            self._families[name] = frozenset(heirs)
        return self._families[name]

    def _served(self, runtime: Runtime) -> set[ObjectRef]:
        """The models that pass its formats and size; of a range over which v1.2 breaks down, formats alone."""
        limits = runtime.size_range
        breaks = self.fleet.semantics.needs_both_bounds and limits is not None and None in limits
        keys = {entry_key(entry) for entry in runtime.entries if entry.format is not None}
        return {
            model.ref
            for key in keys & self._models.keys()
            for model in self._models[key]
            if (matching_entry(model, runtime.entries) is not None if breaks else serves(runtime, model))
        }

    @cached_property
    def _by_model(self) -> dict[str | None, list[tuple[str, str]]]:
        found = defaultdict(list)
        for key, service in self.fleet.services.items():
            found[service.model_name].append(key)
        return found

    @cached_property
    def _by_runtime(self) -> dict[str, list[tuple[str, str]]]:
        found = defaultdict(list)
        for key, service in self.fleet.services.items():
            found[service.named_runtime].append(key)
        return found

    @cached_property
    def _by_parent(self) -> dict[str, list[ObjectRef]]:
        found = defaultdict(list)
        for runtime in self.fleet.runtimes.values():
            if parent := parent_of(runtime):
                found[parent].append(runtime.ref)
        return found

    @cached_property
    def _models(self) -> dict[Key, list[Model]]:
        """The models by what an entry that matches one must have equal."""
        found = defaultdict(list)
        for model in self.fleet.models.values():
            found[key_of(model)].append(model)
        return found


def _revisions(service: Service) -> tuple[str, str]:
    return service.runtime.revision if service.runtime else "", service.pinned_revision
