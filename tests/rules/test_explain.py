"""The explanation of a service or a model: the outcome, the event, the modes, and what else a person should know."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.explain import explain_model, explain_service, explain_services
from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.semantics import V1_2

from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, deployed, explained, moded


def test_an_automatic_choice_is_told_whole() -> None:
    told = explained(a_model(), a_runtime("fast", "team"), a_service()).to_dict()
    assert {key: told[key] for key in told if key != "candidates"} == {
        "subject": {"kind": "InferenceService", "namespace": "team", "name": "chat"},
        "outcome": "auto-selected",
        "selected": {"kind": "ServingRuntime", "namespace": "team", "name": "fast"},
        "message": None,
        "event": None,
        "event_reason": None,
        "modes": {
            "engine": {
                "requested": None,
                "runtime": None,
                "running": {"mode": "RawDeployment", "source": "Default"},
                "rendered": True,
                "conflict": None,
                "conflicts": [],
                "workloads": [],
                "migration": None,
            }
        },
        "admission": {
            "allowed": True,
            "errors": [],
            "warnings": ["Runtime fast will be auto-selected for model llama"],
        },
        "problems": [],
        "model": {"kind": "ClusterBaseModel", "namespace": None, "name": "llama"},
        "named": None,
        "revision": None,
        "ome_version": "1.3",
        "notes": {},
    }


def test_a_named_runtime_is_told_beside_the_candidates() -> None:
    told = explained(a_model(), a_runtime(), a_runtime("slow"), a_service(runtime={"name": "slow"})).to_dict()
    assert (told["outcome"], told["selected"]["name"]) == ("named", "slow")
    assert told["named"] == {"runtime": told["selected"], "reason": None, "error": None, "failures": []}
    assert [candidate["name"] for candidate in told["candidates"]] == ["fast", "slow"]
    assert explained(a_model(), a_runtime(), a_service(runtime={"name": "fast"})).score is None


def test_an_auto_selected_runtime_is_rendered_on_its_own_spec() -> None:
    base = a_runtime("base", disabled=True, engineConfig=moded("MultiNode"))
    heir = a_runtime("fast", annotations={"ome.io/inherit-from": "base"}, disabled=False)
    assert explained(a_model(), base, heir, a_service()).modes["engine"].running.mode == "RawDeployment"
    named = explained(a_model(), base, heir, a_service(runtime={"name": "fast"}))
    assert named.modes["engine"].running.mode == "MultiNode"


EVENTS: list[tuple[list[Manifest], dict[str, Any], tuple[str, str | None, str | None]]] = [
    # outcome, event's reason, event
    (
        [a_model()],
        {},
        (
            "no-runtime",
            "RuntimeNotFound",
            "no runtime found to support model safetensors with format safetensors in namespace team",
        ),
    ),
    (
        [a_model(modelFormat=None), a_runtime()],
        {},
        (
            "invalid",
            "RuntimeSelectionError",
            "Failed to find runtime for model llama: "
            "invalid model specification: modelFormat.name: model format name is required",
        ),
    ),
    (
        [a_model(disabled=True), a_runtime()],
        {"runtime": {"name": "fast"}},
        ("invalid", "ModelReconcileError", "specified base model llama is disabled"),
    ),
]


@pytest.mark.parametrize(("objects", "service", "told"), EVENTS)
def test_the_controller_records(
    objects: list[Manifest], service: dict[str, Any], told: tuple[str, str | None, str | None]
) -> None:
    explanation = explained(*objects, a_service(**service))
    assert (explanation.outcome, explanation.event_reason, explanation.event) == told


def test_the_controller_of_v1_2_records_a_selection_error() -> None:
    explanation = explained(a_model(), a_service(), semantics=V1_2)
    assert explanation.event_reason == "RuntimeSelectionError"
    assert explanation.event == f"Failed to find runtime for model llama: {explanation.message}"
    assert explanation.ome_version == "1.2"


@pytest.mark.parametrize("runtime", [None, {"name": "fast"}])
def test_v1_2_always_asks_for_a_model(runtime: dict[str, Any] | None) -> None:
    explanation = explained(a_runtime(), a_service(model=None, runtime=runtime), semantics=V1_2)
    assert (explanation.outcome, explanation.message) == ("invalid", "model reference is required")
    assert explanation.event_reason == "ModelReconcileError"


def test_a_missing_model_is_said_in_the_webhooks_words() -> None:
    explanation = explained(a_runtime(), a_service())
    assert explanation.outcome == "invalid"
    assert explanation.message == (
        'referenced model "llama" not found in namespace "team": ensure a BaseModel exists in this namespace or a '
        "ClusterBaseModel exists cluster-wide with this name"
    )
    assert explanation.notes["modelMissing"] == "llama"
    assert explanation.candidates == ()


def test_a_virtual_service_gets_no_selection() -> None:
    explanation = explained(a_model(), a_runtime(), a_service(annotations={MODE: "VirtualDeployment"}, router={}))
    assert (explanation.outcome, explanation.selected, explanation.candidates) == ("not-applicable", None, ())
    assert {modes.running.mode for modes in explanation.modes.values()} == {"VirtualDeployment"}
    assert explanation.notes["virtual"] is True


def test_a_service_of_references_gets_no_selection_and_needs_no_engine_block() -> None:
    service = a_service(engine=None, model=None, replicaRefs={"engine": ["chat-engine"]})
    explanation = explained(a_runtime(), service)
    assert (explanation.outcome, explanation.selected) == ("not-applicable", None)
    assert explanation.notes == {"replicaRefs": ["engine"]}
    assert explanation.admission.errors == ()


def test_an_unreadable_service_is_its_problem() -> None:
    explanation = explained(a_model(), a_runtime(), a_service(engine="yes"))
    assert explanation.outcome == "invalid"
    assert [problem.path for problem in explanation.problems] == ["spec.engine"]
    assert explanation.service is None
    assert explanation.to_dict()["modes"] == {}


def test_an_unreadable_runtime_is_told_to_those_who_could_have_got_it() -> None:
    odd = [a_runtime("odd", namespace, disabled="no") for namespace in (None, "team", "other")]
    explanation = explained(a_model(), a_runtime(), *odd, a_service())
    assert explanation.outcome == "auto-selected"
    assert [str(problem.object) for problem in explanation.problems] == [
        "ClusterServingRuntime odd",
        "ServingRuntime team/odd",
    ]


def test_there_is_no_explanation_of_what_is_not_there() -> None:
    fleet = read_fleet([a_model(), a_service()])
    with pytest.raises(LookupError, match="there is no InferenceService team/talk"):
        explain_service(fleet, "team", "talk")
    with pytest.raises(LookupError, match="there is no BaseModel qwen in namespace team and no ClusterBaseModel qwen"):
        explain_model(fleet, "team", "qwen")


def test_all_services_are_explained_by_namespace_and_name_readable_or_not() -> None:
    fleet = read_fleet([a_service("b"), a_service("a", engine=1), a_service("c", "early")])
    subjects = [str(explanation.subject) for explanation in explain_services(fleet)]
    assert subjects == ["InferenceService early/c", "InferenceService team/a", "InferenceService team/b"]


def test_a_model_is_explained_by_itself() -> None:
    fleet = read_fleet(
        [
            a_model(modelParameterSize="7B"),
            a_runtime("fast", engineConfig=moded("MultiNode")),
            a_runtime("slow", "team", an_entry(autoSelect=False)),
        ]
    )
    explanation = explain_model(fleet, "team", "llama")
    assert (explanation.outcome, explanation.score, explanation.considered) == ("auto-selected", 1, 2)
    assert explanation.selected is not None
    assert explanation.selected.ref.name == "fast"
    assert [candidate.rank for candidate in explanation.candidates] == [1, None]
    assert explanation.subject == ObjectRef("ClusterBaseModel", "", "llama")


def test_a_model_that_nothing_serves_is_told_omes_message() -> None:
    explanation = explain_model(read_fleet([a_model()]), "team", "llama")
    assert explanation.outcome == "no-runtime"
    assert (
        explanation.message == "no runtime found to support model safetensors with format safetensors in namespace team"
    )


def test_a_model_that_cannot_be_matched_says_why() -> None:
    explanation = explain_model(read_fleet([a_model(modelFormat=None), a_runtime()]), "team", "llama")
    assert (explanation.outcome, explanation.candidates) == ("invalid", ())
    assert explanation.message == "invalid model specification: modelFormat.name: model format name is required"


def test_a_model_that_cannot_be_read_is_its_problem() -> None:
    explanation = explain_model(read_fleet([a_model(modelFormat=7)]), "team", "llama")
    assert (explanation.outcome, [problem.path for problem in explanation.problems]) == (
        "invalid",
        ["spec.modelFormat"],
    )


NOTES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"engine": None}, {"noEngine": "engine component is required"}),
    (
        {"model": {"name": "llama", "kind": "BaseModel"}},
        {"modelKind": {"written": "BaseModel", "found": "ClusterBaseModel"}},
    ),
    ({"model": {"name": "llama", "kind": "ClusterBaseModel"}}, {}),
    # a class that nobody defined, for the components that are there
    (
        {"acceleratorSelector": {"acceleratorClass": "h100"}},
        {
            "acceleratorMissing": [
                "Failed to get accelerator class for engine: accelerator class h100 not found at cluster scope"
            ]
        },
    ),
    # a component's own comes before the selector's
    (
        {
            "acceleratorSelector": {"acceleratorClass": "a100"},
            "decoder": {"acceleratorOverride": {"acceleratorClass": "h100"}},
        },
        {
            "acceleratorMissing": [
                "Failed to get accelerator class for decoder: accelerator class h100 not found at cluster scope"
            ]
        },
    ),
    # the annotation never gives a class
    ({"annotations": {"ome.io/accelerator-class": "h100"}}, {}),
]


@pytest.mark.parametrize(("service", "notes"), NOTES)
def test_it_notes(service: dict[str, Any], notes: dict[str, Any]) -> None:
    runtime = a_runtime(acceleratorRequirements={"acceleratorClasses": ["h100", "a100"]})
    known = {"kind": "AcceleratorClass", "metadata": {"name": "a100"}}
    assert explained(a_model(), runtime, known, a_service(**service)).notes == notes


def test_a_runtime_without_classes_drops_the_services_class() -> None:
    service = a_service(runtime={"name": "fast"}, acceleratorSelector={"acceleratorClass": "h100"})
    assert explained(a_model(), a_runtime(), service).notes == {}


REVISION = {
    "kind": "ControllerRevision",
    "metadata": {"name": "cr-fast-0a1b2c3d", "namespace": "ome"},
    "data": {"spec": {"engineConfig": {"annotations": {MODE: "MultiNode"}}}},
}
PIN = {"name": "fast", "autoSync": False}


@pytest.mark.parametrize(
    ("reference", "status"),
    [
        ({**PIN, "revision": "cr-fast-0a1b2c3d"}, None),
        (PIN, {"pinnedRevisionName": "cr-fast-0a1b2c3d"}),
        ({**PIN, "revision": "cr-fast-0a1b2c3d"}, {"pinnedRevisionName": "cr-fast-ffffffff"}),
    ],
)
def test_a_pinned_service_runs_as_its_revision_says(reference: dict[str, Any], status: dict[str, Any] | None) -> None:
    explanation = explained(a_model(), a_runtime(), REVISION, a_service(runtime=reference, status=status))
    assert explanation.revision == "cr-fast-0a1b2c3d"
    assert explanation.modes["engine"].running.mode == "MultiNode"
    assert explanation.notes["pinned"] == "cr-fast-0a1b2c3d"


def test_a_revision_that_was_not_read_leaves_the_live_runtime() -> None:
    explanation = explained(a_model(), a_runtime(), a_service(runtime={**PIN, "revision": "cr-fast-ffffffff"}))
    assert explanation.revision == "cr-fast-ffffffff"
    assert explanation.modes["engine"].running.mode == "RawDeployment"


def test_a_service_that_follows_its_runtime_has_no_revision() -> None:
    status = {"pinnedRevisionName": "cr-fast-0a1b2c3d"}
    explanation = explained(a_model(), a_runtime(), REVISION, a_service(runtime={"name": "fast"}, status=status))
    assert explanation.revision is None
    assert explanation.modes["engine"].running.mode == "RawDeployment"


def test_a_component_shows_its_own_workloads_and_where_it_stands() -> None:
    explanation = explained(
        a_model(),
        a_runtime(),
        deployed("LeaderWorkerSet"),
        deployed("InferenceReplica"),
        deployed("Deployment", "router"),
        a_service(engine=moded("OMENative", leader={}, worker={}), router={}),
    )
    engine, router = explanation.modes["engine"], explanation.modes["router"]
    assert [workload.ref.kind for workload in engine.workloads] == ["InferenceReplica", "LeaderWorkerSet"]
    assert (engine.migration, router.migration) == ("cleanup-due", None)
    assert engine.to_dict()["workloads"][0] == {
        "kind": "InferenceReplica",
        "namespace": "team",
        "name": "chat-engine",
        "runtime": "fast",
        "ready": None,
    }


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("RevisionMismatch", "waiting-on-pin"),
        ("RevisionMissing", "waiting-on-pin"),
        ("RuntimeMismatch", "waiting-on-pin"),
        ("SourceRuntimeMissing", "not-started"),
    ],
)
def test_drift_that_pauses_updates_holds_a_component_back(reason: str, state: str) -> None:
    status = {"conditions": [{"type": "RuntimeDrifted", "status": "True", "reason": reason}]}
    service = a_service(engine=moded("OMENative", leader={}, worker={}), status=status)
    explanation = explained(a_model(), a_runtime(), deployed("LeaderWorkerSet"), service)
    assert explanation.modes["engine"].migration == state


def test_without_a_runtime_a_component_is_told_as_not_rendered() -> None:
    engine = explained(a_model(), deployed("LeaderWorkerSet"), a_service(engine=moded("OMENative"))).modes["engine"]
    assert (engine.rendered, engine.running.mode, engine.migration) == (False, "OMENative", "not-started")


def test_a_brief_explanation_counts_and_leaves_out_the_candidates() -> None:
    fleet = read_fleet([a_model(), a_runtime("a", disabled=True), a_runtime("b"), a_runtime("c"), a_service()])
    brief = explain_service(fleet, "team", "chat", brief=True)
    assert (brief.outcome, brief.considered, brief.qualified, brief.candidates) == ("auto-selected", 3, 2, ())
    assert brief.selected is not None
    assert brief.selected.ref.name == "b"
