"""What OME's pages of its API and guides say of admission, beyond what decides a selection."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.semantics import V1_2

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
