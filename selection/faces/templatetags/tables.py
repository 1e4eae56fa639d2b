"""The links with which a table that isn't a list is exported."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.template.context import Context

__all__ = ["exports", "register"]

register = template.Library()


@register.inclusion_tag("components/exports.html", takes_context=True)
def exports(context: Context, table: str, of: str, keep: str = "", named: str = "", **fixed: str) -> dict[str, Any]:
    """Links to a table as CSV and JSON.

    Args:
        context: the page's, with the request.
        table: what ``?table=`` calls it.
        of: what it is, for those who hear the links one by one.
        named: what it is, for those who see more than one pair of links.
        keep: the parameters of the page's own address that the table depends on, in one text; ``*`` for all.
        fixed: parameters that the address needs whatever the page's own has.
    """
    query = context["request"].GET
    left_out = {"table", "format", "page"}
    names = query if keep == "*" else keep.split()
    kept = [(name, query[name]) for name in names if query.get(name) and name not in {*left_out, *fixed}]
    return {"query": urlencode([*kept, *fixed.items(), ("table", table)]), "of": of, "named": named}
