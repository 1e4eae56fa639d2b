"""A review beside an earlier one: what is new, gone, and rests on other evidence."""

from __future__ import annotations

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
        found = compare_reviews(review, earlier)
        values |= {
            "found": found,
            "new": _with_findings(found.new),
            "gone": _with_findings(found.gone),
            "changed": [
                (then, now)
                for then, now in zip(
                    _with_findings(tuple(each[0] for each in found.changed)),
                    _with_findings(tuple(each[1] for each in found.changed)),
                    strict=True,
                )
            ],
        }
    return render(request, "reviews/compare.html", values)


def _with_findings(items: tuple[ReviewItem, ...]) -> list[ReviewItem]:
    for item in items[:MOST]:
        vars(item)["finding"] = frozen(item)
    return list(items[:MOST])
