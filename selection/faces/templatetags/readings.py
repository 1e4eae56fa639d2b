"""Numbers as OME's users write them."""

from __future__ import annotations

import math

from django import template

__all__ = ["parameters", "register"]

register = template.Library()


@register.filter
def parameters(value: float | None) -> str:
    """A number of parameters with OME's units: ``7B``, ``0.5B`` as ``500M``; ``""`` for None.

    >>> [parameters(number) for number in (7e9, 6.72e11, 5e8, 1.5e12, 0.0, 12.0, None, float("inf"))]
    ['7B', '672B', '500M', '1.5T', '0', '12', '', 'infinite']
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return "infinite" if math.isinf(value) else "not a number"
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if abs(value) >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.6g}"
