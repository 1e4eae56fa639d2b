"""A runtime that a service names: where it is looked for, when it is refused, when OME only advises against it."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.explanation import Explanation
from selection.rules.named import revision_pattern
from selection.rules.objects import ObjectRef, RuntimeRef
from selection.rules.semantics import V1_2

from .manifests import a_model, a_runtime, a_service, an_entry, explained, moded

CLUSTER, NAMESPACED = ObjectRef("ClusterServingRuntime", "", "fast"), ObjectRef("ServingRuntime", "team", "fast")
BOTH = [a_runtime("fast"), a_runtime("fast", "team")]


def naming(*objects: dict[str, Any], reference: dict[str, Any] | None = None, **service: Any) -> Explanation:
    """What becomes of ``chat`` when it names ``fast`` among these objects."""
    return explained(a_model(), *objects, a_service(runtime={"name": "fast", **(reference or {})}, **service))


LOOKUPS: list[tuple[list[dict[str, Any]], dict[str, Any], ObjectRef | None]] = [
    # ClusterServingRuntime is the default: the cluster's, else the namespace's
    (BOTH, {}, CLUSTER),
    (BOTH, {"kind": None}, CLUSTER),
    (BOTH, {"kind": "ClusterServingRuntime"}, CLUSTER),
    (BOTH[:1], {}, CLUSTER),
    (BOTH[1:], {}, NAMESPACED),
    # ServingRuntime is only looked for in the namespace
    (BOTH, {"kind": "ServingRuntime"}, NAMESPACED),
    (BOTH[:1], {"kind": "ServingRuntime"}, None),
    # any other kind, also none at all: the namespace's, else the cluster's
    (BOTH, {"kind": ""}, NAMESPACED),
    (BOTH, {"kind": "servingruntime"}, NAMESPACED),
    (BOTH[:1], {"kind": ""}, CLUSTER),
    # another namespace's is nobody's
    ([a_runtime("fast", "other")], {}, None),
]


@pytest.mark.parametrize(("objects", "reference", "found"), LOOKUPS)
def test_it_is_looked_for_by_kind(
    objects: list[dict[str, Any]], reference: dict[str, Any], found: ObjectRef | None
) -> None:
    explanation = naming(*objects, reference=reference)
    assert (explanation.selected.ref if explanation.selected else None) == found
    assert explanation.outcome == ("named" if found else "no-runtime")


@pytest.mark.parametrize("kind", [None, "ClusterServingRuntime", "ServingRuntime", ""])
def test_v1_2_looks_in_the_namespace_first_whatever_the_kind(kind: str | None) -> None:
    for objects, found in ((BOTH, NAMESPACED), (BOTH[:1], CLUSTER)):
        service = a_service(runtime={"name": "fast", "kind": kind})
        explanation = explained(a_model(), *objects, service, semantics=V1_2)
        assert explanation.selected is not None
        assert explanation.selected.ref == found


MISSING = [
    ({}, "runtime fast not found in namespace team or at cluster scope"),
    ({"kind": ""}, "runtime fast not found in namespace team or at cluster scope"),
    ({"kind": "ServingRuntime"}, "ServingRuntime fast not found in namespace team"),
]


@pytest.mark.parametrize(("reference", "text"), MISSING)
def test_a_missing_one_is_no_runtime(reference: dict[str, Any], text: str) -> None:
    explanation = naming(reference=reference)
    assert (explanation.outcome, explanation.selected) == ("no-runtime", None)
    assert (explanation.message, explanation.event, explanation.event_reason) == (text, text, "RuntimeNotFound")
    assert explanation.admission.errors == (f"runtime fast does not support model llama: {text}",)


def test_on_v1_2_the_event_for_a_missing_one_is_that_of_an_unfit_one() -> None:
    explanation = explained(a_model(), a_service(runtime={"name": "fast"}), semantics=V1_2)
    text = "runtime fast not found in namespace team or at cluster scope"
    assert (explanation.outcome, explanation.message) == ("no-runtime", text)
    assert explanation.event == f"Runtime fast does not support model llama: {text}"
    assert explanation.event_reason == "RuntimeValidationError"
    assert explanation.admission.allowed


@pytest.mark.parametrize(
    ("runtime", "scope"),
    [(a_runtime("fast", disabled=True), "cluster"), (a_runtime("fast", "team", disabled=True), "namespace")],
)
def test_a_disabled_one_is_refused(runtime: dict[str, Any], scope: str) -> None:
    explanation = naming(runtime)
    text = f"{scope}-scoped runtime fast is disabled"
    assert (explanation.outcome, explanation.selected) == ("invalid", None)
    assert explanation.message == f"runtime fast does not support model llama: {text}"
    assert explanation.event == f"Runtime fast does not support model llama: {text}"
    assert explanation.event_reason == "RuntimeValidationError"
    assert explanation.admission.errors == (f"runtime fast does not support model llama: {text}",)


def test_the_model_is_looked_at_before_the_runtime() -> None:
    text = "invalid model specification: modelFormat.name: model format name is required"
    for runtimes in ([], [a_runtime()], [a_runtime(disabled=True)]):
        explanation = explained(a_model(modelFormat={}), *runtimes, a_service(runtime={"name": "fast"}))
        assert explanation.outcome == "invalid"
        assert explanation.message == f"runtime fast does not support model llama: {text}"
        assert explanation.event_reason == "RuntimeValidationError"


UNFIT: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # runtime's spec, service's spec, and what OME says; the model has no name for classes and modes
    (
        {},
        {"acceleratorSelector": {"acceleratorClass": "h100"}},
        "runtime fast does not support model : runtime does not support the required accelerator class",
    ),
    (
        {"engineConfig": moded("MultiNode")},
        {"deploymentMode": "OMENative"},
        "runtime fast does not support model : "
        "runtime engine deployment mode MultiNode does not match requested engine deployment mode OMENative",
    ),
    (
        {"decoderConfig": moded("MultiNode")},
        {"engine": moded("OMENative"), "decoder": moded("OMENative")},
        "runtime fast does not support model : "
        "runtime decoder deployment mode MultiNode does not match requested decoder deployment mode OMENative",
    ),
    (
        {"supportedModelFormats": []},
        {},
        "runtime fast does not support model safetensors: "
        "model format 'mt:safetensors' not in supported formats: no supported formats defined",
    ),
    (
        {"modelSizeRange": {"min": "70B"}},
        {},
        "runtime fast does not support model safetensors: model size 7B is outside supported range [70B, inf)",
    ),
]


@pytest.mark.parametrize(("runtime", "service", "error"), UNFIT)
def test_an_unfit_one_is_used_with_advice(runtime: dict[str, Any], service: dict[str, Any], error: str) -> None:
    explanation = explained(
        a_model(modelParameterSize="7B"), a_runtime(**runtime), a_service(runtime={"name": "fast"}, **service)
    )
    assert explanation.outcome == "named-with-advice"
    assert explanation.selected is not None
    assert explanation.message is None
    assert explanation.event == (
        f"Runtime fast does not declare support for model llama ({error}); "
        "proceeding because the runtime was named explicitly"
    )
    assert explanation.event_reason == "RuntimeCompatibilityAdvisory"
    assert explanation.admission.errors == ()
    assert explanation.admission.warnings == (
        f'runtime "fast" does not declare support for model "llama" ({error}); '
        "proceeding because the runtime was named explicitly",
    )


def test_advice_names_the_first_check_and_keeps_the_others() -> None:
    named = naming(
        a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"}), engineConfig=moded("MultiNode")),
        deploymentMode="OMENative",
    ).named
    assert named is not None
    assert [failure.code for failure in named.failures] == ["engine-deployment-mode", "model-format"]
    assert named.error.startswith("runtime fast does not support model : runtime engine deployment mode MultiNode")


def test_a_pinned_service_gets_the_warning_and_no_event() -> None:
    explanation = naming(a_runtime(supportedModelFormats=[]), reference={"autoSync": False})
    assert explanation.outcome == "named-with-advice"
    assert (explanation.event, explanation.event_reason) == (None, None)
    assert len(explanation.admission.warnings) == 1


def test_neither_auto_select_nor_score_matters() -> None:
    assert naming(a_runtime("fast", None, an_entry(autoSelect=False, priority=0))).outcome == "named"


def test_v1_2_advises_too_and_only_afterwards() -> None:
    objects = [a_model(), a_runtime(supportedModelFormats=[]), a_service(runtime={"name": "fast"})]
    explanation = explained(*objects, semantics=V1_2)
    assert explanation.outcome == "named-with-advice"
    assert explanation.event_reason == "RuntimeCompatibilityAdvisory"
    assert explanation.event == (
        "Runtime fast does not declare support for model llama (runtime fast does not support model safetensors: "
        "model format 'mt:safetensors' not in supported formats: no supported formats defined); "
        "proceeding because the runtime was named explicitly"
    )
    assert (explanation.admission.errors, explanation.admission.warnings) == ((), ())


def test_naming_a_runtime_does_not_help_a_sharded_model() -> None:
    explanation = explained(a_model(distribution="Sharded"), a_runtime(), a_service(runtime={"name": "fast"}))
    assert explanation.outcome == "invalid"
    assert explanation.admission.errors == (
        "runtime fast does not support model llama: runtime fast does not support model safetensors: "
        "model format 'mt:safetensors' not in supported formats: "
        "no model cache provider is configured for sharded model loading",
    )


def test_a_sharded_model_is_refused_whatever_else_does_not_fit() -> None:
    service = a_service(runtime={"name": "fast"}, acceleratorSelector={"acceleratorClass": "h100"})
    named = explained(a_model(distribution="Sharded"), a_runtime(), service).named
    assert named is not None
    assert [failure.code for failure in named.failures] == ["accelerator-class", "model-format"]
    assert not named.advised
    assert named.error.startswith("runtime fast does not support model safetensors: model format")


def test_without_a_model_only_the_runtime_counts() -> None:
    explanation = naming(
        a_runtime(supportedModelFormats=[]), model=None, acceleratorSelector={"acceleratorClass": "h100"}
    )
    assert (explanation.outcome, explanation.event, explanation.candidates) == ("named", None, ())
    assert explanation.admission.errors == ()


def test_without_a_model_a_missing_one_is_admitted_and_reported_afterwards() -> None:
    explanation = naming(model=None)
    text = "runtime fast not found in namespace team or at cluster scope"
    assert (explanation.outcome, explanation.message, explanation.event_reason) == (
        "no-runtime",
        text,
        "RuntimeNotFound",
    )
    assert explanation.admission.allowed


def test_without_a_model_a_disabled_one_is_refused_with_the_inner_text_only() -> None:
    explanation = naming(a_runtime(disabled=True), model=None)
    text = "cluster-scoped runtime fast is disabled"
    assert (explanation.outcome, explanation.message) == ("invalid", text)
    assert explanation.admission.errors == (text,)


def child(name: str, parent: str, **spec: Any) -> dict[str, Any]:
    """A runtime that inherits all that it doesn't say."""
    manifest = a_runtime(name, annotations={"ome.io/inherit-from": parent})
    return {**manifest, "spec": spec}


def test_it_is_judged_on_what_it_inherits() -> None:
    explanation = naming(a_runtime("base", engineConfig=moded("MultiNode")), child("fast", "base"))
    assert explanation.outcome == "named"
    assert explanation.modes["engine"].running.mode == "MultiNode"


def test_the_child_of_a_disabled_profile_is_disabled_until_it_says_otherwise() -> None:
    base = a_runtime("base", annotations={"ome.io/runtime-profile": "true"}, disabled=True)
    assert naming(base, child("fast", "base")).outcome == "invalid"
    assert naming(base, child("fast", "base", disabled=False)).outcome == "named"


@pytest.mark.parametrize(
    ("model", "reason"), [({"name": "llama"}, "RuntimeValidationError"), (None, "RuntimeFetchError")]
)
def test_a_broken_chain_stops_the_service_that_names_it(model: dict[str, Any] | None, reason: str) -> None:
    explanation = naming(child("fast", "gone"), model=model)
    text = 'inherit-from parent "gone" not found (chain so far: [fast])'
    message = f"runtime fast does not support model llama: {text}" if model else text
    assert (explanation.outcome, explanation.message, explanation.event_reason) == ("invalid", message, reason)
    assert explanation.admission.errors == (message,)


def test_a_broken_chain_ends_the_lookup() -> None:
    assert naming(child("fast", "gone"), a_runtime("fast", "team")).outcome == "invalid"


def test_a_broken_chain_never_stops_automatic_selection() -> None:
    broken = a_runtime("fast", annotations={"ome.io/inherit-from": "gone"})
    explanation = explained(a_model(), broken, a_service())
    assert explanation.outcome == "auto-selected"


def test_an_unreadable_one_is_a_problem_with_its_place() -> None:
    explanation = naming(a_runtime(supportedModelFormats="all"))
    assert (explanation.outcome, explanation.selected, explanation.message) == ("invalid", None, None)
    assert [str(problem.object) for problem in explanation.problems][:1] == ["ClusterServingRuntime fast"]


def test_the_form_of_a_revisions_name_follows_the_kind() -> None:
    assert revision_pattern(RuntimeRef("fast", "ClusterServingRuntime"), "team") == "cr-fast-"
    assert revision_pattern(RuntimeRef("fast", "ServingRuntime"), "team") == "r-team-fast-"
