"""Everything that goes wrong under ``/api/v1/``, said in one place: problem details for HTTP APIs (RFC 9457).

A view raises. What it raises becomes a problem in :func:`exception_handler`; what goes wrong outside of any view, such
as an unknown address or a host that isn't ours, in :class:`ProblemMiddleware`. So no answer is an HTML page, and none
tells more of a fault of ours than that there was one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

__all__ = [
    "CODES",
    "MEDIA_TYPE",
    "ROOT",
    "BadRequest",
    "Conflict",
    "Forbidden",
    "NotFound",
    "PreconditionFailed",
    "ProblemMiddleware",
    "TooLarge",
    "exception_handler",
    "problem",
]

MEDIA_TYPE = "application/problem+json"

ROOT = "/api/v1/"
"""Where the interface begins; ``/api/`` itself is a page for people."""

CODES: Mapping[int, str] = {
    400: "bad-request",
    401: "not-authenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    409: "conflict",
    412: "precondition-failed",
    413: "too-large",
    415: "unsupported-media-type",
    422: "unprocessable",
    429: "throttled",
    500: "server-error",
    503: "unavailable",
}
"""The code of a problem that has none of its own, by status."""

_log = logging.getLogger("django.request")


class BadRequest(exceptions.APIException):
    """A request that can't be answered as it was written.

    Args:
        detail: one sentence that says what is wrong.
        code: a code that stays as it is.
        errors: where it is wrong, each with ``parameter`` (of the query) or ``pointer`` (RFC 6901, into the body),
            ``code`` and ``detail``.
    """

    status_code = 400

    def __init__(self, detail: str, code: str = "bad-request", errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(detail, code)
        self.errors = list(errors)


class NotFound(exceptions.NotFound):
    """There is no such thing, or none that the one who asks may see."""


class Forbidden(exceptions.PermissionDenied):
    """The one who asks has no right to it."""


class Conflict(BadRequest):
    """What was asked doesn't go with how things are now.

    Args:
        more: further members of the problem, such as what is there instead.
    """

    status_code = 409

    def __init__(self, detail: str, code: str = "conflict", more: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail, code)
        self.more = dict(more or {})


class PreconditionFailed(BadRequest):
    """It isn't what the one who asks has seen: ``If-Match`` names another state."""

    status_code = 412


class TooLarge(BadRequest):
    """A body that is larger than what is read."""

    status_code = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body has more than {limit:,} bytes.", "too-large")


def problem(
    status: int,
    detail: str = "",
    *,
    code: str = "",
    instance: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """A problem as the answer of a view.

    Args:
        status: the HTTP status.
        detail: one sentence for people; ``""`` for none.
        code: a code for programs; by default that of the status.
        instance: the path of the request.
        errors: what is wrong where.
        headers: further headers.
        more: further members (RFC 9457, 3.2).
    """
    body = {**_body(status, detail, code, instance, errors), **(more or {})}
    return Response(body, status=status, headers=dict(headers or {}), content_type=MEDIA_TYPE)


def _body(
    status: int, detail: str = "", code: str = "", instance: str = "", errors: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """The members of a problem. Its type is ``about:blank``: the status says what kind it is, and ``code`` which."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code or CODES.get(status, "bad-request" if status < 500 else "server-error"),
    }
    for name, value in (("detail", detail), ("instance", instance), ("errors", list(errors))):
        if value:
            body[name] = value
    return body


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """What a view raised, as a problem. A fault of ours is logged, and nothing of it is told."""
    request = context.get("request")
    path = getattr(request, "path", "")
    error = _as_api(error)
    if not isinstance(error, exceptions.APIException):
        _log.error("%s failed", path, exc_info=error)
        return problem(500, "Something went wrong here. It has been logged.", instance=path)
    headers: dict[str, str] = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(max(1, int(wait)))
    errors = list(getattr(error, "errors", ()))
    if isinstance(error, exceptions.ValidationError):
        errors = list(_pointed(error.detail))
        detail = "The body isn't as it should be."
        return problem(error.status_code, detail, code="bad-body", instance=path, errors=errors)
    code = error.get_codes()
    known = isinstance(error, BadRequest) or getattr(error, "own_code", False)
    own = code if isinstance(code, str) and known else ""
    more = getattr(error, "more", None)
    return problem(
        error.status_code, str(error.detail), code=own, instance=path, errors=errors, headers=headers, more=more
    )


def _as_api(error: Exception) -> Exception:
    """Django's own errors as the framework's."""
    if isinstance(error, Http404):
        return NotFound()
    if isinstance(error, PermissionDenied):
        return Forbidden()
    if isinstance(error, RequestDataTooBig):
        return TooLarge(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if isinstance(error, SuspiciousOperation):
        return BadRequest("The request can't be read.")
    return error


def _pointed(detail: Any, pointer: str = "") -> Iterator[dict[str, str]]:
    """The errors of a serializer, each with the place in the body that it is about."""
    if isinstance(detail, Mapping):
        for key, each in detail.items():
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from _pointed(each, pointer if key == "non_field_errors" else f"{pointer}/{step}")
    elif isinstance(detail, list) and any(isinstance(each, (Mapping, list)) for each in detail):
        for place, each in enumerate(detail):
            yield from _pointed(each, f"{pointer}/{place}")
    else:
        for each in detail if isinstance(detail, list) else [detail]:
            yield {"pointer": pointer, "code": str(getattr(each, "code", "invalid")), "detail": str(each)}


class ProblemMiddleware:
    """Whatever comes from outside of a view as an error, under ``/api/v1/``, becomes a problem with the same status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Hand the request on, and look at what comes back."""
        response = self.get_response(request)
        if response.status_code < 400 or not request.path_info.startswith(ROOT):
            return response
        if response.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        told = {404: "There is nothing at this address."}.get(response.status_code, "")
        body = json.dumps(_body(response.status_code, told, instance=request.path)).encode()
        if response.streaming:
            response = HttpResponse(status=response.status_code)
        response.content = body
        for name in ("Content-Encoding", "Content-Length", "ETag"):
            response.headers.pop(name, None)
        response.headers["Content-Type"] = MEDIA_TYPE
        response.headers["Cache-Control"] = "private, no-cache"
        return response
