"""Copying a parent once, where several runtimes inherit what must change from it.

Follows OME: move from LeaderWorkerSet to OMENative, and runtime inheritance. A copy made of the merged spec leaves its
parent for good. Where others wait on the same parent, its copy with a child that inherits from it stays smaller, and
the next change of the parent has one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .copy_names import same_spec
from .edits import edited
from .fleet import Fleet, evolved, parent_of
from .inheritance import INHERIT_FROM, PROFILE, RuntimeKey
from .objects import ObjectRef, Runtime
from .runtime_copy import RuntimeCopy, copy_edits, plan_copy

__all__ = ["ParentCopy", "bare_manifest", "parent_copy"]

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParentCopy:
    """A copy in two layers: with it the same comes out as with the copy made of the merged spec.

    Attributes:
        parent: the copy of the parent; its own ``exists`` says whether it is there already.
        manifest: the parent's copy as it is applied: a profile stays one.
        child: the copy of the runtime, which inherits from the parent's copy.
        others: further runtimes that inherit from the parent and need a copy too.
    """

    parent: RuntimeCopy
    manifest: Manifest = field(hash=False, repr=False)
    child: Manifest = field(hash=False, repr=False)
    others: tuple[ObjectRef, ...]

    def to_dict(self) -> dict[str, Any]:
        """The two copies as JSON."""
        return {
            "parent": self.parent.runtime.to_dict(),
            "copy": self.parent.copy.to_dict(),
            "others": [ref.to_dict() for ref in self.others],
            "manifests": [dict(self.manifest), dict(self.child)],
        }


def bare_manifest(runtime: Runtime) -> dict[str, Any]:
    """A manifest that reads as this runtime: what a fleet keeps of it."""
    metadata: dict[str, Any] = {"name": runtime.ref.name}
    if runtime.ref.namespace:
        metadata["namespace"] = runtime.ref.namespace
    if runtime.annotations:
        metadata["annotations"] = dict(runtime.annotations)
    kind = runtime.ref.kind
    return {"apiVersion": "ome.io/v1beta1", "kind": kind, "metadata": metadata, "spec": dict(runtime.spec)}


def parent_copy(fleet: Fleet, copy: RuntimeCopy, manifest: Manifest) -> ParentCopy | None:
    """The copy in two layers, or None where it isn't better: nobody else waits on the parent, or it isn't the same.

    Args:
        fleet: the cluster.
        copy: the copy made of the merged spec.
        manifest: the runtime's own manifest.
    """
    runtime = fleet.runtimes.get((copy.runtime.namespace, copy.runtime.name))
    if runtime is None or not copy.inherits or all(each.origin == copy.runtime for each in copy.references):
        return None
    nearest = fleet.effective(runtime).chain.members[-2]
    parent = fleet.runtimes[(nearest.namespace or "", nearest.name)]
    others = tuple(other.ref for other in _heirs(fleet, nearest) if other.ref != copy.runtime)
    waiting = tuple(ref for ref in others if _needs_copy(fleet, ref))
    if not waiting:
        return None
    planned = plan_copy(fleet, bare_manifest(parent))
    above = _kept(planned.manifest, parent.annotations, (PROFILE,))
    child = edited(manifest, copy_edits(manifest, copy.copy.name))
    below = {**child, "metadata": {**child["metadata"], "annotations": {INHERIT_FROM: planned.copy.name}}}
    changed = evolved(fleet, [above, below], [])
    there = changed.runtimes.get((copy.copy.namespace, copy.copy.name))
    merged = changed.effective(there).runtime if there is not None else None
    same = merged is not None and same_spec(merged.spec, copy.manifest["spec"])
    return ParentCopy(planned, above, below, waiting) if same else None


def _heirs(fleet: Fleet, parent: RuntimeKey) -> list[Runtime]:
    """The runtimes with this one above them in their chain, by kind, namespace and name."""
    asking: dict[str, list[Runtime]] = {}
    for runtime in fleet.runtimes.values():
        if above := parent_of(runtime):
            asking.setdefault(above, []).append(runtime)
    waiting, named, found = [parent.name], {parent.name}, []
    while waiting:  # by name first: to merge every runtime that inherits from anything takes long
        for runtime in asking.get(waiting.pop(), ()):
            found.append(runtime)
            if runtime.ref.name not in named:
                named.add(runtime.ref.name)
                waiting.append(runtime.ref.name)
    found.sort(key=lambda each: each.ref)
    return [runtime for runtime in found if parent in fleet.effective(runtime).chain.members[:-1]]


def _needs_copy(fleet: Fleet, ref: ObjectRef) -> bool:
    merged = fleet.effective(fleet.runtimes[(ref.namespace, ref.name)]).runtime
    return merged is not None and any(
        fleet.uses_leader_worker_set(merged, component) for component in ("engine", "decoder", "router")
    )


def _kept(manifest: Manifest, annotations: Mapping[str, str], keys: tuple[str, ...]) -> dict[str, Any]:
    """The manifest with some of the original's annotations: a profile has to say that it is one."""
    kept = {key: annotations[key] for key in keys if key in annotations}
    return {**manifest, "metadata": {**manifest["metadata"], **({"annotations": kept} if kept else {})}}
