"""Where a field stands in a manifest that is on the same page."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

__all__ = ["register"]

register = template.Library()


@register.filter
def line_of(at: Mapping[str, int], path: str) -> str:
    """The address on this page of the line where a field begins, ``""`` when it isn't there: ``at|line_of:path``.

    >>> line_of({"spec.model": 7}, "spec.model"), line_of({}, "spec.model")
    ('#L7', '')
    """
    return f"#L{at[path]}" if path in at else ""
