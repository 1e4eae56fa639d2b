"""Rows about runtimes, models, and references to LeaderWorkerSet."""

from __future__ import annotations

import pytest

from selection.store.models import Cluster, ModelResult, ReferenceRow, RuntimeResult

from .builders import MODE, model, runtime, service, sync

pytestmark = pytest.mark.django_db

INHERIT = {"ome.io/inherit-from": "base"}
ENTRY = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
LWS = {"runner": {"name": "x", "args": ["--nnodes=$(LWS_GROUP_SIZE)", "$(LWS_WORKER_INDEX) $(LWS_LEADER_ADDRESS)"]}}


def runtimes(cluster: Cluster) -> dict[str, RuntimeResult]:
    return {row.name: row for row in RuntimeResult.objects.filter(cluster=cluster)}


def models(cluster: Cluster) -> dict[tuple[str, str], ModelResult]:
    return {(row.namespace, row.name): row for row in ModelResult.objects.filter(cluster=cluster)}


def test_a_runtime_shows_what_it_declares() -> None:
    formats = [
        {**ENTRY, "modelFormat": {"name": name}, "autoSelect": name == "onnx"}
        for name in ("safetensors", "onnx", "onnx")
    ]
    cluster, _ = sync(
        "east",
        runtime(
            "full",
            annotations={**INHERIT, "ome.io/runtime-profile": "true"},
            disabled=True,
            supportedModelFormats=[*formats, {"autoSelect": False}],
            modelSizeRange={"min": "7B"},
            engineConfig={"annotations": {MODE: "MultiNode"}},
            decoderConfig={"annotations": {MODE: "Multinode"}},
            routerConfig={"annotations": {MODE: "RawDeployment"}},
        ),
        runtime("bare", supportedModelFormats=[]),
    )
    full, bare = runtimes(cluster)["full"], runtimes(cluster)["bare"]
    assert (full.disabled, full.profile, full.auto_select) == (True, True, True)
    assert (full.formats, full.size_range) == ("onnx, safetensors", "[7B, inf)")
    assert (full.engine_mode, full.decoder_mode, full.router_mode) == ("MultiNode", "", "RawDeployment")
    assert (full.parent, full.chain_problem) == ("base", "ParentNotFound")
    assert (bare.formats, bare.size_range, bare.auto_select, bare.parent, bare.chain_problem) == ("", "", False, "", "")


def test_services_are_counted_by_how_they_come_to_a_runtime() -> None:
    named = service("named", runtime={"name": "vllm"})
    advised = service("advised", model={"name": "other"}, runtime={"name": "vllm"})
    other = model("other", modelFormat={"name": "onnx"})
    cluster, _ = sync(
        "east", model(), other, runtime("vllm"), runtime("idle", disabled=True),
        service("a"), service("b"), named, advised,
    )  # fmt: skip
    found = runtimes(cluster)
    assert (found["vllm"].selected_by, found["vllm"].named_by) == (2, 2)
    assert (found["idle"].selected_by, found["idle"].named_by) == (0, 0)
    cluster, _ = sync("east", model(), runtime("vllm"), runtime("idle", disabled=True), service("a"))
    assert (runtimes(cluster)["vllm"].selected_by, runtimes(cluster)["vllm"].named_by) == (1, 0)


def test_the_counts_of_two_runtimes_of_one_name_are_apart() -> None:
    cluster, _ = sync("east", model(), runtime("vllm"), runtime("vllm", "ml"), service("a"), service("b", "web"))
    rows = RuntimeResult.objects.filter(cluster=cluster, name="vllm")
    assert {row.kind: row.selected_by for row in rows} == {"ServingRuntime": 1, "ClusterServingRuntime": 1}


def test_a_runtime_that_cannot_be_read_is_listed_with_the_reason() -> None:
    cluster, _ = sync("east", runtime("odd", supportedModelFormats="x"))
    assert runtimes(cluster)["odd"].problem == 'spec.supportedModelFormats: expected a list, found text "x"'
    cluster, _ = sync("east", runtime("odd"))
    assert runtimes(cluster)["odd"].problem == ""


def test_references_are_listed_one_by_one() -> None:
    cluster, _ = sync("east", runtime("multi", engineConfig=LWS))
    row = runtimes(cluster)["multi"]
    found = [(each.path, each.ordinal, each.token, each.replacement) for each in row.reference_rows.all()]
    args = "spec.engineConfig.runner.args"
    assert found == [
        (f"{args}[0]", 0, "$(LWS_GROUP_SIZE)", "$(OME_INSTANCE_POD_COUNT)"),
        (f"{args}[1]", 0, "$(LWS_WORKER_INDEX)", "$(OME_INSTANCE_POD_RANK)"),
        (f"{args}[1]", 1, "$(LWS_LEADER_ADDRESS)", "$(OME_LEADER_ADDRESS)"),
    ]
    assert row.references == 3


def test_an_inherited_reference_says_whose_it_is() -> None:
    cluster, _ = sync(
        "east",
        runtime("base", disabled=True, engineConfig=LWS),
        runtime(
            "child",
            annotations=INHERIT,
            disabled=False,
            engineConfig={"annotations": {"leaderworkerset.sigs.k8s.io/size": "2"}},
        ),
    )
    rows = ReferenceRow.objects.filter(runtime__cluster=cluster, runtime__name="child")
    origins = {row.path.split(".")[2].split("[")[0]: row.origin_name for row in rows}
    assert origins == {"annotations": "child", "runner": "base"}
    assert runtimes(cluster)["child"].references == 4


def test_a_parents_change_reaches_the_childs_references() -> None:
    child = runtime("child", annotations=INHERIT)
    sync("east", runtime("base", engineConfig=LWS), child)
    cluster, _ = sync("east", runtime("base"), child)
    assert runtimes(cluster)["child"].references == 0
    assert not ReferenceRow.objects.filter(runtime__cluster=cluster)


def test_with_a_broken_chain_its_own_references_are_told() -> None:
    cluster, _ = sync("east", runtime("orphan", annotations=INHERIT, engineConfig=LWS))
    row = runtimes(cluster)["orphan"]
    assert (row.chain_problem, row.references) == ("ParentNotFound", 3)


def test_a_chain_that_cannot_be_merged_hides_nothing() -> None:
    cluster, _ = sync("east", runtime("base", engineConfig=5), runtime("child", annotations=INHERIT, engineConfig=LWS))
    assert runtimes(cluster)["child"].references == 3
    assert runtimes(cluster)["base"].problem != ""


def test_v12_knows_no_parents() -> None:
    objects = [runtime("base", engineConfig=LWS), runtime("child", annotations=INHERIT)]
    cluster, _ = sync("east", *objects, ome_version="1.2")
    row = runtimes(cluster)["child"]
    assert (row.parent, row.chain_problem, row.references) == ("", "", 0)


def test_a_model_shows_what_selection_looks_at() -> None:
    cluster, _ = sync(
        "east",
        model(
            "full",
            modelFormat={"name": "safetensors", "version": "1.0.0"},
            modelFramework={"name": "transformers", "version": "4.51.0"},
            modelArchitecture="LlamaForCausalLM",
            quantization="fp8",
            modelParameterSize="70B",
            disabled=True,
        ),
        model("bare", modelFormat=None),
    )
    full, bare = models(cluster)[("", "full")], models(cluster)[("", "bare")]
    assert (full.format, full.framework) == ("safetensors 1.0.0", "transformers 4.51.0")
    assert (full.architecture, full.quantization, full.size) == ("LlamaForCausalLM", "fp8", "70B")
    assert (full.disabled, full.matchable) == (True, True)
    assert (bare.format, bare.framework, bare.matchable, bare.qualified) == ("", "", False, 0)


def test_a_model_counts_the_runtimes_of_its_own_scope_and_names_the_first() -> None:
    better = runtime("better", supportedModelFormats=[{**ENTRY, "priority": 3}])
    cluster, _ = sync("east", model(), model("llama", "ml"), runtime("vllm"), better, runtime("mine", "ml"))
    found = {
        namespace: (row.qualified, row.first_kind, row.first_name) for (namespace, _), row in models(cluster).items()
    }
    assert found == {"": (2, "ClusterServingRuntime", "better"), "ml": (3, "ServingRuntime", "mine")}


def test_a_model_counts_the_services_that_use_it() -> None:
    fleet = [model(), model("llama", "ml"), runtime("vllm"), service("a"), service("b"), service("c", "web")]
    cluster, _ = sync("east", *fleet)
    assert {namespace: row.services for (namespace, _), row in models(cluster).items()} == {"": 1, "ml": 2}
    cluster, _ = sync("east", *fleet[:1], *fleet[2:])
    assert {namespace: row.services for (namespace, _), row in models(cluster).items()} == {"": 3}


def test_a_model_that_cannot_be_read_is_listed_with_the_reason() -> None:
    cluster, _ = sync("east", model("odd", modelFormat="x"))
    odd = models(cluster)[("", "odd")]
    assert (odd.matchable, odd.problem) == (False, 'spec.modelFormat: expected an object, found text "x"')
