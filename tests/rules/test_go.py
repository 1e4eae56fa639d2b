"""Numbers and quoted text, against what Go's own strconv and fmt answer for the same text."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.go import parse_float, parse_uint, quote, wrap64

FLOATS = [
    # plain, signed, without one of the sides of the point
    ("0", 0.0),
    ("12", 12.0),
    ("+12", 12.0),
    ("-12", -12.0),
    ("3.25", 3.25),
    (".25", 0.25),
    ("3.", 3.0),
    ("-.5", -0.5),
    ("00012.5000", 12.5),
    # exponents of ten, down to the smallest and to nothing
    ("2e2", 200.0),
    ("2E+2", 200.0),
    ("2.5e-1", 0.25),
    ("5e-324", 5e-324),
    ("1e-400", 0.0),
    ("-1e-400", -0.0),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    # underscores between digits, also in the exponent and after the prefix
    ("1_0", 10.0),
    ("1_000_000", 1e6),
    ("1_0.2_5", 10.25),
    ("1e1_0", 1e10),
    ("0_1", 1.0),
    ("0x_1p4", 16.0),
    ("0X_f_fp0", 255.0),
    # hexadecimal, with the exponent of two that it needs
    ("0x1p4", 16.0),
    ("0x1.8p1", 3.0),
    ("0x.8p1", 1.0),
    ("-0xAp-1", -5.0),
    ("0x1p-1074", 5e-324),
    ("0x1p-1076", 0.0),
    # not finite
    ("inf", math.inf),
    ("+Inf", math.inf),
    ("-INFINITY", -math.inf),
]

NO_FLOATS = [
    # nothing, or not a number at all
    "",
    "+",
    ".",
    "e5",
    "seven",
    "++1",
    "1-",
    "1.2.3",
    # blanks, units and other letters around it
    " 1",
    "1 ",
    "1\n",
    "7b",
    "1f",
    # exponents without digits
    "1e",
    "1e+",
    "0x1p",
    "0x1p+",
    # hexadecimal needs its p; other bases are not for floats
    "0x10",
    "0x1.8",
    "0xp1",
    "0b11",
    "0o7",
    # underscores at an end, beside a sign or point, or twice
    "_1",
    "1_",
    "1__0",
    "1_.5",
    "1._5",
    "1_e5",
    "1e_5",
    "+_1",
    # out of range is an error, not infinity
    "1e400",
    "-1e309",
    "0x1p1024",
    # half of a special word, or a signed NaN
    "in",
    "infinit",
    "+nan",
    "-NaN",
    # digits that only Unicode calls digits
    "٣",
    "１",
    "1²",
    "ınf",
]


@pytest.mark.parametrize(("text", "value"), FLOATS)
def test_it_reads_a_float_as_go_does(text: str, value: float) -> None:
    read = parse_float(text)
    assert read is not None
    assert struct.pack("<d", read) == struct.pack("<d", value)


@pytest.mark.parametrize("text", NO_FLOATS)
def test_it_refuses_what_go_refuses(text: str) -> None:
    assert parse_float(text) is None


@pytest.mark.parametrize("text", ["nan", "NaN", "NAN"])
def test_it_reads_nan_without_a_sign(text: str) -> None:
    read = parse_float(text)
    assert read is not None
    assert math.isnan(read)


@given(st.floats(allow_nan=False))
def test_every_float_survives_its_text(value: float) -> None:
    assert parse_float(repr(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_its_hexadecimal_text(value: float) -> None:
    assert parse_float(value.hex()) == value


@given(st.text(alphabet="0123456789._eExXpPaAbBinfINF+-", max_size=12))
def test_no_text_makes_it_raise(text: str) -> None:
    read = parse_float(text)
    assert read is None or isinstance(read, float)


UINTS = [
    ("0", 0),
    ("7", 7),
    ("0007", 7),
    ("18446744073709551615", 2**64 - 1),
    ("000000000000000000000000018446744073709551615", 2**64 - 1),
    # one too many, and far too many
    ("18446744073709551616", None),
    ("9" * 6000, None),
    # not only digits
    ("", None),
    ("+7", None),
    ("-7", None),
    ("7.0", None),
    ("1_0", None),
    (" 7", None),
    ("٣", None),
    ("²", None),
]


@pytest.mark.parametrize(("text", "value"), UINTS)
def test_it_reads_an_unsigned_number_as_go_does(text: str, value: int | None) -> None:
    assert parse_uint(text) == value


@given(st.integers())
def test_wrapping_keeps_the_last_64_bits(value: int) -> None:
    wrapped = wrap64(value)
    assert -(2**63) <= wrapped < 2**63
    assert (wrapped - value) % 2**64 == 0


QUOTED = [
    ("", '""'),
    ("llama-3.1", '"llama-3.1"'),
    ("näme ü 模型", '"näme ü 模型"'),
    # what Go escapes by name
    ('a"b', '"a\\"b"'),
    ("a\\b", '"a\\\\b"'),
    ("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'),
    # what it escapes by number, in as many digits as it needs
    ("\x00", '"\\x00"'),
    ("\x7f", '"\\x7f"'),
    ("\x80", '"\\u0080"'),
    ("\xa0", '"\\u00a0"'),
    ("\u2028", '"\\u2028"'),
    ("\U000e0001", '"\\U000e0001"'),
    # what it leaves alone
    ("it's", '"it\'s"'),
    ("😀", '"😀"'),
]


@pytest.mark.parametrize(("text", "quoted"), QUOTED)
def test_it_quotes_as_go_does(text: str, quoted: str) -> None:
    assert quote(text) == quoted
