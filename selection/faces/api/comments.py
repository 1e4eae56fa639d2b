"""Comments: what people say of findings, objects, reviews and their items."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from selection.faces.api.examples import example_like
from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.parameters import query, refused
from selection.faces.api.paths import address
from selection.faces.api.problems import Forbidden, NotFound
from selection.faces.api.shapes import Shape, moment, number
from selection.faces.api.shapes import text as words
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.api.writes import Body, Text, WriteView, answers, seen_version, told_as_problems, writer_of
from selection.faces.filters_comments import CommentFilter
from selection.faces.listing import Column, Listing
from selection.people.comments import edit, may_remove, remove, say
from selection.people.markdown import LONGEST, as_html
from selection.people.models import Comment
from selection.people.persons import person_of
from selection.people.rights import Act, may
from selection.people.subjects import LONGEST as LONGEST_SUBJECT
from selection.people.subjects import BadSubject, Subject, parse
from selection.people.writing import Refused

__all__ = ["CommentDetail", "CommentList"]

DISCUSSED = frozenset({"finding", "object", "review", "item"})
"""What is discussed; accounts, roles and settings aren't."""

COMMENTS = Listing(
    name="comments",
    noun="comment",
    filters=CommentFilter,
    columns=(
        Column("subject", "", ("subject",), "subject"),
        Column("cluster", "", value="cluster"),
        Column("namespace", "", value="namespace"),
        Column("author", "", ("author",), "author"),
        Column("token", "", value="token"),
        Column("text", "", value="text"),
        Column("created_at", "", ("created_at",), "created_at"),
        Column("edited_at", "", value="edited_at"),
        Column("removed_at", "", value="removed_at"),
        Column("removed_by", "", value="removed_by"),
        Column("version", "", value="version"),
    ),
    row="",
    empty="",
    sort="created_at",
)
"""No page lists all comments: each stands where what it is about is shown."""


class CommentShape(Shape):
    """A comment."""

    id = words("Stands for this comment.")
    subject = words(
        "What it is about: `finding:KEY`, `object:KIND/NAMESPACE/NAME/CLUSTER` with `-` for no namespace, "
        "`review:ID` or `item:REVIEW/KEY`."
    )
    cluster = words('The cluster that it is about, `""` for several.')
    namespace = words('The namespace, `""` for none, `*` for several.')
    author = words("Who wrote it.")
    token = words('The name of the token that wrote it for them, or `""`.')
    text = words('What it says, in Markdown; `""` when it was removed.')
    html = words("The same as HTML that can do nothing: no scripts, no pictures from elsewhere.")
    created_at = moment("When.")
    edited_at = moment("When it was last edited.", null=True)
    removed_at = moment("When it was removed.", null=True)
    removed_by = words('Who removed it, or `""`.')
    version = number("Grows with each change: send it back when you write.")
    self = words("The path of this resource.")


MORE: More = {
    "id": lambda row: row.pk,
    "html": lambda row: str(as_html(row.text)),
    "self": lambda row: address("comment", {"comment": row.pk}),
}


class NewComment(Body):
    """Something to say."""

    subject = Text(max_length=LONGEST_SUBJECT, help_text="What it is about, as in `subject` of a comment.")
    text = Text(max_length=LONGEST, help_text="What to say, in Markdown. `@name` names somebody.")


class CommentChange(Body):
    """Something to say instead."""

    text = Text(max_length=LONGEST, help_text="What to say, in Markdown.")
    version = seen_version()


VERSION = query(
    "version",
    "The `version` that you saw: nothing is removed that somebody changed since.",
    {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
)
VERSION.required = True


def comment_value(row: Comment) -> dict[str, object]:
    """A comment as an answer."""
    return row_value(row, COMMENTS, None, MORE)


class CommentList(WriteView, ListView):
    """List comments.

    In the order in which they were said; `subject` asks for those about one thing.
    """

    operation, tag = "listComments", "comments"
    row, shape = CommentShape, list_shape(CommentShape)
    listing, more = COMMENTS, MORE
    identity, by = ("created_at", "pk"), "time"

    def state(self, **names: str) -> Hashable:
        """What people did, and what is seen."""
        return of_answers(), of_people()

    def rows(self, **names: str) -> QuerySet[Comment]:
        """Every comment that is seen."""
        return Comment.objects.all()

    @extend_schema(
        operation_id="createComment",
        summary="Say something",
        description="The `Location` of the answer is where the comment is.",
        request=NewComment,
        responses=answers(CommentShape, "The comment.", 404, success=201),
        examples=[
            OpenApiExample(
                "Of a service",
                request_only=True,
                value={
                    "subject": "object:InferenceService/frontier/research-chat/eu-prod",
                    "text": "@ada, is **this** the runtime that we want?",
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """Say it."""
        asked = NewComment.of(request)
        with told_as_problems(comment_value):
            row = say(writer_of(request), _subject(request, asked["subject"]), asked["text"])
        return Response(comment_value(row), 201, headers={"Location": address("comment", {"comment": row.pk})})


class CommentDetail(WriteView, ReadView):
    """Read a comment."""

    operation, tag, shape = "readComment", "comments", CommentShape

    def parameters(self) -> Any:
        """Removing says the version in the query: a DELETE has no body."""
        return [VERSION] if self.request.method == "DELETE" else super().parameters()

    def state(self, **names: str) -> Hashable:
        """What people did."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """The comment."""
        return comment_value(_comment(names["comment"]))

    @extend_schema(
        operation_id="editComment",
        summary="Say a comment otherwise",
        description="One's own; what it was stays in the record.",
        request=CommentChange,
        responses=answers(CommentShape, "The comment.", 404),
        examples=[
            OpenApiExample("Another text", request_only=True, value={"text": "It *is* the one.", "version": 1}),
        ],
    )
    def patch(self, request: Request, comment: UUID) -> Response:
        """Say it otherwise."""
        asked = CommentChange.of(request)
        with told_as_problems(comment_value):
            row = edit(writer_of(request), _comment(comment), asked["text"], asked["version"])
        return Response(comment_value(row))

    @extend_schema(
        operation_id="removeComment",
        summary="Remove a comment",
        description="One's own, or anybody's as an admin of the place. That there was one stays to be seen.",
        responses=answers(CommentShape, "What is left of it.", 404),
        examples=example_like("readComment", "As reading it tells"),
    )
    def delete(self, request: Request, comment: UUID) -> Response:
        """Take it away."""
        by, row = writer_of(request), _comment(comment)
        if not may_remove(by, row):
            raise Forbidden(f"This comment is {row.author}'s.")
        told = request.query_params.get("version", "")
        if not (told.isascii() and told.isdecimal() and len(told) < 10):
            raise refused("version", "It is the version that you saw, a whole number.")
        with told_as_problems(comment_value):
            row = remove(by, row, int(told))
        return Response(comment_value(row))


def _comment(number: UUID) -> Comment:
    found = Comment.objects.filter(pk=number).first()
    if found is None:
        raise NotFound(f"There is no comment {number}.")
    return found


def _subject(request: Request, told: str) -> Subject:
    """What somebody wants to say something of.

    Raises:
        Refused: it names nothing that is discussed.
        NotFound: it is where whoever asks sees nothing.
    """
    try:
        subject = parse(told)
    except BadSubject as error:
        raise Refused(str(error), "subject") from None
    if subject.sort not in DISCUSSED:
        raise Refused("that isn't discussed", "subject")
    if not may(person_of(request), Act.SEE, subject.cluster, subject.namespace):
        raise NotFound(f"There is nothing called {told[:80]}.")
    return subject
