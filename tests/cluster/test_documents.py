"""The documents of one text, and of the bytes of a file."""

from __future__ import annotations

from typing import Any

import pytest

from selection.cluster.documents import decode, read_documents
from selection.cluster.yamltext import DocumentError, Limits


def read(text: str, *, json_only: bool = False) -> list[Any]:
    return [
        (str(document), document.line) if isinstance(document, DocumentError) else document.value
        for document in read_documents(text, Limits(), json_only=json_only)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n", []),
        ("---\n", []),
        ("---\n---\n# only a comment\n---", []),
        ("%YAML 1.1\n---\na: 1", [{"a": 1}]),
        ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("--- # Source: chart.yaml\na: 1\n---\t\n\nb: 2", [{"a": 1}, {"b": 2}]),
        ("--- {a: 1}\n--- {b: 2}", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("a: |\n  ---\n  x\n", [{"a": "---\nx\n"}]),
        ("a: 1\n---b: 2\n", [{"a": 1, "---b": 2}]),
        ("---\n~\n", [None]),
        # JSON among YAML, and flow style that only looks like JSON.
        ('{"a": "\\/"}\n---\nb: 2\n---\n{"c": 1}\n{"d": 1}', [{"a": "/"}, {"b": 2}, {"c": 1}, {"d": 1}]),
        ("{a: 1, b: yes}", [{"a": 1, "b": True}]),
        ("[a, b]", [["a", "b"]]),
    ],
)
def test_it_finds_the_documents(text: str, expected: list[Any]) -> None:
    assert read(text) == expected


def test_a_broken_document_does_not_take_the_others_with_it() -> None:
    first, (message, line), third = read("a: 1\n---\nb: [\n---\nc: 3\n")
    assert (first, third) == ({"a": 1}, {"c": 3})
    assert message.startswith("not YAML")
    assert line in {3, 4}


def test_broken_json_is_told_as_json_where_it_must_be() -> None:
    [(message, line)] = read('{"a": 1,\n}', json_only=True)
    assert message.startswith("not JSON")
    assert line == 2


def test_what_came_before_broken_json_is_kept() -> None:
    first, (message, line) = read('{"a": 1}\n{"b": \n')
    assert first == {"a": 1}
    assert message.startswith("not JSON")
    assert line == 3


def test_limits_hold_for_json_too_without_a_second_try() -> None:
    [(message, _)] = read('{"a": 1, "a": 2}')
    assert message == 'the key "a" is given twice in one object'


def test_a_helm_template_is_told_as_one() -> None:
    [(message, _)] = read("metadata:\n  name: {{ .Release.Name }}\n")
    assert message.endswith("(a template: render it first, say with helm template)")


def test_many_documents_are_read_in_no_time_that_grows_with_their_square() -> None:
    assert len(read("---\na: 1\n" * 5000)) == 5000
    assert len(read('{"a": "\\u00e9"}\n' * 5000)) == 5000


@pytest.mark.parametrize("text", ["---\n" * 50, "---\na: 1\n" * 50, "{}\n" * 50])
def test_documents_have_an_end(text: str) -> None:
    *_, last = read_documents(text, Limits(documents=20))
    assert str(last) == "more than 20 documents: the rest of it is not read"
    assert len(list(read_documents(text, Limits(documents=51)))) in {0, 50}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("a: é".encode(), "a: é"),
        (b"\xef\xbb\xbfa: 1", "a: 1"),
        ("a: é".encode("utf-16"), "a: é"),
        (b"\xfe\xff" + "a: é".encode("utf-16-be"), "a: é"),
        (b"", ""),
    ],
)
def test_it_decodes_what_people_save(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"a: 1\nb: \xff\xfe", "a byte that isn't UTF-8", 2),
        (b"a: 1\nb: x\0", "it holds a NUL byte", 2),
        (b"\x7fELF\x02\x01\x01\x00\x00", "it holds a NUL byte", 1),
        (b"\xff\xfea", "a byte that isn't UTF-8", 1),
        (b"a: \xed\xa0\x80", "a byte that isn't UTF-8", 1),
    ],
)
def test_it_refuses_what_is_no_text(data: bytes, message: str, line: int) -> None:
    with pytest.raises(DocumentError, match=message) as refused:
        decode(data)
    assert refused.value.line == line
