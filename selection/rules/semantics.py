"""Two releases of OME as data: what differs between them, so that no rule asks for a version.

Follows OME: deployment modes, runtime selection, and the upgrade notes from v1.2 to v1.3.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["V1_2", "V1_3", "VERSIONS", "Semantics", "semantics_of"]


@dataclass(frozen=True, slots=True)
class Semantics:
    """What one release of OME does.

    Attributes:
        version: the release line, ``1.3`` or ``1.2``.
        modes: the annotation values that count as a mode for running a component.
        reads_service_mode: whether ``spec.deploymentMode`` exists.
        annotated: the components whose annotation decides how they run.
        shape_mode: what a ``leader`` or ``worker`` makes of an engine or decoder.
        inherits: whether ``ome.io/inherit-from`` is followed.
        reads_runtime_kind: whether ``spec.runtime.kind`` decides where a named runtime is looked for.
        admits_named: whether the webhook looks at a runtime that a service names; both releases only advise against
            one that doesn't fit.
        needs_both_bounds: whether selection breaks down over a ``modelSizeRange`` with only one bound.
    """

    version: str
    modes: frozenset[str]
    reads_service_mode: bool
    annotated: frozenset[str]
    shape_mode: str
    inherits: bool
    reads_runtime_kind: bool
    admits_named: bool
    needs_both_bounds: bool


V1_3 = Semantics(
    version="1.3",
    modes=frozenset({"RawDeployment", "OMENative", "MultiNode", "VirtualDeployment"}),
    reads_service_mode=True,
    annotated=frozenset({"engine", "decoder", "router"}),
    shape_mode="OMENative",
    inherits=True,
    reads_runtime_kind=True,
    admits_named=True,
    needs_both_bounds=False,
)

V1_2 = Semantics(
    version="1.2",
    modes=frozenset({"RawDeployment", "MultiNode", "MultiNodeRayVLLM", "VirtualDeployment"}),
    reads_service_mode=False,
    annotated=frozenset({"engine"}),
    shape_mode="MultiNode",
    inherits=False,
    reads_runtime_kind=False,
    admits_named=False,
    needs_both_bounds=True,
)

VERSIONS = {semantics.version: semantics for semantics in (V1_3, V1_2)}


def semantics_of(version: str) -> Semantics:
    """The semantics of a release line.

    Raises:
        ValueError: the version is not one that this product knows.
    """
    try:
        return VERSIONS[version]
    except KeyError:
        raise ValueError(f"OME version {version!r} is not known; known are {', '.join(VERSIONS)}") from None
