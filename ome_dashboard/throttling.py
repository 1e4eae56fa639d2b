"""How often the REST interface may be asked, in server mode: by person or token, and by address for strangers.

What was asked is counted in the memory of each process. A count that processes share would make every read a write to
the database that they share, and wait for a sync that writes; that is what the limits are to prevent. So a limit is
one of each process: three pods give up to three times as much. (Failed sign-ins, which must be counted exactly, are
counted in the database.)
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import caches
from rest_framework.exceptions import Throttled
from rest_framework.throttling import SimpleRateThrottle

from selection.people.addresses import client_address

if TYPE_CHECKING:  # the views import this module by its name in the settings
    from django.http import HttpRequest
    from rest_framework.request import Request
    from rest_framework.views import APIView

__all__ = ["PersonThrottle", "ScopeThrottle", "StrangerThrottle", "count_page", "count_stranger"]


class PersonThrottle(SimpleRateThrottle):  # type: ignore[misc]  # the base has no types
    """Requests a minute of one person, or of one token. In local mode there is no limit."""

    cache = caches["limits"]
    scope = "person"

    def get_rate(self) -> str | None:
        """As the settings say now; None for no limit."""
        limit = settings.API_LIMITS.get(self.scope, 0)
        return f"{limit}/min" if limit and not settings.LOCAL else None

    def get_cache_key(self, request: Request | HttpRequest, view: APIView | None) -> str | None:
        """Who is counted."""
        token = getattr(getattr(request, "_request", request), "token", None)
        who = f"token-{token.pk}" if token is not None else f"user-{getattr(request.user, 'pk', None)}"
        return f"{self.scope}:{who}"


class ScopeThrottle(PersonThrottle):
    """A limit of its own for views that cost more: those that name one in ``throttle_scope``, such as ``what-if``."""

    def __init__(self) -> None:
        """Wait for the view: it names the limit."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Say whether this request may go on."""
        return self.count(request, getattr(view, "throttle_scope", ""))

    def count(self, request: Request | HttpRequest, scope: str) -> bool:
        """Count a request by one limit, and say whether it may go on."""
        self.scope = scope
        self.rate = self.get_rate()
        self.num_requests, self.duration = self.parse_rate(self.rate)
        return bool(super().allow_request(request, None))


class StrangerThrottle(PersonThrottle):
    """Requests a minute that are refused for want of a sign-in or a token, by address.

    Behind a proxy that is trusted the server has put the client's address in its place already.
    """

    scope = "stranger"

    def get_cache_key(self, request: Request, view: APIView | None) -> str:
        """Who is counted."""
        return f"{self.scope}:{client_address(request._request)}"


def count_page(request: HttpRequest, scope: str) -> int:
    """Count a page that costs as much as an answer of the interface by the same limit, together with those.

    Returns the seconds to wait, 0 when the page may go on.
    """
    throttle = ScopeThrottle()
    return 0 if throttle.count(request, scope) else ceil(throttle.wait() or throttle.duration)


def count_stranger(request: Request) -> None:
    """Count a request that is about to be refused.

    Raises:
        Throttled: there were too many from this address; says when to come back.
    """
    throttle = StrangerThrottle()
    if not throttle.allow_request(request, None):
        raise Throttled(throttle.wait())
