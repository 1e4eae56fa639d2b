"""What the list of findings can be narrowed by: the same for its page and its REST list."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone

from selection.faces import words
from selection.faces.filterfields import Choice, Name, Value, Words, labelled
from selection.faces.handled import owned_by
from selection.faces.moments import MomentField
from selection.people.models import Handling
from selection.people.persons import person_or_none
from selection.people.standings import in_state as decided
from selection.rules.modes import COMPONENTS
from selection.store.findings import CODES, FAMILIES, codes_of, in_state
from selection.store.models import Cluster, Finding

__all__ = ["FindingFilter", "asked_state"]

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


class Owner(Value):
    """Findings that somebody owns; the form offers whoever owns any."""

    def __init__(self) -> None:
        super().__init__("owner", "Owner", source=(Handling, "owner"))

    def _found(self) -> list[tuple[str, str]]:
        """Whoever owns any, from an index that has only those."""
        names = Handling.objects.exclude(owner="").order_by("owner").values_list("owner", flat=True).distinct()
        asked = self.parent.data.get("owner", "")
        return [("", "any"), *((name, name) for name in sorted({*names, asked} - {""}))]

    def filter(self, qs: QuerySet[Any], value: str | None) -> QuerySet[Any]:
        """Narrow the rows to theirs."""
        return owned_by(qs, value) if value else qs


class Owned(Choice):
    """Findings that the one who asks owns, or nobody, or anybody."""

    def __init__(self) -> None:
        super().__init__("Owned", [("me", "by me"), ("nobody", "by nobody"), ("somebody", "by somebody")])

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Narrow the rows to those."""
        if value != "me":
            return owned_by(qs, "" if value == "nobody" else None) if value else qs
        person = person_or_none(self.parent.request)
        return owned_by(qs, person.name) if person is not None else qs.none()


def _decided(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return decided(qs, value, timezone.now().date())


def asked_state(state: str, decision: str) -> str:
    """The state that a list has which is asked for one and for a decision: what is fixed is gone.

    >>> asked_state("", "fixed"), asked_state("", "accepted"), asked_state("any", "fixed")
    ('gone', '', 'any')
    """
    return "gone" if decision == "fixed" and not state else state


def _of_family(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(code__in=codes_of(value))


class FindingFilter(django_filters.FilterSet):
    """Findings by how much they matter, what they are, where, since when, and what people do with them.

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
    decision = Choice("Decision", labelled("decision", words.DECISIONS), narrow=_decided)
    owned = Owned()
    owner = Owner()

    class Meta:
        model = Finding
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the rows; the state and what is off hold also where nothing is asked."""
        asked = self.form.cleaned_data
        found: QuerySet[Any] = super().filter_queryset(queryset)
        state = asked_state(asked.get("state") or "", asked.get("decision") or "")
        return in_state(found, state, asked.get("severity") or "")
