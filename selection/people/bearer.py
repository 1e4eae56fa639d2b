"""Bearer tokens in requests (RFC 6750), found before anything asks who is there.

What a request may see is decided before its view runs, so a token has to be known by then. Whether the request is
refused is for the REST interface to say: ``ome_dashboard.permissions`` reads what stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from selection.people.models import Token
from selection.people.tokens import find_token, touch

__all__ = ["PATHS", "BearerMiddleware", "Refusal", "bearer_of"]

PATHS = "/api/"
"""Where tokens count. Pages are for people, and take none."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a token isn't taken. Only who knows its secret is told more than that."""

    code: str
    detail: str


_REFUSALS = {
    "revoked": "This token was revoked.",
    "expired": "This token has expired.",
    "inactive": "The account of this token isn't active.",
}
UNKNOWN = Refusal("token-unknown", "There is no such token.")


def bearer_of(header: str) -> str | None:
    """The secret in an ``Authorization`` header, None when it is of another scheme.

    >>> bearer_of("Bearer abc"), bearer_of("bearer  abc "), bearer_of("Basic abc"), bearer_of("Bearer")
    ('abc', 'abc', None, '')
    """
    scheme, _, rest = header.strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else None


class BearerMiddleware:
    """Make a request with a token its user's: ``request.user`` and ``request.token``.

    A token that isn't taken leaves nobody in ``request.user``, whoever's session comes with it, and the reason in
    ``request.token_refusal``.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look for a token, and hand the request on."""
        if request.path_info.startswith(PATHS):
            secret = bearer_of(request.headers.get("Authorization", ""))
            if secret is not None:
                _identify(request, secret)
        return self.get_response(request)


def _identify(request: HttpRequest, secret: str) -> None:
    now = timezone.now()
    token: Token | None = find_token(secret)
    state = token.state(now) if token else ""
    if token is None or state != "active":
        request.user = AnonymousUser()
        vars(request)["token_refusal"] = Refusal(f"token-{state}", _REFUSALS[state]) if state else UNKNOWN
        return
    touch(token, now)
    request.user = token.user
    vars(request)["token"] = token
