"""Answers that take longer than a request should: they are computed apart, and asked for again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from selection.faces.api.shapes import Whole, text

__all__ = ["COMPUTING", "computing"]

SECONDS = 2


class Computing(Whole):
    """It is being computed."""

    state = text("`computing`.")
    detail = text("What to do, in words.")


COMPUTING: Mapping[int, tuple[Any, str]] = {
    202: (Computing, "It is being computed: ask again after as many seconds as `Retry-After` says.")
}
"""The further answer of a view that may not know yet."""


def computing() -> Response:
    """Says that it isn't there yet."""
    body = {"state": "computing", "detail": "It is being computed. Ask again in a moment."}
    return Response(body, status=202, headers={"Retry-After": str(SECONDS)})
