"""How a list is declared: its columns, its filters, the ways to group it, and the templates that draw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import django_filters
from django.db.models import Aggregate
from django.db.models.expressions import OrderBy

__all__ = ["Column", "Group", "Listing", "at_path", "value_of"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list.

    Attributes:
        key: its name in ``?sort=`` and in exports.
        label: its heading, ``""`` for one that is only exported.
        order: the fields that it sorts by, none for one that doesn't sort.
        value: what exports hold: a dotted path on the row, or a function of it; None for one that is only shown.
        numeric: whether it is set flush right.
    """

    key: str
    label: str
    order: tuple[str, ...] = ()
    value: str | Callable[[Any], object] | None = None
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A way to group a list.

    Attributes:
        label: reads "by <label>".
        fields: what the rows of one group share.
        order: what groups are sorted by, when not by what they share.
        family: the family of words (:func:`selection.faces.words.word`) that a group's code belongs to.
        heading: a template that says what a group is, given its ``block``; ``""`` when its values do.
        totals: what else is counted of each group, by name; the heading finds it as ``block.totals``.
    """

    label: str
    fields: tuple[str, ...]
    order: tuple[str | OrderBy, ...] = ()
    family: str = ""
    heading: str = ""
    totals: Mapping[str, Aggregate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, declared.

    Attributes:
        name: names the list in ids and in the files that it exports.
        noun: what one row is; its plural ends in ``s``.
        filters: the filter set, shared with the REST interface.
        columns: in the order of the table; those without a label are only exported.
        row: the template of one row, ``<tr>`` included.
        empty: the template shown when there is nothing to list at all.
        sort: the columns to sort by when the URL doesn't say, such as ``-count``.
        groups: what ``?group=`` may name.
        group: the grouping when the URL doesn't say, ``""`` for none.
        summary: a template above the list that counts what is filtered, updated with it.
        fields: how many filters are always in sight; the rest open on demand.
    """

    name: str
    noun: str
    filters: type[django_filters.FilterSet]
    columns: tuple[Column, ...]
    row: str
    empty: str
    sort: str
    groups: Mapping[str, Group] = field(default_factory=dict)
    group: str = ""
    summary: str = ""
    fields: int = 5

    @property
    def ungrouped(self) -> str:
        """What ``?group=`` says for no grouping."""
        return "none" if self.group else ""

    @property
    def region(self) -> str:
        """The id of the part of the page that htmx swaps."""
        return f"list-{self.name}"

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns of the table."""
        return tuple(column for column in self.columns if column.label)

    def column(self, key: str) -> Column | None:
        """The sortable column of that key."""
        return next((column for column in self.columns if column.key == key and column.order), None)


def value_of(row: Any, column: Column) -> object:
    """What an export says in this column."""
    return column.value(row) if callable(column.value) else at_path(row, column.value or column.key)


def at_path(row: Any, path: str) -> object:
    """What a dotted path of attributes leads to; None when there is nothing on the way."""
    for step in path.split("."):
        if row is None:
            return None
        row = getattr(row, step)
    return row
