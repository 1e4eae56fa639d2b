"""Reviews: the list of them, opening one, and one with where it stands; also as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from selection.faces.api.lists import ListView, More, list_shape
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.rendering import Renderer
from selection.faces.api.review_shapes import NewReview, ReviewDetailShape, ReviewRow
from selection.faces.api.review_values import review_named, review_value, stale_value
from selection.faces.api.schema import with_problems
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.api.writes import WriteView, answers, told_as_problems, writer_of
from selection.faces.pages.reviews import REVIEWS
from selection.faces.review_markdown import review_markdown
from selection.faces.reviewing import scope_text
from selection.people.freezing import Scope
from selection.people.models import Review, ReviewItem
from selection.people.persons import person_of
from selection.people.review_states import standings_of, state_of
from selection.people.reviews import open_review
from selection.people.rights import Act, may
from selection.people.writing import Refused

__all__ = ["ReviewDetail", "ReviewList"]

MORE: More = {"self": lambda row: address("review", {"review": row.pk})}


class ReviewList(WriteView, ListView):
    """List reviews.

    The newest first unless `sort` says otherwise: those of which you see everything that they are about.
    """

    operation, tag = "listReviews", "reviews"
    row, shape = ReviewRow, list_shape(ReviewRow)
    listing, more = REVIEWS, MORE
    identity, by = ("-created_at", "-pk"), "time, the newest first"

    def state(self, **names: str) -> Hashable:
        """What they are about, what people did, and the day on which acceptances end."""
        return of_answers(), of_people()

    def rows(self, **names: str) -> QuerySet[Review]:
        """Every review that is seen."""
        return Review.objects.prefetch_related("places")

    def page(self, rows: list[Any], limit: int, cursor_of: Callable[[Any], str], told: Callable[[Any], Any]) -> Any:
        """A page; where its reviews stand is asked for all of them at once."""
        standings = standings_of(rows[:limit])
        for row in rows[:limit]:
            vars(row)["standing"] = standings[row.pk]
        return super().page(rows, limit, cursor_of, told)

    @extend_schema(
        operation_id="openReview",
        summary="Open a review",
        description="It freezes the findings of its scope as they are now, and the objects that they rest on. The "
        "`Location` of the answer is where the review is.",
        request=NewReview,
        responses=answers(ReviewDetailShape, "The review.", 404, success=201),
        examples=[
            OpenApiExample(
                "What is broken in one namespace",
                request_only=True,
                value={
                    "name": "Before the upgrade",
                    "places": [{"cluster": "eu-prod", "namespace": "frontier"}],
                    "severities": ["error"],
                    "signatures_needed": 2,
                    "participants": ["ada"],
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """Open it."""
        asked = NewReview.of(request)
        person = person_of(request)
        places = tuple((each["cluster"], each.get("namespace") or "") for each in asked["places"])
        for cluster, namespace in places:
            if not may(person, Act.SEE, cluster, namespace):
                raise NotFound(f"There is no {f'namespace {namespace} of ' if namespace else 'cluster '}{cluster}.")
        scope = Scope(places, tuple(asked.get("codes", ())), tuple(asked.get("severities", ())))
        with told_as_problems(lambda row: stale_value(person, row)):
            found = open_review(
                writer_of(request),
                asked["name"],
                scope,
                purpose=asked.get("purpose", ""),
                signatures_needed=asked.get("signatures_needed", 1),
                participants=asked.get("participants", ()),
                previous=_previous(asked.get("previous")),
            )
        value = review_value(person, review_named(found.pk))
        return Response(value, 201, headers={"Location": value["self"]})


def _previous(number: UUID | None) -> Review | None:
    if number is None:
        return None
    found = Review.objects.filter(pk=number).first()
    if found is None:
        raise Refused(f"there is no review {number}", "previous")
    return found


class MarkdownRenderer(BaseRenderer):
    """A text that is Markdown already."""

    media_type, format, charset = "text/markdown", "markdown", "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """The text as bytes."""
        return str(data).encode("utf-8", "replace")


class ReviewDetail(ReadView):
    """Read a review.

    Where it stands, what isn't as it was frozen, who takes part and who signed; with its items as Markdown.
    """

    operation, tag, shape = "readReview", "reviews", ReviewDetailShape
    renderer_classes = (Renderer, MarkdownRenderer)

    def state(self, **names: str) -> Hashable:
        """What it is about, what people did, the day on which acceptances end, and who asks in which form."""
        accepted = self.request.accepted_media_type
        return of_answers(), of_people(), accepted, str(person_of(self.request).scope)

    @extend_schema(
        responses={
            **with_problems({(200, Renderer.media_type): ReviewDetailShape}, 400, 404),
            (200, MarkdownRenderer.media_type): OpenApiResponse(OpenApiTypes.STR, "All of it as Markdown."),
            304: OpenApiResponse(None, "It is what you have."),
        }
    )
    def get(self, request: Request, **names: Any) -> Response:
        """Answer, or say that nothing has changed."""
        return super().get(request, **names)

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """The review."""
        found = review_named(names["review"])
        if self.request.accepted_renderer.format == MarkdownRenderer.format:
            return Response(_markdown(found))
        return review_value(person_of(self.request), found)


def _markdown(review: Review) -> str:
    places = [(place.cluster, place.namespace) for place in review.places.all()]
    return review_markdown(
        review,
        state_of(review),
        list(ReviewItem.objects.filter(review=review)),
        scope_text(places, review.codes, review.severities),
        list(review.participants.values_list("name", flat=True)),
    )
