"""One mechanism for every list: filters, sort, pages, groups and exports, all in the URL.

A page declares a :class:`Listing` and hands its rows to :func:`show_list`, which answers with the page, with
its list alone when htmx asks for it, or with every filtered row as CSV or JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.utils.cache import patch_vary_headers

from .exports import EXPORTS, export, refused
from .listing import Column, Group, Listing, at_path, value_of
from .words import word

__all__ = ["PAGE_SIZE", "Column", "Group", "ListState", "Listing", "list_state", "respond", "show_list", "value_of"]

PAGE_SIZE = 50

Context = Mapping[str, Any] | Callable[["ListState"], Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading with the sort that a click asks for and the one that holds."""

    column: Column
    sort: str
    direction: str  # as ``aria-sort`` has it, "" when another column sorts


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in use, and the query string without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one group on this page; ``count`` is the group's size on all pages, ``begun`` on an earlier one.

    ``totals`` are what else the group counts, on all pages too.
    """

    key: tuple[object, ...]
    rows: list[Any]
    count: int | None = None
    begun: bool = False
    family: str = ""
    totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The group in words."""
        parts = [str(part) for part in self.key if part]
        return " / ".join(word(self.family, part).label if self.family else part for part in parts)


class ListState:
    """A list as one request asks for it. Templates read it; queries run when it is read.

    ``counted`` is how many rows the filters leave, where a summary has counted them: then nothing counts again.
    """

    counted: int | None = None

    def __init__(self, request: HttpRequest, listing: Listing, queryset: QuerySet[Any]) -> None:
        self.listing = listing
        self.path = request.path
        self.query = request.GET
        self.request = request
        self.everything = queryset
        self.filters = listing.filters(request.GET, queryset=queryset, request=request)
        self.form = self.filters.form

    @cached_property
    def valid(self) -> bool:
        """Whether every filter can be read. When one can't, no row is shown rather than the wrong ones."""
        return bool(self.form.is_valid())

    @cached_property
    def filtered(self) -> QuerySet[Any]:
        """Every row that the filters leave, not sorted."""
        return self.filters.qs if self.valid else self.everything.none()

    def narrowed_without(self, *names: str) -> QuerySet[Any]:
        """The rows that the other filters leave: what a summary that offers ``names`` counts."""
        if not self.valid:
            return self.everything.none()
        query = self.query.copy()
        for name in names:
            query.pop(name, None)
        filters = self.listing.filters(query, queryset=self.everything, request=self.request)
        found: QuerySet[Any] = filters.qs
        return found

    @cached_property
    def sort(self) -> str:
        """The sort in force: a column's key, with ``-`` for descending."""
        asked = self.query.get("sort", "")
        return asked if self.listing.column(asked.removeprefix("-")) else self.listing.sort

    @cached_property
    def group(self) -> Group | None:
        """The grouping in force."""
        return self.listing.groups.get(self.query.get("group") or self.listing.group)

    @cached_property
    def ordered(self) -> QuerySet[Any]:
        """Every filtered row in order. The primary key comes last, so that pages never share a row."""
        column = self.listing.column(self.sort.removeprefix("-"))
        fields = column.order if column else ()
        if self.sort.startswith("-"):
            fields = tuple(name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in fields)
        grouped = (*self.group.order, *self.group.fields) if self.group else ()
        return self.filtered.order_by(*grouped, *fields, *(self.everything.model._meta.ordering or ()), "pk")

    @cached_property
    def page(self) -> Page[Any]:
        """The page asked for; the last one when there aren't so many."""
        paginator = Paginator(self.ordered, PAGE_SIZE)
        if self.counted is not None:
            paginator.count = self.counted
        return paginator.get_page(self.query.get("page"))

    @cached_property
    def rows(self) -> list[Any]:
        """The rows of this page.

        Their keys first, then they themselves: sorting ten thousand keys is quick, sorting whole rows isn't.
        """
        place = max(0, self.page.start_index() - 1)
        keys = list(self.ordered.values_list("pk", flat=True)[place : place + PAGE_SIZE])
        found = self.everything.in_bulk(keys)
        return [found[key] for key in keys if key in found]

    @property
    def count(self) -> int:
        """How many rows the filters leave."""
        return self.page.paginator.count

    @cached_property
    def total(self) -> int:
        """How many rows there are without filters."""
        return self.everything.count() if self.chips or not self.valid else self.count

    @property
    def sentence(self) -> str:
        """How many rows are shown, for the eye and for assistive technology alike."""
        noun = f"{self.listing.noun}{pluralize(self.total)}"
        if not self.valid:
            return f"A filter can't be read, so none of {self.total:,} {noun} are shown."
        shown = f"{self.count:,} of {self.total:,}" if self.chips else f"{self.count:,}"
        page = f", page {self.page.number} of {self.page.paginator.num_pages}" if self.page.has_other_pages() else ""
        return f"{shown} {noun}{page}"

    @property
    def pages(self) -> list[int | str]:
        """The numbers of the pages, with ``…`` where some are left out."""
        paginator = self.page.paginator
        return list(paginator.get_elided_page_range(self.page.number, on_each_side=2, on_ends=1))

    @cached_property
    def fields(self) -> tuple[list[BoundField], list[BoundField], bool]:
        """The filters always in sight, the others, and whether one of the others is in use."""
        bound, seen = list(self.form), self.listing.fields
        return bound[:seen], bound[seen:], any(self.query.get(field.name) for field in bound[seen:])

    @cached_property
    def headings(self) -> list[Heading]:
        """The headings of the table."""
        return [self._heading(column) for column in self.listing.shown]

    def _heading(self, column: Column) -> Heading:
        """A heading. The first click shows the largest number first, the second turns the order round."""
        falling = self.sort.startswith("-")
        if column.key != self.sort.removeprefix("-"):
            return Heading(column, f"-{column.key}" if column.numeric else column.key, "")
        return Heading(column, column.key if falling else f"-{column.key}", "descending" if falling else "ascending")

    @cached_property
    def chips(self) -> list[Chip]:
        """The filters in use."""
        chips = []
        for name in self.form.fields:
            value = self.query.get(name, "")
            if value:
                choices = dict(getattr(self.form.fields[name], "choices", ()))
                chips.append(Chip(self.form[name].label, choices.get(value, value), self.query_string({name: ""})))
        return chips

    @cached_property
    def hidden(self) -> list[tuple[str, str]]:
        """What the filter form must carry along: how the list is shown, and what else the page has in its URL."""
        left_out = {"page", "format", *self.form.fields}
        return [(name, self.query.get(name, "")) for name in self.query if name not in left_out and self.query[name]]

    @property
    def address(self) -> str:
        """This list's URL without what is empty."""
        return self.path + self.query_string({})

    @property
    def unfiltered(self) -> str:
        """The query string without any filter."""
        return self.query_string(dict.fromkeys((*self.form.fields, "page"), ""))

    def query_string(self, changes: Mapping[str, str]) -> str:
        """The query string with these parameters changed, or left out where they are ``""``.

        It begins with ``?`` so that it is a link of its own. A change of anything but the page leads to the
        first page.
        """
        query = QueryDict(mutable=True)
        kept = {name: self.query.get(name, "") for name in self.query if name != "format"}
        if changes and set(changes) != {"page"}:
            kept.pop("page", None)
        query.update({name: value for name, value in {**kept, **changes}.items() if value})
        return f"?{query.urlencode()}"

    @cached_property
    def blocks(self) -> list[Block]:
        """The rows of this page by group, or in one block without a grouping. One query counts the groups."""
        if self.group is None:
            return [Block((), self.rows)]
        fields = self.group.fields
        paths = [name.replace("__", ".") for name in fields]
        keys = [tuple(at_path(row, path) for path in paths) for row in self.rows]
        groups = self._of_groups(fields, keys).order_by().values(*fields)
        counts = {
            tuple(found[name] for name in fields): found
            for found in groups.annotate(rows=Count("pk"), **self.group.totals)
        }
        blocks: list[Block] = []
        for key, row in zip(keys, self.rows, strict=True):
            if not blocks or blocks[-1].key != key:
                begun = not blocks and self.page.number > 1 and self._last_key_before(fields) == key
                told = counts.get(key, {})
                totals = {name: told.get(name, 0) for name in self.group.totals}
                blocks.append(Block(key, [], told.get("rows"), begun, self.group.family, totals))
            blocks[-1].rows.append(row)
        return blocks

    def _of_groups(self, fields: Sequence[str], keys: Sequence[tuple[object, ...]]) -> QuerySet[Any]:
        """The filtered rows without most that are in none of these groups, so that few are counted."""
        found = self.filtered
        for name, values in zip(fields, zip(*set(keys), strict=True), strict=False):
            one_of = Q(**{f"{name}__in": {value for value in values if value is not None}})
            found = found.filter(one_of | Q(**{f"{name}__isnull": True}) if None in values else one_of)
        return found

    def _last_key_before(self, fields: Sequence[str]) -> tuple[object, ...]:
        """The group of the last row on the page before."""
        place = self.page.start_index() - 2
        return next(iter(self.ordered.values_list(*fields)[place : place + 1]), ())

    def exported(self) -> Iterator[dict[str, object]]:
        """Every filtered row as the export has it, read as it is sent."""
        columns = [column for column in self.listing.columns if column.value is not None]
        for row in self.ordered.iterator(chunk_size=1000):
            yield {column.key: value_of(row, column) for column in columns}

    @property
    def exported_keys(self) -> list[str]:
        """The names of what is exported, in order."""
        return [column.key for column in self.listing.columns if column.value is not None]


def list_state(request: HttpRequest, listing: Listing, queryset: QuerySet[Any]) -> ListState:
    """The list as this request asks for it. ``queryset`` holds all rows that the list could show."""
    return ListState(request, listing, queryset)


def respond(request: HttpRequest, state: ListState, template: str, context: Context = None) -> HttpResponseBase:
    """Answer with the page, its list alone for htmx, or an export.

    The page, and the summary of the listing, find the state as ``list``; the page includes
    ``lists/filters.html`` and ``lists/list.html`` where it wants them. An export of a list with a filter that
    can't be read is refused with status 400: everything would be the wrong answer.

    Args:
        request: what was asked.
        state: the list, from :func:`list_state`.
        template: the whole page.
        context: what the templates need besides, or a function of the state that an export doesn't call.
    """
    form = request.GET.get("format", "")
    if form in EXPORTS:
        if not state.valid:
            return refused(state.form.errors)
        return export(form, state.listing.name, state.exported_keys, state.exported())
    more = context(state) if callable(context) else context or {}
    values = {**more, "list": state}
    if request.headers.get("HX-Request") == "true" and request.headers.get("HX-Target") == state.listing.region:
        response: HttpResponse = render(request, "lists/partial.html", values)
        response.headers["HX-Push-Url"] = state.address
    else:
        response = render(request, template, values)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def show_list(
    request: HttpRequest, listing: Listing, queryset: QuerySet[Any], template: str, context: Context = None
) -> HttpResponseBase:
    """A page that is one list: :func:`respond` with the rows of ``queryset``."""
    return respond(request, list_state(request, listing, queryset), template, context)
