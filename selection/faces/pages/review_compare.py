"""A review beside an earlier one: what is new, gone, and rests on other evidence."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.reviewing import find_review, frozen
from selection.people.models import Review, ReviewItem
from selection.people.review_states import compare_reviews

__all__ = ["MOST", "review_compare"]

MOST = 200
"""So many of each sort are shown."""


@require_GET
def review_compare(request: HttpRequest, number: UUID) -> HttpResponse:
    """``/reviews/<uuid>/compare/?with=<uuid>``; without a choice the review that it was opened to be compared with."""
    review = find_review(number)
    asked = request.GET.get("with", "")
    others = list(Review.objects.exclude(pk=review.pk))
    by_text = {str(each.pk): each for each in others}
    earlier = by_text.get(asked or str(review.previous_id or ""))
    values = {
        "review": review,
        "others": others,
        "earlier": earlier,
        "most": MOST,
        "unknown": asked if earlier is None else "",
    }
    if earlier is not None:
        found = compare_reviews(review, earlier, facts=False)
        changed = found.changed[:MOST]
        values |= {
            "found": found,
            "new": _with_findings(found.new[:MOST]),
            "gone": _with_findings(found.gone[:MOST]),
            "changed": list(
                zip((then for then, _ in changed), _with_findings([now for _, now in changed]), strict=False)
            ),
        }
    return render(request, "reviews/compare.html", values)


def _with_findings(items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """The items whole, each with the finding that it was."""
    whole = ReviewItem.objects.in_bulk([item.pk for item in items])
    found = [whole[item.pk] for item in items if item.pk in whole]
    for item in found:
        vars(item)["finding"] = frozen(item)
    return found
