"""Draws a page once for all the open ones that fetch it again because of the same change.

A hundred people may look at the same overview. When an answer changes, all their pages fetch themselves within a
second, and for all of them it is the same. So what one of them gets is kept for the others for a moment, and only while
the clusters are exactly as they were when it was drawn.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from selection.people.rights import rights_key
from selection.store.freshness import Freshness
from selection.store.sight import sight_key

__all__ = ["HEADER", "SharedPages"]

HEADER = "X-Live"
"""What ``live.js`` marks its requests with."""

OWN = (b"csrfmiddlewaretoken", b"data-keep", b"data-own")
"""What is in a page that isn't for everybody: a form, a word to the one who sent it, or what is one's own."""


FOR = 3.0
"""Seconds that a page is kept. Other things than clusters may stand in it, and they mustn't be older."""


@dataclass(slots=True)
class _Page:
    """The part of a page that is renewed, while it is drawn or after that."""

    drawing: threading.Lock = field(default_factory=threading.Lock)
    content: bytes | None = None
    drawn: float = 0.0


class SharedPages:
    """The newest pages, at most :data:`KEPT` of them."""

    KEPT = 64

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: OrderedDict[Hashable, _Page] = OrderedDict()

    def answer(
        self, request: HttpRequest, state: Sequence[Freshness], draw: Callable[[], HttpResponseBase]
    ) -> HttpResponseBase:
        """The title and the content of the page, drawn now or a moment ago for somebody else.

        Args:
            request: what was asked.
            state: how the clusters are right now, not a moment ago: it says whether what is kept still holds.
            draw: draws the whole page. What it answers is passed on as it is when it isn't an ordinary page.
        """
        user = getattr(request, "user", None)
        rights = (True, *rights_key(user)) if isinstance(user, User) else (getattr(user, "is_authenticated", False),)
        page = self._page((request.get_full_path(), rights, sight_key(), _moment(state)))
        with page.drawing:  # the others wait for the one who draws
            began = time.monotonic()
            if page.content is None or began - page.drawn > FOR:
                response = draw()
                content = _renewed(response)
                if content is None:
                    return response
                if any(mark in content for mark in OWN):
                    return _answer(content)
                page.content, page.drawn = content, began
            return _answer(page.content)

    def _page(self, key: Hashable) -> _Page:
        with self._lock:
            page = self._pages.setdefault(key, _Page())
            self._pages.move_to_end(key)
            while len(self._pages) > self.KEPT:
                self._pages.popitem(last=False)
            return page


def _moment(state: Sequence[Freshness]) -> Hashable:
    """Everything about the clusters that a page can show, but for ages."""
    return tuple(
        (
            each.cluster.pk,
            *(getattr(each.cluster, column.attname) for column in each.cluster._meta.concrete_fields[1:]),
            *(each.listed_at, each.newest_at, each.failed, each.watched, each.last_event_at),
        )
        for each in state
    )


def _renewed(response: HttpResponseBase) -> bytes | None:
    """The title and the main part of an ordinary page; None when it is something else."""
    if not isinstance(response, HttpResponse) or response.status_code != 200:
        return None
    title = _part(response.content, b"<title>", b"</title>")
    main = _part(response.content, b'<main id="main"', b"</main>")
    return title + main if title and main else None


def _part(content: bytes, begin: bytes, end: bytes) -> bytes:
    start = content.find(begin)
    stop = content.find(end, max(start, 0))
    return content[start : stop + len(end)] if 0 <= start < stop else b""


def _answer(content: bytes) -> HttpResponse:
    response = HttpResponse(content)
    add_never_cache_headers(response)
    patch_vary_headers(response, [HEADER])
    return response
