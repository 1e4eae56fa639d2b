"""Quantities, against what Kubernetes' own code (apimachinery v0.33) prints for the same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.quantities import QuantityError, canonical_quantity, parse_quantity, same_quantity

PRINTED = [
    # whole numbers, written as numbers or as text
    (8, "8"),
    ("8", "8"),
    (0, "0"),
    ("000", "0"),
    ("+", "0"),
    (2.0, "2"),
    (1e16, "10P"),
    # fractions become thousandths, millionths, billionths; smaller ones are rounded up
    ("0.5", "500m"),
    (0.5, "500m"),
    ("0.1", "100m"),
    (1e-7, "100e-9"),
    ("0.0000000001", "1n"),
    ("-0.0000000001", "-1n"),
    ("0.500", "500m"),
    # the largest suffix that keeps the amount
    ("1000m", "1"),
    ("1000", "1k"),
    ("2000000", "2M"),
    ("1024", "1024"),
    ("1024Gi", "1Ti"),
    ("8Ki", "8Ki"),
    ("2048Mi", "2Gi"),
    ("1.5Gi", "1536Mi"),
    ("0.5Ki", "512"),
    ("0.5Mi", "512Ki"),
    ("1.1Ki", "1126400m"),
    # text that looks canonical stays as written
    ("1.500", "1.500"),
    ("1e3", "1e3"),
    ("+1", "+1"),
    ("01Gi", "01Gi"),
    ("1.", "1."),
    # exponents keep their form, in steps of three
    ("12e6", "12e6"),
    ("1000e6", "1e9"),
    ("1e1", "10"),
    ("5E2", "500"),
    ("1e-2", "10e-3"),
    ("1e100", "10e99"),
    # nothing is named above E, and binary amounts end at 64 bits
    ("1000E", "1"),
    ("16Ei", "9223372036854775807"),
    ("1Pi", "1Pi"),
    ("12345678901234567890123", "12345678901234567890123"),
    (" 4 ", "4"),
]


@pytest.mark.parametrize(("written", "printed"), PRINTED)
def test_a_quantity_prints_as_kubernetes_prints_it(written: object, printed: str) -> None:
    assert canonical_quantity(written) == printed


@pytest.mark.parametrize(
    "written", ["", " ", "much", "1 Gi", "1gi", "1KiB", "--1", "1.2.3", "1e", "1e1.5", "Pi", "e-12"]
)
def test_it_refuses_text_that_kubernetes_refuses(written: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(written)


@pytest.mark.parametrize("value", [True, None, [], {}, float("nan"), float("inf"), "9" * 5000, 10**400])
def test_it_refuses_what_is_no_amount(value: object) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(value)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("1024Gi", "1Ti", True),
        (8, "8", True),
        ("0.5", "500m", True),
        ("1e3", "1k", True),
        ("1Ki", 1024, True),
        ("0", "0Gi", True),
        ("1G", "1Gi", False),
        ("8", "8m", False),
        ("much", "much", False),
    ],
)
def test_quantities_are_compared_by_amount(left: object, right: object, same: bool) -> None:
    assert same_quantity(left, right) is same


def test_a_huge_exponent_costs_nothing() -> None:
    assert canonical_quantity("1e1000000000") == "10e999999999"
    assert canonical_quantity("1e-1000000000") == "1e-9"


SUFFIXES = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E-3"])
WRITTEN = st.builds(lambda number, suffix: f"{number}{suffix}", st.decimals(-(10**6), 10**6, places=3), SUFFIXES)


@given(WRITTEN)
def test_printing_keeps_the_amount_and_settles_at_the_second_time(written: str) -> None:
    printed = canonical_quantity(written)
    again = canonical_quantity(printed)  # 1140.625Ki prints as 1168000, and that, read again, as 1168k
    assert same_quantity(printed, written)
    assert same_quantity(again, written)
    assert canonical_quantity(again) == again


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_it_raises_nothing_but_its_own_error(value: object) -> None:
    try:
        assert parse_quantity(value) == parse_quantity(parse_quantity(value).text)
    except QuantityError:
        assert not same_quantity(value, value)
