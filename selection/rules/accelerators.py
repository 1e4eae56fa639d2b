"""The accelerator classes that a service requires, and whether a runtime lists them.

Follows OME: runtime accelerator-class matching. ``policy`` and ``constraints`` filter nothing here.
"""

from __future__ import annotations

from .objects import Runtime, Service

__all__ = ["ACCELERATOR_ANNOTATION", "UNSUPPORTED", "required_classes", "supports_classes"]

ACCELERATOR_ANNOTATION = "ome.io/accelerator-class"
UNSUPPORTED = "runtime does not support the required accelerator class"


def required_classes(service: Service) -> frozenset[str]:
    """Every class that the service asks for, in any place. A value that is set counts, even ``""``."""
    places = [service.annotations.get(ACCELERATOR_ANNOTATION), service.accelerator_class]
    places += [
        service.components[name].accelerator_class for name in ("engine", "decoder") if name in service.components
    ]
    return frozenset(place for place in places if place is not None)


def supports_classes(runtime: Runtime, required: frozenset[str]) -> bool:
    """Whether the runtime lists every required class exactly, case included; none required passes."""
    return not required or required <= frozenset(runtime.accelerator_classes)
