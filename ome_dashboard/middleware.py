"""Middleware of our own."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

__all__ = ["CONTENT_SECURITY_POLICY", "CompressionMiddleware", "ContentSecurityPolicyMiddleware"]

#: Nothing from anywhere but here, nothing inline, no plug-ins, no frames: a page that somehow
#: carries foreign markup can't make the browser do anything with it.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


class ContentSecurityPolicyMiddleware:
    """Send the policy with every response; the outermost middleware, so errors carry it too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compress pages, lists and scripts for browsers that take it: a page comes to a fifth of its size.

    Django adds a random length to each answer, so that its size tells nothing of what is in it (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a whole answer of text; a part of a file, a picture or nothing at all goes as it is."""
        kind = response.headers.get("Content-Type", "")
        if response.status_code == 206 or not kind.startswith(_TEXT):
            return response
        return super().process_response(request, response)


_TEXT = ("text/", "application/json", "application/javascript", "image/svg+xml")
