"""What the change of one object can touch, so that nothing else has to be judged again.

Ask before and after a change and take both answers together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .accelerators import required_classes
from .fleet import Fleet, parent_of
from .formats import matching_entry
from .index import serves
from .objects import Model, ObjectRef, Problem, Runtime, Service

__all__ = ["Reach", "reach"]

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
    if ref.kind == "InferenceService":
        return Reach({(ref.namespace, ref.name)})
    if ref.kind in _MODELS:
        return _model_reach(fleet, ref)
    if ref.kind in _RUNTIMES:
        return _runtime_reach(fleet, ref)
    if ref in fleet.owners:
        return Reach({fleet.owners[ref]})
    if ref.kind == "ControllerRevision":
        following = {key for key, service in fleet.services.items() if ref.name in _revisions(service)}
        return Reach(services=following)
    if ref.kind == "AcceleratorClass":
        asking = {key for key, service in fleet.services.items() if ref.name in required_classes(service)}
        listing = {runtime.ref for runtime in fleet.runtimes.values() if ref.name in runtime.accelerator_classes}
        return Reach(asking, listing)  # the webhook refuses a runtime that lists a class which isn't there
    return Reach()


def _revisions(service: Service) -> tuple[str, str]:
    return service.runtime.revision if service.runtime else "", service.pinned_revision


def _model_reach(fleet: Fleet, ref: ObjectRef) -> Reach:
    named = {key for key, service in _visible(fleet, ref.namespace) if service.model_name == ref.name}
    return Reach(named, set(), {ref})


def _visible(fleet: Fleet, namespace: str) -> Iterator[tuple[tuple[str, str], Service]]:
    """The services that see an object of this scope."""
    return (item for item in fleet.services.items() if not namespace or item[0][0] == namespace)


def _runtime_reach(fleet: Fleet, ref: ObjectRef) -> Reach:
    """Who names it or a runtime that inherits from it, and who uses a model that it serves."""
    runtime = fleet.find_runtime(ref.namespace, ref.name)
    family = {ref, *_heirs(fleet, ref)}
    names = {member.name for member in family}
    served = _served(fleet, runtime) if runtime is not None and not isinstance(runtime, Problem) else set()
    models = {model.name for model in served}  # most services use none of these: their names tell it soonest
    services = set()
    for key, service in _visible(fleet, ref.namespace):
        if service.named_runtime in names:
            services.add(key)
        elif service.model_name in models:
            model = fleet.find_model(key[0], service.model_name)
            if isinstance(model, Model) and model.ref in served:
                services.add(key)
    return Reach(services, family, served)


def _heirs(fleet: Fleet, ref: ObjectRef) -> Iterator[ObjectRef]:
    """The runtimes that have one of this name among their ancestors, or ask for one.

    By name alone: an object that comes or goes changes which of two scopes a chain takes its parent from.
    """
    heirs: dict[str, list[ObjectRef]] = {}
    for runtime in fleet.runtimes.values():
        if parent := parent_of(runtime):
            heirs.setdefault(parent, []).append(runtime.ref)
    asked, waiting = {ref.name}, [ref.name]
    while waiting:
        for heir in heirs.get(waiting.pop(), ()):
            yield heir
            if heir.name not in asked:
                asked.add(heir.name)
                waiting.append(heir.name)


def _served(fleet: Fleet, runtime: Runtime) -> set[ObjectRef]:
    """The models that pass this runtime's formats and size; of a range over which v1.2 breaks down, formats alone."""
    breaks = fleet.semantics.needs_both_bounds and runtime.size_range is not None and None in runtime.size_range
    return {
        model.ref
        for model in fleet.models.values()
        if (matching_entry(model, runtime.entries) is not None if breaks else serves(runtime, model))
    }
