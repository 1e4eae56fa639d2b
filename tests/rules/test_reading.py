"""Fields by type: what is read, what is not set, and which words say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from selection.rules.reading import Node, Unreadable


def told(read: Callable[[], object]) -> str:
    """What is said of a field that can't be read."""
    with pytest.raises(Unreadable) as caught:
        read()
    assert str(caught.value) == f"{caught.value.path}: {caught.value.message}"
    return str(caught.value)


def spec(**fields: Any) -> Node:
    """A node at ``spec`` with these fields."""
    return Node(fields, "spec")


def test_a_field_that_is_missing_or_null_is_not_set() -> None:
    node = spec(a=None)
    for key in ("a", "b"):
        assert node.node(key) is None
        assert node.text(key) is None
        assert node.boolean(key) is None
        assert node.integer(key, 32) is None
        assert list(node.nodes(key)) == []
        assert node.texts(key) == ()
        assert node.text_map(key) == {}


def test_empty_values_are_set() -> None:
    node = spec(text="", flag=False, number=0, object={}, list=[])
    assert node.text("text") == ""
    assert node.boolean("flag") is False
    assert node.integer("number", 32) == 0
    assert node.node("object") is not None
    assert node.texts("list") == ()


def test_paths_name_the_way_from_the_root() -> None:
    root = Node({"spec": {"engine": {"runner": {}}}})
    engine = root.node("spec")
    assert engine is not None
    runner = engine.node("engine")
    assert runner is not None
    assert (root.at("kind"), engine.path, runner.at("runner")) == ("kind", "spec", "spec.engine.runner")


WRONG: list[tuple[Callable[[Node], object], Any, str]] = [
    (lambda node: node.text("x"), 1.5, "spec.x: expected text, found the number 1.5"),
    (lambda node: node.text("x"), 3, "spec.x: expected text, found the number 3"),
    (lambda node: node.text("x"), True, "spec.x: expected text, found a boolean"),
    (lambda node: node.text("x"), ["a"], "spec.x: expected text, found a list"),
    (lambda node: node.text("x"), {}, "spec.x: expected text, found an object"),
    (lambda node: node.boolean("x"), "true", 'spec.x: expected true or false, found text "true"'),
    (lambda node: node.boolean("x"), 1, "spec.x: expected true or false, found the number 1"),
    (lambda node: node.node("x"), [], "spec.x: expected an object, found a list"),
    (lambda node: node.node("x"), "y" * 50, f'spec.x: expected an object, found text "{"y" * 39}…"'),
    (lambda node: list(node.nodes("x")), {}, "spec.x: expected a list, found an object"),
    (lambda node: list(node.nodes("x")), [{}, "a"], 'spec.x[1]: expected an object, found text "a"'),
    (lambda node: node.texts("x"), "a", 'spec.x: expected a list, found text "a"'),
    (lambda node: node.texts("x"), ["a", 1], "spec.x[1]: expected text, found the number 1"),
    (lambda node: node.text_map("x"), {"a/b": 1}, 'spec.x["a/b"]: expected text, found the number 1'),
    (lambda node: node.text_map("x"), [], "spec.x: expected an object, found a list"),
    (lambda node: node.integer("x", 32), "1", 'spec.x: expected an integer, found text "1"'),
    (lambda node: node.integer("x", 32), True, "spec.x: expected an integer, found a boolean"),
    (lambda node: node.integer("x", 32), 1.5, "spec.x: expected an integer, found the number 1.5"),
    (lambda node: node.integer("x", 32), float("nan"), "spec.x: expected an integer, found the number nan"),
    (lambda node: node.integer("x", 32), float("inf"), "spec.x: expected an integer, found the number inf"),
    (lambda node: node.integer("x", 32), 2**31, "spec.x: 2147483648 does not fit in a 32-bit integer"),
    (lambda node: node.integer("x", 64), -(2**63) - 1, "spec.x: -9223372036854775809 does not fit in a 64-bit integer"),
    (lambda node: node.integer("x", 64), 1e300, "spec.x: 1e+300 does not fit in a 64-bit integer"),
]


@pytest.mark.parametrize(("read", "value", "text"), WRONG)
def test_another_type_is_unreadable(read: Callable[[Node], object], value: Any, text: str) -> None:
    assert told(lambda: read(spec(x=value))) == text


def test_a_number_that_python_refuses_to_print_is_told_by_its_magnitude() -> None:
    huge = 10**5000
    assert told(lambda: spec(x=huge).integer("x", 64)) == "spec.x: about 1e+4999 does not fit in a 64-bit integer"
    assert told(lambda: spec(x=-huge).text("x")) == "spec.x: expected text, found the number about -1e+4999"


@pytest.mark.parametrize(
    ("value", "number"), [(2, 2), (2.0, 2), (-0.0, 0), (1e3, 1000), (2**31 - 1, 2**31 - 1), (-(2**31), -(2**31))]
)
def test_a_number_without_a_fraction_is_an_integer(value: float, number: int) -> None:
    read = spec(x=value).integer("x", 32)
    assert read == number
    assert isinstance(read, int)


def test_a_null_in_a_list_or_map_is_empty() -> None:
    node = spec(objects=[None, {"a": "b"}], texts=["a", None], map={"a": None})
    assert [item.value for item in node.nodes("objects")] == [{}, {"a": "b"}]
    assert node.texts("texts") == ("a", "")
    assert node.text_map("map") == {"a": ""}
