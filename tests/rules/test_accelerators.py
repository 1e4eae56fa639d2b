"""Accelerator classes: where a service asks for them, and what a runtime must list."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.accelerators import required_classes, supports_classes

from .manifests import read_runtime, read_service


def wanting(name: str | None) -> dict[str, Any]:
    """A component or selector part that asks for a class."""
    return {"acceleratorOverride": {"acceleratorClass": name}}


ASKED: list[tuple[dict[str, Any], set[str]]] = [
    # nowhere
    ({}, set()),
    ({"acceleratorSelector": {}}, set()),
    ({"acceleratorSelector": {"acceleratorClass": None}}, set()),
    # each of the four places
    ({"annotations": {"ome.io/accelerator-class": "h100"}}, {"h100"}),
    ({"acceleratorSelector": {"acceleratorClass": "h100"}}, {"h100"}),
    ({"engine": wanting("h100")}, {"h100"}),
    ({"decoder": wanting("h100")}, {"h100"}),
    # all of them together, each once
    (
        {
            "annotations": {"ome.io/accelerator-class": "a"},
            "acceleratorSelector": {"acceleratorClass": "b"},
            "engine": wanting("c"),
            "decoder": wanting("a"),
        },
        {"a", "b", "c"},
    ),
    # set to nothing counts
    ({"annotations": {"ome.io/accelerator-class": ""}}, {""}),
    ({"engine": wanting("")}, {""}),
    # the router, a policy and constraints ask for no class
    ({"router": wanting("h100")}, set()),
    ({"acceleratorSelector": {"policy": "BestFit", "constraints": {"minMemory": 80}}}, set()),
    ({"engine": wanting(None)}, set()),
]


@pytest.mark.parametrize(("fields", "classes"), ASKED)
def test_a_service_asks_for_classes(fields: dict[str, Any], classes: set[str]) -> None:
    assert required_classes(read_service(**fields)) == classes


LISTED = [
    # nothing asked for passes, whatever is listed
    (set(), None, True),
    (set(), [], True),
    (set(), ["h100"], True),
    # every one must be listed, exactly
    ({"h100"}, ["h100"], True),
    ({"h100"}, ["a100", "h100"], True),
    ({"h100", "a100"}, ["a100", "h100", "h200"], True),
    ({"h100", "a100"}, ["h100"], False),
    ({"h100"}, ["H100"], False),
    ({"h100"}, ["h100 "], False),
    # no list, or an empty one, has none of them
    ({"h100"}, None, False),
    ({"h100"}, [], False),
    # the empty name is a name
    ({""}, ["h100"], False),
    ({""}, [""], True),
]


@pytest.mark.parametrize(("asked", "listed", "supported"), LISTED)
def test_a_runtime_must_list_every_class(asked: set[str], listed: list[str] | None, supported: bool) -> None:
    runtime = read_runtime(acceleratorRequirements={"acceleratorClasses": listed})
    assert supports_classes(runtime, frozenset(asked)) is supported


def test_a_runtime_without_requirements_lists_no_class() -> None:
    assert supports_classes(read_runtime(), frozenset())
    assert not supports_classes(read_runtime(), frozenset({"h100"}))
