"""A fleet with some namespaces only: what is left is judged as in the whole one.

A service, a runtime or a model rests on its own namespace and on the cluster alone, so leaving out another namespace
changes no answer about what is left. A revision is the exception: a pinned service follows one wherever it lies.
"""

from __future__ import annotations

from collections.abc import Collection

from .fleet import Fleet

__all__ = ["narrowed"]


def narrowed(fleet: Fleet, namespaces: Collection[str]) -> Fleet:
    """The fleet with the objects of these namespaces and those that are in none; the given one stays as it is.

    A ControllerRevision of another namespace stays when a service that is left follows it. Answers that are known
    already are taken over.
    """
    seen = {"", *namespaces}
    services = {key: service for key, service in fleet.services.items() if key[0] in seen}
    followed = {service.pinned_revision for service in services.values()}
    followed |= {service.runtime.revision for service in services.values() if service.runtime is not None}
    revisions = {
        name: {scope: manifest for scope, manifest in found.items() if name in followed or scope in seen}
        for name, found in fleet.revisions.items()
    }
    new = Fleet(
        fleet.semantics,
        services,
        {key: runtime for key, runtime in fleet.runtimes.items() if key[0] in seen},
        {key: model for key, model in fleet.models.items() if key[0] in seen},
        set(fleet.accelerator_classes),
        {owner: list(found) for owner, found in fleet.workloads.items() if owner[0] in seen},
        {ref: owner for ref, owner in fleet.owners.items() if ref.namespace in seen},
        {name: found for name, found in revisions.items() if found},
        {ref: problem for ref, problem in fleet.problems.items() if ref.namespace in seen},
    )
    _remember(fleet, new, seen)
    return new


def _remember(old: Fleet, new: Fleet, seen: Collection[str]) -> None:
    """Take over what was computed. Copies, for other threads may ask the old fleet at the same time."""
    new._indexes.update({scope: index for scope, index in old._indexes.copy().items() if scope in seen})
    new._shortlists.update({key: found for key, found in old._shortlists.copy().items() if key[1] in seen})
    new._effective.update({ref: found for ref, found in old._effective.copy().items() if ref.namespace in seen})
    new._references.update(old._references.copy())
