"""Runtime inheritance: the chain of parents, what is wrong with it, the merged spec and who set what in it.

Follows OME: runtime inheritance (v1.3). Only specs are inherited, never metadata. An ``ome.io/inherit-from``
that is empty names no parent: OME walks on while the annotation's value is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .go import quote
from .merge import merge_specs, walk_merged

__all__ = [
    "INHERIT_FROM",
    "MAX_DEPTH",
    "PROFILE",
    "Chain",
    "ChainProblem",
    "Lookup",
    "RuntimeKey",
    "effective_spec",
    "parent_name",
    "profile_problem",
    "provenance",
    "resolve_chain",
]

INHERIT_FROM = "ome.io/inherit-from"
PROFILE = "ome.io/runtime-profile"
MAX_DEPTH = 5

_NAMESPACED = "ServingRuntime"
_CLUSTER = "ClusterServingRuntime"

Lookup = Callable[[str, "str | None", str], "Mapping[str, Any] | None"]
"""Finds a runtime's manifest by kind, namespace (None for a cluster one) and name; None when there is none."""


@dataclass(frozen=True, slots=True, order=True)
class RuntimeKey:
    """One runtime of a cluster. ``namespace`` is None for a ClusterServingRuntime."""

    kind: str
    namespace: str | None
    name: str


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """Why a chain doesn't resolve.

    Attributes:
        reason: ``ParentNotFound``, ``InheritanceCycle`` or ``MaxDepthExceeded``, as OME's condition
            ``InheritanceReady`` has it.
        message: OME's text; its names stand child first.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A runtime and what it inherits from.

    Attributes:
        members: root first, the runtime itself last. With a problem, what was found up to it.
        problem: None when the chain resolves.
    """

    members: tuple[RuntimeKey, ...]
    problem: ChainProblem | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names, root first, as ``status.inheritanceChain`` has them."""
        return tuple(member.name for member in self.members)


def resolve_chain(start: RuntimeKey, lookup: Lookup) -> Chain:
    """Walk from a runtime to its root.

    From a ClusterServingRuntime, every parent is one. From a ServingRuntime, every parent, also a cluster one's,
    is looked for in that namespace first, then among the cluster ones. A chain holds at most five runtimes and
    no name twice; the number is looked at before the name.

    Raises:
        LookupError: when there is no such runtime to start from.

    >>> manifests = {"a": {"metadata": {"annotations": {INHERIT_FROM: "b"}}}}
    >>> start = RuntimeKey("ClusterServingRuntime", None, "a")
    >>> chain = resolve_chain(start, lambda kind, namespace, name: manifests.get(name))
    >>> chain.problem.message
    'inherit-from parent "b" not found (chain so far: [a])'
    """
    manifest = lookup(start.kind, start.namespace, start.name)
    if manifest is None:
        raise LookupError(f"no {start.kind} {start.name} to start from")
    child_first = [start]
    while parent := parent_name(manifest):
        names = [member.name for member in child_first]
        problem = None
        if len(names) >= MAX_DEPTH:
            message = f"inheritance chain exceeds max depth {MAX_DEPTH} (chain: {_listed(names)})"
            problem = ChainProblem("MaxDepthExceeded", message)
        elif parent in names:
            problem = ChainProblem("InheritanceCycle", f"inheritance cycle detected: {_listed([*names, parent])}")
        else:
            found = _find_parent(start, parent, lookup)
            if found is None:
                message = f"inherit-from parent {quote(parent)} not found (chain so far: {_listed(names)})"
                problem = ChainProblem("ParentNotFound", message)
            else:
                key, manifest = found
                child_first.append(key)
        if problem is not None:
            return Chain(tuple(reversed(child_first)), problem)
    return Chain(tuple(reversed(child_first)))


def _find_parent(start: RuntimeKey, name: str, lookup: Lookup) -> tuple[RuntimeKey, Mapping[str, Any]] | None:
    """Look where the chain's first runtime looks: its scope holds for all of its ancestors."""
    scopes: list[tuple[str, str | None]] = [(_CLUSTER, None)]
    if start.kind == _NAMESPACED:
        scopes.insert(0, (_NAMESPACED, start.namespace))
    for kind, namespace in scopes:
        manifest = lookup(kind, namespace, name)
        if manifest is not None:
            return RuntimeKey(kind, namespace, name), manifest
    return None


def _listed(names: Sequence[str]) -> str:
    return f"[{' '.join(names)}]"


def parent_name(manifest: Mapping[str, Any]) -> str:
    """The name of a runtime's parent, ``""`` when it has none.

    >>> parent_name({"metadata": {"annotations": {"ome.io/inherit-from": "base"}}}), parent_name({})
    ('base', '')
    """
    return _annotation(manifest, INHERIT_FROM)


def profile_problem(manifest: Mapping[str, Any]) -> str | None:
    """What the webhook says to a profile that isn't disabled; it looks at the runtime's own fields only.

    >>> profile_problem({"metadata": {"annotations": {PROFILE: "true"}}, "spec": {"disabled": True}}) is None
    True
    """
    spec = manifest.get("spec")
    disabled = isinstance(spec, Mapping) and spec.get("disabled") is True
    if _annotation(manifest, PROFILE) != "true" or disabled:
        return None
    return f'runtimes carrying {PROFILE}="true" must also set spec.disabled: true'


def _annotation(manifest: Mapping[str, Any], key: str) -> str:
    """An annotation's value; ``""`` when it is missing, or when the manifest is too broken to have one."""
    found: Any = manifest
    for step in ("metadata", "annotations", key):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""


def effective_spec(root_first: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """The spec that a runtime has with what it inherits, from the specs of its chain.

    ``disabled`` is merged like any pointer: the child of a disabled profile is disabled until it says
    ``disabled: false``.

    Raises:
        WrongType: for a field of another type than OME's API says, or specs that can't be merged.

    >>> effective_spec([{"disabled": True}, {"hostNetwork": True}])["disabled"]
    True
    """
    return merge_specs(root_first)


def provenance(chain: Chain, root_first: Sequence[Mapping[str, Any] | None]) -> dict[str, RuntimeKey]:
    """For every path of the merged spec, the member of the chain that set what stands there.

    An object or a merged list belongs to the last member that wrote something in it. The path of what is in it
    may belong to another.

    Raises:
        WrongType: see :func:`effective_spec`.

    >>> keys = (RuntimeKey("ClusterServingRuntime", None, "base"), RuntimeKey("ClusterServingRuntime", None, "leaf"))
    >>> specs = [{"engineConfig": {"minReplicas": 1}}, {"engineConfig": {"annotations": {"ome.io/deploymentMode": ""}}}]
    >>> told = provenance(Chain(keys), specs)
    >>> told["spec.engineConfig.minReplicas"].name, told['spec.engineConfig.annotations["ome.io/deploymentMode"]'].name
    ('base', 'leaf')
    """
    nodes = walk_merged(merge_specs(root_first), root_first)
    return {node.path: chain.members[node.setters[-1]] for node in nodes if node.setters}
