"""The items of a review: all of them, one, and answering it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from selection.faces.api.lists import ListView, list_shape
from selection.faces.api.review_shapes import Answer, ItemDetailShape, ItemRow
from selection.faces.api.review_values import ITEM_MORE, item_named, item_value, review_named, stale_value
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.api.writes import WriteView, answers, told_as_problems, writer_of
from selection.faces.pages.review import ITEMS
from selection.people.models import ReviewItem
from selection.people.persons import person_of
from selection.people.review_rows import subject_of_item
from selection.people.reviews import Reply, answer

__all__ = ["ItemAnswer", "ItemDetail", "ItemList"]


class ItemList(ListView):
    """List the items of a review."""

    operation, tag = "listReviewItems", "reviews"
    row, shape = ItemRow, list_shape(ItemRow)
    listing, more = ITEMS, ITEM_MORE
    identity, by = ("place", "key"), "place"

    def state(self, **names: str) -> Hashable:
        """What people did, and what is seen."""
        return of_answers(), of_people()

    def rows(self, **names: Any) -> QuerySet[ReviewItem]:
        """The review's items."""
        return ReviewItem.objects.filter(review=review_named(names["review"]))


class ItemDetail(ReadView):
    """Read an item of a review.

    It is named by its place, or by its finding's key, which stays when the review is brought up to date.
    """

    operation, tag, shape = "readReviewItem", "reviews", ItemDetailShape

    def state(self, **names: str) -> Hashable:
        """What people did, and what is seen."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """The item."""
        row = item_named(review_named(names["review"]), names["item"])
        return {**item_value(row), "subject": subject_of_item(row).text}


class ItemAnswer(WriteView):
    """Answer an item of a review.

    What it says of the finding is done with it, too: `needs-change` gives it an owner and takes it on, `accepted`
    accepts it.
    """

    operation, tag = "answerReviewItem", "reviews"

    @extend_schema(
        request=Answer,
        responses=answers(ItemRow, "The item.", 404),
        examples=[
            OpenApiExample(
                "Somebody has to change it",
                request_only=True,
                value={
                    "answer": "needs-change",
                    "owner": "ada",
                    "reason": "It should name a runtime.",
                    "version": 1,
                },
            ),
            OpenApiExample("It is fine", request_only=True, value={"answer": "fine", "version": 1}),
        ],
    )
    def put(self, request: Request, review: UUID, item: str) -> Response:
        """Answer it."""
        asked = Answer.of(request)
        person = person_of(request)
        row = item_named(review_named(review), item)
        told = Reply(asked["answer"], asked.get("owner", ""), asked.get("reason", ""), asked.get("expires_on"))
        with told_as_problems(lambda now: stale_value(person, now)):
            done = answer(writer_of(request), row, told, asked["version"], asked.get("evidence", ""))
        return Response(item_value(done))
