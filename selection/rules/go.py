"""Numbers and text as Go reads them: OME is written in Go, and its corners are Go's.

Follows the Go standard library: ``strconv.ParseFloat``, ``strconv.ParseUint``, int64 arithmetic.
"""

from __future__ import annotations

import math
import re

__all__ = ["parse_float", "parse_uint", "quote", "wrap64"]

_DECIMAL = re.compile(r"[+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?\Z")
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX]_?(?:[0-9a-fA-F][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?|\.[0-9a-fA-F][0-9a-fA-F_]*)[pP][+-]?[0-9][0-9_]*\Z"
)
_SPECIAL = re.compile(r"(?:([+-]?)(inf|infinity)|nan)\Z", re.IGNORECASE | re.ASCII)


def parse_float(text: str) -> float | None:
    """Parse a number as ``strconv.ParseFloat(text, 64)`` does; None where Go returns an error.

    Underscores may separate digits and follow the base prefix; a hexadecimal number needs its ``p``.

    >>> parse_float("1e3"), parse_float(".5"), parse_float("5."), parse_float("0x1p4")
    (1000.0, 0.5, 5.0, 16.0)
    >>> parse_float("7b") is None and parse_float("1e400") is None and parse_float("0x10") is None
    True
    """
    special = _SPECIAL.match(text)
    if special:
        if special.group(2) is None:
            return math.nan
        return -math.inf if special.group(1) == "-" else math.inf
    if _HEXADECIMAL.match(text):
        if not _underscores_ok(text):
            return None
        try:
            value = float.fromhex(text.replace("_", ""))
        except OverflowError:
            return None
    elif _DECIMAL.match(text):
        if not _underscores_ok(text):
            return None
        value = float(text.replace("_", ""))
    else:
        return None
    return None if math.isinf(value) else value


def _underscores_ok(text: str) -> bool:
    """Go's ``underscoreOK``: an underscore stands between two digits, or after the base prefix.

    >>> _underscores_ok("1_000"), _underscores_ok("1__0"), _underscores_ok("0x_1p4"), _underscores_ok("1_")
    (True, False, True, False)
    """
    if "_" not in text:
        return True
    body = text[1:] if text[:1] in {"+", "-"} else text
    previous = "^"
    hexadecimal = False
    if len(body) >= 2 and body[0] == "0" and body[1] in "bBoOxX":
        hexadecimal = body[1] in "xX"
        body = body[2:]
        previous = "0"  # the base prefix counts as a digit for the underscore after it
    for character in body:
        if character.isdigit() or (hexadecimal and character.lower() in "abcdef"):
            previous = "0"
        elif character == "_":
            if previous != "0":
                return False
            previous = "_"
        else:
            if previous == "_":
                return False
            previous = "!"
    return previous != "_"


def parse_uint(text: str) -> int | None:
    """Parse an unsigned 64-bit decimal as ``strconv.ParseUint(text, 10, 64)``; None on an error.

    >>> parse_uint("18446744073709551615"), parse_uint("18446744073709551616"), parse_uint("")
    (18446744073709551615, None, None)
    """
    if not text or not text.isascii() or not text.isdigit():
        return None
    significant = text.lstrip("0") or "0"
    value = int(significant) if len(significant) <= 20 else 2**64
    return value if value < 2**64 else None


def wrap64(value: int) -> int:
    """Wrap to a signed 64-bit integer as Go's arithmetic does.

    >>> wrap64(2**63), wrap64(-2**63 - 1)
    (-9223372036854775808, 9223372036854775807)
    """
    return (value + 2**63) % 2**64 - 2**63


def quote(text: str) -> str:
    r"""Quote as Go's ``%q`` does for text of printable characters.

    >>> print(quote('a "b"'))
    "a \"b\""
    """
    escapes = {
        '"': '\\"',
        "\\": "\\\\",
        "\n": "\\n",
        "\t": "\\t",
        "\r": "\\r",
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\v": "\\v",
    }
    parts: list[str] = []
    for character in text:
        if character in escapes:
            parts.append(escapes[character])
        elif character.isprintable():
            parts.append(character)
        elif ord(character) < 0x80:
            parts.append(f"\\x{ord(character):02x}")
        elif ord(character) < 0x10000:
            parts.append(f"\\u{ord(character):04x}")
        else:
            parts.append(f"\\U{ord(character):08x}")
    return '"' + "".join(parts) + '"'
