"""A review of the demo fleet that is always there, half answered and discussed, under a number that pages can name."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from selection.people.comments import say
from selection.people.freezing import Scope
from selection.people.models import Participant, Review, ReviewInput, ReviewItem, ReviewPlace, Signature
from selection.people.review_rows import subject_of
from selection.people.reviews import Reply, answer, close, open_review
from tests.people.writers import by

__all__ = ["EARLIER", "REVIEW", "review_the_demo_fleet"]

REVIEW = "0d3c1a52-6d1e-4c5e-9c55-000000000012"
EARLIER = "0d3c1a52-6d1e-4c5e-9c55-000000000011"


def _numbered(review: Review, number: str) -> Review:
    """The review under another number."""
    with transaction.atomic():
        Review.objects.filter(pk=review.pk).update(id=number)
        for model in (ReviewPlace, ReviewInput, ReviewItem, Participant, Signature):
            model._base_manager.filter(review=review.pk).update(review=number)
    return Review.objects.get(pk=number)


def review_the_demo_fleet() -> Review:
    """A closed review, and one after it with some answers."""
    ada = by("ada")
    errors = Scope((("us-lab", ""),), severities=("error",))
    earlier = _numbered(open_review(ada, "Sprint 11: errors", errors), EARLIER)
    close(ada, earlier, 1)
    scope = Scope((("us-lab", ""),), severities=("error", "warning"))
    purpose = "Before the upgrade:\n\n- what *breaks*?\n- who changes it?"
    opened = open_review(ada, "Sprint 12: before the upgrade", scope, purpose=purpose, participants=["mara"])
    with transaction.atomic():
        Review.objects.filter(pk=opened.pk).update(previous=earlier)
    review = _numbered(opened, REVIEW)
    soon = timezone.now().date() + timedelta(days=30)
    replies = (
        Reply("fine", reason="It is meant so."),
        Reply("needs-change", owner="mara", reason="Name a model that is there."),
        Reply("accepted", reason="A sandbox: nobody calls it.", expires_on=soon),
    )
    for item, reply in zip(ReviewItem.objects.filter(review=review), replies, strict=False):
        answer(ada, item, reply, 1)
    say(by("mara"), subject_of(review), "Who looks at the *sandbox*?")
    return review
