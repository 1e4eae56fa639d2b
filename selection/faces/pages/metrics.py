"""``/metrics``, for Prometheus."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from prometheus_client.exposition import choose_encoder

from selection.faces.measuring import REGISTRY

__all__ = ["MetricsMiddleware", "metrics"]


@require_GET
@never_cache
@login_not_required  # it answers for itself: a page to sign in on is no answer to a program
def metrics(request: HttpRequest) -> HttpResponse:
    """Every metric: for everybody in local mode, otherwise for who has signed in, or has the token."""
    if settings.LOCAL or has_token(request) or request.user.is_authenticated:
        return exposition(request)
    return HttpResponse(
        "Send the token, or sign in.\n",
        status=401,
        content_type="text/plain",
        headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
    )


def has_token(request: HttpRequest) -> bool:
    """Whether the request carries ``OME_DASHBOARD_METRICS_TOKEN``; how long comparing takes tells nothing of it."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    wanted: str = settings.METRICS_TOKEN
    return bool(wanted) and scheme.lower() == "bearer" and secrets.compare_digest(given.encode(), wanted.encode())


def exposition(request: HttpRequest) -> HttpResponse:
    """The metrics in the format that the scraper prefers."""
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(REGISTRY), content_type=content_type)


class MetricsMiddleware:
    """Answers a scraper that has the token before anything looks at the host or HTTPS: it asks a pod by its address."""

    PATH = "/metrics"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a scraper, or hand the request on."""
        if request.path_info == self.PATH and request.method == "GET" and has_token(request):
            return exposition(request)
        return self.get_response(request)
