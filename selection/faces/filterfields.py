"""What filters are made of: the fields of the filter sets, each a query parameter and a field of the form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import django_filters
from django import forms
from django.db.models import Model, Q, QuerySet

from selection.faces import words

__all__ = ["LONGEST", "NONE", "Choice", "Name", "Value", "Words", "labelled", "one_of", "scope", "yes_no"]

NONE = "none"
"""The value of a filter that asks for rows where nothing is written."""

LONGEST = 600
"""Characters of a text; a runtime with its kind, namespace and name has fewer. Databases refuse what is far longer."""

YES_NO = (("true", "yes"), ("false", "no"))
SCOPES = (("cluster", "cluster"), ("namespaced", "namespaced"))


def labelled(family: str, codes: Iterable[str]) -> list[tuple[str, str]]:
    """Codes with the words that badges show for them."""
    return [(code, words.word(family, code).label) for code in codes]


class Words(django_filters.CharFilter):
    """Rows that hold every word of the text, each in any of the fields, whatever the case."""

    def __init__(self, *fields: str) -> None:
        widget = forms.TextInput(attrs={"type": "search", "autocomplete": "off"})
        super().__init__(label="Search", widget=widget, max_length=LONGEST)
        self.fields = fields

    def filter(self, qs: QuerySet[Any], value: str | None) -> QuerySet[Any]:
        """Narrow the rows to those that hold every word."""
        for word in dict.fromkeys((value or "").split()):
            qs = qs.filter(self.anywhere(word))
        return qs

    def anywhere(self, word: str) -> Q:
        """The rows that hold a word in any of the fields."""
        found = Q()
        for field in self.fields:
            found |= Q(**{f"{field}__icontains": word})
        return found


class Name(django_filters.CharFilter):
    """Rows where the field is exactly this name, case included."""

    def __init__(self, field: str, label: str) -> None:
        widget = forms.TextInput(attrs={"autocomplete": "off"})
        super().__init__(field_name=field, label=label, widget=widget, max_length=LONGEST)


class Value(django_filters.CharFilter):
    """Rows where the field is exactly this; the form offers the values that the rows have.

    ``split`` parts a field that holds several. ``source``, a model and its field, is quicker to ask for the
    values when they lie behind a join.
    """

    def __init__(
        self, field: str, label: str, *, split: str = "", source: tuple[type[Model], str] | None = None
    ) -> None:
        super().__init__(field_name=field, label=label, widget=forms.Select, max_length=LONGEST)
        self.split, self.source = split, source
        self.offered: list[tuple[str, str]] | None = None

    @property
    def field(self) -> Any:
        """The form's field; its choices are read when it is shown, not when a request is checked."""
        field = super().field
        field.widget.choices = self._choices
        return field

    def _choices(self) -> list[tuple[str, str]]:
        if self.offered is None:  # a select asks twice
            self.offered = self._found()
        return self.offered

    def _found(self) -> list[tuple[str, str]]:
        rows, name = self.parent.queryset, self.field_name
        if self.source is not None:
            rows, name = self.source[0]._default_manager.all(), self.source[1]
        values = set(rows.order_by(name).values_list(name, flat=True).distinct())
        if self.split:
            values = {part for value in values for part in value.split(self.split)}
        asked = self.parent.data.get(self.parent_name, "")
        return [("", "any"), *((value, value) for value in sorted({*values, asked} - {""}))]

    @property
    def parent_name(self) -> str:
        """The parameter's name in the filter set."""
        names: dict[str, Any] = self.parent.filters
        return next(name for name, each in names.items() if each is self)

    def filter(self, qs: QuerySet[Any], value: str | None) -> QuerySet[Any]:
        """Narrow the rows; with ``split`` the field holds several values and one of them must be this."""
        if not value:
            return qs
        if not self.split:
            return qs.filter(**{self.field_name: value})
        name, mark = self.field_name, self.split
        return qs.filter(
            Q(**{name: value})
            | Q(**{f"{name}__startswith": f"{value}{mark}"})
            | Q(**{f"{name}__endswith": f"{mark}{value}"})
            | Q(**{f"{name}__contains": f"{mark}{value}{mark}"})
        )


class Choice(django_filters.ChoiceFilter):
    """One of a fixed list; ``narrow`` says which rows it means when that isn't the field's own value."""

    def __init__(
        self,
        label: str,
        choices: Iterable[str | tuple[str, str]],
        *,
        field: str = "",
        none: str = "",
        narrow: Callable[[QuerySet[Any], str], QuerySet[Any]] | None = None,
    ) -> None:
        listed = [(each, each) if isinstance(each, str) else each for each in choices]
        if none:
            listed.insert(0, (NONE, none))
        super().__init__(field_name=field or None, label=label, choices=listed, empty_label="any")
        self.none, self.narrow = none, narrow

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Narrow the rows to those that the choice means."""
        if not value:
            return qs
        if self.narrow is not None:
            return self.narrow(qs, value)
        return qs.filter(**{self.field_name: "" if self.none and value == NONE else value})


def yes_no(label: str, meant: Q) -> Choice:
    """Whether a row is what the condition says."""
    return Choice(label, YES_NO, narrow=lambda qs, value: qs.filter(meant) if value == "true" else qs.exclude(meant))


def one_of(label: str, meanings: dict[str, tuple[str, Q]]) -> Choice:
    """A choice whose values stand for conditions: value to label and condition."""
    return Choice(
        label,
        [(value, text) for value, (text, _) in meanings.items()],
        narrow=lambda qs, value: qs.filter(meanings[value][1]),
    )


def scope(label: str, kinds: dict[str, str]) -> Choice:
    """Cluster-scoped or namespaced, by kind."""
    return Choice(label, SCOPES, narrow=lambda qs, value: qs.filter(kind=kinds[value]))
