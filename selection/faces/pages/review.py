"""One review: where it stands, who takes part and signed, and its items."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from selection.faces.discussing import discussion_of
from selection.faces.filters_reviews import ItemFilter
from selection.faces.lists import Column, Group, Listing, list_state, respond
from selection.faces.pictures import parts
from selection.faces.review_markdown import review_markdown
from selection.faces.reviewing import allowed, find_review, frozen, item_sentence, scope_text, writer_of
from selection.people.markdown import as_html
from selection.people.models import Review, ReviewItem
from selection.people.persons import person_of
from selection.people.review_differences import SHOWN, tell_apart
from selection.people.review_rows import subject_of
from selection.people.review_states import Progress, state_of
from selection.people.reviews import add_participants, remove_participant
from selection.people.writing import Refused

__all__ = ["ITEMS", "review", "review_participants"]

ITEMS = Listing(
    name="items",
    noun="item",
    filters=ItemFilter,
    columns=(
        Column("place", "No.", ("place",), "place", numeric=True),
        Column("severity", "Severity", ("place",), "severity"),
        Column("code", "Finding", ("code", "place"), "code"),
        Column("cluster", "", value="cluster"),
        Column("kind", "", value="kind"),
        Column("namespace", "", value="namespace"),
        Column("name", "Object", ("name", "namespace", "cluster"), "name"),
        Column("component", "", value="component"),
        Column("about", "", value="about"),
        Column("path", "", value="path"),
        Column("what", "What it is", value=item_sentence),
        Column("answer", "Answer", ("answer", "place"), "answer"),
        Column("owner", "", value="owner"),
        Column("reason", "", value="reason"),
        Column("expires_on", "", value="expires_on"),
        Column("answered_by", "", value="answered_by"),
        Column("answered_at", "", value="answered_at"),
        Column("key", "", value="key"),
        Column("evidence", "", value="evidence"),
        Column("facts", "", value="facts"),
        Column("version", "", value="version"),
    ),
    row="reviews/item_row.html",
    empty="reviews/no_items.html",
    sort="place",
    groups={
        "code": Group("finding", ("code",), (), "code"),
        "namespace": Group("namespace", ("cluster", "namespace")),
        "object": Group("object", ("cluster", "kind", "namespace", "name")),
    },
)


@require_GET
def review(request: HttpRequest, number: UUID) -> HttpResponseBase:
    """The page of one review, ``/reviews/<uuid>/``.

    ``format=csv|json`` sends its items as filtered, ``format=markdown`` all of it, ``format=page`` shows all of it as
    a page for paper.
    """
    found = find_review(number)
    form = request.GET.get("format", "")
    if form in {"markdown", "page"}:
        return _whole(request, found, form)
    items = list_state(request, ITEMS, ReviewItem.objects.filter(review=found))

    def context(_: Any) -> dict[str, Any]:
        for row in items.rows:
            vars(row)["finding"] = frozen(row)
        return {**_values(request, found), "discussion": discussion_of(request, subject_of(found))}

    return respond(request, items, "reviews/review.html", context)


def _values(request: HttpRequest, found: Review) -> dict[str, Any]:
    state = state_of(found)
    person = person_of(request)
    places = [(place.cluster, place.namespace) for place in found.places.all()]
    mine = any(each.name == person.name for each in state.signatures)
    first_open = ReviewItem.objects.filter(review=found, answer="").order_by("place").values_list("place", flat=True)
    return {
        "review": found,
        "state": state,
        "progress": state.progress,
        "parts": _parts(state.progress),
        "differs": [(what, rows, len(rows) >= SHOWN) for what, rows in tell_apart(state.differences).items()],
        "scope": scope_text(places, found.codes, found.severities),
        "purpose": as_html(found.purpose) if found.purpose else "",
        "participants": list(found.participants.all()),
        "previous": Review.objects.filter(pk=found.previous_id).first() if found.previous_id else None,
        "allowed": allowed(person, found),
        "mine": mine,
        "first_open": first_open.first() or 1,
        "missing": max(0, found.signatures_needed - len(state.signatures)),
    }


def _parts(progress: Progress) -> list[Any]:
    counts = [
        ("fine", progress.fine),
        ("accepted", progress.accepted),
        ("needs-change", progress.needs_change),
        ("unanswered", progress.open),
    ]
    return parts(counts, max(1, progress.total))


def _whole(request: HttpRequest, found: Review, form: str) -> HttpResponse:
    values = _values(request, found)
    rows = list(ReviewItem.objects.filter(review=found))
    if form == "markdown":
        text = review_markdown(
            found, values["state"], rows, values["scope"], [each.name for each in values["participants"]]
        )
        return HttpResponse(
            text,
            content_type="text/markdown; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="review.md"'},
        )
    for row in rows:
        vars(row)["finding"] = frozen(row)
    return render(request, "reviews/paper.html", {**values, "rows": rows})


@require_POST
def review_participants(request: HttpRequest, number: UUID) -> HttpResponse:
    """Have people take part, ``/reviews/<uuid>/participants/``: ``add`` names, by commas, or ``remove`` one."""
    found = find_review(number)
    names = [name for name in request.POST.get("add", "").split(",") if name.strip()]
    try:
        if names:
            add_participants(writer_of(request), found, names)
        if removed := request.POST.get("remove", ""):
            remove_participant(writer_of(request), found, removed)
    except Refused as error:
        messages.error(request, f"{error}.", extra_tags="bad")
    return redirect("review", found.pk)
