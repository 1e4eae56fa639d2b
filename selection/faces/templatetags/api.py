"""What the page of the REST interface is written with."""

from __future__ import annotations

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

__all__ = ["backticks"]

register = template.Library()


@register.filter
def backticks(text: str) -> SafeString:
    """Text with what stands in backticks as code, everything else as it is.

    >>> backticks("`a<b` or <c>, `d")
    '<code>a&lt;b</code> or &lt;c&gt;, `d'
    """
    parts = escape(text).split("`")
    odd = len(parts) % 2 == 0  # the last backtick has no other
    closed = [*parts[:-2], f"{parts[-2]}`{parts[-1]}"] if odd else parts
    told = "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(closed))
    return mark_safe(told)  # noqa: S308  # escaped above
