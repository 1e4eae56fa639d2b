"""Kubernetes quantities (``8``, ``500m``, ``1024Gi``): read, compared by value, printed in canonical form.

Follows Kubernetes: ``resource.Quantity`` of k8s.io/apimachinery v0.33, with its corners. ``1.500`` stays as
written and ``0.500`` becomes ``500m``; ``1000E`` prints as ``1``, because nothing is named above ``E``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

__all__ = ["Quantity", "QuantityError", "canonical_quantity", "parse_quantity", "same_quantity"]

_FORM = re.compile(r"([+-]?)(0*)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SPLIT = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"  # only quoted: Kubernetes itself scans as _FORM does
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {power: name for name, power in _DECIMAL.items()}
_BINARY_NAMES = {power: name for name, power in _BINARY.items()} | {0: ""}
_NANO = -9
_MAX = 2**63 - 1
_LONGEST = 1000  # a limit of ours: Python refuses to read numbers of thousands of digits
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")


class QuantityError(ValueError):
    """Text that Kubernetes does not take for a quantity."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount, ``mantissa`` × 10 to the ``exponent``. Two are equal when their amounts are.

    Attributes:
        mantissa: without trailing zeros, so that equal amounts have equal fields.
        exponent: the power of ten; 0 for nothing.
        text: what Kubernetes prints.
    """

    mantissa: int
    exponent: int
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


def parse_quantity(value: object) -> Quantity:
    """Read a quantity from a manifest: text or a number.

    Raises:
        QuantityError: with Kubernetes' words, for text in another form or a value of another type.

    >>> str(parse_quantity("1024Gi")), str(parse_quantity(0.5)), str(parse_quantity("1000m"))
    ('1Ti', '500m', '1')
    >>> parse_quantity("1Ki") == parse_quantity("1024")
    True
    """
    text = _written(value)
    found = _FORM.fullmatch(text)
    if not text or found is None:
        raise QuantityError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    sign, zeros, digits, places, suffix = found.groups(default="")
    number = digits or "0"
    exponent, form = _interpret(suffix)
    amount = int(number + places) * (-1 if sign == "-" else 1)
    scale = -len(places)
    if form == "binary":
        # Kubernetes' fast way, for what surely fits 64 bits; it keeps text that looks canonical as it is.
        fast = not places and 15 - len(number) - exponent * 3 // 10 - 1 >= 0
        amount *= 1 << exponent
        kept = fast and int(number) % 8 != 0
    else:
        scale += exponent
        fast = len(number) + len(places) <= 18 and scale >= _NANO
        shifted = number + places
        kept = fast and scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    if not fast and not (zeros or digits or places):
        raise QuantityError("unable to parse numeric part of quantity")
    if not fast:
        amount, scale = _round_up(amount, scale)
        if form == "binary":
            amount, scale = _capped(amount, scale)
    mantissa, power = _reduced(amount, scale)
    return Quantity(mantissa, power, text if kept else _printed(mantissa, power, form))


def canonical_quantity(value: object) -> str:
    """The text that Kubernetes prints for a quantity.

    Raises:
        QuantityError: see :func:`parse_quantity`.

    >>> canonical_quantity(8), canonical_quantity("0.1"), canonical_quantity("1.5Gi"), canonical_quantity("1e3")
    ('8', '100m', '1536Mi', '1e3')
    """
    return parse_quantity(value).text


def same_quantity(left: object, right: object) -> bool:
    """Whether two values of manifests are the same amount; False when one is no quantity.

    >>> same_quantity("1Ti", "1024Gi"), same_quantity(8, "8"), same_quantity("8", "8G"), same_quantity("8", "much")
    (True, True, False, False)
    """
    try:
        return parse_quantity(left) == parse_quantity(right)
    except QuantityError:
        return False


def _written(value: object) -> str:
    """The value as it stands in JSON. Go writes numbers without an exponent where Python doesn't."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST:
            raise QuantityError(f"a quantity has no more than {_LONGEST} characters")
        return text
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise QuantityError("a quantity is text or a number")
    if isinstance(value, int):
        if abs(value) > 2**1024:
            raise QuantityError(f"a quantity has no more than {_LONGEST} characters")
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise QuantityError("a quantity is a finite number")
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value)
    whole = format(Decimal(repr(value)), "f")
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _interpret(suffix: str) -> tuple[int, str]:
    """A suffix' power (of ten, or of two for ``Ki`` and its like) and its family."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], "decimal"
    if suffix in _BINARY:
        return _BINARY[suffix], "binary"
    found = _EXPONENT.fullmatch(suffix)
    if found is None or abs(int(found.group(1)[:20])) > _MAX:
        raise QuantityError("unable to parse quantity's suffix")
    power = int(found.group(1))
    return (power + 2**31) % 2**32 - 2**31, "exponent"


def _round_up(amount: int, scale: int) -> tuple[int, int]:
    """Round to billionths, away from zero: asking for a little never becomes asking for nothing."""
    if scale >= _NANO or not amount:
        return amount, scale
    surplus = _NANO - scale
    if surplus > len(str(abs(amount))):
        return (1 if amount > 0 else -1), _NANO
    whole, rest = divmod(abs(amount), 10**surplus)
    whole += 1 if rest else 0
    return (whole if amount > 0 else -whole), _NANO


def _capped(amount: int, scale: int) -> tuple[int, int]:
    """Binary quantities above 64 bits are cut to the largest that fits. Their scale is never above zero."""
    if abs(amount) > _MAX * 10**-scale:
        return (_MAX if amount > 0 else -_MAX), 0
    return amount, scale


def _reduced(amount: int, scale: int) -> tuple[int, int]:
    """Move factors of ten from the amount to the power."""
    if not amount:
        return 0, 0
    digits = str(amount)
    stripped = digits.rstrip("0")
    return int(stripped), scale + len(digits) - len(stripped)


def _printed(mantissa: int, power: int, form: str) -> str:
    """Canonical text: no fraction, the largest suffix that keeps the amount exact."""
    if not mantissa:
        return "0"
    if form == "binary" and power >= 0 and abs(whole := mantissa * 10**power) >= 1024:
        thousands = 0
        while whole % 1024 == 0:
            whole //= 1024
            thousands += 10
        return f"{whole}{_BINARY_NAMES.get(thousands, '')}"
    surplus = power % 3
    number = mantissa * 10**surplus
    power -= surplus
    if form == "exponent":
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL_NAMES.get(power, '')}"
