"""What happened: everything that people did, as one list that is only added to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters_acts import ActFilter
from selection.faces.lists import Column, Group, Listing, ListState, list_state, respond
from selection.faces.subjects_shown import shown_subjects
from selection.people.persons import person_of
from selection.people.record import Reader, acts_of

__all__ = ["ACTS", "acts"]

ACTS = Listing(
    name="acts",
    noun="act",
    filters=ActFilter,
    columns=(
        Column("at", "When", ("at",), "at"),
        Column("actor", "Who", ("actor",), "actor"),
        Column("token", "", value="token"),
        Column("via", "", value="via"),
        Column("act", "Did what", ("act",), "act"),
        Column("subject", "To what", ("subject",), "subject"),
        Column("cluster", "", value="cluster"),
        Column("namespace", "", value="namespace"),
        Column("differences", "From what to what"),
        Column("before", "", value="before"),
        Column("after", "", value="after"),
        Column("batch", "", value="batch"),
        Column("number", "", value=lambda row: str(row.number)),
    ),
    row="acts/row.html",
    empty="acts/empty.html",
    sort="-at",
    groups={
        "actor": Group("who", ("actor",)),
        "subject": Group("subject", ("subject",), heading="acts/heading.html"),
    },
    fields=4,
)
"""The list; what its columns say of comments that were taken away depends on who reads (:func:`as_read_by`)."""


def _as_read_by(reader: Reader) -> Listing:
    """The list with the words that this reader may read."""
    read = {"before": reader.before, "after": reader.after}
    columns = [replace(each, value=read[each.key]) if each.key in read else each for each in ACTS.columns]
    return replace(ACTS, columns=tuple(columns))


@require_GET
def acts(request: HttpRequest) -> HttpResponseBase:
    """The page of what people did, ``/acts/``."""
    person = person_of(request)
    state = list_state(request, _as_read_by(Reader(person)), acts_of())

    def values(state: ListState) -> dict[str, Any]:
        return {"reader": Reader(person, state.rows), "shown": shown_subjects(row.subject for row in state.rows)}

    return respond(request, state, "acts/page.html", values)
