"""Links within a list."""

from __future__ import annotations

from typing import Any

from django import template

from selection.faces.lists import ListState

__all__ = ["register"]

register = template.Library()


@register.simple_tag
def list_query(state: ListState, **changes: Any) -> str:
    """The list's query string with some parameters changed: ``{% list_query list sort="-name" %}``."""
    return state.query_string({name: str(value) for name, value in changes.items()})
