"""What somebody wrote and sent after their session had ended: kept until they have signed in again, and never logged.

A form whose view is marked with :func:`keeps_draft` can be sent by somebody who isn't signed in any more. What it held
is put into a new session, sign-in leads back to the form's own address, and the form finds it there
(:func:`draft_of`). It is forgotten when the form is sent for good (:func:`forget_draft`), and with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from selection.people.addresses import client_address

__all__ = ["DraftMiddleware", "draft_of", "forget_draft", "keeps_draft"]

MOST = 5
"""Drafts of one session; the oldest makes room."""

LARGEST = 64 * 1024
"""Characters of one draft: what is longer no form of ours takes."""

FROM_ONE_ADDRESS = 30
"""So many drafts of strangers are kept from one address in an hour, so that nobody fills the database."""

_KEY = "drafts"
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def keeps_draft(view: View) -> View:
    """Mark a view whose form isn't lost when the session has ended."""
    view.keeps_draft = True  # type: ignore[attr-defined]
    return view


def draft_of(request: HttpRequest, address: str = "") -> Mapping[str, str]:
    """What was to be sent to an address, by default that of the request; empty when there is nothing."""
    kept = request.session.get(_KEY)
    found = kept.get(address or request.get_full_path()) if isinstance(kept, dict) else None
    return found if isinstance(found, dict) else {}


def forget_draft(request: HttpRequest) -> None:
    """What was to be sent to this address has been sent."""
    kept = request.session.get(_KEY)
    if isinstance(kept, dict) and kept.pop(request.get_full_path(), None) is not None:
        request.session.modified = True


class DraftMiddleware:
    """Keeps the form of somebody who isn't signed in any more, and leads to sign-in and back.

    It stands before the middleware that refuses them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Keep what was sent to a marked view."""
        marked = request.method == "POST" and hasattr(view, "keeps_draft")
        if settings.LOCAL or not marked or request.user.is_authenticated:
            return None
        told = {name: request.POST[name] for name in request.POST if name != "csrfmiddlewaretoken"}
        if sum(map(len, told.values())) <= LARGEST and self._counted(request):
            kept = request.session.get(_KEY)
            kept = dict(kept) if isinstance(kept, dict) else {}
            kept.pop(request.get_full_path(), None)
            while len(kept) >= MOST:
                del kept[next(iter(kept))]
            request.session[_KEY] = {**kept, request.get_full_path(): told}
        return redirect_to_login(request.get_full_path())

    def _counted(self, request: HttpRequest) -> bool:
        """Whether this address may have one more kept."""
        counts, key = caches["limits"], f"drafts:{client_address(request)}"
        counts.add(key, 0, 3600)
        try:
            return counts.incr(key) <= FROM_ONE_ADDRESS
        except ValueError:  # it has just run out
            return True
