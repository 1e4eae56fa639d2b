"""What every view of the interface is made of: its parameters, its ETag, the headers of its answers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from django.http import HttpResponseBase
from django.utils.cache import patch_vary_headers
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from selection.faces.api.parameters import fields_parameter, read_fields, refuse_unknown
from selection.faces.api.problems import MEDIA_TYPE
from selection.faces.api.rendering import Renderer
from selection.faces.api.states import etag, of_answers

__all__ = ["ApiView", "ReadView", "holds"]

PRIVATE = "private, no-cache"
"""Kept by the one who asked, and never used again without asking whether it still holds."""


class ApiView(APIView):
    """A view of the interface: parameters that nobody knows are refused, and each answer says how it may be kept.

    Attributes:
        operation: the operation's id in the OpenAPI document, for a view with one method.
        tag: what the document lists it under.
        takes: the parameters of its query.
        examples: examples of its answer, or of its body.
        tagged: whether its answers have an ETag.
        further: what else it may answer: by status a serializer (or None) and a sentence.
    """

    operation: ClassVar[str] = ""
    tag: ClassVar[str] = ""
    takes: ClassVar[Sequence[OpenApiParameter]] = ()
    examples: ClassVar[Sequence[OpenApiExample]] = ()
    tagged: ClassVar[bool] = False
    further: ClassVar[Mapping[int, tuple[Any, str]]] = {}

    def parameters(self) -> Sequence[OpenApiParameter]:
        """Everything that may stand in the query."""
        return self.takes

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Say who asks and whether they may, and read the query's names.

        Raises:
            BadRequest: the query has a parameter that isn't one of :meth:`parameters`, or one twice.
        """
        super().initial(request, *args, **kwargs)
        refuse_unknown(request.query_params, [each.name for each in self.parameters()])

    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What may be done here."""
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Say how long the answer may be kept, and what it depends on. A problem is JSON, whatever was asked for."""
        if getattr(response, "content_type", None) == MEDIA_TYPE:
            request.accepted_renderer, request.accepted_media_type = Renderer(), Renderer.media_type
        done: HttpResponseBase = super().finalize_response(request, response, *args, **kwargs)
        done.headers.setdefault("Cache-Control", PRIVATE)
        patch_vary_headers(done, ["Accept", "Authorization", "Cookie"])
        return done


class ReadView(ApiView):
    """A view that reads: ``value`` makes the answer, unless the one who asks has it already.

    Attributes:
        shape: what the answer looks like; its fields are what ``fields`` may name.
    """

    tagged = True
    shape: ClassVar[type[Serializer]]

    def parameters(self) -> Sequence[OpenApiParameter]:
        """The view's own, and ``fields``."""
        return [*self.takes, fields_parameter(self.known_fields())]

    def known_fields(self) -> list[str]:
        """What ``fields`` may name."""
        return list(self.shape().fields)

    def state(self, **names: str) -> Hashable:
        """What the answer follows from; the names are those of the path. None for what changes by itself."""
        return of_answers(names.get("cluster", ""))

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The answer, or a response of another kind. ``wanted`` are the fields asked for, None for all.

        Raises:
            NotFound: there is nothing of these names.
        """
        raise NotImplementedError

    def get(self, request: Request, **names: str) -> Response:
        """Answer, or say that nothing has changed."""
        wanted = read_fields(request.query_params, self.known_fields())
        state = self.state(**names)
        tag = "" if state is None else etag(request, state)
        if tag and holds(request.headers.get("If-None-Match", ""), tag):
            return Response(status=304, headers={"ETag": tag})
        value = self.value(wanted, **names)
        if isinstance(value, Response):
            return value
        return Response(self.trimmed(value, wanted), headers={"ETag": tag} if tag else None)

    def trimmed(self, value: Any, wanted: frozenset[str] | None) -> Any:
        """The value with the fields that are wanted."""
        return value if wanted is None else {name: each for name, each in value.items() if name in wanted}


def holds(told: str, tag: str) -> bool:
    """Whether a header names the ETag, weakly compared. ``*`` doesn't: it would hold for what isn't there.

    >>> holds('"a", W/"b"', 'W/"b"'), holds('"b"', 'W/"b"'), holds("*", 'W/"b"')
    (True, True, False)
    """
    plain = tag.removeprefix("W/")
    return any(each.strip().removeprefix("W/") == plain for each in told.split(","))
