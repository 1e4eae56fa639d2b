"""What a request may see, known before its view asks for anything.

In local mode that is everything. On a server it is what the rights of the person behind the session or the token
give (:mod:`selection.people.rights`); who hasn't signed in sees nothing of any cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render

from selection.people.rights import grants_of, sight_of
from selection.store.sight import EVERYTHING, NOTHING, Sight, current_sight, seeing, step_by_step

__all__ = ["SightMiddleware", "sight_of_request", "without_sight"]

PAGES = "selection.faces.pages."
PROGRAMS = frozenset({"live", "metrics"})
"""Addresses among the pages that answer programs, which have no use for a page."""

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def without_sight(view: View) -> View:
    """Mark a page that shows nothing of clusters, such as one's own account: it is for everybody who has signed in."""
    view.without_sight = True  # type: ignore[attr-defined]
    return view


def sight_of_request(request: HttpRequest) -> Sight:
    """What whoever asks may see. At most two queries, and none in local mode."""
    if settings.LOCAL:
        return EVERYTHING
    user = request.user
    return sight_of(user) if isinstance(user, User) or user.is_authenticated else NOTHING


class SightMiddleware:
    """Answers under the sight of whoever asks. It comes after what finds out who that is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Set the sight, and keep it for answers that are made while they are sent."""
        sight = sight_of_request(request)
        with seeing(sight):
            response = self.get_response(request)
        if isinstance(response, StreamingHttpResponse) and not sight.everything:
            response.streaming_content = step_by_step(sight, response.streaming_content)  # type: ignore[arg-type]
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Tell who has signed in and may see nothing whom to ask, instead of showing an empty dashboard."""
        if settings.LOCAL or not current_sight().nothing or not request.user.is_authenticated:
            return None
        match = request.resolver_match
        program = match is None or match.url_name in PROGRAMS
        if program or not getattr(view, "__module__", "").startswith(PAGES) or hasattr(view, "without_sight"):
            return None
        name = request.user.get_username()
        command = f"python manage.py grant add {shlex.quote(name)} viewer"
        values = {
            "name": name,
            "grants": grants_of(request.user),
            "one": f"{command} --cluster CLUSTER --namespace NAMESPACE",
            "all": command,
        }
        return render(request, "rights/nothing.html", values, status=403)
