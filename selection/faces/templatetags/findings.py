"""The tags that draw findings: what each is, what to do, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.template import Context
from django.utils.safestring import SafeString, mark_safe

from selection.faces.telling import sentence_values
from selection.faces.templatetags.ome import sentence
from selection.rules.codes import CODES
from selection.rules.objects import ObjectRef
from selection.store.models import Finding

__all__ = ["register"]

register = template.Library()


@register.simple_tag(takes_context=True)
def told(context: Context, finding: Finding, cluster: str, part: str = "what") -> SafeString:
    """The sentence of a finding: ``{% told finding cluster.name %}``, or with ``"next"`` what to do."""
    if not finding.family:
        return mark_safe("")
    return sentence(context, finding.family, finding.code, part, **sentence_values(finding, cluster))


@register.filter
def why(code: str) -> str:
    """Why a code matters as much as it does by itself: ``{{ finding.code|why }}``."""
    return CODES[code].why if code in CODES else ""


@register.filter
def evidence(facts: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """What a finding rests on as rows of a name and values; each value is a text, or an object's reference.

    >>> evidence({"first": {"kind": "BaseModel", "namespace": None, "name": "llama"}, "count": 2, "no": None})
    [('first', [ObjectRef(kind='BaseModel', namespace='', name='llama')]), ('count', ['2'])]
    """
    rows = []
    for name, value in facts.items():
        values = value if isinstance(value, list) else [value]
        shown = [_shown(each) for each in values if each is not None and each != ""]
        if shown:
            rows.append((name, shown))
    return rows


def _shown(value: Any) -> ObjectRef | str:
    if isinstance(value, Mapping) and {"kind", "namespace", "name"} <= value.keys():
        return ObjectRef(value["kind"], value["namespace"] or "", value["name"])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@register.filter
def is_object(value: Any) -> bool:
    """Whether a value of :func:`evidence` is an object's reference, to be shown as a link."""
    return isinstance(value, ObjectRef)
