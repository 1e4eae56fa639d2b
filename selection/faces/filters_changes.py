"""What the list of changes can be narrowed by."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from selection.cluster.kinds import KINDS
from selection.faces import words
from selection.faces.ages import utc_text
from selection.faces.filterfields import LONGEST, NONE, Choice, Name, Value, Words, labelled
from selection.faces.moments import MomentField
from selection.rules.explanation import OUTCOMES
from selection.rules.modes import COMPONENTS
from selection.store.models import Change, Cluster, ObjectChange, ServiceResult
from selection.store.sight import seen_through
from selection.store.timeline import runtime_of

__all__ = ["ChangeFilter"]


class When(django_filters.Filter):
    """Rows from a moment on (``gte``), or before it (``lt``)."""

    field_class = MomentField

    def __init__(self, label: str, lookup: str, placeholder: str, *, end: bool = False) -> None:
        widget = forms.TextInput(attrs={"placeholder": placeholder, "autocomplete": "off", "size": 14})
        super().__init__("at", lookup, label=label, widget=widget, end=end)


class Edit(django_filters.Filter):
    """What one change of an object caused. Links name it; the form offers the one that was asked for."""

    field_class = forms.IntegerField

    def __init__(self) -> None:
        super().__init__(field_name="cause", label="One edit", widget=forms.Select, min_value=1, max_value=2**63 - 1)

    @property
    def field(self) -> Any:
        """The form's field, with the edit that was asked for in words."""
        field = super().field
        asked = str(self.parent.data.get("edit", ""))
        if not hasattr(field, "choices"):
            field.choices = field.widget.choices = [("", "any"), *([(asked, _edit_text(asked))] if asked else [])]
        return field


def _edit_text(asked: str) -> str:
    found = ObjectChange.objects.filter(pk=asked).first() if asked.isdecimal() and len(asked) < 19 else None
    if found is None:
        return f"{asked}, which isn't known"
    place = f"{found.namespace}/{found.name}" if found.namespace else found.name
    return f"{found.kind} {place}, {utc_text(found.at)}"


def _runtime(qs: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
    """``value`` is a name, or ``kind/namespace/name`` as changes have it."""
    rows = qs.filter(what=Change.What.RUNTIME)
    if runtime_of(value) is not None:
        return rows.filter(Q(before=value) | Q(after=value))
    return rows.filter(Q(before__endswith=f"/{value}") | Q(after__endswith=f"/{value}"))


def _outcome(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(what__in=(Change.What.OUTCOME, Change.What.SERVICE), after=value)


def _cause_kind(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(cause=None) if value == NONE else qs.filter(_known_cause(), cause__kind=value)


def _known_cause() -> Q:
    """Changes with a cause that is seen: nobody finds out by filters what else one is called."""
    return seen_through(ObjectChange, "cause__")


class CauseName(Name):
    """Changes by what their cause is called."""

    def filter(self, qs: QuerySet[Any], value: str | None) -> QuerySet[Any]:
        """Narrow the rows to those with such a cause that is seen."""
        found: QuerySet[Any] = super().filter(qs.filter(_known_cause()) if value else qs, value)
        return found


class ChangeWords(Words):
    """Changes that hold every word in the service's or the cause's name."""

    def anywhere(self, word: str) -> Q:
        """Where a word may stand."""
        return super().anywhere(word) | (Q(cause__name__icontains=word) & _known_cause())


class ChangeFilter(django_filters.FilterSet):
    """Changes by when, of what, and which object's change caused them."""

    q = ChangeWords("namespace", "service")
    since = When("Since", "gte", "24h, 2026-05-01")
    what = Choice("What", labelled("change", words.CHANGES), field="what")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    cause_kind = Choice("Caused by a", [each.kind for each in KINDS], none="no object", narrow=_cause_kind)
    until = When("Until", "lt", "1h, 2026-05-02", end=True)
    namespace = Value("namespace", "Namespace", source=(ServiceResult, "namespace"))
    service = Name("service", "Service")
    runtime = django_filters.CharFilter(
        label="Runtime, before or after",
        method=_runtime,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        max_length=LONGEST,
    )
    outcome = Choice("Outcome after", labelled("outcome", OUTCOMES), narrow=_outcome)
    component = Choice("Component", COMPONENTS, field="component")
    cause_namespace = CauseName("cause__namespace", "Cause's namespace")
    cause_name = CauseName("cause__name", "Cause's name")
    edit = Edit()

    class Meta:
        model = Change
        fields: list[str] = []

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.data.get("edit"):
            del self.filters["edit"]
