"""Lists of rows: the pages' filters, sorts and values, page by page behind a cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from selection.faces.api.cursors import Key, after, keys_of, ordering, read_cursor, sealed, values_of
from selection.faces.api.parameters import (
    FIELDS,
    LIMIT,
    fields_parameter,
    filter_parameters,
    query,
    read_filters,
    read_limit,
    refused,
)
from selection.faces.api.shapes import Shape
from selection.faces.api.views import ReadView
from selection.faces.listing import Listing, value_of

__all__ = ["ListView", "Listed", "More", "list_shape", "next_of", "row_value", "sort_parameter"]

CURSOR = query(
    "cursor",
    "Where the page begins: `next_cursor` of the page before, with the same filters and sort.",
    {"type": "string", "pattern": "^[A-Za-z0-9_:-]+$"},
)


@cache
def list_shape(row: type[Shape]) -> type[serializers.Serializer]:
    """What a page of such rows looks like."""
    members = {
        "__doc__": "A page of a list.",
        "items": row(many=True, help_text="The rows of the page."),
        "next_cursor": serializers.CharField(allow_null=True, help_text="The `cursor` of the next page, or null."),
        "next": serializers.CharField(allow_null=True, help_text="The address of the next page, or null at the end."),
    }
    return type(f"{row.__name__}List", (serializers.Serializer,), members)


def sort_parameter(keys: Iterable[str], default: str) -> OpenApiParameter:
    """The parameter that names a column to sort by."""
    told = f"The column to sort by, with `-` in front for descending. Without it, by {default}."
    return query("sort", told, {"type": "string", "enum": [name for key in keys for name in (key, f"-{key}")]})


More = Mapping[str, Callable[[Any], object]]
"""What a row has beyond what exports have: by name, what makes it of the row."""


def row_value(row: Any, listing: Listing, wanted: frozenset[str] | None, more: More) -> dict[str, object]:
    """A row as the pages' exports have it, and more; or the fields of it that are wanted."""
    columns = (column for column in listing.columns if column.value is not None)
    value = {column.key: value_of(row, column) for column in columns if wanted is None or column.key in wanted}
    return value | {name: told(row) for name, told in more.items() if wanted is None or name in wanted}


def next_of(path: str, asked: Any, cursor: str | None) -> str | None:
    """The address of the next page."""
    if cursor is None:
        return None
    following = asked.copy()
    following["cursor"] = cursor
    return f"{path}?{following.urlencode()}"


class Listed(ReadView):
    """A view of rows: ``items``, and where the next ones are.

    Attributes:
        row: what a row looks like.
        by: in words, the order of the rows when none is asked for.
    """

    row: ClassVar[type[Shape]]
    by: ClassVar[str] = ""

    def known_fields(self) -> list[str]:
        """The fields of a row."""
        return list(self.row().fields)

    def paging(self) -> Sequence[OpenApiParameter]:
        """How the list is trimmed and parted."""
        return [fields_parameter(self.known_fields()), LIMIT, CURSOR]

    def trimmed(self, value: Any, wanted: frozenset[str] | None) -> Any:
        """The page as it is: its rows have what is wanted."""
        return value

    def page(self, rows: list[Any], limit: int, cursor_of: Callable[[Any], str], told: Callable[[Any], Any]) -> Any:
        """A page of the rows, of which one more than asked for was read where there are more."""
        shown = rows[:limit]
        cursor = cursor_of(shown[-1]) if len(rows) > limit else None
        return {
            "items": [told(each) for each in shown],
            "next_cursor": cursor,
            "next": next_of(self.request.path, self.request.query_params, cursor),
        }


class ListView(Listed):
    """A list that a page has, too: its filter set, its sortable columns, the values of its exports.

    Attributes:
        listing: the page's declaration.
        identity: the fields that tell a row from every other, and that it is sorted by unless asked otherwise.
        more: what a row has beyond what exports have.
    """

    listing: ClassVar[Listing]
    identity: ClassVar[Sequence[str]]
    more: ClassVar[More] = {}

    def rows(self, **names: str) -> QuerySet[Any]:
        """Every row that the list could show."""
        raise NotImplementedError

    def parameters(self) -> Sequence[OpenApiParameter]:
        """The filters, and how the list is sorted, trimmed and parted."""
        sortable = [column.key for column in self.listing.columns if column.order]
        filters = filter_parameters(self.listing.filters)
        return [*filters, *self.takes, sort_parameter(sortable, self.by), *self.paging()]

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """One page of the rows, read by one query, so that a row that is written anew meanwhile isn't missed.

        Inside of it the keys are sorted alone: that is quick, sorting whole rows isn't.
        """
        asked = self.request.query_params
        limit, keys = read_limit(asked), self.keys()
        everything = self.rows(**names)
        found = read_filters(self.listing.filters(asked, queryset=everything, request=self.request))
        about = self.about(names)
        if "cursor" in asked:
            found = after(found, keys, read_cursor(asked["cursor"], about))
        pks = found.order_by(*ordering(keys)).values("pk")[: limit + 1]
        rows = list(everything.filter(pk__in=pks).order_by(*ordering(keys)))
        return self.page(
            rows,
            limit,
            lambda row: sealed(values_of(row, keys), about),
            lambda row: row_value(row, self.listing, wanted, self.more),
        )

    def keys(self) -> tuple[Key, ...]:
        """What the rows are sorted by.

        Raises:
            BadRequest: no column that sorts has the name that is asked for.
        """
        asked = self.request.query_params.get("sort")
        if asked is None:
            return keys_of((), self.identity)
        column = self.listing.column(asked.removeprefix("-"))
        if column is None:
            names = ", ".join(each.key for each in self.listing.columns if each.order)
            raise refused("sort", f"It is one of {names}, or one of these with - in front.")
        return keys_of(column.order, self.identity, descending=asked.startswith("-"))

    def about(self, names: Any) -> Any:
        """What a cursor belongs to: the list, the sort and the filters."""
        asked = self.request.query_params
        apart = {"cursor", LIMIT.name, FIELDS}
        return [
            self.operation,
            sorted(names.items()),
            sorted((name, asked[name]) for name in asked if name not in apart),
        ]
