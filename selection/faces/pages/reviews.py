"""Reviews: the list of them, and opening one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from selection.faces.filters_reviews import ReviewFilter
from selection.faces.lists import Column, Listing, ListState, show_list
from selection.faces.review_forms import OpenForm, initial_of, left_out, reviewable
from selection.faces.reviewing import scope_text, writer_of
from selection.people.freezing import MOST_ITEMS, Scope, findings_in
from selection.people.models import Review
from selection.people.persons import person_of
from selection.people.review_states import Standing, standings_of
from selection.people.reviews import open_review
from selection.people.rights import Act, may_somewhere
from selection.people.writing import Refused
from selection.store.findings import code_counts

__all__ = ["REVIEWS", "new_review", "reviews"]


def _standing(row: Review) -> Standing:
    """Where a row stands, asked once."""
    known: Standing | None = vars(row).get("standing")
    if known is None:
        known = vars(row)["standing"] = standings_of([row])[row.pk]
    return known


def _scope(row: Review) -> str:
    places = [(place.cluster, place.namespace) for place in row.places.all()]
    return scope_text(places, row.codes, row.severities)


REVIEWS = Listing(
    name="reviews",
    noun="review",
    filters=ReviewFilter,
    columns=(
        Column("name", "Review", ("name",), "name"),
        Column("id", "", value="id"),
        Column("scope", "About", value=_scope),
        Column("state", "State", value=lambda row: _standing(row).state),
        Column("items", "", value=lambda row: _standing(row).progress.total),
        Column("answered", "Answered", value=lambda row: _standing(row).progress.answered),
        Column("signed", "Signed", value=lambda row: _standing(row).signed),
        Column("signatures_needed", "", value="signatures_needed"),
        Column("opened", "Opened", ("-created_at",)),
        Column("created_by", "", value="created_by"),
        Column("created_at", "", value="created_at"),
        Column("frozen_at", "", value="frozen_at"),
        Column("closed_at", "", value="closed_at"),
        Column("closed_by", "", value="closed_by"),
    ),
    row="reviews/row.html",
    empty="reviews/empty.html",
    sort="opened",
)


@require_GET
def reviews(request: HttpRequest) -> HttpResponseBase:
    """The page of reviews, ``/reviews/``: those of which whoever asks sees everything."""
    person = person_of(request)
    rows = Review.objects.prefetch_related("places")

    def context(state: ListState) -> dict[str, Any]:
        for pk, standing in standings_of(state.rows).items():
            vars(next(row for row in state.rows if row.pk == pk))["standing"] = standing
        for row in state.rows:
            vars(row)["about"] = _scope(row)
        return {"may_open": may_somewhere(person, Act.REVIEW), "person_name": person.name}

    return show_list(request, REVIEWS, rows, "reviews/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_review(request: HttpRequest) -> HttpResponse:
    """The page that opens a review, ``/reviews/new/``; the query prefills its scope as the list of findings has it.

    ``do=preview`` counts what it would hold and writes nothing.
    """
    person = person_of(request)
    if not may_somewhere(person, Act.REVIEW):
        raise PermissionDenied("You may not review anywhere.")
    places = reviewable(person)
    if request.method != "POST":
        initial = initial_of(request.GET, places, timezone.now().date().isoformat())
        form = OpenForm(places, initial=initial)
        scope = _initial_scope(form, places)
        return _page(request, form, scope, left_out=left_out(request.GET))
    form = OpenForm(places, request.POST)
    if not form.is_valid():
        return _page(request, form, None, status=422)
    if request.POST.get("do") == "preview":
        return _page(request, form, form.scope)
    given = form.cleaned_data
    try:
        review = open_review(
            writer_of(request),
            given["name"],
            form.scope,
            purpose=given["purpose"],
            signatures_needed=given["signatures_needed"],
            participants=given["participants"],
            previous=given["previous"],
        )
    except Refused as error:
        form.add_error(error.field if error.field in form.fields else None, f"{error}.")
        return _page(request, form, form.scope, status=422)
    messages.success(request, f"{review.name} is open.", extra_tags="good")
    return redirect("review", review.pk)


def _initial_scope(form: OpenForm, places: list[tuple[str, str]]) -> Scope | None:
    """The scope that the form begins with, where there is one."""
    bound = OpenForm(places, {**form.initial, "signatures_needed": 1, "participants": "", "purpose": ""})
    return bound.scope if bound.is_valid() else None


def _page(
    request: HttpRequest, form: OpenForm, scope: Scope | None, *, left_out: list[str] | None = None, status: int = 200
) -> HttpResponse:
    counts = code_counts(findings_in(scope)) if scope else {}
    total = sum(count for _, count in counts.values())
    values = {
        "form": form,
        "counted": scope is not None,
        "counts": [(code, severity, count) for code, (severity, count) in counts.items()],
        "total": total,
        "most": MOST_ITEMS,
        "too_many": total > MOST_ITEMS,
        "left_out": left_out or [],
    }
    return render(request, "reviews/new.html", values, status=status)
