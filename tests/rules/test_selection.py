"""Automatic selection: every reason to the letter, the ranking, and the message when nothing qualifies."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.explanation import Explanation
from selection.rules.selection import model_error, question_of
from selection.rules.semantics import V1_2, V1_3

from .manifests import (
    a_model,
    a_runtime,
    a_service,
    an_entry,
    candidates_of,
    explained,
    moded,
    read_model,
    read_service,
    reason_of,
)

SKIPPED = (
    "supports the model but has no supportedModelFormats[].autoSelect=true entry, so automatic selection skips it "
    "(pin it explicitly via spec.runtime.name instead)"
)
ELSEWHERE = (
    "matching format safetensors is not autoSelect-enabled (a different supportedModelFormats entry on this runtime "
    "has autoSelect=true, but not the one that matches this model)"
)


def against(runtime: dict[str, Any], *, model: dict[str, Any] | None = None, **service: Any) -> Explanation:
    """What becomes of ``chat`` when this is the only runtime."""
    return explained(a_model(**(model or {})), runtime, a_service(**service))


CHECKS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    # code, runtime's spec, model's spec, service's spec, OME's reason
    ("disabled", {"disabled": True}, {}, {}, "runtime is disabled"),
    (
        "accelerator-class",
        {"acceleratorRequirements": {"acceleratorClasses": ["a100"]}},
        {},
        {"acceleratorSelector": {"acceleratorClass": "h100"}},
        "runtime does not support the required accelerator class",
    ),
    (
        "engine-deployment-mode",
        {"engineConfig": moded("MultiNode")},
        {},
        {"engine": moded("OMENative")},
        "runtime engine deployment mode MultiNode does not match requested engine deployment mode OMENative",
    ),
    (
        "decoder-deployment-mode",
        {"decoderConfig": moded("RawDeployment")},
        {},
        {"deploymentMode": "OMENative", "decoder": {}},
        "runtime decoder deployment mode RawDeployment does not match requested decoder deployment mode OMENative",
    ),
    (
        "model-format",
        {"supportedModelFormats": [an_entry(modelFormat={"name": "onnx"})]},
        {},
        {},
        "model format 'mt:safetensors' not in supported formats: "
        "format name mismatch (model=safetensors, runtime=onnx)",
    ),
    (
        "model-format",
        {"supportedModelFormats": []},
        {},
        {},
        "model format 'mt:safetensors' not in supported formats: no supported formats defined",
    ),
    (
        "model-size",
        {"modelSizeRange": {"min": "1B", "max": "13B"}},
        {"modelParameterSize": "70.6B"},
        {},
        "model size 70.6B is outside supported range [1B, 13B]",
    ),
    (
        "model-size",
        {"modelSizeRange": {"min": "80B"}},
        {"modelParameterSize": "70.6B"},
        {},
        "model size 70.6B is outside supported range [80B, inf)",
    ),
    (
        "model-size",
        {"modelSizeRange": {"max": "13B"}},
        {"modelParameterSize": "70.6B"},
        {},
        "model size 70.6B is outside supported range (-inf, 13B]",
    ),
    ("auto-select", {"supportedModelFormats": [an_entry(autoSelect=None)]}, {}, {}, SKIPPED),
    ("auto-select", {"supportedModelFormats": [an_entry(autoSelect=False)]}, {}, {}, SKIPPED),
    (
        "entry-not-auto-select",
        {"supportedModelFormats": [an_entry(autoSelect=False), an_entry(modelFormat={"name": "onnx"})]},
        {},
        {},
        ELSEWHERE,
    ),
    (
        "entry-not-auto-select",
        {"supportedModelFormats": [an_entry(autoSelect=None, priority=0), an_entry(modelFormat={"name": "onnx"})]},
        {},
        {},
        ELSEWHERE,
    ),
    (
        "score",
        {"supportedModelFormats": [an_entry(priority=0)]},
        {},
        {},
        "auto-select score is 0 (format priority 0)",
    ),
    (
        "score",
        {"supportedModelFormats": [an_entry(modelFormat={"name": "safetensors", "weight": -1})]},
        {},
        {},
        "auto-select score is 0",
    ),
    ("score", {"supportedModelFormats": [an_entry(priority=-1)]}, {}, {}, "auto-select score is 0"),
]


@pytest.mark.parametrize(("code", "runtime", "model", "service", "text"), CHECKS)
def test_a_candidate_is_left_out_with_omes_reason(
    code: str, runtime: dict[str, Any], model: dict[str, Any], service: dict[str, Any], text: str
) -> None:
    explanation = against(a_runtime(**runtime), model=model, **service)
    assert explanation.outcome == "no-runtime"
    candidate = candidates_of(explanation)["/fast"]
    assert candidate.reason is not None
    assert (candidate.reason.code, candidate.reason.reason) == (code, text)


def test_the_checks_come_in_omes_order_each_as_if_the_earlier_had_passed() -> None:
    runtime = a_runtime(
        "fast",
        None,
        an_entry(modelFormat={"name": "onnx"}, autoSelect=False),
        disabled=True,
        engineConfig=moded("MultiNode"),
        decoderConfig=moded("MultiNode"),
        modelSizeRange={"max": "1B"},
    )
    service = {"acceleratorSelector": {"acceleratorClass": "h100"}, "decoder": {}, "deploymentMode": "OMENative"}
    candidate = candidates_of(against(runtime, model={"modelParameterSize": "7B"}, **service))["/fast"]
    assert candidate.reason is not None
    assert [failure.code for failure in (candidate.reason, *candidate.also)] == [
        "disabled",
        "accelerator-class",
        "engine-deployment-mode",
        "decoder-deployment-mode",
        "model-format",
        "model-size",
        "auto-select",
    ]


PASSES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("a service without wishes", {}, {}, {}),
    ("disabled that is false", {"disabled": False}, {}, {}),
    ("only the runtime declares a mode", {"engineConfig": moded("MultiNode")}, {}, {}),
    ("only the service asks for a mode", {"engineConfig": {}}, {}, {"deploymentMode": "OMENative"}),
    ("both the same mode", {"engineConfig": moded("OMENative")}, {}, {"deploymentMode": "OMENative"}),
    ("the runtime's mode doesn't count", {"engineConfig": moded("multinode")}, {}, {"deploymentMode": "OMENative"}),
    ("the service's mode doesn't count", {"engineConfig": moded("MultiNode")}, {}, {"engine": moded("Native")}),
    ("modes of different components", {"decoderConfig": moded("MultiNode")}, {}, {"deploymentMode": "OMENative"}),
    ("the router's mode", {"routerConfig": moded("MultiNode")}, {}, {"router": moded("OMENative")}),
    ("a model without a size", {"modelSizeRange": {"min": "1B", "max": "2B"}}, {}, {}),
    ("a runtime without a range", {}, {"modelParameterSize": "7B"}, {}),
    ("classes nobody asked for", {"acceleratorRequirements": {"acceleratorClasses": ["h100"]}}, {}, {}),
    (
        "autoSelect on another entry, and a score from the matching one that doesn't refuse",
        {"supportedModelFormats": [an_entry(autoSelect=None), an_entry(modelFormat={"name": "onnx"})]},
        {},
        {},
    ),
    (
        "a score from an entry that doesn't match",
        {"supportedModelFormats": [an_entry(priority=0), an_entry(quantization="fp8")]},
        {},
        {},
    ),
]


@pytest.mark.parametrize(("why", "runtime", "model", "service"), PASSES)
def test_a_candidate_qualifies(
    why: str, runtime: dict[str, Any], model: dict[str, Any], service: dict[str, Any]
) -> None:
    explanation = against(a_runtime(**runtime), model=model, **service)
    assert explanation.outcome == "auto-selected", why
    assert reason_of(explanation) is None


def test_both_releases_compare_modes_and_only_v1_3_has_one_for_the_whole_service() -> None:
    runtime = a_runtime(engineConfig=moded("MultiNode"))
    for service, old in (
        ({"engine": moded("RawDeployment")}, "no-runtime"),
        ({"deploymentMode": "RawDeployment"}, "auto-selected"),
    ):
        objects = [a_model(), runtime, a_service(**service)]
        assert explained(*objects, semantics=V1_3).outcome == "no-runtime"
        assert explained(*objects, semantics=V1_2).outcome == old


def test_a_model_without_a_format_cannot_be_matched() -> None:
    formats: list[Any] = [None, {}, {"name": ""}, {"version": "1.0.0"}]
    for written in formats:
        assert model_error(read_model(modelFormat=written)) == (
            "invalid model specification: modelFormat.name: model format name is required"
        )
    assert model_error(read_model()) is None


def test_services_that_ask_the_same_share_their_question() -> None:
    one = question_of(read_service(engine=moded("OMENative")), read_model(), V1_3)
    other = question_of(read_service(deploymentMode="OMENative"), read_model(), V1_3)
    assert one == other
    assert hash(one) == hash(other)
    assert one != question_of(read_service(), read_model(), V1_3)


def weighing(weight: int, priority: int = 1) -> dict[str, Any]:
    """An entry for ``llama`` of this weight."""
    return an_entry(modelFormat={"name": "safetensors", "weight": weight}, priority=priority)


def ranking(*runtimes: dict[str, Any], size: str | None = None) -> list[str]:
    """The names of the qualified, best first; a namespaced one has its namespace before it."""
    explanation = explained(a_model(modelParameterSize=size), *runtimes, a_service())
    return [f"{ref.namespace}/{ref.name}" for ref in (each.verdict.runtime.ref for each in explanation.candidates)]


RANKINGS = [
    # the namespace's own before the cluster's, whatever the score
    ([a_runtime("a", None, weighing(9)), a_runtime("b", "team", weighing(1))], None, ["team/b", "/a"]),
    # one name in both scopes is two candidates
    ([a_runtime("a"), a_runtime("a", "team")], None, ["team/a", "/a"]),
    # then the score, high first
    ([a_runtime("a", None, weighing(2)), a_runtime("b", None, weighing(3))], None, ["/b", "/a"]),
    ([a_runtime("a", None, weighing(2, 3)), a_runtime("b", None, weighing(5))], None, ["/a", "/b"]),
    (
        [a_runtime("a", None, weighing(1)), a_runtime("b", None, weighing(2**63 - 1))],
        None,
        ["/b", "/a"],
    ),
    # then the distance, small first; without a range it is 0, and a missing bound adds nothing
    (
        [
            a_runtime("a", modelSizeRange={"min": "1B", "max": "80B"}),
            a_runtime("b", modelSizeRange={"min": "5B", "max": "10B"}),
        ],
        "7B",
        ["/b", "/a"],
    ),
    ([a_runtime("a", modelSizeRange={"min": "5B", "max": "10B"}), a_runtime("b")], "7B", ["/b", "/a"]),
    (
        [
            a_runtime("a", modelSizeRange={"min": "5B", "max": "10B"}),
            a_runtime("b", modelSizeRange={"min": "5B"}),
        ],
        "7B",
        ["/b", "/a"],
    ),
    # the score before the distance
    (
        [
            a_runtime("a", None, weighing(2), modelSizeRange={"min": "1B", "max": "80B"}),
            a_runtime("b", None, weighing(1), modelSizeRange={"min": "5B", "max": "10B"}),
        ],
        "7B",
        ["/a", "/b"],
    ),
    # without a size of the model, ranges say nothing
    (
        [
            a_runtime("a", modelSizeRange={"min": "1B", "max": "80B"}),
            a_runtime("b", modelSizeRange={"min": "5B", "max": "10B"}),
        ],
        None,
        ["/a", "/b"],
    ),
    # less than one parameter is no difference, one parameter is
    (
        [
            a_runtime("a", modelSizeRange={"min": "6.4"}),
            a_runtime("b", modelSizeRange={"min": "7"}),
        ],
        "7",
        ["/a", "/b"],
    ),
    ([a_runtime("a", modelSizeRange={"min": "6"}), a_runtime("b", modelSizeRange={"min": "7"})], "7", ["/b", "/a"]),
    # a difference that no 64-bit integer holds, or that isn't finite, is none either
    (
        [a_runtime("a", modelSizeRange={"max": "1e30"}), a_runtime("b", modelSizeRange={"max": "8B"})],
        "7B",
        ["/a", "/b"],
    ),
    (
        [a_runtime("a", modelSizeRange={"max": "9223372036854775808"}), a_runtime("b", modelSizeRange={"max": "0"})],
        "0",
        ["/a", "/b"],
    ),
    (
        [a_runtime("a", modelSizeRange={"max": "inf"}), a_runtime("b", modelSizeRange={"max": "8B"})],
        "7B",
        ["/a", "/b"],
    ),
    (
        [a_runtime("a", modelSizeRange={"max": "9e18"}), a_runtime("b", modelSizeRange={"max": "8B"})],
        "7B",
        ["/b", "/a"],
    ),
    # then the name, by its characters
    ([a_runtime("b"), a_runtime("a-2"), a_runtime("a-10"), a_runtime("a")], None, ["/a", "/a-10", "/a-2", "/b"]),
]


@pytest.mark.parametrize(("runtimes", "size", "names"), RANKINGS)
def test_the_qualified_are_ranked(runtimes: list[dict[str, Any]], size: str | None, names: list[str]) -> None:
    assert ranking(*runtimes, size=size) == names
    assert ranking(*reversed(runtimes), size=size) == names


def test_the_runtimes_of_other_namespaces_are_no_candidates() -> None:
    assert ranking(a_runtime("a", "other"), a_runtime("b")) == ["/b"]


def test_priority_and_weight_are_the_first_matching_entrys_and_the_score_is_the_best_ones() -> None:
    runtime = a_runtime("fast", None, weighing(2, 3), weighing(9), an_entry(quantization="fp8", priority=50))
    verdict = candidates_of(against(runtime))["/fast"].to_dict()
    assert (verdict["priority"], verdict["weight"], verdict["score"]) == (3, 6, 50)
    assert verdict["arithmetic"]["entry"] == 2


NOTHING = "no runtime found to support model safetensors with format safetensors in namespace team"


def test_without_any_runtime_the_message_ends_after_the_namespace() -> None:
    assert explained(a_model(), a_runtime("a", "other"), a_service()).message == NOTHING


def test_the_message_lists_by_name_what_failed_a_check_and_counts_the_rest() -> None:
    explanation = explained(
        a_model(),
        a_runtime("slow", disabled=True),
        a_runtime("skipped", None, an_entry(autoSelect=False)),
        a_runtime("nothing", None, an_entry(priority=0)),
        a_runtime("onnx", "team", an_entry(modelFormat={"name": "onnx"})),
        a_service(),
    )
    assert explanation.message == (
        f"{NOTHING}. Checked 4 runtimes (1 namespace-scoped, 3 cluster-scoped). Excluded runtimes: "
        "onnx (model format 'mt:safetensors' not in supported formats: "
        "format name mismatch (model=safetensors, runtime=onnx)); slow (runtime is disabled)"
    )


def test_the_message_lists_nothing_when_all_were_only_skipped() -> None:
    explanation = explained(a_model(), a_runtime("a", None, an_entry(autoSelect=False)), a_service())
    assert explanation.message == f"{NOTHING}. Checked 1 runtimes (0 namespace-scoped, 1 cluster-scoped)"


def test_the_list_goes_by_name_across_scopes_and_gives_the_first_reason_alone() -> None:
    onnx = an_entry(modelFormat={"name": "onnx"})
    explanation = explained(
        a_model(), a_runtime("z", "team", onnx, disabled=True), a_runtime("a", None, onnx, disabled=True), a_service()
    )
    assert explanation.message is not None
    assert explanation.message.endswith("Excluded runtimes: a (runtime is disabled); z (runtime is disabled)")


def test_two_of_one_name_are_listed_once_with_the_clusters_reason() -> None:
    explanation = explained(
        a_model(),
        a_runtime("twin", disabled=True),
        a_runtime("twin", "team", an_entry(modelFormat={"name": "onnx"})),
        a_service(),
    )
    assert explanation.message == (
        f"{NOTHING}. Checked 2 runtimes (1 namespace-scoped, 1 cluster-scoped). "
        "Excluded runtimes: twin (runtime is disabled)"
    )


def test_a_twin_that_was_only_skipped_does_not_hide_the_others_reason() -> None:
    explanation = explained(
        a_model(),
        a_runtime("twin", None, an_entry(autoSelect=False)),
        a_runtime("twin", "team", disabled=True),
        a_service(),
    )
    assert explanation.message == (
        f"{NOTHING}. Checked 2 runtimes (1 namespace-scoped, 1 cluster-scoped). "
        "Excluded runtimes: twin (runtime is disabled)"
    )


def test_the_model_is_named_by_its_format() -> None:
    explanation = explained(a_model(modelFormat={"name": "onnx", "version": "1.0"}), a_service())
    assert explanation.message == "no runtime found to support model onnx with format onnx in namespace team"
