"""From manifests to the objects that the rules judge.

Follows OME's API ``ome.io/v1beta1``. The defaults of OME's CRDs are applied on the way: a manifest that
went through an API server has them already, one from a file does not (``weight: 1``, ``operator: Equal``,
``spec.runtime.kind: ClusterServingRuntime``, ``spec.model.kind: ClusterBaseModel``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .modes import COMPONENTS
from .objects import (
    CLUSTER_SCOPED,
    AcceleratorClass,
    Component,
    Entry,
    Format,
    Model,
    ObjectRef,
    Pipeline,
    PipelinePart,
    RolloutGroup,
    Runtime,
    RuntimeComponent,
    RuntimeRef,
    Service,
    Workload,
)
from .pipelines import PART_NAMES
from .reading import Node, Unreadable
from .references import find_references

__all__ = [
    "kind_of",
    "parse_accelerator_class",
    "parse_model",
    "parse_runtime",
    "parse_runtime_spec",
    "parse_service",
    "parse_workload",
    "ref_of",
]

DEFAULT_NAMESPACE = "default"
LONGEST_NAME = 253


def ref_of(manifest: Mapping[str, Any]) -> ObjectRef:
    """Which object a manifest describes; a namespaced one without a namespace stands in ``default``.

    Never raises: parts that can't be read are ``?``, so that the object can still be listed as unreadable.
    """

    def text(value: object, missing: str) -> str:
        if not isinstance(value, str) or not value:
            return missing
        return value if len(value) <= LONGEST_NAME else value[: LONGEST_NAME - 1] + "…"

    root: Mapping[str, Any] = manifest if isinstance(manifest, Mapping) else {}
    metadata = root.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    kind = text(root.get("kind"), "?")
    namespace = "" if kind in CLUSTER_SCOPED else text(metadata.get("namespace"), DEFAULT_NAMESPACE)
    return ObjectRef(kind, namespace, text(metadata.get("name"), "?"))


def kind_of(manifest: Mapping[str, Any]) -> str:
    """The kind that a manifest says it is.

    Raises:
        Unreadable: it is no object, or says none.
    """
    if not isinstance(manifest, Mapping):
        raise Unreadable("", "a manifest is an object")
    kind = Node(manifest).text("kind")
    if not kind:
        raise Unreadable("kind", "an object needs a kind")
    return kind


def _opened(manifest: Mapping[str, Any]) -> tuple[ObjectRef, Node, Node]:
    """The reference, the metadata and the spec, with what every object needs checked."""
    root = Node(manifest)
    metadata = root.node("metadata")
    if metadata is None or not metadata.text("name"):
        raise Unreadable("metadata.name", "an object needs a name")
    for key in ("name", "namespace"):
        if len(metadata.text(key) or "") > LONGEST_NAME:
            raise Unreadable(metadata.at(key), f"longer than {LONGEST_NAME} characters, which no API server accepts")
    return ref_of(manifest), metadata, root.node("spec") or Node({}, "spec")


def _format(node: Node | None, *, weight: int) -> Format | None:
    if node is None:
        return None
    read = node.integer("weight", 64)
    operator = node.text("operator")
    return Format(
        node.text("name") or "",
        node.text("version"),
        "Equal" if operator is None else operator,
        weight if read is None else read,
    )


def _pipeline(node: Node | None) -> Pipeline | None:
    if node is None:
        return None
    parts = []
    for name in PART_NAMES:
        part = node.node(name)
        if part is not None:
            parts.append((name, _part(part)))
    additional = node.node("additionalComponents") or Node({}, node.at("additionalComponents"))
    extra = tuple(
        (str(key), _part(additional.node(key) or Node({}, additional.at(key))))
        for key in sorted(additional.value, key=str)
    )
    return Pipeline(node.text("className"), tuple(parts), extra)


def _part(node: Node) -> PipelinePart:
    return PipelinePart(node.text("library") or "", node.text("type") or "")


def parse_model(manifest: Mapping[str, Any]) -> Model:
    """Read a BaseModel or ClusterBaseModel.

    Raises:
        Unreadable: a field has another type than OME's API says.
    """
    ref, _, spec = _opened(manifest)
    return Model(
        ref=ref,
        format=_format(spec.node("modelFormat"), weight=1) or Format(),
        framework=_format(spec.node("modelFramework"), weight=1),
        architecture=spec.text("modelArchitecture"),
        quantization=spec.text("quantization"),
        pipeline=_pipeline(spec.node("diffusionPipeline")),
        size=spec.text("modelParameterSize"),
        distribution=spec.text("distribution"),
        disabled=bool(spec.boolean("disabled")),
    )


def parse_runtime(manifest: Mapping[str, Any]) -> Runtime:
    """Read a ServingRuntime or ClusterServingRuntime on its own spec.

    Raises:
        Unreadable: a field has another type than OME's API says.
    """
    ref, metadata, spec = _opened(manifest)
    return parse_runtime_spec(ref, spec.value, metadata.text_map("annotations"), _generation(metadata))


def _generation(metadata: Node) -> str:
    """The resourceVersion that a result was computed from, or ``""``."""
    found = metadata.value.get("resourceVersion")
    return found if isinstance(found, str) else ""


def parse_runtime_spec(
    ref: ObjectRef, spec: Mapping[str, Any], annotations: Mapping[str, str] | None = None, generation: str = ""
) -> Runtime:
    """Read a runtime's spec, its own or a merged one.

    Raises:
        Unreadable: a field has another type than OME's API says.
    """
    node = Node(spec, "spec")
    size = node.node("modelSizeRange")
    requirements = node.node("acceleratorRequirements")
    components = {}
    for name in COMPONENTS:
        config = node.node(f"{name}Config")
        if config is not None:
            components[name] = RuntimeComponent(
                tuple(sorted(config.text_map("annotations").items())),
                leader=name != "router" and config.node("leader") is not None,
                worker=name != "router" and config.node("worker") is not None,
            )
    return Runtime(
        ref=ref,
        entries=tuple(_entry(item) for item in node.nodes("supportedModelFormats")),
        disabled=bool(node.boolean("disabled")),
        size_range=None if size is None else (size.text("min"), size.text("max")),
        accelerator_classes=requirements.texts("acceleratorClasses") if requirements else (),
        components=components,
        annotations=annotations or {},
        spec=spec,
        generation=generation,
    )


def _entry(node: Node) -> Entry:
    return Entry(
        name=node.text("name") or "",
        format=_format(node.node("modelFormat"), weight=1),
        framework=_format(node.node("modelFramework"), weight=1),
        architecture=node.text("modelArchitecture"),
        quantization=node.text("quantization"),
        pipeline=_pipeline(node.node("diffusionPipeline")),
        auto_select=node.boolean("autoSelect"),
        priority=node.integer("priority", 32),
    )


def parse_service(manifest: Mapping[str, Any]) -> Service:
    """Read an InferenceService.

    Raises:
        Unreadable: a field has another type than OME's API says.
    """
    ref, metadata, spec = _opened(manifest)
    status = Node(manifest).node("status") or Node({}, "status")
    model, runtime = spec.node("model"), spec.node("runtime")
    selector = spec.node("acceleratorSelector")
    rollout, references = spec.node("rollout"), spec.node("replicaRefs")
    components = {}
    for name in COMPONENTS:
        component = spec.node(name)
        if component is not None:
            components[name] = _component(component)
    return Service(
        ref=ref,
        annotations=metadata.text_map("annotations"),
        model_name=None if model is None else model.text("name") or "",
        model_kind=None if model is None else _default(model.text("kind"), "ClusterBaseModel"),
        runtime=None if runtime is None else _runtime_ref(runtime),
        deployment_mode=spec.text("deploymentMode"),
        accelerator_class=selector.text("acceleratorClass") if selector else None,
        components=components,
        replica_refs=_replica_refs(references) if references else frozenset(),
        refers=references is not None,
        rollout_groups=tuple(_group(group) for group in rollout.nodes("groups")) if rollout else None,
        pinned_revision=status.text("pinnedRevisionName") or "",
        conditions={
            condition.text("type") or "": (condition.text("status") or "", condition.text("reason") or "")
            for condition in status.nodes("conditions")
        },
    )


def _default(value: str | None, default: str) -> str:
    return default if value is None else value


def _runtime_ref(node: Node) -> RuntimeRef:
    return RuntimeRef(
        name=node.text("name") or "",
        kind=_default(node.text("kind"), "ClusterServingRuntime"),
        auto_sync=node.boolean("autoSync"),
        revision=node.text("revision") or "",
    )


def _replica_refs(references: Node) -> frozenset[str]:
    """The components for which ``spec.replicaRefs`` names replicas; without an engine it is ignored as a whole."""
    named = frozenset(name for name in COMPONENTS if references.texts(name))
    return named if "engine" in named else frozenset()


def _group(node: Node) -> RolloutGroup:
    """A rollout group; what it writes itself comes before what it says of the policy it refers to."""
    inline = [name for name in ("canary", "blueGreen", "rollingUpdate") if node.value.get(name) is not None]
    policy = node.node("policyRef")
    declared = policy.text("progression") if policy is not None else None
    return RolloutGroup(node.texts("components"), inline[0] if inline else declared or "blueGreen")


def _component(node: Node) -> Component:
    leader, worker, runner = node.node("leader"), node.node("worker"), node.node("runner")
    override = node.node("acceleratorOverride")
    return Component(
        annotations=node.text_map("annotations"),
        leader=leader is not None,
        worker=worker is not None,
        worker_size=None if worker is None else worker.integer("size", 64),
        leader_image=_image(leader),
        worker_image=_image(worker),
        runner_image="" if runner is None else runner.text("image") or "",
        accelerator_class=None if override is None else override.text("acceleratorClass"),
        deployment_strategy=node.node("deploymentStrategy") is not None,
        min_replicas=node.integer("minReplicas", 64),
        uses_leader_worker_set=bool(find_references(node.value)),
    )


def _image(pod: Node | None) -> str:
    runner = None if pod is None else pod.node("runner")
    return "" if runner is None else runner.text("image") or ""


def parse_accelerator_class(manifest: Mapping[str, Any]) -> AcceleratorClass:
    """Read an AcceleratorClass.

    Raises:
        Unreadable: it has no name.
    """
    return AcceleratorClass(_opened(manifest)[0])


def parse_workload(manifest: Mapping[str, Any]) -> Workload | None:
    """Read a Deployment, InferenceReplica or LeaderWorkerSet; None when it belongs to no InferenceService.

    Raises:
        Unreadable: a field has another type than expected.
    """
    ref, metadata, _ = _opened(manifest)
    labels = metadata.text_map("labels")
    service = labels.get("ome.io/inferenceservice", "")
    component = labels.get("component", "")
    if not service or not component:
        return None
    return Workload(ref, service, component, labels.get("serving-runtime", ""), _ready(manifest))


def _ready(manifest: Mapping[str, Any]) -> bool | None:
    """Whether the workload says it is available, or None when it doesn't say."""
    status = Node(manifest).node("status")
    if status is None:
        return None
    for condition in status.nodes("conditions"):
        if condition.text("type") in {"Available", "Ready"}:
            return condition.text("status") == "True"
    return None
