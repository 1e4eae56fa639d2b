"""Fields and annotations that v1.3 drops, refuses or begins to read, with their paths.

Follows OME: the API's "Removed in v1.3", component autoscaling ("Upgrade from v1.2.2"), runtime inheritance, model size
range matching. A field that isn't in v1.3's API is pruned when the object is written next, and ``kubectl`` refuses a
manifest that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .admission import admit_runtime
from .fleet import Fleet, parent_of
from .inheritance import INHERIT_FROM
from .modes import COMPONENTS
from .objects import ObjectRef, Runtime, Service
from .typed_fields import extend_path
from .upgrade import Change, ObjectUpgrade

__all__ = ["CLASS", "WORDS", "runtime_upgrades", "service_upgrades"]

_REMOVED = ("kedaConfig", "scaleMetric", "scaleTarget")
CLASS = "ome.io/autoscalerClass"
"""The annotation of a component that says what scales it."""

_KEDA = "keda"

WORDS = _REMOVED
"""A service's manifest with none of these words needs no look beside what a fleet keeps of it."""


def service_upgrades(service: Service, manifest: Mapping[str, Any] | None) -> Iterator[ObjectUpgrade]:
    """What becomes of a service's own fields; ``manifest`` is None when it has none of :data:`WORDS`."""
    spec = manifest.get("spec") if manifest is not None else None
    if isinstance(spec, Mapping):
        if spec.get("kedaConfig") is not None:
            yield _dropped(service.ref, "spec.kedaConfig", "kedaConfig")
        for name in COMPONENTS:
            yield from _removed(service.ref, spec.get(name), f"spec.{name}")
    yield from _keda(service.ref, service.annotations, "metadata.annotations")
    for name, component in service.components.items():
        yield from _keda(service.ref, component.annotations, f"spec.{name}.annotations", name)


def runtime_upgrades(old: Fleet, new: Fleet, runtime: Runtime, services: int) -> Iterator[ObjectUpgrade]:
    """What becomes of a runtime's own fields.

    Args:
        old: the cluster by v1.2.
        new: the cluster by v1.3.
        runtime: the runtime.
        services: how many services get it.
    """
    ref = runtime.ref
    if runtime.spec.get("workers") is not None:
        yield ObjectUpgrade(ref, "spec.workers", Change("workers-dropped"), services)
    for name in COMPONENTS:
        yield from _removed(ref, runtime.spec.get(f"{name}Config"), f"spec.{name}Config", services)
        config = runtime.components.get(name)
        if config is not None:
            yield from _keda(ref, dict(config.annotations), f"spec.{name}Config.annotations", name, services)
    if parent_of(runtime):
        chain = new.effective(runtime).chain
        facts = {
            "parent": parent_of(runtime),
            "chain": [member.name for member in chain.members],
            "problem": chain.problem.message if chain.problem else None,
        }
        path = extend_path("metadata.annotations", INHERIT_FROM)
        yield ObjectUpgrade(ref, path, Change("inherit-from-counts", "", facts), services)
        yield from _inherited_keda(new, runtime, services)
    if runtime.size_range is not None and None in runtime.size_range:
        low, high = runtime.size_range
        change = Change("open-range-counts", "", {"min": low, "max": high})
        yield ObjectUpgrade(ref, "spec.modelSizeRange", change, services)
    known = admit_runtime(old, runtime).errors
    refused = [error for error in admit_runtime(new, runtime).errors if error not in known]
    if refused:
        yield ObjectUpgrade(ref, "", Change("runtime-refused", "", {"errors": refused}), services)


def _inherited_keda(new: Fleet, runtime: Runtime, services: int) -> Iterator[ObjectUpgrade]:
    """What the runtime has from its parents once v1.3 follows them, and didn't have on v1.2."""
    merged = new.effective(runtime).runtime
    for name, config in merged.components.items() if merged is not None else ():
        own = runtime.components.get(name)
        if config.annotation(CLASS) == _KEDA and (own is None or own.annotation(CLASS) != _KEDA):
            path = extend_path(f"spec.{name}Config.annotations", CLASS)
            change = Change("keda-annotation", name, {"inherited": parent_of(runtime)})
            yield ObjectUpgrade(runtime.ref, path, change, services)


def _removed(ref: ObjectRef, component: Any, path: str, services: int | None = None) -> Iterator[ObjectUpgrade]:
    if isinstance(component, Mapping):
        for field in _REMOVED:
            if component.get(field) is not None:
                yield _dropped(ref, f"{path}.{field}", field, services)


def _dropped(ref: ObjectRef, path: str, field: str, services: int | None = None) -> ObjectUpgrade:
    return ObjectUpgrade(ref, path, Change("field-dropped", "", {"field": field}), services)


def _keda(
    ref: ObjectRef, annotations: Mapping[str, str], path: str, component: str = "", services: int | None = None
) -> Iterator[ObjectUpgrade]:
    if annotations.get(CLASS) == _KEDA:
        yield ObjectUpgrade(ref, extend_path(path, CLASS), Change("keda-annotation", component), services)
