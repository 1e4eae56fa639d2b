"""What is done to a review as a whole: bring it up to date, sign, close, have others take part, compare it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from selection.faces.api.examples import example_like
from selection.faces.api.parameters import query, refused
from selection.faces.api.problems import NotFound
from selection.faces.api.review_shapes import (
    Compared,
    Participants,
    Renewed,
    ReviewDetailShape,
    ReviewVersion,
    Signing,
)
from selection.faces.api.review_values import item_value, review_named, review_value, stale_value
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.api.writes import WriteView, answers, told_as_problems, writer_of
from selection.people.models import Participant, Review
from selection.people.persons import person_of
from selection.people.review_states import compare_reviews
from selection.people.reviews import (
    add_participants,
    close,
    preview_refresh,
    refresh,
    remove_participant,
    reopen,
    sign,
    unsign,
)
from selection.people.writing import Writer

__all__ = [
    "ReviewClose",
    "ReviewCompare",
    "ReviewParticipant",
    "ReviewParticipants",
    "ReviewRefresh",
    "ReviewReopen",
    "ReviewSign",
    "ReviewUnsign",
]

_ANSWERS = answers(ReviewDetailShape, "The review as it stands now.", 404)
_SEEN = [OpenApiExample("The version that you saw", request_only=True, value={"version": 3})]


class _ReviewAct(WriteView):
    """A view that does something to a review, and answers with it."""

    tag = "reviews"

    def done(self, request: Request, number: UUID, act: Callable[[Writer, Review], object]) -> Response:
        """Do it."""
        person = person_of(request)
        found = review_named(number)
        with told_as_problems(lambda row: stale_value(person, row)):
            act(writer_of(request), found)
        return Response(review_value(person, review_named(number)))


class ReviewRefresh(_ReviewAct, ReadView):
    """Look what bringing a review up to date would come to."""

    operation, shape = "previewRefresh", Renewed

    def state(self, **names: str) -> Hashable:
        """What it is about, what people did, and the day on which acceptances end."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """What it would come to."""
        found = review_named(names["review"])
        with told_as_problems(lambda row: row):
            told = preview_refresh(found)
        return {
            "items": told.items,
            "new": told.new,
            "kept": told.kept,
            "again": [item_value(each) for each in told.again],
            "gone": [item_value(each) for each in told.gone],
        }

    @extend_schema(
        operation_id="refreshReview",
        summary="Bring a review up to date",
        description="It freezes the scope anew. Answers to what rests on the same evidence stay.",
        request=ReviewVersion,
        responses=_ANSWERS,
        examples=_SEEN,
    )
    def post(self, request: Request, review: UUID) -> Response:
        """Bring it up to date."""
        seen = ReviewVersion.of(request)["version"]
        return self.done(request, review, lambda writer, row: refresh(writer, row, seen))


class ReviewSign(_ReviewAct):
    """Sign a review.

    What is frozen and answered, as `answers` stands for it; under the name that the token acts for. It is refused
    while items have no answer, and when something isn't as it was frozen.
    """

    operation = "signReview"

    @extend_schema(
        request=Signing,
        responses=_ANSWERS,
        examples=[
            OpenApiExample(
                "What you read",
                request_only=True,
                value={"version": 3, "answers": "0123456789abcdef0123456789abcdef", "note": "By the nightly check."},
            )
        ],
    )
    def post(self, request: Request, review: UUID) -> Response:
        """Sign it."""
        asked = Signing.of(request)
        return self.done(
            request,
            review,
            lambda writer, row: sign(writer, row, asked["version"], asked.get("note", ""), asked["answers"]),
        )


class ReviewUnsign(_ReviewAct):
    """Take your signature back."""

    operation = "unsignReview"

    @extend_schema(request=None, responses=_ANSWERS, examples=example_like("readReview", "Without your signature"))
    def post(self, request: Request, review: UUID) -> Response:
        """Take it back."""
        return self.done(request, review, unsign)


class ReviewClose(_ReviewAct):
    """Close a review as it is.

    Nothing is answered or signed any more.
    """

    operation = "closeReview"

    @extend_schema(request=ReviewVersion, responses=_ANSWERS, examples=_SEEN)
    def post(self, request: Request, review: UUID) -> Response:
        """Close it."""
        seen = ReviewVersion.of(request)["version"]
        return self.done(request, review, lambda writer, row: close(writer, row, seen))


class ReviewReopen(_ReviewAct):
    """Go on with a review that was closed."""

    operation = "reopenReview"

    @extend_schema(request=ReviewVersion, responses=_ANSWERS, examples=_SEEN)
    def post(self, request: Request, review: UUID) -> Response:
        """Open it again."""
        seen = ReviewVersion.of(request)["version"]
        return self.done(request, review, lambda writer, row: reopen(writer, row, seen))


class ReviewParticipants(_ReviewAct):
    """Have others take part in a review."""

    operation = "addParticipants"

    @extend_schema(
        request=Participants,
        responses=_ANSWERS,
        examples=[OpenApiExample("Two more", request_only=True, value={"names": ["ada", "grace"]})],
    )
    def post(self, request: Request, review: UUID) -> Response:
        """Have them take part."""
        names = Participants.of(request)["names"]
        return self.done(request, review, lambda writer, row: add_participants(writer, row, names))


class ReviewParticipant(_ReviewAct):
    """Have somebody take part in a review no more.

    What they wrote stays.
    """

    operation = "removeParticipant"

    @extend_schema(responses=_ANSWERS, examples=example_like("readReview", "Without them"))
    def delete(self, request: Request, review: UUID, person: str) -> Response:
        """Have them take part no more."""
        if not Participant.objects.filter(review=review_named(review), name=person).exists():
            raise NotFound(f"{person[:80]} doesn't take part.")
        return self.done(request, review, lambda writer, row: remove_participant(writer, row, person))


WITH = query("with", "The id of the earlier review; without it the one that this was opened to follow.",
             {"type": "string", "format": "uuid"})  # fmt: skip


class ReviewCompare(ReadView):
    """Compare a review with an earlier one.

    What is new, gone, and rests on other evidence or is of another severity.
    """

    operation, tag, shape = "compareReviews", "reviews", Compared
    takes = (WITH,)

    def state(self, **names: str) -> Hashable:
        """What people did, and what is seen."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """What differs."""
        review = review_named(names["review"])
        earlier = review_named(self._earlier(review))
        found = compare_reviews(review, earlier)
        return {
            "review": review.pk,
            "earlier": earlier.pk,
            "same": found.same,
            "new": [item_value(each) for each in found.new],
            "gone": [item_value(each) for each in found.gone],
            "changed": [{"before": item_value(then), "after": item_value(now)} for then, now in found.changed],
        }

    def _earlier(self, review: Review) -> UUID:
        told = self.request.query_params.get(WITH.name)
        if told is not None:
            try:
                return UUID(told)
            except ValueError:
                raise refused(WITH.name, "It is the id of a review.") from None
        if review.previous_id is None:
            raise NotFound("This review follows none; say with which one to compare it.")
        found: UUID = review.previous_id
        return found
