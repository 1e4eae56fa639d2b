"""Addresses within a page and between two objects: the line of a field, and a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from selection.faces.links import CLUSTER_SCOPE
from selection.store.lookup import Near
from selection.store.models import ModelResult

__all__ = ["register"]

register = template.Library()


@register.filter
def line_of(at: Mapping[str, int], path: str) -> str:
    """The address on this page of the line where a field begins, ``""`` when it isn't there: ``at|line_of:path``.

    >>> line_of({"spec.model": 7}, "spec.model"), line_of({}, "spec.model")
    ('#L7', '')
    """
    return f"#L{at[path]}" if path in at else ""


@register.simple_tag
def compare_link(what: str, a: str, b: Near) -> str:
    """The address that compares a (as it stands in an address) with an object, or begins with it when a is ``""``."""
    address = f"{b.cluster}/{b.ref.namespace or CLUSTER_SCOPE}/{b.ref.name}"
    return f"{reverse(f'compare-{what}')}?{urlencode({'a': a, 'b': address} if a else {'a': address})}"


@register.simple_tag
def compare_with(what: str, cluster: str, namespace: str, name: str) -> str:
    """The address that offers what to compare an object with; ``what`` is services, models or runtimes."""
    return f"{reverse(f'compare-{what}')}?{urlencode({'a': f'{cluster}/{namespace or CLUSTER_SCOPE}/{name}'})}"


@register.simple_tag
def compare_rows(what: str, a: ModelResult, b: ModelResult) -> str:
    """The address that compares the objects of two rows."""
    sides = {
        side: f"{row.cluster.name}/{row.namespace or CLUSTER_SCOPE}/{row.name}" for side, row in (("a", a), ("b", b))
    }
    return f"{reverse(f'compare-{what}')}?{urlencode(sides)}"
