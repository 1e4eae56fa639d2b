"""What OME's webhook says of a service's rollout groups, as far as modes decide it.

Follows OME: rollout groups ("what admission rejects"). Canary groups are looked at before the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from .go import quote
from .modes import COMPONENTS, OME_NATIVE, written_mode
from .objects import Service

__all__ = ["rollout_errors"]

CANARY = "canary"


def rollout_errors(service: Service) -> Iterator[str]:
    """The webhook's errors in its order."""
    yield from _canary(service)
    yield from _coordination(service)


def _canary(service: Service) -> Iterator[str]:
    for index, group in enumerate(service.rollout_groups or ()):
        if group.progression != CANARY:
            continue
        for name in group.components:
            where, mode = f"spec.rollout.groups[{index}]", written_mode(service, name)
            if name not in COMPONENTS:
                yield f"{where}: canary component {quote(name)} is not one of router/engine/decoder (CanaryInvalid)"
            elif name not in service.components:
                yield (
                    f"{where}: canary component {quote(name)} is not declared on the InferenceService (CanaryInvalid)"
                )
            elif mode != OME_NATIVE:
                yield (
                    f"{where}: component {quote(name)} has deploymentMode={quote(mode)}; "
                    "canary requires OMENative (CanaryRequiresOMENative)"
                )


def _coordination(service: Service) -> Iterator[str]:
    groups = list(enumerate(service.rollout_groups or ()))
    coordinated = [(index, group) for index, group in groups if group.progression != CANARY]
    for index, group in coordinated:
        for name in group.components:
            if name not in COMPONENTS:
                yield (
                    f"spec.rollout.groups[{index}]: component {quote(name)} is not one of router/engine/decoder "
                    "(InvalidComponentInCoordinationGroup)"
                )
    first: dict[str, int] = {}
    for index, group in groups:
        for name in group.components:
            if name in first:
                yield (
                    f"spec.rollout.groups: component {quote(name)} appears in groups[{first[name]}] and "
                    f"groups[{index}] (DuplicateComponentInCoordinationGroups)"
                )
            first[name] = index
    for index, group in coordinated:
        missing = [quote(name) for name in group.components if name in COMPONENTS and name not in service.components]
        if missing:
            yield (
                f"spec.rollout.groups[{index}]: component(s) {', '.join(missing)} not declared on the "
                "InferenceService (OrphanCoordinationGroup)"
            )
    for index, group in coordinated:
        for name in group.components:
            mode = written_mode(service, name)
            if name in service.components and mode != OME_NATIVE:
                yield (
                    f"spec.rollout.groups[{index}]: component {quote(name)} has deploymentMode={quote(mode)}; "
                    "coordination requires OMENative (CoordinationRequiresOMENative)"
                )
