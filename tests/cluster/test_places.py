"""Where fields stand: in YAML, JSON, lists, behind anchors; and nowhere, when a text can't be looked through."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.documents import read_documents
from selection.cluster.places import Place, document_text, find_place, root_of, tokens_of
from selection.cluster.yamltext import DocumentError, Limits
from selection.rules.edits import place_text

TEXT = """\
# the first
kind: A
---
# the second
base: &base
  annotations:
    ome.io/deploymentMode: OMENative
spec:
  engine:
    <<: *base
    args: [one, "two"]
  formats:
  - name: x
    modelFormat:
      name: onnx
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec", (8, 1)),
        ("spec.engine.args[1]", (11, 17)),
        ("spec.formats[0].modelFormat.name", (15, 7)),
        ("spec.formats[0]", (13, 5)),
        ('spec.engine.annotations["ome.io/deploymentMode"]', (7, 5)),
        ("spec.engine.runner.image", (9, 3)),
        ("spec.formats[3].name", (12, 3)),
    ],
)
def test_a_path_is_found_or_as_much_of_it_as_there_is(path: str, expected: tuple[int, int]) -> None:
    assert find_place(root_of(TEXT, 5), 5, tokens_of(path), 1) == Place(*expected)


@pytest.mark.parametrize(("path", "least"), [("nowhere.at.all", 1), ("spec.model.name", 2), ("", 0)])
def test_too_little_of_a_path_is_no_place(path: str, least: int) -> None:
    assert find_place(root_of(TEXT, 5), 5, tokens_of(path), least) is None


def test_json_has_places_too_also_one_document_a_line() -> None:
    text = '{"kind": "A"}\n{"kind": "B",\n\t"spec": {"name": 1}}\n{"kind": "C"}'

    assert find_place(root_of(text, 2), 2, ("spec", "name"), 1) == Place(3, 11)


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "", "\t- x"])
def test_what_is_no_document_has_no_places(text: str) -> None:
    assert find_place(root_of(text, 1), 1, ("a",), 1) is None
    assert root_of(text, 99) is None


def test_the_text_of_a_document_begins_after_the_line_that_parts_it() -> None:
    assert document_text(TEXT, 8).startswith("\n# the second\nbase")
    assert document_text(TEXT, 2) == "# the first\nkind: A\n"


KEYS = st.text(min_size=1, max_size=6)
VALUES = st.recursive(
    st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(st.text(st.characters(exclude_characters='"\\'), min_size=1, max_size=6), st.integers(0, 9))
def test_a_path_in_words_is_read_back(key: str, index: int) -> None:
    path = ("spec", key, index, "name")

    assert tokens_of(place_text(path)) == path


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_no_document_that_was_read_breaks_the_search(value: dict[str, object]) -> None:
    text = json.dumps(value)
    for document in read_documents(text, Limits()):
        if not isinstance(document, DocumentError):
            for key in value:
                find_place(root_of(text, document.line), document.line, (key,), 1)
