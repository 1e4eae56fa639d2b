"""``/healthz`` and ``/readyz``: what keeps a process running, and what sends it requests."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from selection.store.readiness import Readiness

__all__ = ["ProbeMiddleware", "healthz", "readyz"]

_readiness = Readiness()


def healthz() -> HttpResponse:
    """The process answers. The database has no say: starting anew wouldn't bring it back."""
    return _plain(200, "ok")


def readyz() -> HttpResponse:
    """200 when the database answers and has all tables, otherwise 503 with the reason; within seconds in any case."""
    reason = _readiness.why_not()
    return _plain(503, reason) if reason else _plain(200, "ok")


def _plain(status: int, line: str) -> HttpResponse:
    return HttpResponse(f"{line}\n", status=status, content_type="text/plain", headers={"Cache-Control": "no-store"})


class ProbeMiddleware:
    """Answers probes before anything looks at the host, HTTPS or a session.

    A kubelet asks a pod by its address, over plain HTTP and without signing in.
    """

    PROBES: dict[str, Callable[[], HttpResponse]] = {"/healthz": healthz, "/readyz": readyz}

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a probe, or hand the request on."""
        probe = self.PROBES.get(request.path_info)
        if probe is None or request.method not in {"GET", "HEAD"}:
            return self.get_response(request)
        return probe()
