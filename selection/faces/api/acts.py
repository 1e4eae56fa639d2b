"""The record: what people did, from what to what, on pages, through this interface and by commands."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from selection.faces.api.lists import ListView, list_shape
from selection.faces.api.shapes import Shape, mapped, moment, text
from selection.faces.api.states import of_answers, of_people
from selection.faces.pages.acts import ACTS
from selection.people.models import ActRecord
from selection.people.persons import person_of
from selection.people.record import Reader, acts_of

__all__ = ["ActList"]


class ActRow(Shape):
    """Something that somebody did."""

    at = moment("When.")
    actor = text("Who.")
    token = text('The name of the token that acted for them, or `""`.')
    via = text("`page`, `api` or `command`.")
    act = text("What, as a code.")
    subject = text("To what, as in `subject` of a comment; also `account:`, `group:`, `cluster:` and `code:`.")
    cluster = text('The cluster that it was about, `""` for several or none.')
    namespace = text('The namespace, `""` for none, `*` for several.')
    before = mapped("The fields that it changed, as they were; null when there was nothing.", null=True)
    after = mapped("The same as they became; null when there was nothing any more.", null=True)
    batch = text('Shared by what was done as one, and undoes it; `""` for what was done alone.')
    number = text("Stands for this act, wherever it is brought to.")


def _read(name: str) -> Callable[[ActRecord], object]:
    """What of an act's before or after whoever asks may read: the words of a removed comment are for admins."""
    return lambda row: getattr(vars(row)["reader"], name)(row)


_COLUMNS = tuple(
    replace(each, value=_read(each.key)) if each.key in ("before", "after") else each for each in ACTS.columns
)


class ActList(ListView):
    """List what people did.

    The newest first unless `sort` says otherwise. Nothing in it is ever changed.
    """

    operation, tag = "listActs", "acts"
    row, shape = ActRow, list_shape(ActRow)
    listing = replace(ACTS, columns=_COLUMNS)
    identity, by = ("-at", "-number"), "time, the newest first"

    def state(self, **names: str) -> Hashable:
        """What people did, and how much of it a token may read; None where the query counts back from now."""
        if {"since", "until"} & set(self.request.query_params):
            return None
        return of_answers(), of_people(), str(person_of(self.request).scope)

    def rows(self, **names: str) -> QuerySet[ActRecord]:
        """Every act that is seen."""
        return acts_of()

    def page(self, rows: list[Any], limit: int, cursor_of: Callable[[Any], str], told: Callable[[Any], Any]) -> Any:
        """A page, as whoever asks may read it."""
        reader = Reader(person_of(self.request), rows)
        for row in rows:
            vars(row)["reader"] = reader
        return super().page(rows, limit, cursor_of, told)
