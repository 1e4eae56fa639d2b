"""What the pages of clusters say of kinds: ``{% load clusters %}``."""

from __future__ import annotations

from django import template

from selection.cluster.kinds import KINDS

__all__ = ["register"]

register = template.Library()

_RESOURCES = {each.kind: f"{each.plural}.{each.group}" for each in KINDS}


@register.filter
def resource(kind: str) -> str:
    """A kind as ``kubectl`` and roles name it; as it is when it isn't one of those that are read.

    >>> resource("ServingRuntime"), resource("Other")
    ('servingruntimes.ome.io', 'Other')
    """
    return _RESOURCES.get(kind, kind)
