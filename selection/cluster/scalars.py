"""What a plain word of a manifest means: the scalars of YAML as Kubernetes' tools read them.

``kubectl`` turns a manifest into JSON before it sends it, by the YAML 1.1 rules of its Go library, which
differ from Python's: ``y`` is true, ``08`` is 8, ``0o17`` is 15, ``1:30`` and ``2024-01-01`` are strings. A
manifest must mean here what it means in a cluster. One thing is kept that JSON would lose: ``1.0`` stays a
float, so that a version written without quotes can be shown as it was written.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

__all__ = ["Scalar", "key_text", "resolve"]

Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {"": None, "~": None}
WORDS |= dict.fromkeys(["null", "Null", "NULL"])
WORDS |= dict.fromkeys(
    ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"],
    True,
)
WORDS |= dict.fromkeys(
    ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"],
    False,
)
WORDS |= dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan)
WORDS |= dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf)
WORDS |= dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf)

INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
FLOAT = re.compile(r"[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][+-]?[0-9]+)?")
LOWEST, HIGHEST_SIGNED, HIGHEST = -(2**63), 2**63 - 1, 2**64 - 1
LONGEST_NUMBER = 400
"""No number that anyone means is longer; a longer one is text, and costs nothing to look at."""


def resolve(text: str) -> Scalar:
    """Return what a plain (unquoted, untagged) scalar means.

    >>> [resolve(text) for text in ("yes", "0777", "1_000", "1e3", "1.0", "2024-01-01", "")]
    [True, 511, 1000, 1000.0, 1.0, '2024-01-01', None]
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > LONGEST_NUMBER:
        return text
    return _number(text)


@lru_cache(maxsize=8192)  # of numbers alone: what else a manifest says may be large, or secret, and isn't kept
def _number(text: str) -> Scalar:
    plain = text.replace("_", "")
    whole = INTEGER.fullmatch(plain)
    if whole:
        number = _integer(whole)
        if number is not None:
            return number
    if FLOAT.fullmatch(plain):
        value = float(plain)
        return value if math.isfinite(value) else text
    return text


def _integer(match: re.Match[str]) -> int | None:
    """Return the number if it fits 64 bits, as Go asks; without a sign it may use all of them."""
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if hexadecimal is not None:
        size = int(hexadecimal, 16)
    elif binary is not None:
        size = int(binary, 2)
    elif octal is not None:
        size = int(octal, 8)
    else:
        size = int(decimal)
    value = -size if sign == "-" else size
    return value if LOWEST <= value <= (HIGHEST_SIGNED if sign else HIGHEST) else None


def key_text(value: Scalar) -> str | None:
    """Return the key of a JSON object for a scalar used as a key, or None when there is none.

    >>> key_text(True), key_text(16), key_text(1.5), key_text(None)
    ('true', '16', '1.5', None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value is None or not math.isfinite(value):
        return None
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
