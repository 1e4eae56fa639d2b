"""From manifests to the objects that the rules judge: defaults, what counts as set, and what is unreadable."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.objects import Component, Format, ObjectRef, Pipeline, PipelinePart, RuntimeRef
from selection.rules.parsing import (
    kind_of,
    parse_accelerator_class,
    parse_model,
    parse_runtime,
    parse_service,
    parse_workload,
    ref_of,
)
from selection.rules.reading import Unreadable

from .manifests import (
    a_model,
    a_runtime,
    a_service,
    an_entry,
    deployed,
    moded,
    read_entry,
    read_model,
    read_runtime,
    read_service,
)


def unreadable(manifest: Any) -> str:
    """What is said of a manifest that can't be read."""
    readers = {
        "InferenceService": parse_service,
        "ClusterServingRuntime": parse_runtime,
        "ClusterBaseModel": parse_model,
    }
    with pytest.raises(Unreadable) as caught:
        readers[manifest["kind"]](manifest)
    return str(caught.value)


REFS: list[tuple[Any, ObjectRef]] = [
    (a_service(), ObjectRef("InferenceService", "team", "chat")),
    (a_model(), ObjectRef("ClusterBaseModel", "", "llama")),
    # a namespaced object without a namespace stands in default; a cluster's has none, whatever it says
    ({"kind": "ServingRuntime", "metadata": {"name": "a"}}, ObjectRef("ServingRuntime", "default", "a")),
    (
        {"kind": "ServingRuntime", "metadata": {"name": "a", "namespace": ""}},
        ObjectRef("ServingRuntime", "default", "a"),
    ),
    (
        {"kind": "ClusterServingRuntime", "metadata": {"name": "a", "namespace": "team"}},
        ObjectRef("ClusterServingRuntime", "", "a"),
    ),
    # what can't be read is a question mark
    ({}, ObjectRef("?", "default", "?")),
    ({"kind": ["a"], "metadata": {"name": 1, "namespace": {}}}, ObjectRef("?", "default", "?")),
    ({"kind": "BaseModel", "metadata": "a"}, ObjectRef("BaseModel", "default", "?")),
    ("not an object", ObjectRef("?", "default", "?")),
    (None, ObjectRef("?", "default", "?")),
    ({"kind": "BaseModel", "metadata": {"name": "n" * 300}}, ObjectRef("BaseModel", "default", "n" * 252 + "…")),
]


@pytest.mark.parametrize(("manifest", "ref"), REFS)
def test_a_manifest_says_which_object_it_is(manifest: Any, ref: ObjectRef) -> None:
    assert ref_of(manifest) == ref


@pytest.mark.parametrize("manifest", [None, "text", [], {}, {"kind": None}, {"kind": ""}, {"kind": 1}, {"kind": ["a"]}])
def test_a_manifest_without_a_kind_is_unreadable(manifest: Any) -> None:
    with pytest.raises(Unreadable):
        kind_of(manifest)


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        (None, "metadata.name: an object needs a name"),
        ({}, "metadata.name: an object needs a name"),
        ({"name": ""}, "metadata.name: an object needs a name"),
        ({"name": 7}, "metadata.name: expected text, found the number 7"),
        ({"name": "a", "namespace": 7}, "metadata.namespace: expected text, found the number 7"),
        ({"name": "n" * 254}, "metadata.name: longer than 253 characters, which no API server accepts"),
        ([], "metadata: expected an object, found a list"),
    ],
)
def test_an_object_needs_a_name_that_an_api_server_would_take(metadata: Any, text: str) -> None:
    assert unreadable({"kind": "InferenceService", "metadata": metadata, "spec": {}}) == text


FORMATS: list[tuple[dict[str, Any], Format]] = [
    # the CRD's defaults, which a manifest from a file doesn't have
    ({"name": "safetensors"}, Format("safetensors", None, "Equal", 1)),
    ({"name": "safetensors", "operator": None, "weight": None}, Format("safetensors", None, "Equal", 1)),
    # what is written stays, also 0 and ""
    ({"name": "a", "version": "", "operator": "", "weight": 0}, Format("a", "", "", 0)),
    ({"name": "a", "version": "1.0", "operator": "GreaterThan", "weight": -5}, Format("a", "1.0", "GreaterThan", -5)),
    ({}, Format("", None, "Equal", 1)),
    ({"name": "a", "weight": 2.0}, Format("a", None, "Equal", 2)),
]


@pytest.mark.parametrize(("written", "read"), FORMATS)
def test_a_format_gets_the_crds_defaults(written: dict[str, Any], read: Format) -> None:
    entry = read_entry(modelFormat=written, modelFramework=written)
    assert entry.format == read
    assert entry.framework == read
    assert read_model(modelFormat=written).format == read


def test_an_entry_keeps_what_is_not_set_apart_from_what_is_empty() -> None:
    bare = read_entry()
    assert (bare.name, bare.format, bare.framework, bare.architecture, bare.quantization) == (
        "",
        None,
        None,
        None,
        None,
    )
    assert (bare.pipeline, bare.auto_select, bare.priority) == (None, None, None)
    written = read_entry(name="a", modelArchitecture="", quantization="", autoSelect=False, priority=0)
    assert (written.architecture, written.quantization, written.auto_select, written.priority) == ("", "", False, 0)


def test_a_pipeline_keeps_its_components_by_name() -> None:
    pipeline = read_model(
        diffusionPipeline={
            "className": "FluxPipeline",
            "vae": {"library": "diffusers"},
            "scheduler": {"type": "A", "library": None},
            "tokenizer": None,
            "additionalComponents": {"b": None, "a": {"type": "T5"}},
        }
    ).pipeline
    assert pipeline == Pipeline(
        "FluxPipeline",
        (("scheduler", PipelinePart("", "A")), ("vae", PipelinePart("diffusers", ""))),
        (("a", PipelinePart("", "T5")), ("b", PipelinePart())),
    )
    assert read_model(diffusionPipeline={}).pipeline == Pipeline()
    assert read_model(diffusionPipeline=None).pipeline is None


def test_a_model_without_a_format_has_an_empty_one() -> None:
    model = read_model(modelFormat=None, disabled=True, modelParameterSize="", distribution="Sharded")
    assert (model.format, model.disabled, model.size, model.distribution) == (Format(), True, "", "Sharded")


def test_models_of_the_same_content_ask_the_same_question() -> None:
    one, other = parse_model(a_model("one", disabled=True)), parse_model(a_model("other", "team"))
    assert one.content == other.content
    assert one.content != parse_model(a_model(quantization="fp8")).content


def test_a_runtime_keeps_what_selection_looks_at() -> None:
    runtime = read_runtime(
        an_entry(),
        modelSizeRange={"min": "", "max": None},
        acceleratorRequirements={"acceleratorClasses": ["h100", None]},
        engineConfig=moded("OMENative", leader={}, worker=None),
        decoderConfig={},
        routerConfig={"leader": {}},
    )
    assert runtime.size_range == ("", None)
    assert runtime.accelerator_classes == ("h100", "")
    assert (runtime.disabled, runtime.cluster_scoped, runtime.scope) == (False, True, "Cluster")
    assert set(runtime.components) == {"engine", "decoder", "router"}
    engine = runtime.components["engine"]
    assert (engine.annotation("ome.io/deploymentMode"), engine.leader, engine.worker) == ("OMENative", True, False)
    assert not runtime.components["router"].leader


def test_a_runtime_without_anything_has_no_entries() -> None:
    runtime = read_runtime(supportedModelFormats=None)
    assert (runtime.entries, runtime.size_range, runtime.accelerator_classes, runtime.components) == ((), None, (), {})


def test_a_namespaced_runtime_says_so() -> None:
    runtime = parse_runtime(a_runtime("fast", "team"))
    assert (runtime.cluster_scoped, runtime.scope) == (False, "Namespaced")


def test_a_service_gets_the_crds_defaults() -> None:
    service = read_service(runtime={"name": "fast"})
    assert (service.model_name, service.model_kind) == ("llama", "ClusterBaseModel")
    assert service.runtime == RuntimeRef("fast", "ClusterServingRuntime", None, "")
    assert service.named_runtime == "fast"


def test_a_service_keeps_what_is_written_also_empty() -> None:
    service = read_service(
        model={"name": "", "kind": ""}, runtime={"name": "fast", "kind": "", "autoSync": False, "revision": "cr-fast-1"}
    )
    assert (service.model_name, service.model_kind) == ("", "")
    assert service.runtime == RuntimeRef("fast", "", False, "cr-fast-1")
    assert service.runtime is not None
    assert service.runtime.pinned


def test_a_service_without_model_and_runtime_has_none() -> None:
    service = read_service(model=None, engine=None)
    assert (service.model_name, service.model_kind, service.runtime, service.named_runtime) == (None, None, None, "")
    assert service.components == {}


def test_a_component_keeps_what_decides_shape_and_admission() -> None:
    component = read_service(
        engine={
            "annotations": {"a": None},
            "leader": {"runner": {"image": "l"}},
            "worker": {"size": 0, "runner": {"image": "w"}},
            "runner": {"image": "r"},
            "acceleratorOverride": {"acceleratorClass": ""},
            "deploymentStrategy": {},
            "minReplicas": 0,
        }
    ).components["engine"]
    assert component == Component(
        annotations={"a": ""},
        leader=True,
        worker=True,
        worker_size=0,
        leader_image="l",
        worker_image="w",
        runner_image="r",
        accelerator_class="",
        deployment_strategy=True,
        min_replicas=0,
    )


def test_components_stand_in_omes_order() -> None:
    assert list(read_service(router={}, decoder={}).components) == ["engine", "decoder", "router"]


REPLICA_REFS: list[tuple[Any, set[str]]] = [
    (None, set()),
    ({}, set()),
    ({"engine": []}, set()),
    ({"engine": ["a"]}, {"engine"}),
    ({"engine": ["a"], "decoder": ["b"], "router": None}, {"engine", "decoder"}),
    # without an engine all of it is ignored
    ({"decoder": ["b"], "router": ["c"]}, set()),
]


@pytest.mark.parametrize(("written", "components"), REPLICA_REFS)
def test_replica_refs_name_components(written: Any, components: set[str]) -> None:
    assert read_service(replicaRefs=written).replica_refs == components


def test_rollout_groups_name_their_components() -> None:
    groups = read_service(rollout={"groups": [{"components": ["engine", "decoder"]}, {}]}).rollout_groups
    assert [group.components for group in groups or ()] == [("engine", "decoder"), ()]


PROGRESSIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "blueGreen"),
    ({"rollingUpdate": {}}, "rollingUpdate"),
    ({"canary": {"steps": []}}, "canary"),
    ({"policyRef": {"name": "strict", "progression": "canary"}}, "canary"),
    ({"policyRef": {"name": "strict"}}, "blueGreen"),
    ({"policyRef": {"name": "strict", "progression": "canary"}, "blueGreen": {}}, "blueGreen"),
]


@pytest.mark.parametrize(("group", "progression"), PROGRESSIONS)
def test_a_rollout_group_is_what_it_writes_before_what_its_policy_is(group: dict[str, Any], progression: str) -> None:
    groups = read_service(rollout={"groups": [{"components": ["engine"], **group}]}).rollout_groups
    assert groups is not None
    assert groups[0].progression == progression


def test_the_status_says_pin_and_conditions() -> None:
    status = {
        "pinnedRevisionName": "cr-fast-0a1b2c3d",
        "conditions": [{"type": "RuntimeDrifted", "status": "True", "reason": "RevisionMissing"}, {"type": "Ready"}],
    }
    service = read_service(status=status)
    assert service.pinned_revision == "cr-fast-0a1b2c3d"
    assert service.conditions == {"RuntimeDrifted": ("True", "RevisionMissing"), "Ready": ("", "")}


UNREADABLE: list[tuple[Any, str]] = [
    (a_model(modelParameterSize=7), "spec.modelParameterSize: expected text, found the number 7"),
    (a_model(modelFormat={"version": 1.0}), "spec.modelFormat.version: expected text, found the number 1.0"),
    (a_model(modelFormat="safetensors"), 'spec.modelFormat: expected an object, found text "safetensors"'),
    (a_model(disabled="no"), 'spec.disabled: expected true or false, found text "no"'),
    (
        a_model(diffusionPipeline={"additionalComponents": {"x": {"type": []}}}),
        "spec.diffusionPipeline.additionalComponents.x.type: expected text, found a list",
    ),
    (
        a_runtime("a", None, an_entry(priority=2**31)),
        "spec.supportedModelFormats[0].priority: 2147483648 does not fit in a 32-bit integer",
    ),
    (
        a_runtime("a", None, an_entry(), an_entry(autoSelect="true")),
        'spec.supportedModelFormats[1].autoSelect: expected true or false, found text "true"',
    ),
    (
        a_runtime("a", None, an_entry(modelFormat={"name": "a", "weight": "1"})),
        'spec.supportedModelFormats[0].modelFormat.weight: expected an integer, found text "1"',
    ),
    (
        a_runtime(supportedModelFormats={}),
        "spec.supportedModelFormats: expected a list, found an object",
    ),
    (
        a_runtime(acceleratorRequirements={"acceleratorClasses": [1]}),
        "spec.acceleratorRequirements.acceleratorClasses[0]: expected text, found the number 1",
    ),
    (
        a_runtime(engineConfig={"annotations": {"ome.io/deploymentMode": True}}),
        'spec.engineConfig.annotations["ome.io/deploymentMode"]: expected text, found a boolean',
    ),
    (a_service(engine=[]), "spec.engine: expected an object, found a list"),
    (a_service(engine={"worker": {"size": "2"}}), 'spec.engine.worker.size: expected an integer, found text "2"'),
    (a_service(runtime="fast"), 'spec.runtime: expected an object, found text "fast"'),
    (a_service(runtime={"autoSync": "false"}), 'spec.runtime.autoSync: expected true or false, found text "false"'),
    (a_service(status={"conditions": {}}), "status.conditions: expected a list, found an object"),
    (a_service(replicaRefs="a"), 'spec.replicaRefs: expected an object, found text "a"'),
    (a_service(replicaRefs={"engine": "a"}), 'spec.replicaRefs.engine: expected a list, found text "a"'),
]


@pytest.mark.parametrize(("manifest", "text"), UNREADABLE)
def test_a_wrong_type_makes_the_object_unreadable_and_names_the_place(manifest: Any, text: str) -> None:
    assert unreadable(manifest) == text


def test_an_empty_status_list_is_fine() -> None:
    assert parse_service({**a_service(), "status": None}).conditions == {}


def test_a_workload_belongs_to_a_component_of_a_service() -> None:
    workload = parse_workload(deployed("LeaderWorkerSet", "decoder", runtime="slow"))
    assert workload is not None
    assert workload.ref == ObjectRef("LeaderWorkerSet", "team", "lws-chat-decoder")
    assert (workload.service, workload.component, workload.runtime, workload.ready) == ("chat", "decoder", "slow", None)


@pytest.mark.parametrize("label", ["ome.io/inferenceservice", "component"])
def test_a_workload_without_omes_labels_is_nobodys(label: str) -> None:
    manifest = deployed("Deployment")
    del manifest["metadata"]["labels"][label]
    assert parse_workload(manifest) is None


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        ([{"type": "Available", "status": "True"}], True),
        ([{"type": "Progressing", "status": "True"}, {"type": "Available", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], False),
        ([{"type": "Progressing", "status": "True"}], None),
        ([], None),
    ],
)
def test_a_workload_says_whether_it_is_ready(conditions: list[Any], ready: bool | None) -> None:
    workload = parse_workload({**deployed("Deployment"), "status": {"conditions": conditions}})
    assert workload is not None
    assert workload.ready is ready


def test_an_accelerator_class_is_a_name() -> None:
    assert parse_accelerator_class({"kind": "AcceleratorClass", "metadata": {"name": "h100"}}).ref.name == "h100"
