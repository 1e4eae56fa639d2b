"""Edits: what each does to a manifest, and that places still mean what they meant when others went."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from selection.rules.edits import Edit, edited

MANIFEST: dict[str, Any] = {
    "metadata": {"name": "fast"},
    "spec": {"args": ["a", "b", "c", "d"], "labels": {"one": "1", "two": "2", "three": "3"}},
}


def spec_after(*edits: Edit) -> Any:
    return edited(MANIFEST, edits)["spec"]


def test_items_go_from_the_last_to_the_first() -> None:
    args = ("spec", "args")
    changed = spec_after(
        Edit("remove", (*args, 0), "a", None, ()),
        Edit("replace", (*args, 1), "b", "B", ()),
        Edit("remove", (*args, 2), "c", None, ()),
    )
    assert changed["args"] == ["B", "d"]


def test_a_renamed_field_keeps_its_place_and_takes_its_new_value() -> None:
    labels = ("spec", "labels", "two")
    changed = spec_after(Edit("rename", labels, "two", "zwei", ()), Edit("replace", labels, "2", "II", ()))
    assert list(changed["labels"].items()) == [("one", "1"), ("zwei", "II"), ("three", "3")]


def test_a_field_is_added_at_the_end() -> None:
    assert list(spec_after(Edit("add", ("spec", "disabled"), None, True, ()))) == ["args", "labels", "disabled"]


def test_the_manifest_stays_as_it_was_and_shares_nothing() -> None:
    before, value = copy.deepcopy(MANIFEST), ["x"]
    changed = edited(MANIFEST, [Edit("replace", ("spec", "args"), MANIFEST["spec"]["args"], value, ())])
    value.append("y")
    changed["spec"]["labels"].clear()
    assert before == MANIFEST
    assert changed["spec"]["args"] == ["x"]


def test_an_edit_of_another_manifest_is_refused() -> None:
    with pytest.raises(LookupError):
        edited(MANIFEST, [Edit("remove", ("spec", "gone"), None, None, ())])


def test_an_edit_as_json_names_its_place() -> None:
    edit = Edit("remove", ("spec", "engineConfig", "annotations", "a/b"), "c", None, ("no-counterpart",))
    assert edit.to_dict() == {
        "op": "remove",
        "path": 'spec.engineConfig.annotations["a/b"]',
        "before": "c",
        "after": None,
        "why": ["no-counterpart"],
    }
