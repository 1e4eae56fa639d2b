"""What a judge of manifests says of them, and the field that decides each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.rules.codes import CODES
from selection.rules.fleet import read_fleet
from selection.rules.parsing import ref_of
from selection.rules.remark_paths import admission_path, runtime_admission_path
from selection.rules.remarks import Remark, remarks
from selection.rules.semantics import V1_2, V1_3, Semantics

from .fleets import fleets
from .manifests import MODE, a_model, a_runtime, a_service, an_entry, deployed, moded

Manifest = Mapping[str, Any]

ENGINE_MODE = f'spec.engine.annotations["{MODE}"]'
LEADER = {"leader": {"runner": {"name": "main", "args": ["--addr=$(LWS_LEADER_ADDRESS)"]}}, "worker": {}}


def told(*manifests: Manifest, alone: bool = True, semantics: Semantics = V1_3) -> list[Remark]:
    """Every remark on all of these."""
    by_ref = {ref_of(manifest): manifest for manifest in manifests}
    return list(remarks(read_fleet(manifests, semantics), by_ref, by_ref.keys(), alone=alone))


def said(*manifests: Manifest, alone: bool = True, semantics: Semantics = V1_3) -> list[tuple[str, str, str]]:
    """Their codes with the object's name and the field."""
    return [(each.code, each.object.name, each.path) for each in told(*manifests, alone=alone, semantics=semantics)]


def test_nothing_is_said_of_what_is_right() -> None:
    assert said(a_model(), a_runtime(), a_service()) == []


CASES: dict[str, tuple[list[Manifest], list[tuple[str, str, str]]]] = {
    "a field of the wrong type": (
        [a_model(), a_runtime("fast", None, an_entry(priority="2"))],
        [("unreadable", "fast", "spec.supportedModelFormats[0].priority")],
    ),
    "a service with a field of the wrong type": (
        [a_service(engine={"annotations": "x"})],
        [("invalid", "chat", "spec.engine.annotations")],
    ),
    "no runtime": (
        [a_model(), a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"})), a_service()],
        [("no-runtime", "chat", "spec.model.name")],
    ),
    "a disabled runtime that is named": (
        [a_model(), a_runtime(disabled=True), a_service(runtime={"name": "fast"})],
        [("invalid", "chat", "spec.runtime.name")],
    ),
    "advice": (
        [a_model(modelFormat={"name": "onnx"}), a_runtime(), a_service(runtime={"name": "fast"})],
        [("named-with-advice", "chat", "spec.runtime.name")],
    ),
    "what the webhook refuses": (
        [a_model(), a_runtime(), a_service(engine={"leader": {}}, decoder={"worker": {}})],
        [("refused", "chat", "spec.engine.leader"), ("refused", "chat", "spec.decoder.worker")],
    ),
    "what the webhook warns about": (
        [
            a_model(),
            a_runtime(),
            a_service(deploymentMode="OMENative", engine={"deploymentStrategy": {"type": "Recreate"}}),
        ],
        [("warned", "chat", "spec.engine.deploymentStrategy")],
    ),
    "a mixed pair is the webhook's to tell": (
        [a_model(), a_runtime(), a_service(engine=moded("OMENative"), decoder=moded("RawDeployment"))],
        [("refused", "chat", "spec.engine")],
    ),
    "a runtime that is kept away by its mode": (
        [a_model(), a_runtime(engineConfig=moded("MultiNode")), a_service(engine=moded("OMENative"))],
        [
            ("deprecated", "fast", f'spec.engineConfig.annotations["{MODE}"]'),
            ("no-runtime", "chat", "spec.model.name"),
            ("rejected", "chat", ENGINE_MODE),
        ],
    ),
    "a takeover": (
        [a_model(), a_runtime(engineConfig=moded("MultiNode")), a_service()],
        [
            ("deprecated", "fast", f'spec.engineConfig.annotations["{MODE}"]'),
            ("silent-takeover", "chat", "spec.engine"),
            ("deprecated", "chat", ENGINE_MODE),
        ],
    ),
    "a misspelt mode": (
        [a_model(), a_runtime(), a_service(engine=moded("omenative"))],
        [("ignored", "chat", ENGINE_MODE)],
    ),
    "places that name LeaderWorkerSet, and a service that runs OMENative with them": (
        [a_model(), a_runtime(engineConfig=LEADER), a_service()],
        [("lws-reference", "fast", "spec.engineConfig.leader.runner.args[0]"), ("at-risk", "chat", "spec.engine")],
    ),
    "a service's own place that names LeaderWorkerSet": (
        [a_model(), a_runtime(), a_service(engine={"runner": {"env": [{"name": "X", "value": "$(LWS_GROUP_SIZE)"}]}})],
        [("lws-reference", "chat", "spec.engine.runner.env[0].value")],
    ),
    "a runtime that its webhook refuses": (
        [
            {"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": "h100"}},
            a_runtime(
                "fast", None, an_entry(name="x", priority=1), an_entry(name="x", priority=2),
                acceleratorRequirements={"acceleratorClasses": ["a100"]},
            ),
        ],
        [
            ("refused", "fast", "spec.acceleratorRequirements.acceleratorClasses"),
            ("refused", "fast", "spec.supportedModelFormats"),
        ],
    ),
    "a chain that leads back": (
        [a_runtime(annotations={"ome.io/inherit-from": "fast"}, disabled=True)],
        [
            ("auto-select-inherits", "fast", "spec.supportedModelFormats"),
            ("broken-chain", "fast", 'metadata.annotations["ome.io/inherit-from"]'),
        ],
    ),
    "a size that OME can't read": (
        [a_model(modelParameterSize="7b")],
        [("size-unparsable", "llama", "spec.modelParameterSize")],
    ),
    "what runs and isn't what it says": (
        [a_model(), a_runtime(), a_service(), deployed("Deployment", runtime="slow")],
        [("drift", "chat", "spec.engine")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_problem_is_told_at_the_field_that_decides_it(case: str) -> None:
    manifests, expected = CASES[case]

    assert said(*manifests) == expected


MISSING: dict[str, tuple[list[Manifest], tuple[str, str, str]]] = {
    "the model": ([a_runtime(), a_service()], ("spec.model.name", "model", "llama")),
    "its format": (
        [a_model(modelFormat=None), a_runtime(), a_service()],
        ("spec.model.name", "format", "ClusterBaseModel llama"),
    ),
    "the runtime": (
        [a_model(), a_service(runtime={"name": "fast"})],
        ("spec.runtime.name", "runtime", "fast"),
    ),
    "every runtime": ([a_model(), a_service()], ("spec.model.name", "runtimes", "team")),
    "a parent of the runtime": (
        [a_model(), a_runtime(annotations={"ome.io/inherit-from": "base"}), a_service(runtime={"name": "fast"})],
        ("spec.runtime.name", "parent", "ClusterServingRuntime fast"),
    ),
}


@pytest.mark.parametrize("case", MISSING)
def test_what_isnt_there_is_no_mistake_of_manifests_alone(case: str) -> None:
    manifests, expected = MISSING[case]

    [of_service] = [each for each in told(*manifests) if each.object.name == "chat"]

    assert (of_service.code, (of_service.path, of_service.about, of_service.text)) == ("incomplete", expected)


@pytest.mark.parametrize("case", MISSING)
def test_what_isnt_there_is_a_mistake_in_a_cluster(case: str) -> None:
    manifests, _ = MISSING[case]

    codes = [each.code for each in told(*manifests, alone=False) if each.object.name == "chat"]

    assert codes in (["no-runtime"], ["invalid"])


def test_accelerator_classes_are_missed_only_where_there_are_any() -> None:
    runtime = a_runtime(acceleratorRequirements={"acceleratorClasses": ["h100"]})

    assert said(runtime) == []
    assert said(runtime, alone=False) == [("refused", "fast", "spec.acceleratorRequirements.acceleratorClasses")]


def test_a_missing_model_doesnt_hide_what_is_wrong_with_the_service_itself() -> None:
    assert [code for code, _, _ in said(a_service(engine={"leader": {}}))] == ["incomplete", "refused"]


def test_v1_2_tells_what_the_upgrade_breaks() -> None:
    manifests = [a_model(), a_runtime(engineConfig=LEADER), a_service(kedaConfig={})]

    assert {code for code, _, _ in said(*manifests)} == {"lws-reference", "at-risk"}
    assert said(*manifests, semantics=V1_2) == [
        ("lws-reference", "fast", "spec.engineConfig.leader.runner.args[0]"),
        ("deprecated", "chat", ENGINE_MODE),
        ("breaks-lws", "chat", "spec.engine"),
        ("field-dropped", "chat", "spec.kedaConfig"),
    ]


def test_only_the_subjects_are_spoken_of() -> None:
    manifests = [a_model(), a_runtime(engineConfig=moded("MultiNode")), a_service()]
    by_ref = {ref_of(manifest): manifest for manifest in manifests}
    subjects = {ref for ref in by_ref if ref.kind == "InferenceService"}

    found = remarks(read_fleet(manifests, V1_3), by_ref, subjects, alone=True)

    assert {each.object.name for each in found} == {"chat"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("at least one of spec.model or spec.runtime must be set", "spec"),
        ('referenced model "m" not found in namespace "n": ensure', "spec.model.name"),
        ("model m is disabled", "spec.model.name"),
        ("no supporting runtime found for model m and engine does not", "spec.model"),
        ("spec.rollout.groups[1]: component", "spec.rollout.groups[1]"),
        ("MultiPodLeanModelNeedsRunner: decoder is multi-pod", "spec.decoder"),
        ("something that nobody has read yet", ""),
    ],
)
def test_the_webhooks_words_name_a_field(text: str, path: str) -> None:
    assert admission_path(text) == path


def test_words_about_a_runtime_that_nobody_has_read_yet_name_none() -> None:
    assert runtime_admission_path("something else") == ""


@settings(deadline=None)
@given(fleets())
def test_on_any_fleet_every_remark_has_a_known_code_and_stands_alone(manifests: list[dict[str, Any]]) -> None:
    for semantics in (V1_3, V1_2):
        found = told(*manifests, semantics=semantics)
        assert {each.code for each in found} <= CODES.keys() | {"warned", "lws-reference", "incomplete"}
        places = [(*each.identity, each.path, each.text) for each in found]
        assert len(set(places)) == len(places)


@settings(deadline=None)
@given(fleets(), st.randoms())
def test_the_order_of_the_manifests_doesnt_matter(manifests: list[dict[str, Any]], random: Any) -> None:
    shuffled = list(manifests)
    random.shuffle(shuffled)

    assert [each.identity for each in told(*manifests)] == [each.identity for each in told(*shuffled)]
