"""YAML text to plain values: what it means, and what is refused, and where."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml

from selection.cluster import yamltext
from selection.cluster.yamltext import DocumentError, Limits, parse_yaml

LIMITS = Limits()


@pytest.fixture(params=["libyaml", "pure Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML may come without libyaml: both must read alike."""
    if request.param == "pure Python":
        monkeypatch.setattr(yamltext, "LOADER", yaml.SafeLoader)


def value(text: str, limits: Limits = LIMITS) -> Any:
    (document,) = parse_yaml(text, limits)
    return document.value


def refusal(text: str, limits: Limits = LIMITS, first_line: int = 1) -> DocumentError:
    with pytest.raises(DocumentError) as refused:
        list(parse_yaml(text, limits, first_line))
    return refused.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {b: [1, x], c: }", {"a": {"b": [1, "x"], "c": None}}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: 'yes'\nb: \"1\"", {"a": "yes", "b": "1"}),
        ("- - a\n  -\n", [["a", None]]),
        ("text", "text"),
        # Keys are strings in the end.
        ("1: u\n0x10: v\nyes: w\n1.5: x", {"1": "u", "16": "v", "true": "w", "1.5": "x"}),
        (".inf: x", {".inf": "x"}),
        # Tags: the standard ones are kept to, others say nothing.
        ('a: !!str 12\nb: !!int "12"\nc: !!float 1\nd: !!bool yes', {"a": "12", "b": 12, "c": 1, "d": True}),
        ("a: !Ref 12\nb: ! 12\nc: !Map {x: 1}", {"a": "12", "b": "12", "c": {"x": 1}}),
        ("a: !!timestamp 2024-01-01\nb: 2024-01-01", {"a": "2024-01-01", "b": "2024-01-01"}),
        # Anchors; the last one of a name counts.
        ("a: &a {x: 1}\nb: *a", {"a": {"x": 1}, "b": {"x": 1}}),
        ("a: &a 1\nb: &a 2\nc: *a", {"a": 1, "b": 2, "c": 2}),
        ("a: &k key\n*k : x", {"a": "key", "key": "x"}),
        # Merging, as kubectl's library does it: in place over what stands before; the first of a list wins.
        ("<<: {a: 2, b: 3}\na: 1", {"a": 1, "b": 3}),
        ("a: 1\n<<: {a: 2, b: 3}", {"a": 2, "b": 3}),
        ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
        ("<<: {a: 1}\n<<: {b: 1}", {"a": 1, "b": 1}),
        ('"<<": {a: 1}', {"<<": {"a": 1}}),
        ("a: <<\nb: [<<]", {"a": "<<", "b": ["<<"]}),
    ],
)
def test_it_reads_what_kubectl_reads(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_no_two_places_are_the_same_object() -> None:
    read = value("a: &a {x: {z: 1}}\nb: *a\nc: {<<: *a}")
    read["b"]["x"]["z"] = 2
    assert read["a"] == {"x": {"z": 1}}


def test_it_yields_each_document_with_its_line() -> None:
    documents = list(parse_yaml("# first\na: 1\n...\n---\n\nb: 2\n", LIMITS, first_line=11))
    assert [(document.value, document.line) for document in documents] == [({"a": 1}, 12), ({"b": 2}, 16)]


def test_it_knows_the_lines_of_the_items_of_a_list() -> None:
    (document,) = parse_yaml("kind: List\nitems:\n- a: 1\n\n- b: {items: [1, 2]}\n- x\nmore: [1, 2]\n", LIMITS)
    assert document.item_lines == (3, 5, 6)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a: [1,\nb: 2]]\n", "not YAML: .*expected", 2, 6),
        ("a:\n\t- b", "not YAML: .*cannot start any token", 2, 1),
        ("a: b: c", "not YAML: .*mapping values are not allowed", 1, 5),
        ("x: 1\na: \x01", "not YAML: .*(control|special) characters are not allowed", 2, None),
        ("a: 1\nb: 2\na: 3", 'the key "a" is given twice', 3, 1),
        ("1: a\n'1': b", 'the key "1" is given twice', 2, 1),
        ("<<: {a: 1}\na: 1\na: 2", 'the key "a" is given twice', 3, 1),
        ("? [a]\n: x", "used as a key", 1, 3),
        ("? {a: b}\n: x", "used as a key", 1, 3),
        ("a: &a [1]\n*a : x", "used as a key", 2, 1),
        ("~: x", "null, a mapping or a list is used as a key", 1, 1),
        ("a: .inf", ".inf is not a number that JSON can hold", 1, 4),
        ("a: [1, .NaN]", ".NaN is not a number that JSON can hold", 1, 8),
        ('a: "\\0"', "a string holds a NUL character", 1, 4),
        ("a: !!int abc", "this value is not a !!int", 1, 4),
        ("a: !!null abc", "this value is not a !!null", 1, 4),
        ("a: !!bool 1", "this value is not a !!bool", 1, 4),
        ("a: !!binary aGVsbG8=", "the tag !!binary has no meaning", 1, 4),
        ("a: !!python/object/apply:os.system [ls]\nb: !!python/name:os.system x", "the tag !!python/name", 2, 4),
        ("a: *b", r"the alias \*b has no anchor before it", 1, 4),
        ("a: &a [*a]", "the anchor &a contains itself", 1, 8),
        ("x: &x {<<: *x}", "the anchor &x contains itself", 1, 12),
        ("a: 1\n<<: 3", "the merge key << needs a mapping", 2, 5),
        ("a: 1\n<<: [{b: 1}, 3]", "the merge key << needs a mapping", 2, None),
    ],
)
def test_it_refuses_and_says_where(text: str, message: str, line: int, column: int | None) -> None:
    error = refusal(text)
    with pytest.raises(DocumentError, match=message):
        raise error
    assert error.line == line
    if column is not None:
        assert error.column == column


def test_lines_count_from_where_the_text_begins() -> None:
    assert refusal("a: 1\na: 2", first_line=40).line == 41
    assert refusal("a: 1\nb: [", first_line=40).line in {41, 42}


def laughs(levels: int) -> str:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_a_billion_laughs_are_refused_at_once() -> None:
    began = time.monotonic()
    error = refusal(laughs(10))
    assert str(error) == "aliases stand for more than 100,000 values"
    assert error.line == 5
    assert time.monotonic() - began < 2


def test_a_quadratic_blow_up_is_refused() -> None:
    text = "a: &a [" + ",".join("x" * 1 for _ in range(20_000)) + "]\nb: [" + ",".join(["*a"] * 20_000) + "]"
    assert "aliases stand for more than" in str(refusal(text))


def test_merging_counts_as_an_alias_does() -> None:
    text = "a: &a {" + ",".join(f"k{n}: 1" for n in range(100)) + "}\nb:\n" + "- <<: *a\n" * 30
    assert "aliases stand for more than 1,000 values" in str(refusal(text, Limits(alias_values=1000)))


def test_a_few_aliases_are_welcome() -> None:
    assert len(value(laughs(3))["a2"]) == 10


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000], ids=["flow", "mappings", "block"])
def test_nesting_has_an_end(text: str) -> None:
    # libyaml may find it first, in its own words.
    with pytest.raises(DocumentError, match=r"nested deeper than 100 levels|exceeded maximum nesting depth"):
        raise refusal(text)


def test_nesting_by_aliases_has_an_end_too() -> None:
    lines = [f"a0: &a0 {'[' * 60}{']' * 60}", f"a1: &a1 {'[' * 60}*a0{']' * 60}"]
    assert str(refusal("\n".join(lines))) == "nested deeper than 100 levels"


def test_a_hundred_levels_are_allowed() -> None:
    assert value("[" * 100 + "]" * 100)


def test_values_have_an_end() -> None:
    assert str(refusal("[1, 2, 3, 4, 5]", Limits(values=5))) == "more than 5 values in one document"
    assert value("[1, 2, 3, 4]", Limits(values=5)) == [1, 2, 3, 4]


def test_messages_do_not_repeat_long_keys() -> None:
    key = "k" * 5000
    assert len(str(refusal(f"? {key}\n: 1\n? {key}\n: 2"))) < 100
