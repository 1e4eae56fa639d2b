"""From where somebody asks."""

from __future__ import annotations

import ipaddress

from django.http import HttpRequest

__all__ = ["client_address"]


def client_address(request: HttpRequest) -> str | None:
    """The client's address; None when the server doesn't tell one.

    The server (``ome_dashboard.serve``) has put there what ``X-Forwarded-For`` says when the proxy is trusted, and
    dropped the header when it isn't. So no header is read here.
    """
    try:
        return str(ipaddress.ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0]))
    except ValueError:
        return None
