"""The tags that draw what people do: decisions, discussions, and the record of acts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from selection.faces.discussing import Discussion, discussion_of
from selection.faces.handled import standing_of
from selection.faces.subjects_shown import Shown
from selection.people.markdown import as_html
from selection.people.models import ActRecord
from selection.people.record import Reader
from selection.people.standings import Standing
from selection.people.subjects import object_subject
from selection.rules.objects import ObjectRef
from selection.store.models import Finding

__all__ = ["register"]

register = template.Library()


@register.filter
def stands(finding: Finding) -> Standing:
    """Where a row of the list of findings stands with people: ``{% with standing=row|stands %}``."""
    return standing_of(finding)


@register.filter
def markdown(text: str) -> SafeString:
    """What somebody wrote, as safe HTML: ``{{ comment.text|markdown }}``."""
    return as_html(text)


@register.simple_tag(takes_context=True)
def discussion_about(context: Context, cluster: str, ref: ObjectRef) -> Discussion:
    """What is said of an object and was done with it: ``{% discussion_about cluster.name ref as discussion %}``."""
    return discussion_of(context["request"], object_subject(cluster, ref))


@register.simple_tag
def differences_of(reader: Reader, act: ActRecord) -> list[tuple[str, str, str]]:
    """The fields that an act changed, each with what it was and is: ``{% differences_of reader act as rows %}``."""
    before, after = reader.before(act) or {}, reader.after(act) or {}
    names = [name for name in {**before, **after} if name not in _UNTOLD]
    return [(name, _said(before, name), _said(after, name)) for name in names]


@register.simple_tag
def subject_of(shown: Mapping[str, Shown], text: str) -> Shown:
    """What an act or a comment is about: ``{% subject_of shown act.subject as subject %}``."""
    return shown.get(text) or Shown("", text)


_UNTOLD = frozenset({"comment", "evidence", "decided_by", "decided_at", "state_digest"})
"""Fields that are kept for programs and tell a reader nothing."""


def _said(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
