"""The answers here are those of sigs.k8s.io/yaml v1.6.0, the library of kubectl, for `a: <text>` and `<text>: x`."""

from __future__ import annotations

import math
from typing import Any

import pytest

from selection.cluster.scalars import key_text, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # YAML 1.1's words, in three cases each; others are text.
        *[(text, True) for text in ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")],
        *[(text, False) for text in ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")],
        *[(text, None) for text in ("", "~", "null", "Null", "NULL")],
        *[(text, text) for text in ("tRUE", "nUll", "yEs", "none", "<<", "=", "+", ".", "-.nan")],
        # Whole numbers: octal with and without o, hexadecimal, binary, signs, underscores anywhere.
        *[("0777", 511), ("0o17", 15), ("0O7", 7), ("+0777", 511), ("00", 0), ("0_7", 7), ("-0", 0)],
        *[("0x1F", 31), ("0XF", 15), ("-0x1F", -31), ("+0x1F", 31), ("0x_1F", 31), ("0b11", 3), ("-0b11", -3)],
        *[("+1", 1), ("1_000", 1000), ("1__0", 10), ("1_", 1), ("-_1", -1), ("123456789012", 123456789012)],
        *[(text, text) for text in ("0x", "0b2", "0o8", "0x1p4", "_1")],
        # 64 bits, unsigned only without a sign; beyond them a float.
        *[("18446744073709551615", 18446744073709551615), ("9223372036854775808", 9223372036854775808)],
        *[("99999999999999999999", 1e20), ("-9223372036854775809", -9223372036854775809.0)],
        # Floats. An eight or a nine after a leading zero is no octal, but a float.
        *[("08", 8.0), ("1e3", 1000.0), ("1E+3", 1000.0), ("1.0", 1.0), (".5", 0.5), ("5.", 5.0), ("+.5", 0.5)],
        *[("-.5", -0.5), (".5_0", 0.5), ("1_000.5", 1000.5), ("1_e3", 1000.0), ("1.5e-3", 0.0015), ("0.", 0.0)],
        *[("12e03", 12000.0), ("1e-400", 0.0), ("1e400", "1e400"), ("1.2.3", "1.2.3"), ("1,000", "1,000")],
        # No times of the day, no dates.
        *[(text, text) for text in ("1:30", "190:20:30", "2024-01-01", "2024-01-01T00:00:00Z", "Infinity", "NaN")],
    ],
)
def test_a_plain_word_means_what_kubectl_takes_it_for(text: str, value: Any) -> None:
    resolved = resolve(text)
    assert resolved == value
    assert type(resolved) is type(value)


def test_a_version_without_quotes_stays_a_float() -> None:
    assert repr(resolve("1.0")) == "1.0"


@pytest.mark.parametrize("text", [".inf", "+.Inf", "-.INF"])
def test_infinities_are_seen(text: str) -> None:
    value = resolve(text)
    assert isinstance(value, float)
    assert math.isinf(value)


def test_a_number_of_a_million_digits_is_text() -> None:
    assert resolve("1" * 1_000_000) == "1" * 1_000_000


def test_digits_of_other_scripts_are_text() -> None:
    assert resolve("١٢") == "١٢"
    assert resolve("1٢") == "1٢"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1", "1"),
        ("0x10", "16"),
        ("1.5", "1.5"),
        ("0.1", "0.1"),
        ("1e3", "1000"),
        ("1e20", "1e+20"),
        ("99999999999999999999", "1e+20"),
        ("true", "true"),
        ("yes", "true"),
        ("off", "false"),
        ("2024-01-01", "2024-01-01"),
        ("~", None),
        (".inf", None),
    ],
)
def test_keys_become_text_as_kubectl_makes_them(text: str, key: str | None) -> None:
    assert key_text(resolve(text)) == key
