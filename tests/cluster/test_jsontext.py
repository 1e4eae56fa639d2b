"""JSON text to plain values."""

from __future__ import annotations

from typing import Any

import pytest

from selection.cluster.jsontext import parse_json, printable
from selection.cluster.yamltext import DocumentError, Limits

LIMITS = Limits()


def values(text: str, limits: Limits = LIMITS) -> list[Any]:
    return [document.value for document in parse_json(text, limits)]


def refusal(text: str, limits: Limits = LIMITS, first_line: int = 1) -> DocumentError:
    with pytest.raises(DocumentError) as refused:
        list(parse_json(text, limits, first_line))
    return refused.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (' {"a": [1, 2.5, true, null, "x\\u00e9\\ud83d\\ude00"]} ', [{"a": [1, 2.5, True, None, "xé😀"]}]),
        ('{\n\t"a":\t1\n}', [{"a": 1}]),
        ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ("[1, 2]", [[1, 2]]),
        ("{}", [{}]),
        ('{"items": []}', [{"items": []}]),
        ('{"items": [{"items": [1]}, 2], "x": "yes"}', [{"items": [{"items": [1]}, 2], "x": "yes"}]),
        ('{"items": null}', [{"items": None}]),
        # Numbers as Go reads them: whole ones beyond 64 bits become floats.
        ('{"a": 18446744073709551615, "b": 18446744073709551616}', [{"a": 2**64 - 1, "b": float(2**64)}]),
        ('{"a": 1.0}', [{"a": 1.0}]),
    ],
)
def test_it_reads_values(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


def test_it_knows_the_lines_of_documents_and_of_items() -> None:
    text = '\n{"kind": "List",\n "items": [\n  {"a": 1},\n\n  {"b": 2}, 3]}\n{"c": 1}'
    first, second = parse_json(text, LIMITS, first_line=11)
    assert (first.line, first.item_lines) == (12, (14, 16, 16))
    assert (second.line, second.item_lines) == (17, ())


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('{"a": 1,\n}', "not JSON: ", 2),
        ('{"a" 1}', "not JSON: Expecting ':' delimiter", 1),
        ('{"a": 1 "b": 2}', "not JSON: Expecting ',' delimiter", 1),
        ('{"items": [1 2]}', "not JSON: Expecting ',' delimiter", 1),
        ('{"items": [1,', "not JSON: Expecting value", 1),
        ('{"items": [', "not JSON: Expecting value", 1),
        ("{a: 1}", "not JSON: Expecting property name", 1),
        ("{", "not JSON: Expecting property name", 1),
        ('{"a": 1}\nx', "not JSON: Expecting value", 2),
        ('{"a": NaN}', "NaN is not a number", 1),
        ('{"a": -Infinity}', "-Infinity is not a number", 1),
        ('{"a": 1e400}', "1e400 is beyond any number", 1),
        ('{"a": 1' + "0" * 5000 + "}", "is beyond any number", 1),
        ('\n{"a": 1, "b": 2, "a": 3}', 'the key "a" is given twice', 2),
        ('{"x": {"a": 1, "a": 1}}', 'the key "a" is given twice', 1),
        ('{"items": [{},\n{"a": 1, "a": 1}]}', 'the key "a" is given twice', 2),
        ('{"a": "\\u0000"}', "a string holds a NUL character", 1),
        ('{"\\ud800": 1}', "half of a surrogate pair", 1),
        ("[" * 100_000, "nested deeper than 100 levels", 1),
        ("[" * 101 + "]" * 101, "nested deeper than 100 levels", 1),
    ],
)
def test_it_refuses_and_says_where(text: str, message: str, line: int) -> None:
    error = refusal(text)
    assert message in str(error)
    assert error.line == line
    assert len(str(error)) < 200


def test_lines_count_from_where_the_text_begins() -> None:
    assert refusal('{\n"a": 1,,', first_line=10).line == 11


def test_a_hundred_levels_are_allowed() -> None:
    assert values("[" * 100 + "]" * 100)


def test_values_have_an_end() -> None:
    assert str(refusal("[1, 2, 3, 4, 5]", Limits(values=5))) == "more than 5 values in one document"
    assert values("[1, 2, 3, 4]", Limits(values=5)) == [[1, 2, 3, 4]]


def test_an_escaped_backslash_before_u_is_no_escape() -> None:
    assert values('{"a": "\\\\u0000"}') == [{"a": "\\u0000"}]


def test_what_cannot_be_kept_as_text_is_replaced() -> None:
    assert printable({"\0a": ["\ud800", {"b": "c\0"}], "n": 1}) == {"\ufffda": ["\ufffd", {"b": "c\ufffd"}], "n": 1}
