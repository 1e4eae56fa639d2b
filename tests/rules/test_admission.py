"""What OME's webhooks say of a service and of a runtime, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.admission import Admission, admit_runtime, complete_runner
from selection.rules.fleet import read_fleet
from selection.rules.semantics import V1_2, V1_3, Semantics

from .manifests import MODE, a_model, a_runtime, a_service, an_entry, explained, moded, read_service

SELECTED = "Runtime fast will be auto-selected for model llama"


def admitted(*objects: dict[str, Any], semantics: Semantics = V1_3, **service: Any) -> Admission:
    """What the webhook says of ``chat`` when ``llama`` and ``fast`` are there, beside these objects."""
    return explained(a_model(), a_runtime(), *objects, a_service(**service), semantics=semantics).admission


def test_a_plain_service_is_admitted_with_the_name_of_its_runtime() -> None:
    assert admitted().to_dict() == {"allowed": True, "errors": [], "warnings": [SELECTED]}


ERRORS: list[tuple[dict[str, Any], list[str]]] = [
    ({"engine": None, "decoder": {}}, ["decoder cannot be specified without engine"]),
    (
        {"engine": {"leader": {}}},
        [
            "InvalidLeaderWorkerPairing: engine.leader is set but engine.worker is not; "
            "multi-pod configurations require both (LeaderRequiresWorker)"
        ],
    ),
    (
        {"engine": {"worker": {}}},
        [
            "InvalidLeaderWorkerPairing: engine.worker is set but engine.leader is not; "
            "multi-pod configurations require both (WorkerRequiresLeader)"
        ],
    ),
    (
        {"decoder": {"worker": {"size": 0}}},
        [
            "InvalidLeaderWorkerPairing: decoder.worker is set but decoder.leader is not; "
            "multi-pod configurations require both (WorkerRequiresLeader)",
            "InvalidLeaderWorkerPairing: decoder.worker.size must be a positive integer when set; "
            "leave it unset to use the runtime's size or one worker (WorkerSizeMustBePositive)",
        ],
    ),
    (
        {"engine": {"leader": {}, "worker": {"size": -1}}},
        [
            "InvalidLeaderWorkerPairing: engine.worker.size must be a positive integer when set; "
            "leave it unset to use the runtime's size or one worker (WorkerSizeMustBePositive)"
        ],
    ),
    ({"engine": {"leader": {}, "worker": {"size": 1}}, "decoder": {"leader": {}, "worker": {}}}, []),
    # the pair: raw values, valid or not, the annotation before the spec
    (
        {"engine": moded("OMENative"), "decoder": {}},
        [
            'InvalidDeploymentModeCombination: engine deploymentMode="OMENative" does not match decoder '
            'deploymentMode=""; when either is OMENative, both must use the same value'
        ],
    ),
    (
        {"engine": moded('multi "node"'), "decoder": {}, "deploymentMode": "OMENative"},
        [
            'InvalidDeploymentModeCombination: engine deploymentMode="multi \\"node\\"" does not match decoder '
            'deploymentMode="OMENative"; when either is OMENative, both must use the same value'
        ],
    ),
    ({"engine": moded(""), "decoder": {}, "deploymentMode": "OMENative"}, []),
    ({"engine": moded("MultiNode"), "decoder": moded("RawDeployment")}, []),
    # rollout groups coordinate only what asks for OMENative
    (
        {"rollout": {"groups": [{"components": ["engine"]}, {"components": ["decoder"]}]}, "decoder": {}},
        [
            'spec.rollout.groups[0]: component "engine" has deploymentMode=""; '
            "coordination requires OMENative (CoordinationRequiresOMENative)",
            'spec.rollout.groups[1]: component "decoder" has deploymentMode=""; '
            "coordination requires OMENative (CoordinationRequiresOMENative)",
        ],
    ),
    ({"rollout": {"groups": [{"components": ["engine"]}]}, "deploymentMode": "OMENative"}, []),
    ({"model": None}, ["at least one of spec.model or spec.runtime must be set"]),
    ({"model": None, "runtime": {}}, ["at least one of spec.model or spec.runtime must be set"]),
    ({"model": None, "runtime": {"name": "fast"}}, []),
    ({"model": None, "engine": None, "replicaRefs": {"engine": ["a"]}}, []),
    # pins
    (
        {"runtime": {"name": "fast", "revision": "cr-fast-0123abcd"}},
        ["spec.runtime.revision requires spec.runtime.autoSync=false; AutoSync=true would silently ignore the pin"],
    ),
    ({"runtime": {"name": "fast", "revision": "cr-fast-0123abcd", "autoSync": False}}, []),
    (
        {"runtime": {"name": "fast", "revision": "cr-fast-0123ABCD", "autoSync": False}},
        [
            'spec.runtime.revision "cr-fast-0123ABCD" does not match the expected naming convention for runtime "fast" '
            "(ClusterServingRuntime); expected the form cr-fast-<8 lowercase hex chars>"
        ],
    ),
    (
        {"runtime": {"name": "fast", "revision": "cr-fast-0123abcde", "autoSync": False}},
        [
            'spec.runtime.revision "cr-fast-0123abcde" does not match the expected naming convention for runtime '
            '"fast" (ClusterServingRuntime); expected the form cr-fast-<8 lowercase hex chars>'
        ],
    ),
    (
        {"model": {"name": "gone"}},
        [
            'referenced model "gone" not found in namespace "team": ensure a BaseModel exists in this namespace or a '
            "ClusterBaseModel exists cluster-wide with this name"
        ],
    ),
]


@pytest.mark.parametrize(("service", "errors"), ERRORS)
def test_it_refuses(service: dict[str, Any], errors: list[str]) -> None:
    assert list(admitted(**service).errors) == errors


def test_a_namespaced_revision_has_its_namespace_in_its_name() -> None:
    pinned = {"name": "fast", "kind": "ServingRuntime", "autoSync": False}
    own = a_runtime("fast", "team")
    assert admitted(own, runtime={**pinned, "revision": "r-team-fast-0123abcd"}).errors == ()
    assert admitted(own, runtime={**pinned, "revision": "cr-fast-0123abcd"}).errors == (
        'spec.runtime.revision "cr-fast-0123abcd" does not match the expected naming convention for runtime "fast" '
        "(ServingRuntime); expected the form r-team-fast-<8 lowercase hex chars>",
    )


def test_the_errors_come_in_the_webhooks_order() -> None:
    errors = admitted(
        model={"name": "gone"},
        engine=moded("OMENative", leader={}),
        decoder={},
        rollout={"groups": [{"components": ["decoder"]}]},
        runtime={"name": "fast", "revision": "x"},
    ).errors
    starts = ["InvalidLeader", "InvalidDeploymentMode", "spec.rollout", "spec.runtime.revision requires"]
    starts += ['spec.runtime.revision "x"', "referenced model"]
    assert [error.startswith(start) for error, start in zip(errors, starts, strict=True)] == [True] * 6


STRATEGY = (
    '{0}.deploymentStrategy is set but deploymentMode is "{1}"; deploymentStrategy applies only to RawDeployment and '
    "is ignored here — use {0}.lifecycle.updateStrategy.rollingUpdate for rollout pacing"
)


def test_it_warns_of_a_strategy_that_is_ignored_in_every_component() -> None:
    rolling = {"deploymentStrategy": {"type": "Recreate"}}
    warnings = admitted(engine=rolling, decoder=rolling, router=rolling, deploymentMode="OMENative").warnings
    components = ("engine", "decoder", "router")
    assert warnings == (*(STRATEGY.format(name, "OMENative") for name in components), SELECTED)


@pytest.mark.parametrize(
    ("annotation", "spec", "mode"),
    [
        ("MultiNode", "RawDeployment", "MultiNode"),
        ("RawDeployment", "OMENative", None),
        ("", "OMENative", "OMENative"),
        (None, "RawDeployment", None),
        (None, None, None),
    ],
)
def test_the_services_own_annotation_is_asked_before_the_spec(
    annotation: str | None, spec: str | None, mode: str | None
) -> None:
    warnings = admitted(
        annotations=None if annotation is None else {MODE: annotation},
        engine={"deploymentStrategy": {}},
        deploymentMode=spec,
    ).warnings
    assert warnings == ((STRATEGY.format("engine", mode), SELECTED) if mode else (SELECTED,))


def test_nothing_suits() -> None:
    admission = explained(a_model(), a_runtime(disabled=True), a_service()).admission
    assert admission.errors == (
        "no supporting runtime found for model llama and engine does not have complete runner configuration: "
        "no runtime found to support model safetensors with format safetensors in namespace team. "
        "Checked 1 runtimes (0 namespace-scoped, 1 cluster-scoped). Excluded runtimes: fast (runtime is disabled)",
    )


def test_a_model_without_a_format_is_refused() -> None:
    admission = explained(a_model(modelFormat=None), a_runtime(), a_service()).admission
    assert admission.errors == (
        "no supporting runtime found for model llama and engine does not have complete runner configuration: "
        "invalid model specification: modelFormat.name: model format name is required",
    )


COMPLETE = [
    ({"runner": {"image": "vllm"}}, True),
    ({"leader": {"runner": {"image": "a"}}, "worker": {"runner": {"image": "b"}}}, True),
    ({"runner": {"image": ""}}, False),
    ({"runner": {}}, False),
    ({"leader": {"runner": {"image": "a"}}, "worker": {}}, False),
    ({"worker": {"runner": {"image": "b"}}, "leader": {}}, False),
    ({}, False),
]


@pytest.mark.parametrize(("engine", "complete"), COMPLETE)
def test_an_engine_with_its_own_images_asks_for_no_runtime(engine: dict[str, Any], complete: bool) -> None:
    assert complete_runner(read_service(engine=engine).components["engine"]) is complete
    admission = explained(a_model(), a_service(engine=engine)).admission
    assert (not any(error.startswith("no supporting runtime") for error in admission.errors)) is complete


def test_without_an_engine_it_looks_at_no_runtime() -> None:
    assert explained(a_model(), a_service(engine=None)).admission == Admission()


DISABLED: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["model llama is disabled"]),
    ({"runtime": {"name": "fast"}}, ["model llama is disabled"]),
    ({"runtime": {"name": "fast"}, "engine": {"runner": {"image": "a"}}}, ["model llama is disabled"]),
    ({"engine": {"runner": {"image": "a"}}}, []),
    ({"engine": None}, []),
]


@pytest.mark.parametrize(("service", "errors"), DISABLED)
def test_it_refuses_a_disabled_model(service: dict[str, Any], errors: list[str]) -> None:
    explanation = explained(a_model(disabled=True), a_runtime(), a_service(**service))
    assert list(explanation.admission.errors) == errors
    assert (explanation.outcome, explanation.message) == ("invalid", "model llama is disabled")
    assert explanation.event == "specified base model llama is disabled"
    assert explanation.event_reason == "ModelReconcileError"


def test_it_says_nothing_of_a_model_that_cannot_be_read() -> None:
    explanation = explained(a_model(modelParameterSize=7), a_runtime(), a_service())
    assert explanation.admission == Admission()
    assert [problem.path for problem in explanation.problems] == ["spec.modelParameterSize"]


def test_it_looks_at_services_that_select_nothing_all_the_same() -> None:
    virtual = {MODE: "VirtualDeployment"}
    assert admitted(annotations=virtual) == Admission(warnings=(SELECTED,))
    unfit = admitted(a_runtime("slow", supportedModelFormats=[]), runtime={"name": "slow"}, annotations=virtual)
    assert unfit.errors == ()
    assert len(unfit.warnings) == 1
    assert unfit.warnings[0].startswith('runtime "slow" does not declare support for model "llama"')


V1_2_SAYS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({}, [], [SELECTED]),
    ({"engine": None, "decoder": {}}, ["decoder cannot be specified without engine"], []),
    # shapes, pairs, rollouts and strategies are v1.3's
    ({"engine": {"leader": {}, "deploymentStrategy": {}}, "annotations": {MODE: "MultiNode"}}, [], [SELECTED]),
    # a named runtime isn't looked at, a model is asked for only when no runtime is named
    ({"runtime": {"name": "gone"}}, [], []),
    (
        {"model": None},
        [
            "model reference is required when runtime is not specified "
            "and engine does not have complete runner configuration"
        ],
        [],
    ),
    ({"model": None, "engine": {"runner": {"image": "a"}}}, [], []),
]


@pytest.mark.parametrize(("service", "errors", "warnings"), V1_2_SAYS)
def test_the_webhook_of_v1_2_says(service: dict[str, Any], errors: list[str], warnings: list[str]) -> None:
    admission = admitted(semantics=V1_2, **service)
    assert (list(admission.errors), list(admission.warnings)) == (errors, warnings)


def test_on_v1_2_a_disabled_model_is_refused_only_when_no_runtime_is_named() -> None:
    for runtime, errors in (({"name": "fast"}, ()), (None, ("model llama is disabled",))):
        objects = [a_model(disabled=True), a_runtime(), a_service(runtime=runtime)]
        assert explained(*objects, semantics=V1_2).admission.errors == errors


def of_runtime(runtime: dict[str, Any], *classes: str, semantics: Semantics = V1_3) -> list[str]:
    """The errors of the webhook for this runtime, in a cluster with these accelerator classes."""
    known = [{"kind": "AcceleratorClass", "metadata": {"name": name}} for name in classes]
    fleet = read_fleet([runtime, *known], semantics)
    return list(admit_runtime(fleet, next(iter(fleet.runtimes.values()))).errors)


def prioritised(*entries: tuple[str, int | None, bool | None]) -> list[dict[str, Any]]:
    """Entries by name, priority and autoSelect."""
    return [an_entry(name=name, priority=priority, autoSelect=auto) for name, priority, auto in entries]


PRIORITIES: list[tuple[list[dict[str, Any]], str | None]] = [
    (prioritised(("a", 1, True), ("a", 2, True)), "a"),
    (prioritised(("a", 1, True), ("b", 2, True)), None),
    (prioritised(("a", 1, True), ("a", 1, True)), None),
    # entries without autoSelect: true take no part
    (prioritised(("a", 1, True), ("a", 2, False), ("a", 2, None)), None),
    # nor do entries without a priority; each is compared with the first of its name
    (prioritised(("a", 1, True), ("a", None, True), ("a", 2, True)), "a"),
    (prioritised(("a", None, True), ("a", 1, True), ("a", 2, True)), None),
    # no name is a name
    (prioritised(("", 1, True), ("", 2, True)), ""),
    # the first that differs is named
    (prioritised(("a", 1, True), ("b", 1, True), ("b", 2, True), ("a", 2, True)), "b"),
]


@pytest.mark.parametrize(("entries", "name"), PRIORITIES)
def test_a_runtime_may_not_differ_in_priority_under_one_name(entries: list[dict[str, Any]], name: str | None) -> None:
    text = f"different priorities assigned for the model format {name} under the"
    own, clusters = of_runtime(a_runtime("fast", "team", *entries)), of_runtime(a_runtime("fast", None, *entries))
    assert own == ([] if name is None else [f"{text} servingruntime fast"])
    assert clusters == ([] if name is None else [f"{text} clusterservingruntime fast"])


def test_a_runtimes_accelerator_classes_must_exist() -> None:
    runtime = a_runtime(acceleratorRequirements={"acceleratorClasses": ["h200", "h100", "b200"]})
    assert of_runtime(runtime, "h100") == [
        "unknown accelerator classes referenced in AcceleratorRequirements: [h200 b200]"
    ]
    assert of_runtime(runtime, "h100", "h200", "b200") == []


def test_a_disabled_runtime_may_say_anything() -> None:
    entries = prioritised(("a", 1, True), ("a", 2, True))
    runtime = a_runtime("fast", None, *entries, acceleratorRequirements={"acceleratorClasses": ["x"]}, disabled=True)
    assert of_runtime(runtime) == []


def test_a_profile_must_be_disabled() -> None:
    text = 'runtimes carrying ome.io/runtime-profile="true" must also set spec.disabled: true'
    profile = {"ome.io/runtime-profile": "true"}
    assert of_runtime(a_runtime(annotations=profile)) == [text]
    assert of_runtime(a_runtime(annotations=profile, disabled=True)) == []
    assert of_runtime(a_runtime(annotations={"ome.io/runtime-profile": "True"})) == []
    assert of_runtime(a_runtime(annotations=profile), semantics=V1_2) == []
