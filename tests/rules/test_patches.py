"""The operations are JSON Patch (RFC 6902) that applies to the manifest that they were made for."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.patches import Operation, Token, applied, removing, setting

from .fleets_more import holds
from .jsonpatch import Refused, patched

Manifest = dict[str, Any]

# --- the applier itself ------------------------------------------------------------------------------

DOCUMENT: Manifest = {"a": {"b": 1, "c/d": 2, "e~f": None}, "l": [1, 2], "n": None}

ACCEPTED: list[tuple[Manifest, Manifest]] = [
    ({"op": "add", "path": "/x", "value": 1}, {**DOCUMENT, "x": 1}),
    ({"op": "add", "path": "/a", "value": 1}, {**DOCUMENT, "a": 1}),
    ({"op": "add", "path": "/l/0", "value": 0}, {**DOCUMENT, "l": [0, 1, 2]}),
    ({"op": "add", "path": "/l/2", "value": 3}, {**DOCUMENT, "l": [1, 2, 3]}),
    ({"op": "add", "path": "/l/-", "value": 3}, {**DOCUMENT, "l": [1, 2, 3]}),
    ({"op": "replace", "path": "/l/1", "value": 3}, {**DOCUMENT, "l": [1, 3]}),
    ({"op": "replace", "path": "/n", "value": {}}, {**DOCUMENT, "n": {}}),
    ({"op": "remove", "path": "/a/c~1d"}, {**DOCUMENT, "a": {"b": 1, "e~f": None}}),
    ({"op": "remove", "path": "/a/e~0f"}, {**DOCUMENT, "a": {"b": 1, "c/d": 2}}),
    ({"op": "remove", "path": "/l/0"}, {**DOCUMENT, "l": [2]}),
]
REFUSED: list[Manifest] = [
    {"op": "add", "path": "/x/y", "value": 1},
    {"op": "add", "path": "/n/y", "value": 1},
    {"op": "add", "path": "/l/3", "value": 1},
    {"op": "add", "path": "/l/01", "value": 1},
    {"op": "add", "path": "x", "value": 1},
    {"op": "add", "path": "/x~2", "value": 1},
    {"op": "add", "path": "/x"},
    {"op": "replace", "path": "/x", "value": 1},
    {"op": "replace", "path": "/l/-", "value": 1},
    {"op": "replace", "path": "/l/2", "value": 1},
    {"op": "remove", "path": "/x"},
    {"op": "remove", "path": "/l/2"},
    {"op": "remove", "path": "/a", "value": 1},
    {"op": "merge", "path": "/a", "value": 1},
]


@pytest.mark.parametrize(("operation", "expected"), ACCEPTED)
def test_the_tests_apply_what_the_rfc_accepts(operation: Manifest, expected: Manifest) -> None:
    before = copy.deepcopy(DOCUMENT)
    assert patched(DOCUMENT, [operation]) == expected
    assert before == DOCUMENT


@pytest.mark.parametrize("operation", REFUSED)
def test_the_tests_refuse_what_the_rfc_refuses(operation: Manifest) -> None:
    with pytest.raises(Refused):
        patched(DOCUMENT, [operation])


# --- by hand -----------------------------------------------------------------------------------------

MODE = "ome.io/deploymentMode"
SET: list[tuple[Manifest, Sequence[Token], Any, Manifest]] = [
    ({"a": 1}, ("a",), 2, {"op": "replace", "path": "/a", "value": 2}),
    ({"a": 0}, ("a",), 2, {"op": "replace", "path": "/a", "value": 2}),
    ({"a": ""}, ("a",), 2, {"op": "replace", "path": "/a", "value": 2}),
    ({}, ("a",), 2, {"op": "add", "path": "/a", "value": 2}),
    ({"a": None}, ("a",), 2, {"op": "add", "path": "/a", "value": 2}),
    ({}, ("a", "b"), 2, {"op": "add", "path": "/a", "value": {"b": 2}}),
    ({"a": None}, ("a", "b", "c"), 2, {"op": "add", "path": "/a", "value": {"b": {"c": 2}}}),
    ({"a": {}}, ("a", MODE), "x", {"op": "add", "path": "/a/ome.io~1deploymentMode", "value": "x"}),
    ({"a": {"t~": 1}}, ("a", "t~"), 2, {"op": "replace", "path": "/a/t~0", "value": 2}),
    ({"a": [{}]}, ("a", 0, "b"), 2, {"op": "add", "path": "/a/0/b", "value": 2}),
    ({"a": [None]}, ("a", 0, "b"), 2, {"op": "replace", "path": "/a/0", "value": {"b": 2}}),
    ({"a": [1]}, ("a", "-"), 2, {"op": "add", "path": "/a/-", "value": 2}),
    ({"a": []}, ("a", "-"), 2, {"op": "add", "path": "/a/-", "value": 2}),
    ({"a": None}, ("a", "-"), 2, {"op": "add", "path": "/a", "value": [2]}),
    ({}, ("a", "-"), 2, {"op": "add", "path": "/a", "value": [2]}),
    ({}, ("a", "-", "b"), 2, {"op": "add", "path": "/a", "value": [{"b": 2}]}),
    ({"a": False}, ("a",), None, {"op": "replace", "path": "/a", "value": None}),
]
REMOVED: list[tuple[Manifest, Sequence[Token], Manifest | None]] = [
    ({"a": 1}, ("a",), {"op": "remove", "path": "/a"}),
    ({"a": ""}, ("a",), {"op": "remove", "path": "/a"}),
    ({"a": None}, ("a",), {"op": "remove", "path": "/a"}),
    ({"a": {MODE: ""}}, ("a", MODE), {"op": "remove", "path": "/a/ome.io~1deploymentMode"}),
    ({"a": [1]}, ("a", 0), {"op": "remove", "path": "/a/0"}),
    ({"a": [1]}, ("a", 1), None),
    ({"a": [1]}, ("a", "-"), None),
    ({}, ("a",), None),
    ({"a": None}, ("a", "b"), None),
    ({"a": "text"}, ("a", "b"), None),
]


@pytest.mark.parametrize(("manifest", "path", "value", "expected"), SET)
def test_a_value_is_set_with_the_parents_that_are_missing(
    manifest: Manifest, path: Sequence[Token], value: Any, expected: Manifest
) -> None:
    operation = setting(manifest, path, value)
    assert operation.to_dict() == expected
    assert applied(manifest, [operation]) == patched(manifest, [expected])


@pytest.mark.parametrize(("manifest", "path", "expected"), REMOVED)
def test_a_value_is_removed_if_it_is_there(
    manifest: Manifest, path: Sequence[Token], expected: Manifest | None
) -> None:
    operation = removing(manifest, path)
    assert (operation.to_dict() if operation else None) == expected
    if operation is not None and expected is not None:
        assert applied(manifest, [operation]) == patched(manifest, [expected])


def test_a_manifest_that_is_changed_stays_as_it_is() -> None:
    manifest = {"a": {"b": [1]}}
    value = {"c": [1]}
    changed = applied(manifest, [setting(manifest, ("a", "d"), value), setting(manifest, ("a", "b", "-"), 2)])
    changed["a"]["d"]["c"].append(2)
    assert (manifest, value) == ({"a": {"b": [1]}}, {"c": [1]})


@pytest.mark.parametrize(
    "operation", [Operation("remove", ("a", "b")), Operation("add", ("a", "b"), 1), Operation("remove", ("b",))]
)
def test_an_operation_of_another_manifest_is_refused(operation: Operation) -> None:
    with pytest.raises(LookupError):
        applied({"c": {}}, [operation])


# --- always ------------------------------------------------------------------------------------------

tokens = st.sampled_from(["a", "b", "x/y", "t~", "~1", "", "0"])
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.integers(0, 2), st.just("")),
    lambda children: st.one_of(st.lists(children, max_size=2), st.dictionaries(tokens, children, max_size=3)),
    max_leaves=6,
)
manifests = st.dictionaries(tokens, values, max_size=3)


@st.composite
def paths(draw: st.DrawFn, manifest: Any) -> tuple[Token, ...]:
    """A path that goes through what is there as long as it can, then anywhere; a list's place is there or the end."""
    path: list[Token] = []
    here = manifest
    for _ in range(draw(st.integers(1, 4))):
        if isinstance(here, list):
            token: Token = draw(st.sampled_from([*range(len(here)), "-"]))
            here = here[token] if isinstance(token, int) else None
        elif here is None or isinstance(here, dict):
            token = draw(tokens)
            here = here.get(token) if here else None
        else:
            break  # nothing is inside a scalar
        path.append(token)
    return tuple(path)


@holds()
@given(manifests, values, st.data())
def test_what_is_set_is_there_and_what_is_removed_is_gone(manifest: Manifest, value: Any, data: st.DataObject) -> None:
    path = data.draw(paths(manifest))
    operation = setting(manifest, path, value)
    changed = patched(manifest, [operation.to_dict()])
    assert applied(manifest, [operation]) == changed
    assert at(changed, path) == value
    gone = removing(manifest, path)
    if gone is None:  # the end of a list is no place where something stands
        assert "-" in path or at(manifest, path) is None
    else:
        rest = patched(manifest, [gone.to_dict()])
        assert applied(manifest, [gone]) == rest
        assert rest != manifest


def at(manifest: Any, path: Sequence[Token]) -> Any:
    """What stands at a path; ``-`` is the last of a list, None what isn't there."""
    here = manifest
    for token in path:
        if isinstance(here, list) and here and token == "-":
            here = here[-1]
        elif isinstance(here, list) and isinstance(token, int):
            here = here[token]
        else:
            here = here.get(token) if isinstance(here, dict) else None
    return here
