"""Scores, and the priority and weight that OME prints beside them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.scoring import EntryScore, entry_score, entry_weight, runtime_score

from .manifests import an_entry, read_entry, read_model, read_runtime

TENSORS = {"name": "safetensors", "version": "1.0.0"}
HUGGING = {"name": "transformers", "version": "4.40.0"}


def score(model: dict[str, Any], entry: dict[str, Any]) -> int:
    """The score of one entry; the model is in safetensors unless it says otherwise."""
    return entry_score(read_model(**model), read_entry(**entry)).score


SCORES: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    # format weight x priority; unset both are 1, as the CRD's defaults say
    ({}, {"modelFormat": {"name": "safetensors"}}, 1),
    ({}, {"modelFormat": {"name": "safetensors", "weight": 4}, "priority": 3}, 12),
    # (format + framework) x priority
    (
        {"modelFramework": {"name": "transformers"}},
        {
            "modelFormat": {"name": "safetensors", "weight": 2},
            "modelFramework": {"name": "transformers", "weight": 1},
            "priority": 2,
        },
        6,
    ),
    # a weight of 0 counts as 10 for the format and 5 for the framework; a weight that is null is unset
    ({}, {"modelFormat": {"name": "safetensors", "weight": 0}}, 10),
    ({}, {"modelFormat": {"name": "safetensors", "weight": None}}, 1),
    (
        {"modelFramework": {"name": "transformers"}},
        {
            "modelFormat": {"name": "safetensors", "weight": 0},
            "modelFramework": {"name": "transformers", "weight": 0},
            "priority": 2,
        },
        30,
    ),
    # weights and priorities may be negative or 0
    ({}, {"modelFormat": {"name": "safetensors", "weight": -3}, "priority": 2}, -6),
    ({}, {"modelFormat": {"name": "safetensors", "weight": -3}, "priority": -2}, 6),
    ({}, {"modelFormat": {"name": "safetensors", "weight": 7}, "priority": 0}, 0),
    # an entry without a format scores by its framework alone, or nothing
    ({"modelFramework": {"name": "transformers"}}, {"modelFramework": {"name": "transformers", "weight": 3}}, 3),
    ({}, {"priority": 9}, 0),
    # another name scores 0, case included
    ({}, {"modelFormat": {"name": "SafeTensors", "weight": 9}}, 0),
    ({}, {"modelFormat": {"weight": 9}}, 0),
    (
        {"modelFramework": {"name": "transformers"}},
        {"modelFormat": {"name": "safetensors"}, "modelFramework": {"name": "diffusers"}},
        0,
    ),
    # versions on both sides must pass the operator; on one side only they don't matter
    ({"modelFormat": TENSORS}, {"modelFormat": {**TENSORS, "weight": 2}}, 2),
    ({"modelFormat": TENSORS}, {"modelFormat": {"name": "safetensors", "version": "2.0.0", "weight": 2}}, 0),
    (
        {"modelFormat": TENSORS},
        {"modelFormat": {"name": "safetensors", "version": "2.0.0", "operator": "GreaterThan", "weight": 2}},
        2,
    ),
    ({"modelFormat": TENSORS}, {"modelFormat": {"name": "safetensors", "weight": 2}}, 2),
    ({}, {"modelFormat": {**TENSORS, "weight": 2}}, 2),
    (
        {"modelFramework": HUGGING},
        {"modelFormat": {"name": "safetensors"}, "modelFramework": {"name": "transformers", "version": "4.41.0"}},
        0,
    ),
    (
        {"modelFramework": HUGGING},
        {"modelFormat": {"name": "safetensors"}, "modelFramework": {"name": "transformers"}},
        2,
    ),
    # a framework on one side only scores 0
    ({"modelFramework": HUGGING}, {"modelFormat": {"name": "safetensors", "weight": 9}}, 0),
    ({}, {"modelFormat": {"name": "safetensors", "weight": 9}, "modelFramework": HUGGING}, 0),
    # architecture, quantization and pipeline play no part
    (
        {"modelArchitecture": "LlamaForCausalLM"},
        {"modelFormat": {"name": "safetensors", "weight": 4}, "quantization": "int4", "diffusionPipeline": {}},
        4,
    ),
    # 64-bit arithmetic wraps, each product and the sum
    ({}, {"modelFormat": {"name": "safetensors", "weight": 2**62}, "priority": 2}, -(2**63)),
    ({}, {"modelFormat": {"name": "safetensors", "weight": 2**62}, "priority": 4}, 0),
    ({}, {"modelFormat": {"name": "safetensors", "weight": -(2**63)}, "priority": -1}, -(2**63)),
    (
        {"modelFramework": {"name": "transformers"}},
        {
            "modelFormat": {"name": "safetensors", "weight": 2**63 - 1},
            "modelFramework": {"name": "transformers", "weight": 1},
        },
        -(2**63),
    ),
]


@pytest.mark.parametrize(("model", "entry", "expected"), SCORES)
def test_an_entry_scores(model: dict[str, Any], entry: dict[str, Any], expected: int) -> None:
    assert score(model, entry) == expected


def test_the_arithmetic_is_kept() -> None:
    entry = read_entry(
        modelFormat={"name": "safetensors", "weight": 0}, modelFramework={"name": "transformers"}, priority=3
    )
    model = read_model(modelFramework={"name": "transformers"})
    assert entry_score(model, entry, 2).to_dict() == {
        "entry": 2,
        "score": 33,
        "formatWeight": 10,
        "frameworkWeight": 1,
        "priority": 3,
    }


def best(*entries: dict[str, Any]) -> EntryScore | None:
    """The best score of a runtime with these entries."""
    return runtime_score(read_model(), read_runtime(*entries).entries)


def weighing(weight: int, **fields: Any) -> dict[str, Any]:
    """An entry for safetensors of this weight."""
    return an_entry(modelFormat={"name": "safetensors", "weight": weight}, **fields)


def test_the_highest_entry_counts() -> None:
    found = best(weighing(2), weighing(5), weighing(3))
    assert found is not None
    assert (found.index, found.score) == (1, 5)


def test_of_equal_entries_the_first_counts() -> None:
    found = best(weighing(5), weighing(5))
    assert found is not None
    assert found.index == 0


def test_an_entry_that_says_auto_select_false_takes_no_part() -> None:
    found = best(weighing(2), weighing(9, autoSelect=False), weighing(3, autoSelect=None))
    assert found is not None
    assert (found.index, found.score) == (2, 3)


def test_an_entry_for_another_model_can_set_the_score() -> None:
    found = best(weighing(2), weighing(9, modelArchitecture="Other"))
    assert found is not None
    assert (found.index, found.score) == (1, 9)


@pytest.mark.parametrize("entries", [[weighing(-2)], [weighing(2, priority=0)], [weighing(9, autoSelect=False)]])
def test_a_runtime_scores_at_least_nothing(entries: list[dict[str, Any]]) -> None:
    assert best(*entries) is None


WEIGHTS: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({"modelFormat": {"name": "safetensors"}}, (1, 1)),
    ({"modelFormat": {"name": "safetensors", "weight": 3}, "priority": 2}, (2, 6)),
    (
        {"modelFormat": {"name": "a", "weight": 3}, "modelFramework": {"name": "b", "weight": 4}, "priority": 2},
        (2, 14),
    ),
    # only positive weights count, 0 is not 10 here
    ({"modelFormat": {"name": "a", "weight": 0}}, (1, 0)),
    ({"modelFormat": {"name": "a", "weight": -3}, "modelFramework": {"name": "b", "weight": 4}}, (1, 4)),
    # priorities may be negative or 0
    ({"modelFormat": {"name": "a", "weight": 3}, "priority": -2}, (-2, -6)),
    ({"modelFormat": {"name": "a", "weight": 3}, "priority": 0}, (0, 0)),
    # and it wraps, too
    ({"modelFormat": {"name": "a", "weight": 2**62}, "priority": 2}, (2, -(2**63))),
]


@pytest.mark.parametrize(("entry", "printed"), WEIGHTS)
def test_priority_and_weight_are_printed(entry: dict[str, Any], printed: tuple[int, int]) -> None:
    assert entry_weight(read_entry(**entry)) == printed


int64 = st.integers(-(2**63), 2**63 - 1)


@given(weight=int64, framework=int64, priority=st.integers(-(2**31), 2**31 - 1))
def test_every_score_and_weight_is_a_64_bit_number(weight: int, framework: int, priority: int) -> None:
    model = read_model(modelFramework={"name": "transformers"})
    entry = read_entry(
        modelFormat={"name": "safetensors", "weight": weight},
        modelFramework={"name": "transformers", "weight": framework},
        priority=priority,
    )
    for value in (entry_score(model, entry).score, entry_weight(entry)[1]):
        assert -(2**63) <= value < 2**63
