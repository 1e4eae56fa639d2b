"""What the rules look at: small frozen objects, read from manifests by :mod:`.parsing`.

Fields keep OME's names in snake case. ``None`` is Go's nil pointer (the field is not set); an empty
string is a value that was set. Follows OME's API, ``ome.io/v1beta1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = [
    "CLUSTER_SCOPED",
    "AcceleratorClass",
    "Component",
    "Entry",
    "Format",
    "Model",
    "ObjectRef",
    "Pipeline",
    "PipelinePart",
    "Problem",
    "RolloutGroup",
    "Runtime",
    "RuntimeComponent",
    "RuntimeRef",
    "Service",
    "Workload",
]

CLUSTER_SCOPED = frozenset({"ClusterServingRuntime", "ClusterBaseModel", "AcceleratorClass"})


@dataclass(frozen=True, slots=True, order=True)
class ObjectRef:
    """Which object: its kind, namespace (``""`` for a cluster-scoped one) and name."""

    kind: str
    namespace: str
    name: str

    def to_dict(self) -> dict[str, Any]:
        """The reference as JSON; a cluster-scoped object's namespace is null."""
        return {"kind": self.kind, "namespace": self.namespace or None, "name": self.name}

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


_NAMELESS = ObjectRef("", "", "")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an object can't be judged: the path of the field and what is wrong with it."""

    object: ObjectRef
    path: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON."""
        return {"object": self.object.to_dict(), "path": self.path, "message": self.message}


@dataclass(frozen=True, slots=True)
class Format:
    """``modelFormat`` or ``modelFramework``, of a model or of a runtime's entry."""

    name: str = ""
    version: str | None = None
    operator: str | None = None
    weight: int = 0


@dataclass(frozen=True, slots=True)
class PipelinePart:
    """One component of a diffusion pipeline."""

    library: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``diffusionPipeline``; ``parts`` holds the fixed components that are set, by field name."""

    class_name: str | None = None
    parts: tuple[tuple[str, PipelinePart], ...] = ()
    additional: tuple[tuple[str, PipelinePart], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One of a runtime's ``supportedModelFormats``."""

    name: str = ""
    format: Format | None = None
    framework: Format | None = None
    architecture: str | None = None
    quantization: str | None = None
    pipeline: Pipeline | None = None
    auto_select: bool | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A BaseModel or ClusterBaseModel, as far as selection looks at it."""

    ref: ObjectRef
    format: Format = Format()
    framework: Format | None = None
    architecture: str | None = None
    quantization: str | None = None
    pipeline: Pipeline | None = None
    size: str | None = None
    distribution: str | None = None
    disabled: bool = False

    @property
    def content(self) -> Model:
        """The model without its name: what selection looks at, the same for models of the same content."""
        return replace(self, ref=_NAMELESS, disabled=False)


@dataclass(frozen=True, slots=True)
class RuntimeComponent:
    """A runtime's ``engineConfig``, ``decoderConfig`` or ``routerConfig``."""

    annotations: tuple[tuple[str, str], ...] = ()
    leader: bool = False
    worker: bool = False

    def annotation(self, key: str) -> str | None:
        """The annotation's value, or None when it isn't there."""
        return dict(self.annotations).get(key)


@dataclass(frozen=True, slots=True)
class Runtime:
    """A ServingRuntime or ClusterServingRuntime. ``components`` holds the configs that are set."""

    ref: ObjectRef
    entries: tuple[Entry, ...] = ()
    disabled: bool = False
    size_range: tuple[str | None, str | None] | None = None
    accelerator_classes: tuple[str, ...] = ()
    components: Mapping[str, RuntimeComponent] = field(default_factory=dict, hash=False)
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    spec: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False, repr=False)
    generation: str = ""

    @property
    def cluster_scoped(self) -> bool:
        """Whether it is a ClusterServingRuntime."""
        return self.ref.kind == "ClusterServingRuntime"

    @property
    def scope(self) -> str:
        """``Cluster`` or ``Namespaced``, as ``kubectl ome runtime explain`` prints it."""
        return "Cluster" if self.cluster_scoped else "Namespaced"


@dataclass(frozen=True, slots=True)
class Component:
    """A component that a service declares: ``spec.engine``, ``spec.decoder`` or ``spec.router``.

    ``uses_leader_worker_set`` says whether its own fields refer to LeaderWorkerSet's variables or labels.
    """

    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    leader: bool = False
    worker: bool = False
    worker_size: int | None = None
    leader_image: str = ""
    worker_image: str = ""
    runner_image: str = ""
    accelerator_class: str | None = None
    deployment_strategy: bool = False
    min_replicas: int | None = None
    uses_leader_worker_set: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeRef:
    """``spec.runtime``. ``kind`` None means that the field isn't written (an older API server)."""

    name: str = ""
    kind: str | None = None
    auto_sync: bool | None = None
    revision: str = ""

    @property
    def pinned(self) -> bool:
        """Whether the service follows a revision and not the live runtime (``autoSync: false``)."""
        return self.auto_sync is False


@dataclass(frozen=True, slots=True)
class RolloutGroup:
    """One of ``spec.rollout.groups``: the components that roll together, and how (``canary``, ``blueGreen``, ...)."""

    components: tuple[str, ...] = ()
    progression: str = "blueGreen"


@dataclass(frozen=True, slots=True)
class Service:
    """An InferenceService.

    ``components`` holds the declared ones in the order engine, decoder, router; ``replica_refs`` those whose
    InferenceReplicas it only refers to: none unless it refers to an engine. ``refers`` says whether
    ``spec.replicaRefs`` is there at all, and ``rollout_groups`` is None when ``spec.rollout`` isn't.
    """

    ref: ObjectRef
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    model_name: str | None = None
    model_kind: str | None = None
    runtime: RuntimeRef | None = None
    deployment_mode: str | None = None
    accelerator_class: str | None = None
    components: Mapping[str, Component] = field(default_factory=dict, hash=False)
    replica_refs: frozenset[str] = frozenset()
    refers: bool = False
    rollout_groups: tuple[RolloutGroup, ...] | None = None
    pinned_revision: str = ""
    conditions: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)

    @property
    def named_runtime(self) -> str:
        """The runtime that the service names, or ``""`` when OME selects one."""
        return self.runtime.name if self.runtime else ""


@dataclass(frozen=True, slots=True)
class AcceleratorClass:
    """An AcceleratorClass; selection compares names only."""

    ref: ObjectRef


@dataclass(frozen=True, slots=True)
class Workload:
    """What runs in the cluster for one component: a Deployment, InferenceReplica or LeaderWorkerSet."""

    ref: ObjectRef
    service: str
    component: str
    runtime: str
    ready: bool | None = None
