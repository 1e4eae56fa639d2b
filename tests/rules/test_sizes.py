"""Sizes of models, ranges of runtimes, and the distance between them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.sizes import SizeRange, distance, in_range, parse_size, range_text

SIZES = [
    # the units, upper case only
    ("500M", 5e8),
    ("8B", 8e9),
    ("1.5T", 1.5e12),
    ("8000000000", 8e9),
    # binary fractions, multiplied as Go multiplies them
    ("7.25B", 7.25e9),
    ("8.03B", 8029999999.999999),
    ("8b", 0.0),
    ("500m", 0.0),
    ("8K", 0.0),
    # one unit, at the end, nothing between
    ("8BB", 0.0),
    ("8TB", 0.0),
    ("B", 0.0),
    ("8 B", 0.0),
    (" 8B", 0.0),
    ("8B ", 0.0),
    # the number is any that Go reads
    ("1e3M", 1e9),
    (".5B", 5e8),
    ("5.B", 5e9),
    ("+7B", 7e9),
    ("-7B", -7e9),
    ("1_000M", 1e9),
    ("1__0", 0.0),
    ("0x1p33", 2.0**33),
    ("0x10", 0.0),
    ("1e400", 0.0),
    ("", 0.0),
    ("eight", 0.0),
]


@pytest.mark.parametrize(("text", "parameters"), SIZES)
def test_it_reads_a_size(text: str, parameters: float) -> None:
    assert parse_size(text) == parameters


def test_a_size_may_be_infinite_or_no_number() -> None:
    assert parse_size("inf") == math.inf
    assert parse_size("1e300T") == math.inf
    assert math.isnan(parse_size("nanB"))


RANGES: list[tuple[str | None, SizeRange | None, bool]] = [
    # both bounds count
    ("7B", ("7B", "13B"), True),
    ("13B", ("7B", "13B"), True),
    ("6.9B", ("7B", "13B"), False),
    ("13.1B", ("7B", "13B"), False),
    ("1500M", ("1B", "2B"), True),
    # each bound is optional
    ("7B", ("7B", None), True),
    ("6B", ("7B", None), False),
    ("7B", (None, "7B"), True),
    ("8B", (None, "7B"), False),
    ("8B", (None, None), True),
    # nothing to compare passes
    (None, ("7B", "13B"), True),
    ("7B", None, True),
    (None, None, True),
    # what doesn't parse is 0, on either side
    ("7b", ("1B", "8B"), False),
    ("7b", (None, "8B"), True),
    ("7B", ("0", "8b"), False),
    ("7B", ("", "8B"), True),
    ("", ("", ""), True),
    # a minimum above the maximum rejects all that have a size
    ("7B", ("13B", "7B"), False),
    ("10B", ("13B", "7B"), False),
    # infinity is a bound; what is no number passes, as every comparison with it is false
    ("7B", ("1B", "inf"), True),
    ("nan", ("1B", "8B"), True),
]


@pytest.mark.parametrize(("size", "bounds", "passes"), RANGES)
def test_a_size_passes_a_range(size: str | None, bounds: SizeRange | None, passes: bool) -> None:
    assert in_range(size, bounds) is passes


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (("7B", "13B"), "[7B, 13B]"),
        (("7B", None), "[7B, inf)"),
        ((None, "13B"), "(-inf, 13B]"),
        ((None, None), "(-inf, inf)"),
        # as written, also what doesn't parse
        (("", "13 b"), "[, 13 b]"),
    ],
)
def test_a_range_is_printed_as_written(bounds: SizeRange, text: str) -> None:
    assert range_text(bounds) == text


@pytest.mark.parametrize(
    ("size", "bounds", "parameters"),
    [
        # inside, it is the width
        ("10B", ("7B", "13B"), 6e9),
        ("7B", ("7B", "13B"), 6e9),
        # outside, further
        ("20B", ("7B", "13B"), 20e9),
        # a missing bound adds nothing, no range is 0
        ("10B", ("7B", None), 3e9),
        ("10B", (None, "13B"), 3e9),
        ("10B", (None, None), 0.0),
        ("10B", None, 0.0),
        # a model without a size has none
        (None, ("7B", "13B"), None),
        (None, None, None),
    ],
)
def test_the_distance_is_that_of_both_bounds(
    size: str | None, bounds: SizeRange | None, parameters: float | None
) -> None:
    assert distance(size, bounds) == parameters


billions = st.integers(0, 2000).map("{}B".format)


@given(billions, billions, billions)
def test_inside_a_range_only_its_width_counts(size: str, low: str, high: str) -> None:
    if in_range(size, (low, high)):
        assert distance(size, (low, high)) == parse_size(high) - parse_size(low)


@given(billions, st.none() | billions, st.none() | billions)
def test_a_wider_range_admits_no_fewer(size: str, low: str | None, high: str | None) -> None:
    if in_range(size, (low, high)):
        assert in_range(size, (None, high))
        assert in_range(size, (low, None))


@given(st.text(max_size=8))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(parse_size(text), float)
