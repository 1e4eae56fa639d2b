"""How values are printed as YAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from selection.faces.cli.output import as_yaml

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_printed_reads_as_the_value(value: object) -> None:
    assert yaml.safe_load(as_yaml(value)) == value


@pytest.mark.parametrize("text", ["ready 🎉", "größe", "日本語"])
def test_text_of_any_language_stays_readable(text: str) -> None:
    assert as_yaml({"note": text}) == f"note: {text}"


@pytest.mark.parametrize("text", ["a\x85b", "\x85", "a\u2028b", "a\u2029", "🎉\x85"])
def test_an_end_of_a_line_that_only_yaml_knows_is_kept(text: str) -> None:
    assert yaml.safe_load(as_yaml({text: text})) == {text: text}


def test_a_value_that_occurs_twice_is_written_twice() -> None:
    shared = {"a": 1}
    assert as_yaml([shared, shared]) == "- a: 1\n- a: 1"
