"""Links within a list."""

from __future__ import annotations

from typing import Any

from django import template

from selection.faces.filterfields import NONE
from selection.faces.lists import ListState

__all__ = ["register"]

register = template.Library()


@register.simple_tag
def list_query(here: ListState, **changes: Any) -> str:
    """The list's query string with some parameters changed: ``{% list_query list sort="-name" %}``."""
    return here.query_string({name: str(value) for name, value in changes.items()})


@register.simple_tag
def matrix_query(state: ListState, cell: Any) -> str:
    """The query string of a cell of the mode matrix: conflicts of services with these two modes."""
    changes = {"requested": cell.requested or NONE, "declared": cell.declared or NONE, "about": "services"}
    return state.query_string(changes)
