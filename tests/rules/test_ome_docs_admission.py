"""What OME's pages of its API and guides say of admission, beyond what decides a selection."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.admission import admit_runtime
from selection.rules.fleet import read_fleet
from selection.rules.semantics import V1_2, V1_3, Semantics

from .manifests import MODE, a_model, a_runtime, a_service, explained, moded

REFERS = {"model": None, "engine": None, "replicaRefs": {"engine": ["chat-pool"]}}
OWN = "the referenced replicas carry their own model and runtime"

BESIDE: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"deploymentMode": "OMENative"}, []),
    ({"replicaRefs": {"engine": ["chat-pool"], "router": ["chat-front"]}}, []),
    (
        {"engine": {}, "router": {}},
        [
            "spec.engine and spec.replicaRefs cannot both be set; a service references all of its roles or none",
            "spec.router and spec.replicaRefs cannot both be set; a service references all of its roles or none",
        ],
    ),
    (
        {"rollout": {}},
        ["spec.rollout is not accepted with spec.replicaRefs; a referenced replica rolls on its own"],
    ),
    (
        {"model": {"name": "llama"}, "runtime": {"name": "fast"}},
        [
            f"spec.model is not accepted with spec.replicaRefs; {OWN}",
            f"spec.runtime is not accepted with spec.replicaRefs; {OWN}",
        ],
    ),
    (
        {"acceleratorSelector": {"acceleratorClass": "h100"}},
        [
            "spec.acceleratorSelector is not accepted with spec.replicaRefs; "
            "the service writes nothing on, and renders nothing for, a referenced replica"
        ],
    ),
    (
        {"deploymentMode": "RawDeployment"},
        ["spec.deploymentMode RawDeployment is not accepted with spec.replicaRefs; a referenced replica is OMENative"],
    ),
]


@pytest.mark.parametrize(("beside", "errors"), BESIDE)
def test_a_service_over_replicas_says_nothing_else(beside: dict[str, Any], errors: list[str]) -> None:
    explanation = explained(a_model(), a_runtime(), a_service(**{**REFERS, **beside}))
    assert list(explanation.admission.errors) == errors
    assert explanation.outcome == "not-applicable"


def test_replicas_without_an_engine_are_refused_and_then_ignored() -> None:
    for references in ({}, {"decoder": ["chat-pool"]}):
        explanation = explained(a_model(), a_runtime(), a_service(engine=None, replicaRefs=references))
        assert explanation.admission.errors[0] == (
            "spec.replicaRefs.engine is required when spec.replicaRefs is set; a service has an engine"
        )
        assert explanation.outcome == "auto-selected"


def test_v1_2_knows_no_replica_refs() -> None:
    chat = a_service(replicaRefs={"engine": ["chat-pool"]}, annotations={MODE: "MultiNode"})
    assert explained(a_model(), a_runtime(), chat, semantics=V1_2).admission.errors == ()


NATIVE = moded("OMENative")
CANARY: dict[str, Any] = {"canary": {"steps": []}}

ROLLOUTS: list[tuple[list[dict[str, Any]], dict[str, Any], list[str]]] = [
    ([{"components": ["engine"]}], {"engine": NATIVE}, []),
    ([{"components": ["engine"], **CANARY}], {"engine": NATIVE}, []),
    (
        [{"components": ["engine"], **CANARY}],
        {"engine": moded("MultiNode")},
        [
            'spec.rollout.groups[0]: component "engine" has deploymentMode="MultiNode"; '
            "canary requires OMENative (CanaryRequiresOMENative)"
        ],
    ),
    (
        [{"components": ["engine"], "policyRef": {"name": "strict", "progression": "canary"}}],
        {},
        [
            'spec.rollout.groups[0]: component "engine" has deploymentMode=""; '
            "canary requires OMENative (CanaryRequiresOMENative)"
        ],
    ),
    (
        [{"components": ["router", "front"], **CANARY}],
        {"engine": NATIVE},
        [
            'spec.rollout.groups[0]: canary component "router" is not declared on the InferenceService (CanaryInvalid)',
            'spec.rollout.groups[0]: canary component "front" is not one of router/engine/decoder (CanaryInvalid)',
        ],
    ),
    (
        [{"components": ["engine"]}, {"components": ["decoder", "router", "front"]}],
        {"engine": NATIVE, "deploymentMode": "OMENative"},
        [
            'spec.rollout.groups[1]: component "front" is not one of router/engine/decoder '
            "(InvalidComponentInCoordinationGroup)",
            'spec.rollout.groups[1]: component(s) "decoder", "router" not declared on the InferenceService '
            "(OrphanCoordinationGroup)",
        ],
    ),
    # canary groups come first, and take part in what a component may be in once
    (
        [{"components": ["decoder"]}, {"components": ["engine", "decoder"], **CANARY}],
        {"engine": {}, "decoder": {}},
        [
            'spec.rollout.groups[1]: component "engine" has deploymentMode=""; '
            "canary requires OMENative (CanaryRequiresOMENative)",
            'spec.rollout.groups[1]: component "decoder" has deploymentMode=""; '
            "canary requires OMENative (CanaryRequiresOMENative)",
            'spec.rollout.groups: component "decoder" appears in groups[0] and groups[1] '
            "(DuplicateComponentInCoordinationGroups)",
            'spec.rollout.groups[0]: component "decoder" has deploymentMode=""; '
            "coordination requires OMENative (CoordinationRequiresOMENative)",
        ],
    ),
]


@pytest.mark.parametrize(("groups", "service", "errors"), ROLLOUTS)
def test_a_rollout_group_asks_for_omenative(
    groups: list[dict[str, Any]], service: dict[str, Any], errors: list[str]
) -> None:
    chat = a_service(rollout={"groups": groups}, **service)
    assert list(explained(a_model(), a_runtime(), chat).admission.errors) == errors


def pinned(kind: str | None, revision: str, *, auto_sync: bool | None = False, **service: Any) -> dict[str, Any]:
    """A service that is pinned to a revision of ``fast``."""
    runtime = {"name": "fast", "kind": kind, "revision": revision, "autoSync": auto_sync}
    return a_service(runtime={key: value for key, value in runtime.items() if value is not None}, **service)


@pytest.mark.parametrize("semantics", [V1_2, V1_3])
def test_both_releases_check_how_a_pin_is_written(semantics: Semantics) -> None:
    objects = [a_model(), a_runtime(), pinned(None, "r-team-fast-0a1b2c3d", auto_sync=None)]
    assert explained(*objects, semantics=semantics).admission.errors == (
        "spec.runtime.revision requires spec.runtime.autoSync=false; AutoSync=true would silently ignore the pin",
        'spec.runtime.revision "r-team-fast-0a1b2c3d" does not match the expected naming convention for runtime '
        '"fast" (ClusterServingRuntime); expected the form cr-fast-<8 lowercase hex chars>',
    )


@pytest.mark.parametrize("kind", [None, "", "Deployment", "ClusterServingRuntime"])
def test_a_revision_is_a_cluster_runtimes_unless_the_kind_says_serving_runtime(kind: str | None) -> None:
    assert explained(a_model(), a_runtime(), pinned(kind, "cr-fast-0a1b2c3d")).admission.errors == ()
    assert explained(a_model(), a_runtime(), pinned(kind, "x")).admission.errors == (
        'spec.runtime.revision "x" does not match the expected naming convention for runtime "fast" '
        "(ClusterServingRuntime); expected the form cr-fast-<8 lowercase hex chars>",
    )


def test_a_pin_without_a_model_is_admitted_whatever_became_of_the_runtime() -> None:
    disabled = a_runtime(disabled=True)
    broken = a_runtime(annotations={"ome.io/inherit-from": "gone"})
    for runtime in (disabled, broken):
        assert explained(runtime, pinned(None, "cr-fast-0a1b2c3d", model=None)).admission.errors == ()
        assert not explained(runtime, a_service(runtime={"name": "fast"}, model=None)).admission.allowed
        assert not explained(a_model(), runtime, pinned(None, "cr-fast-0a1b2c3d")).admission.allowed


@pytest.mark.parametrize("disabled", [None, True])
@pytest.mark.parametrize("namespace", [None, "team"])
def test_a_runtime_with_a_broken_chain_is_refused_also_a_disabled_one(
    disabled: bool | None, namespace: str | None
) -> None:
    heir = a_runtime("heir", namespace, annotations={"ome.io/inherit-from": "gone"}, disabled=disabled)
    text = 'inherit-from parent "gone" not found (chain so far: [heir])'
    for semantics, errors in ((V1_3, (text,)), (V1_2, ())):
        fleet = read_fleet([heir], semantics)
        assert admit_runtime(fleet, fleet.runtimes[namespace or "", "heir"]).errors == errors


def test_the_profile_rule_comes_before_the_chain() -> None:
    annotations = {"ome.io/inherit-from": "heir", "ome.io/runtime-profile": "true"}
    fleet = read_fleet([a_runtime("heir", annotations=annotations)], V1_3)
    assert admit_runtime(fleet, fleet.runtimes["", "heir"]).errors == (
        'runtimes carrying ome.io/runtime-profile="true" must also set spec.disabled: true',
        "inheritance cycle detected: [heir heir]",
    )


def test_a_multi_pod_component_without_model_and_runtime_brings_its_images() -> None:
    leader, worker = {"runner": {"image": "vllm"}}, {"runner": {"image": "vllm"}}
    nothing = "at least one of spec.model or spec.runtime must be set"
    said = explained(a_service(model=None, engine={"leader": leader, "worker": {}}, decoder={"leader": {}}))
    assert [error for error in said.admission.errors if "LeaderRequiresWorker" not in error] == [
        "MultiPodLeanModelNeedsRunner: engine is multi-pod with no spec.model and no spec.runtime, but "
        'engine.leader.runner.image ("vllm") or engine.worker.runner.image ("") is empty; '
        "multi-pod lean specs must declare both runner images",
        nothing,
    ]
    whole = explained(a_service(model=None, engine={"leader": leader, "worker": worker}))
    assert whole.admission.errors == (nothing,)
    named = a_service(model=None, runtime={"name": "fast"}, engine={"leader": {}, "worker": {}})
    assert explained(a_runtime(), named).admission.errors == ()
