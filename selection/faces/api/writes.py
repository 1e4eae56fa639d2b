"""What views that write have in common: bodies that are read strictly, who writes, and why it can't be as a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db import models
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from selection.faces.api.problems import MEDIA_TYPE, BadRequest, Conflict, Forbidden
from selection.faces.api.schema import with_problems
from selection.faces.api.shapes import Problem, anything, mapped
from selection.faces.api.views import ApiView
from selection.people.persons import person_of
from selection.people.writing import Refused, Stale, Writer

__all__ = [
    "MOST_BYTES",
    "Body",
    "Flag",
    "OneOf",
    "Text",
    "Whole",
    "WriteView",
    "answers",
    "seen_version",
    "told_as_problems",
    "writer_of",
]

MOST_BYTES = 1024 * 1024
"""So many bytes of a body are read: what people write is much shorter."""


class Unprocessable(BadRequest):
    """What was sent can be read, and can't be."""

    status_code = 422


class Text(serializers.CharField):
    """A text, and nothing that would have to be made one."""

    def to_internal_value(self, data: Any) -> str:
        """The text without blanks around it."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class OneOf(serializers.ChoiceField):
    """One of a few texts."""

    def to_internal_value(self, data: Any) -> str:
        """The text."""
        if not isinstance(data, str):
            self.fail("invalid_choice", input=str(data)[:80])
        return str(super().to_internal_value(data))


class Whole(serializers.IntegerField):
    """A whole number as JSON has it."""

    def to_internal_value(self, data: Any) -> int:
        """The number."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Flag(serializers.BooleanField):
    """True or false as JSON has them."""

    def to_internal_value(self, data: Any) -> bool:
        """The value."""
        if not isinstance(data, bool):
            self.fail("invalid", input=str(data)[:80])
        return bool(data)


class Body(serializers.Serializer):
    """What is sent; a field that nobody reads is refused, for it may be one that was misspelt."""

    def to_internal_value(self, data: Any) -> Any:
        """The fields.

        Raises:
            ValidationError: one can't be read, or isn't known.
        """
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))[:5]
            if unknown:
                raise serializers.ValidationError({name[:80]: ["There is no such field here."] for name in unknown})
        return super().to_internal_value(data)

    @classmethod
    def of(cls, request: Request) -> dict[str, Any]:
        """The fields of a request's body.

        Raises:
            ValidationError: one can't be read, is missing, or isn't known.
        """
        body = cls(data=request.data)
        body.is_valid(raise_exception=True)
        found: dict[str, Any] = body.validated_data
        return found


def seen_version(told: str = "The `version` that you saw: nothing is overwritten unseen.") -> Any:
    """The field of a body that says which version its writer saw."""
    return Whole(min_value=0, max_value=2**31 - 1, help_text=told)


class WriteView(ApiView):
    """Mixed in before what reads: a method that writes has parameters of its own.

    Attributes:
        writes_take: the parameters of the query of methods that write.
    """

    most: ClassVar[int] = MOST_BYTES
    writes_take: ClassVar[Sequence[OpenApiParameter]] = ()

    def parameters(self) -> Sequence[OpenApiParameter]:
        """What may stand in the query, by method."""
        return super().parameters() if self.request.method in SAFE_METHODS else self.writes_take


class Conflicting(Problem):
    """It doesn't go with how things are now. When somebody else changed it meanwhile, both sides are there."""

    current = anything("What is there now, as reading it tells; only with the code `stale`.")
    wanted = mapped("What you wanted to write, by field; only with the code `stale`.")

    def get_fields(self) -> dict[str, Any]:
        """The fields; those of a stale version aren't always there."""
        found: dict[str, Any] = super().get_fields()
        found["current"].required = found["wanted"].required = False
        return found


_CONFLICT = (
    "It doesn't go with how things are now: with the code `stale` somebody else changed it since the version that "
    "you saw, and nothing was written."
)


def answers(shape: Any, told: str, *statuses: int, success: int = 200) -> dict[Any, Any]:
    """The responses of an operation that writes, for ``extend_schema``.

    Args:
        shape: what it answers with.
        told: that in words.
        statuses: of problems that are worth a line of their own, besides 400, 403, 409 and 422.
        success: the status of a success.
    """
    found = with_problems({success: OpenApiResponse(shape, told)}, 400, 413, 415, 422, *statuses)
    return {**found, (409, MEDIA_TYPE): OpenApiResponse(Conflicting, _CONFLICT)}


def writer_of(request: Request) -> Writer:
    """Who writes through the interface."""
    return Writer(person_of(request), "api")


@contextmanager
def told_as_problems(told: Callable[[Any], Any]) -> Iterator[None]:
    """Say as a problem why something can't be written.

    A value that can't be is a 422 that points to its field; what can't be as things are now is a 409.

    Args:
        told: what a row that somebody else changed looks like when it is read.

    Raises:
        Forbidden, Unprocessable, Conflict: it can't be written.
    """
    try:
        yield
    except PermissionDenied as error:
        raise Forbidden(str(error) or None) from None
    except Refused as error:
        sentence = _sentence(error)
        if not error.field:
            raise Conflict(sentence) from None
        place = {"pointer": f"/{error.field}", "code": "refused", "detail": sentence}
        raise Unprocessable(sentence, "refused", [place]) from None
    except Stale as error:
        current: models.Model = error.current
        sides = {"current": told(current), "wanted": error.wanted}
        raise Conflict("Somebody else changed it meanwhile; nothing was written.", "stale", sides) from None


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
