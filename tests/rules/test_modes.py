"""Deployment modes: what each side declares for matching, and what a component runs in."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.modes import mismatch_text, requested_mode, running_mode, runtime_mode
from selection.rules.semantics import V1_2, V1_3, Semantics

from .manifests import MODE, moded, read_runtime, read_service

COUNTING = ["RawDeployment", "OMENative", "MultiNode", "VirtualDeployment"]
NOT_COUNTING = ["", "omenative", "OMENATIVE", " OMENative", "Native", "Serverless", "MultiNodeRayVLLM"]


def asked(component: str, semantics: Semantics = V1_3, **fields: Any) -> tuple[str, str] | None:
    """What a service asks for, and where."""
    declared = requested_mode(read_service(**fields), component, semantics)
    return (declared.mode, declared.source) if declared else None


@pytest.mark.parametrize("mode", COUNTING)
def test_a_component_asks_by_its_annotation(mode: str) -> None:
    assert asked("engine", engine=moded(mode)) == (mode, "spec.engine.annotations")
    assert asked("decoder", decoder=moded(mode)) == (mode, "spec.decoder.annotations")


@pytest.mark.parametrize("mode", NOT_COUNTING)
def test_a_value_that_does_not_count_asks_for_nothing(mode: str) -> None:
    assert asked("engine", engine=moded(mode)) is None


@pytest.mark.parametrize("mode", NOT_COUNTING)
def test_such_a_value_leaves_the_word_to_the_spec(mode: str) -> None:
    assert asked("engine", engine=moded(mode), deploymentMode="OMENative") == ("OMENative", "spec.deploymentMode")


def test_the_annotation_comes_before_the_spec() -> None:
    assert asked("engine", engine=moded("MultiNode"), deploymentMode="OMENative") == (
        "MultiNode",
        "spec.engine.annotations",
    )


@pytest.mark.parametrize("mode", ["OMENative", "RawDeployment"])
def test_the_spec_speaks_for_the_engine_even_when_there_is_none(mode: str) -> None:
    assert asked("engine", engine=None, deploymentMode=mode) == (mode, "spec.deploymentMode")


def test_the_spec_speaks_for_the_decoder_only_when_there_is_one() -> None:
    assert asked("decoder", deploymentMode="OMENative") is None
    assert asked("decoder", deploymentMode="OMENative", decoder={}) == ("OMENative", "spec.deploymentMode")


@pytest.mark.parametrize("mode", ["MultiNode", "VirtualDeployment", "omenative", ""])
def test_the_spec_takes_no_other_mode(mode: str) -> None:
    assert asked("engine", deploymentMode=mode) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"annotations": {MODE: "OMENative"}},
        {"engine": {"leader": {}, "worker": {"size": 1}}},
        {"router": moded("OMENative")},
        {"decoder": moded("OMENative")},
    ],
)
def test_nothing_else_asks_for_the_engines_mode(fields: dict[str, Any]) -> None:
    assert asked("engine", **fields) is None


@pytest.mark.parametrize("mode", COUNTING)
def test_a_runtime_declares_by_the_annotations_of_its_configs(mode: str) -> None:
    runtime = read_runtime(engineConfig=moded(mode), decoderConfig={})
    declared = runtime_mode(runtime, "engine", V1_3)
    assert declared is not None
    assert declared.to_dict() == {"mode": mode, "source": "spec.engineConfig.annotations"}
    assert runtime_mode(runtime, "decoder", V1_3) is None


@pytest.mark.parametrize("mode", NOT_COUNTING)
def test_a_runtimes_value_that_does_not_count_is_none(mode: str) -> None:
    assert runtime_mode(read_runtime(engineConfig=moded(mode)), "engine", V1_3) is None


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"engineConfig": {}},
        {"engineConfig": {"leader": {}, "worker": {}}},
        {"routerConfig": moded("MultiNode")},
        {"decoderConfig": moded("MultiNode")},
    ],
)
def test_nothing_else_declares_a_runtimes_engine_mode(spec: dict[str, Any]) -> None:
    assert runtime_mode(read_runtime(**spec), "engine", V1_3) is None


def test_a_runtimes_metadata_declares_nothing() -> None:
    runtime = read_runtime(annotations={MODE: "MultiNode"}, engineConfig={})
    assert runtime.annotations == {MODE: "MultiNode"}
    assert runtime_mode(runtime, "engine", V1_3) is None


def test_the_reason_names_the_runtimes_mode_first() -> None:
    assert mismatch_text("decoder", "RawDeployment", "OMENative") == (
        "runtime decoder deployment mode RawDeployment does not match requested decoder deployment mode OMENative"
    )


def runs(service: dict[str, Any], component: str, semantics: Semantics = V1_3, **spec: Any) -> tuple[str, str]:
    """What a component runs in, and the rule that decided."""
    runtime = read_runtime(**spec)
    found = running_mode(read_service(**service), component, runtime.components, semantics)
    return found.mode, found.source


RUNNING: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, str]]] = [
    # the default
    ("engine", {}, {}, ("RawDeployment", "Default")),
    ("router", {"router": {}}, {}, ("RawDeployment", "Default")),
    # the component's annotation, the service's or the runtime's
    ("engine", {"engine": moded("MultiNode")}, {}, ("MultiNode", "ComponentAnnotation")),
    ("engine", {}, {"engineConfig": moded("MultiNode")}, ("MultiNode", "ComponentAnnotation")),
    ("router", {"router": {}}, {"routerConfig": moded("OMENative")}, ("OMENative", "ComponentAnnotation")),
    ("decoder", {"decoder": {}}, {"decoderConfig": moded("OMENative")}, ("OMENative", "ComponentAnnotation")),
    # the service's wins, key by key
    (
        "engine",
        {"engine": moded("OMENative")},
        {"engineConfig": moded("MultiNode")},
        ("OMENative", "ComponentAnnotation"),
    ),
    (
        "engine",
        {"engine": {"annotations": {"team": "a"}}},
        {"engineConfig": moded("MultiNode")},
        ("MultiNode", "ComponentAnnotation"),
    ),
    # one that doesn't count hides the runtime's, and the component falls to spec, shape or default
    ("engine", {"engine": moded("multinode")}, {"engineConfig": moded("MultiNode")}, ("RawDeployment", "Default")),
    ("engine", {"engine": moded("")}, {"engineConfig": moded("MultiNode")}, ("RawDeployment", "Default")),
    (
        "engine",
        {"engine": moded("multinode"), "deploymentMode": "OMENative"},
        {"engineConfig": moded("MultiNode")},
        ("OMENative", "ServiceSpec"),
    ),
    (
        "engine",
        {"engine": moded("")},
        {"engineConfig": moded("MultiNode", leader={}, worker={})},
        ("OMENative", "LeaderWorkerShape"),
    ),
    # a runtime's annotation beats the service's spec; one that doesn't count leaves it the word
    (
        "engine",
        {"deploymentMode": "OMENative"},
        {"engineConfig": moded("MultiNode")},
        ("MultiNode", "ComponentAnnotation"),
    ),
    ("engine", {"deploymentMode": "OMENative"}, {"engineConfig": moded("Multinode")}, ("OMENative", "ServiceSpec")),
    # the spec is for every component, and beats the shape
    ("router", {"router": {}, "deploymentMode": "OMENative"}, {}, ("OMENative", "ServiceSpec")),
    ("decoder", {"decoder": {}, "deploymentMode": "OMENative"}, {}, ("OMENative", "ServiceSpec")),
    (
        "engine",
        {"engine": {"leader": {}, "worker": {}}, "deploymentMode": "RawDeployment"},
        {},
        ("RawDeployment", "ServiceSpec"),
    ),
    ("engine", {"deploymentMode": "MultiNode"}, {}, ("RawDeployment", "Default")),
    # the shape: a leader or a worker on either side, never for the router
    ("engine", {"engine": {"leader": {}}}, {}, ("OMENative", "LeaderWorkerShape")),
    ("engine", {"engine": {"worker": {"size": 2}}}, {}, ("OMENative", "LeaderWorkerShape")),
    ("engine", {}, {"engineConfig": {"leader": {}, "worker": {}}}, ("OMENative", "LeaderWorkerShape")),
    ("decoder", {"decoder": {}}, {"decoderConfig": {"worker": {}}}, ("OMENative", "LeaderWorkerShape")),
    ("router", {"router": {"leader": {}}}, {"routerConfig": {"leader": {}}}, ("RawDeployment", "Default")),
    # another component's shape or annotation is not this one's
    ("engine", {"decoder": {"leader": {}}}, {"decoderConfig": moded("MultiNode")}, ("RawDeployment", "Default")),
    # the service's own annotation says VirtualDeployment: every component; any other value says nothing
    (
        "engine",
        {"annotations": {MODE: "VirtualDeployment"}, "engine": moded("OMENative")},
        {},
        ("VirtualDeployment", "ServiceAnnotation"),
    ),
    (
        "router",
        {"annotations": {MODE: "VirtualDeployment"}, "router": {}},
        {},
        ("VirtualDeployment", "ServiceAnnotation"),
    ),
    ("engine", {"annotations": {MODE: "MultiNode"}}, {}, ("RawDeployment", "Default")),
    ("engine", {"engine": moded("VirtualDeployment")}, {}, ("VirtualDeployment", "ComponentAnnotation")),
]


@pytest.mark.parametrize(("component", "service", "runtime", "running"), RUNNING)
def test_a_component_runs_in(
    component: str, service: dict[str, Any], runtime: dict[str, Any], running: tuple[str, str]
) -> None:
    assert runs(service, component, **runtime) == running


RUNNING_ON_V1_2: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, str]]] = [
    # a leader or a worker makes it MultiNode
    ("engine", {"engine": {"leader": {}}}, {}, ("MultiNode", "LeaderWorkerShape")),
    ("engine", {}, {"engineConfig": {"worker": {}}}, ("MultiNode", "LeaderWorkerShape")),
    ("decoder", {"decoder": {"worker": {}}}, {}, ("MultiNode", "LeaderWorkerShape")),
    # only the engine's annotation is read, and OMENative is unknown
    ("engine", {"engine": moded("MultiNode")}, {}, ("MultiNode", "ComponentAnnotation")),
    ("engine", {"engine": moded("MultiNodeRayVLLM")}, {}, ("MultiNodeRayVLLM", "ComponentAnnotation")),
    ("engine", {"engine": moded("OMENative")}, {}, ("RawDeployment", "Default")),
    ("decoder", {"decoder": moded("MultiNode")}, {}, ("RawDeployment", "Default")),
    ("router", {"router": moded("MultiNode")}, {}, ("RawDeployment", "Default")),
    # a hidden annotation is hidden there, too
    ("engine", {"engine": moded("OMENative")}, {"engineConfig": moded("MultiNode")}, ("RawDeployment", "Default")),
    # there is no spec.deploymentMode
    ("engine", {"deploymentMode": "OMENative"}, {}, ("RawDeployment", "Default")),
    (
        "engine",
        {"annotations": {MODE: "VirtualDeployment"}},
        {},
        ("VirtualDeployment", "ServiceAnnotation"),
    ),
]


@pytest.mark.parametrize(("component", "service", "runtime", "running"), RUNNING_ON_V1_2)
def test_on_v1_2_a_component_runs_in(
    component: str, service: dict[str, Any], runtime: dict[str, Any], running: tuple[str, str]
) -> None:
    assert runs(service, component, V1_2, **runtime) == running
