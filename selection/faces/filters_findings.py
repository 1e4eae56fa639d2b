"""What the list of findings can be narrowed by: the same for its page and its REST list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from selection.faces import words
from selection.faces.filterfields import Choice, Name, Value, Words, labelled
from selection.faces.moments import MomentField
from selection.rules.modes import COMPONENTS
from selection.store.findings import CODES, FAMILIES, codes_of, in_state
from selection.store.models import Cluster, Finding

__all__ = ["FindingFilter"]

_STATES = [("present", "there"), ("back", "back after it was gone"), ("gone", "gone"), ("any", "there or gone")]


class Since(django_filters.Filter):
    """Findings of which something is newer than a moment: they were first seen, came back, changed, or went."""

    field_class = MomentField

    def __init__(self) -> None:
        widget = forms.TextInput(attrs={"placeholder": "24h, 2026-05-01", "autocomplete": "off", "size": 14})
        super().__init__("first_seen", label="Something new since", widget=widget, end=False)

    def filter(self, qs: QuerySet[Any], value: datetime | None) -> QuerySet[Any]:
        """Narrow the rows to those."""
        if value is None:
            return qs
        newer = Q()
        for field in ("first_seen", "came_back_at", "changed_at", "gone_at"):
            newer |= Q(**{f"{field}__gte": value})
        return qs.filter(newer)


def _of_family(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(code__in=codes_of(value))


class FindingFilter(django_filters.FilterSet):
    """Findings by how much they matter, what they are, where, and since when.

    Without ``state`` those that are there; what is off is left out unless ``severity=off`` asks for it.
    """

    q = Words("namespace", "name", "path", "about")
    severity = Choice("Severity", labelled("severity", words.SEVERITIES), field="severity")
    family = Choice("Family", labelled("family", FAMILIES), narrow=_of_family)
    code = Choice("Finding", labelled("code", CODES), field="code")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    kind = Value("kind", "Kind")
    namespace = Value("namespace", "Namespace")
    name = Name("name", "Name")
    component = Choice("Component", COMPONENTS, field="component", none="whole object")
    state = Choice("State", _STATES, narrow=lambda qs, value: qs)
    since = Since()

    class Meta:
        model = Finding
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the rows; the state and what is off hold also where nothing is asked."""
        asked = self.form.cleaned_data
        found: QuerySet[Any] = super().filter_queryset(queryset)
        return in_state(found, asked.get("state") or "", asked.get("severity") or "")
