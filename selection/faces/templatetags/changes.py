"""What a change says, drawn: ``{% load changes %}``."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from selection.faces.templatetags.ome import badge, ref
from selection.store.models import Change
from selection.store.timeline import runtime_of

__all__ = ["register"]

register = template.Library()

_FAMILIES = {"service": "outcome", "outcome": "outcome", "mode": "mode", "conflict": "conflict"}


@register.simple_tag
def changed(cluster: str, change: Change, side: Literal["before", "after"]) -> SafeString:
    """One side of a change as a badge or a link: ``{% changed row.cluster.name row "after" %}``; ``""`` for nothing."""
    code: str = getattr(change, side)
    if not code:
        return mark_safe("")
    if change.what != Change.What.RUNTIME:
        drawn: SafeString = badge(_FAMILIES.get(change.what, ""), code)
        return drawn
    runtime = runtime_of(code)
    if runtime is None:
        return mark_safe("")
    named: SafeString = ref(cluster, runtime.kind, runtime.namespace, runtime.name)
    return named


@register.simple_tag
def changes_url(**query: Any) -> str:
    """The list of changes, narrowed: ``{% changes_url cluster=cluster.name edit=cause.pk %}``."""
    return f"{reverse('changes')}?{urlencode({name: value for name, value in query.items() if value})}"
