"""Rows about services, their components and their conflicts."""

from __future__ import annotations

from typing import Any

import pytest

from selection.store.models import Cluster, ComponentResult, ConflictRow, ServiceResult

from .builders import MODE, model, runtime, service, sync, workload

pytestmark = pytest.mark.django_db

MULTI = {"annotations": {MODE: "MultiNode"}}
NATIVE = {"annotations": {MODE: "OMENative"}}


def result(cluster: Cluster, name: str = "chat") -> ServiceResult:
    return ServiceResult.objects.get(cluster=cluster, name=name)


def components(cluster: Cluster, name: str = "chat") -> dict[str, ComponentResult]:
    return {row.component: row for row in result(cluster, name).components.all()}


def conflicts(cluster: Cluster, **where: Any) -> list[tuple[str, str, str, str, str, str]]:
    rows = ConflictRow.objects.filter(cluster=cluster, **where)
    return [(row.code, row.component, row.runtime_name, row.requested, row.declared, row.running) for row in rows]


def test_a_selected_runtime() -> None:
    cluster, _ = sync("east", model(), runtime("vllm", "ml"), runtime("sglang"), service("chat"))
    row = result(cluster)
    assert (row.outcome, row.selected_kind, row.selected_namespace, row.selected_name) == (
        "auto-selected", "ServingRuntime", "ml", "vllm",
    )  # fmt: skip
    assert (row.model_kind, row.model_namespace, row.model_name) == ("ClusterBaseModel", "", "llama")
    assert (row.score, row.qualified, row.named, row.admitted, row.message) == (1, 2, False, True, "")
    assert row.conflicts == []
    assert row.modes["engine"]["running"] == {"mode": "RawDeployment", "source": "Default"}


def test_no_runtime() -> None:
    cluster, _ = sync("east", model(), runtime("off", disabled=True), service("chat"))
    row = result(cluster)
    assert (row.outcome, row.selected_name, row.score, row.qualified, row.admitted) == (
        "no-runtime",
        "",
        None,
        0,
        False,
    )
    assert row.message.startswith(
        "no runtime found to support model safetensors with format safetensors in namespace ml"
    )
    engine = components(cluster)["engine"]
    assert (engine.running, engine.running_source, engine.declared) == ("", "", "")


def test_a_named_runtime_has_no_score() -> None:
    cluster, _ = sync("east", model(), runtime("vllm"), service("chat", runtime={"name": "vllm"}))
    row = result(cluster)
    assert (row.outcome, row.selected_name, row.score, row.named) == ("named", "vllm", None, True)


def test_a_model_that_is_missing_is_named_as_it_is_written() -> None:
    cluster, _ = sync("east", service("chat"))
    row = result(cluster)
    assert (row.outcome, row.model_kind, row.model_name) == ("invalid", "", "llama")
    assert [each["kind"] for each in row.computed_from] == ["InferenceService"]


def test_a_service_that_cannot_be_read_is_a_row_without_components() -> None:
    cluster, _ = sync("east", service("chat", engine="x"))
    assert result(cluster).outcome == "invalid"
    assert components(cluster) == {}


def test_components_say_what_was_asked_for_declared_and_runs() -> None:
    cluster, _ = sync(
        "east",
        model(),
        runtime("multi", engineConfig=MULTI, decoderConfig=NATIVE),
        service("chat", runtime={"name": "multi"}, deploymentMode="OMENative", decoder={}, router={}),
    )
    found = {
        name: (row.requested, row.requested_source, row.declared, row.running, row.running_source)
        for name, row in components(cluster).items()
    }
    spoken, decides = "spec.deploymentMode", "ComponentAnnotation"
    assert found == {
        "engine": ("OMENative", spoken, "MultiNode", "MultiNode", decides),
        "decoder": ("OMENative", spoken, "OMENative", "OMENative", decides),
        "router": ("OMENative", spoken, "", "OMENative", "ServiceSpec"),
    }


def test_a_component_shows_the_conflict_that_matters_most_and_its_migration() -> None:
    cluster, _ = sync(
        "east",
        model(),
        runtime("multi", engineConfig=MULTI),
        service("chat"),
        workload("LeaderWorkerSet", "lws-chat-engine", "chat", by="multi"),
        workload("Deployment", "chat-engine", "chat", by="multi"),
    )
    engine = components(cluster)["engine"]
    assert (engine.conflict, engine.migration, engine.workloads) == (
        "silent-takeover", "not-started", "Deployment, LeaderWorkerSet",
    )  # fmt: skip
    assert result(cluster).conflicts == ["deprecated", "silent-takeover"]


def test_a_component_that_is_taken_out_is_a_row_less() -> None:
    sync("east", model(), runtime("vllm"), service("chat", decoder={}))
    cluster, _ = sync("east", model(), runtime("vllm"), service("chat"))
    assert set(components(cluster)) == {"engine"}


def test_a_conflict_is_about_the_runtime_the_service_gets() -> None:
    cluster, _ = sync("east", model(), runtime("multi", engineConfig=MULTI), service("chat"))
    assert conflicts(cluster, service="chat") == [
        ("deprecated", "engine", "multi", "", "MultiNode", "MultiNode"),
        ("silent-takeover", "engine", "multi", "", "MultiNode", "MultiNode"),
    ]


def test_a_rejection_is_about_the_runtime_that_was_kept_away() -> None:
    cluster, _ = sync(
        "east",
        model(),
        runtime("multi", engineConfig=MULTI),
        runtime("raw"),
        service("chat", deploymentMode="OMENative"),
    )
    assert result(cluster).selected_name == "raw"
    assert conflicts(cluster, service="chat") == [
        ("rejected", "engine", "multi", "OMENative", "MultiNode", "OMENative")
    ]


def test_conflicts_of_one_code_and_component_are_told_apart() -> None:
    cluster, _ = sync(
        "east",
        model(),
        runtime("vllm"),
        service("chat", deploymentMode="Serverless", engine={"annotations": {MODE: "Multinode"}}),
    )
    rows = ConflictRow.objects.filter(cluster=cluster, service="chat", code="ignored")
    assert [row.ordinal for row in rows] == [0, 1]
    assert {row.facts["path"] for row in rows} == {"spec.engine.annotations", "spec.deploymentMode"}


def test_a_runtimes_own_conflict_belongs_to_no_service() -> None:
    cluster, _ = sync("east", runtime("odd", "ml", engineConfig={"annotations": {MODE: "Multinode"}}))
    [row] = ConflictRow.objects.filter(cluster=cluster)
    assert (row.namespace, row.service, row.component, row.code) == ("", "", "engine", "ignored")
    assert (row.runtime_kind, row.runtime_namespace, row.runtime_name) == ("ServingRuntime", "ml", "odd")
    assert row.facts["value"] == "Multinode"


def test_a_conflict_that_is_solved_is_a_row_less() -> None:
    sync("east", model(), runtime("multi", engineConfig=MULTI), service("chat"))
    cluster, _ = sync("east", model(), runtime("multi"), service("chat"))
    assert conflicts(cluster) == []
    assert result(cluster).conflicts == []


def test_a_service_that_is_gone_takes_its_rows_along() -> None:
    sync("east", model(), runtime("multi", engineConfig=MULTI), service("chat"))
    cluster, _ = sync("east", model(), runtime("multi", engineConfig=MULTI))
    assert not ServiceResult.objects.filter(cluster=cluster)
    assert not ComponentResult.objects.filter(result__cluster=cluster)
    assert [code for code, *_ in conflicts(cluster)] == ["deprecated"]


@pytest.mark.parametrize("size", ["inf", "nan", "-inf", "1e999", "0x1p4"])
def test_sizes_that_are_no_numbers_can_be_stored(size: str) -> None:
    cluster, _ = sync(
        "east", model(modelParameterSize=size), runtime("a", modelSizeRange={"min": size}), service("chat")
    )
    assert result(cluster).outcome in {"auto-selected", "no-runtime"}
