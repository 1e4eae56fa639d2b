"""Candidates as they are listed and printed, and the index that finds the few that matter."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given

from selection.rules.index import RuntimeIndex, key_of, serves
from selection.rules.parsing import parse_model, parse_runtime
from selection.rules.selection import Failure

from .fleets import model_manifests, runtime_manifests
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, candidates_of, explained


def printed(runtime: Manifest, **model: Any) -> dict[str, Any]:
    """The one candidate as JSON."""
    return candidates_of(explained(a_model(**model), runtime, a_service()))["/fast"].to_dict()


def test_a_qualified_candidate_is_printed_whole() -> None:
    entry = an_entry(modelFormat={"name": "safetensors", "weight": 2}, priority=3)
    runtime = a_runtime("fast", None, entry, modelSizeRange={"min": "1B", "max": "8B"})
    assert printed(runtime, modelParameterSize="7B") == {
        "kind": "ClusterServingRuntime",
        "namespace": None,
        "name": "fast",
        "scope": "Cluster",
        "compatible": True,
        "rank": 1,
        "priority": 3,
        "weight": 6,
        "score": 6,
        "size_distance": 7e9,
        "code": None,
        "reason": None,
        "also": [],
        "arithmetic": {"entry": 0, "score": 6, "formatWeight": 2, "frameworkWeight": None, "priority": 3},
    }


def test_a_candidate_that_fails_a_check_has_no_score() -> None:
    told = printed(a_runtime("fast", None, an_entry(quantization="fp8", autoSelect=False)))
    numbers = ("rank", "priority", "weight", "score", "size_distance", "arithmetic")
    assert [told[key] for key in numbers] == [None] * 6
    assert (told["compatible"], told["code"]) == (False, "model-format")
    assert [failure["code"] for failure in told["also"]] == ["auto-select"]


def test_a_candidate_that_is_only_skipped_keeps_its_score() -> None:
    told = printed(a_runtime("fast", None, an_entry(autoSelect=None)))
    assert (told["compatible"], told["code"], told["rank"]) == (False, "auto-select", None)
    assert (told["priority"], told["weight"], told["score"]) == (None, None, 1)
    assert printed(a_runtime("fast", None, an_entry(priority=0)))["score"] == 0


OPEN_ELSEWHERE = an_entry(modelFormat={"name": "onnx"})

GATES: list[tuple[Manifest, list[str]]] = [
    # without any autoSelect the matching entry's own isn't said once more
    (a_runtime("fast", None, an_entry(autoSelect=False)), ["auto-select"]),
    (a_runtime("fast", None, an_entry(autoSelect=None, priority=0)), ["auto-select"]),
    # with one on another entry it is, whatever else fails
    (a_runtime("fast", None, an_entry(autoSelect=False), OPEN_ELSEWHERE), ["entry-not-auto-select"]),
    (
        a_runtime("fast", None, an_entry(autoSelect=False), OPEN_ELSEWHERE, disabled=True),
        ["disabled", "entry-not-auto-select"],
    ),
    # a runtime that serves nothing has no score to speak of
    (a_runtime("fast", None, OPEN_ELSEWHERE), ["model-format"]),
    (a_runtime("fast", None, an_entry(priority=0), disabled=True), ["disabled", "score"]),
]


@pytest.mark.parametrize(("runtime", "codes"), GATES)
def test_the_gates_of_automatic_selection_are_told_once(runtime: Manifest, codes: list[str]) -> None:
    candidate = candidates_of(explained(a_model(), runtime, a_service()))["/fast"]
    assert [failure.code for failure in candidate.verdict.failures] == codes


def test_failures_are_the_same_when_code_and_reason_are() -> None:
    disabled = Failure("disabled", "runtime is disabled")
    assert disabled == Failure("disabled", "runtime is disabled")
    assert disabled != Failure("score", "runtime is disabled")
    assert disabled != Failure("disabled", "auto-select score is 0")
    assert disabled != "runtime is disabled"


@pytest.mark.parametrize("size", ["inf", "nan", "1e300T"])
def test_a_distance_that_json_cannot_hold_is_null(size: str) -> None:
    runtime = a_runtime(modelSizeRange={"max": size})
    explanation = explained(a_model(modelParameterSize="7B"), runtime, a_service())
    verdict = candidates_of(explanation)["/fast"].verdict
    assert verdict.distance is not None
    assert not math.isfinite(verdict.distance)
    assert printed(runtime, modelParameterSize="7B")["size_distance"] is None
    unplaced = [{"kind": "ClusterServingRuntime", "namespace": None, "name": "fast"}]
    assert explanation.to_dict()["notes"] == {"sizeNotFinite": unplaced}


def test_the_rest_stand_behind_the_qualified_the_namespaces_own_first_by_name() -> None:
    explanation = explained(
        a_model(),
        a_runtime("b", disabled=True),
        a_runtime("d", "team", disabled=True),
        a_runtime("c", "team", disabled=True),
        a_runtime("a", disabled=True),
        a_runtime("z", "team"),
        a_runtime("y"),
        a_service(),
    )
    assert list(candidates_of(explanation)) == ["team/z", "/y", "team/c", "team/d", "/a", "/b"]
    assert [candidate.rank for candidate in explanation.candidates] == [1, 2, None, None, None, None]


@given(runtime_manifests(), model_manifests())
def test_the_index_finds_the_runtimes_that_serve_a_model(runtime: Manifest, model: Manifest) -> None:
    parsed, wanted = parse_runtime(runtime), parse_model(model).content
    found = RuntimeIndex([parsed]).serving(wanted)
    assert found == ((parsed,) if serves(parsed, wanted) and not parsed.disabled else ())
    assert not found or key_of(wanted) in RuntimeIndex([parsed]).keys


def test_the_index_takes_over_only_what_a_change_cannot_touch() -> None:
    kept, changed = parse_runtime(a_runtime("kept")), parse_runtime(a_runtime("changed", modelSizeRange={"max": "8B"}))
    small, large = (parse_model(a_model(modelParameterSize=size)).content for size in ("7B", "70B"))
    old = RuntimeIndex([kept, changed])
    assert [len(old.serving(model)) for model in (small, large)] == [2, 1]
    new = RuntimeIndex([kept])
    new.remember(old, [changed])
    assert [len(new.serving(model)) for model in (small, large)] == [1, 1]
    assert new.serving(large) is old.serving(large)
