"""JSON merge patches: the RFC's own cases, and what holds of all of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.merge_patches import merge_patched, turned_back

CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # RFC 7386, appendix A, those whose patch and target are objects
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    # what a service's move needs
    ({"a": {"leader": {"x": 1}}}, {"a": {"leader": {}, "worker": {}}}, {"a": {"leader": {"x": 1}, "worker": {}}}),
    ({"runtime": {"name": "a", "revision": "r"}}, {"runtime": {"revision": None}}, {"runtime": {"name": "a"}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), CASES)
def test_a_patch_gives_what_the_rfc_says(target: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]) -> None:
    before = copy.deepcopy((target, patch))
    assert merge_patched(target, patch) == result
    assert (target, patch) == before


KEYS = st.sampled_from(["a", "b", "c"])
PLAIN = st.booleans() | st.integers(0, 3) | st.lists(st.integers(0, 1), max_size=2)
TARGETS = st.dictionaries(
    KEYS, st.recursive(PLAIN, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8), max_size=3
)
PATCHES = st.dictionaries(
    KEYS,
    st.recursive(PLAIN | st.none(), lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8),
    max_size=3,
)


@given(TARGETS, PATCHES)
def test_a_second_time_changes_nothing(target: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patched(target, patch)
    assert merge_patched(once, patch) == once


@given(TARGETS, PATCHES)
def test_the_patch_back_gives_the_object_as_it_was(target: dict[str, Any], patch: dict[str, Any]) -> None:
    assert merge_patched(merge_patched(target, patch), turned_back(target, patch)) == target


@given(TARGETS, PATCHES)
def test_the_result_shares_nothing_with_the_patch(target: dict[str, Any], patch: dict[str, Any]) -> None:
    changed = merge_patched(target, patch)
    before = copy.deepcopy(changed)
    for value in patch.values():
        if isinstance(value, list):
            value.append("more")
    assert changed == before
