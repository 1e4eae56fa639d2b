"""Reviews and their items as answers, and finding those that an address names."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from selection.faces.api.lists import More, row_value
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.pages.review import ITEMS
from selection.faces.reviewing import allowed, scope_text
from selection.people.markdown import as_html
from selection.people.models import Review, ReviewItem, Signature
from selection.people.persons import Person
from selection.people.review_states import ReviewState, answers_digest, state_of

__all__ = ["ITEM_MORE", "item_named", "item_value", "review_named", "review_value", "stale_value"]


def _item_address(row: ReviewItem) -> str:
    return address("review-item", {"review": row.review_id, "item": str(row.place)})


ITEM_MORE: More = {"self": _item_address}


def review_named(number: UUID) -> Review:
    """The review of that id, with its places.

    Raises:
        NotFound: there is none, or it is about something that whoever asks doesn't see.
    """
    found = Review.objects.prefetch_related("places").filter(pk=number).first()
    if found is None:
        raise NotFound(f"There is no review {number}, or you don't see all that it is about.")
    return found


def item_named(review: Review, told: str) -> ReviewItem:
    """An item of a review, by its place or its finding's key.

    Raises:
        NotFound: it has none such.
    """
    rows = ReviewItem.objects.filter(review=review)
    by_place = told.isascii() and told.isdecimal() and len(told) < 7
    found = rows.filter(place=int(told)).first() if by_place else rows.filter(key=told).first()
    if found is None:
        raise NotFound(f"The review has no item {told[:80]}.")
    return found


def item_value(row: ReviewItem) -> dict[str, Any]:
    """An item as an answer."""
    return row_value(row, ITEMS, None, ITEM_MORE)


def review_value(person: Person, review: Review) -> dict[str, Any]:
    """A review, and where it stands now."""
    state = state_of(review)
    places = [(place.cluster, place.namespace) for place in review.places.all()]
    may = allowed(person, review)
    return {
        "id": review.pk,
        "name": review.name,
        "purpose": review.purpose,
        "purpose_html": str(as_html(review.purpose)),
        "places": [{"cluster": cluster, "namespace": namespace or None} for cluster, namespace in places],
        "codes": review.codes,
        "severities": review.severities,
        "scope": scope_text(places, review.codes, review.severities),
        "state": state.state,
        "progress": _progress(state),
        "differences": [each.to_dict() for each in state.differences],
        "signatures_needed": review.signatures_needed,
        "signatures": [
            *(_signature(each, counts=True) for each in state.signatures),
            *(_signature(each, counts=False) for each in state.earlier),
        ],
        "participants": list(review.participants.values("name", "added_by", "added_at")),
        "previous": review.previous_id,
        "created_by": review.created_by,
        "created_at": review.created_at,
        "frozen_at": review.frozen_at,
        "digest": review.state_digest,
        "answers": answers_digest(review),
        "closed_at": review.closed_at,
        "closed_by": review.closed_by,
        "version": review.version,
        "may": {"review": may.review, "sign": may.sign},
        "self": address("review", {"review": review.pk}),
    }


def stale_value(person: Person, row: Review | ReviewItem) -> dict[str, Any]:
    """What somebody else changed meanwhile, as reading it tells."""
    return review_value(person, review_named(row.pk)) if isinstance(row, Review) else item_value(row)


def _progress(state: ReviewState) -> dict[str, int]:
    names = ("total", "answered", "open", "fine", "needs_change", "accepted")
    return {name: getattr(state.progress, name) for name in names}


def _signature(row: Signature, *, counts: bool) -> dict[str, Any]:
    told = {name: getattr(row, name) for name in ("name", "token", "signed_at", "note")}
    return {**told, "counts": counts}
