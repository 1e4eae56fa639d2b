"""Model sizes, the range that a runtime declares, and the distance that ranking uses.

Follows OME: runtime selection and scoring. A size is a number of parameters.
"""

from __future__ import annotations

from functools import lru_cache

from .go import parse_float

__all__ = ["SizeRange", "distance", "in_range", "parse_size", "range_text"]

SizeRange = tuple[str | None, str | None]

_UNITS = (("T", 1e12), ("B", 1e9), ("M", 1e6))


@lru_cache(maxsize=65536)
def parse_size(text: str) -> float:
    """The number of parameters that a size says; 0 when it doesn't parse.

    >>> parse_size("3.21B"), parse_size("500M"), parse_size("4b"), parse_size("7TB")
    (3210000000.0, 500000000.0, 0.0, 0.0)
    """
    for suffix, unit in _UNITS:
        if text.endswith(suffix):
            number = parse_float(text.removesuffix(suffix))
            return 0.0 if number is None else number * unit
    number = parse_float(text)
    return 0.0 if number is None else number


def in_range(size: str | None, size_range: SizeRange | None) -> bool:
    """Whether a model of this size passes; a model without a size or a runtime without a range does.

    >>> in_range("4B", ("2B", "4B")), in_range("3.21B", ("2B", "4b")), in_range("405B", ("70B", None))
    (True, False, True)
    """
    if size is None or size_range is None:
        return True
    value = parse_size(size)
    low, high = size_range
    return not (low is not None and value < parse_size(low)) and not (high is not None and value > parse_size(high))


def range_text(size_range: SizeRange) -> str:
    """The range as OME prints it, with the bounds as written.

    >>> range_text(("70B", None)), range_text((None, "13B")), range_text(("2B", "4b"))
    ('[70B, inf)', '(-inf, 13B]', '[2B, 4b]')
    """
    low, high = size_range
    return f"{'(-inf' if low is None else '[' + low}, {'inf)' if high is None else high + ']'}"


def distance(size: str | None, size_range: SizeRange | None) -> float | None:
    """How far the bounds are from the size, in parameters; None for a model without a size.

    A missing bound adds 0, and a runtime without a range is at distance 0.

    >>> distance("3.21B", ("1B", "8B")), distance("3B", None), distance(None, ("1B", "8B"))
    (7000000000.0, 0.0, None)
    """
    if size is None:
        return None
    if size_range is None:
        return 0.0
    value = parse_size(size)
    return sum((abs(parse_size(bound) - value) for bound in size_range if bound is not None), 0.0)
