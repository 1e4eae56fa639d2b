"""LeaderWorkerSet references in what a runtime renders, and which member of its chain each comes from.

Follows OME: move from LeaderWorkerSet to OMENative, and runtime inheritance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .fleet import Fleet
from .inheritance import Chain, provenance
from .merge import WrongType
from .objects import ObjectRef, Runtime
from .references import Reference, find_references

__all__ = ["Located", "holders", "located_references"]


@dataclass(frozen=True, slots=True)
class Located:
    """A reference, and the runtime that wrote it: the runtime itself or one that it inherits from."""

    reference: Reference
    origin: ObjectRef

    def to_dict(self) -> dict[str, Any]:
        """The reference as JSON, with its origin."""
        return {**self.reference.to_dict(), "origin": self.origin.to_dict()}


def located_references(fleet: Fleet, runtime: Runtime) -> tuple[Located, ...]:
    """The references in what a service that names the runtime is rendered from, and whose they are.

    With a broken chain (nothing can be rendered) the runtime's own references are told.
    """
    effective = fleet.effective(runtime)
    if effective.runtime is None or len(effective.chain.members) == 1:
        return tuple(Located(reference, runtime.ref) for reference in find_references(runtime.spec))
    found = find_references(effective.runtime.spec)
    owners = _owners(fleet, effective.chain) if found else {}
    return tuple(Located(reference, owners.get(reference.path, runtime.ref)) for reference in found)


def _owners(fleet: Fleet, chain: Chain) -> Mapping[str, ObjectRef]:
    specs = [fleet.runtimes[(member.namespace or "", member.name)].spec for member in chain.members]
    try:
        told = provenance(chain, specs)
    except WrongType:
        return {}
    return {path: ObjectRef(key.kind, key.namespace or "", key.name) for path, key in told.items()}


def holders(found: Sequence[Located]) -> dict[ObjectRef, int]:
    """How many references each runtime of a chain holds, most first."""
    return dict(Counter(each.origin for each in found).most_common())
