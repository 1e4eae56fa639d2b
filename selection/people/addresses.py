"""From where somebody asks."""

from __future__ import annotations

import ipaddress

from django.http import HttpRequest

__all__ = ["client_address"]


#: So much of an IPv6 address is one customer's: the rest is theirs to choose anew for each try.
ONE_CLIENT = 64


def client_address(request: HttpRequest) -> str | None:
    """The address that a client is counted by, of IPv6 the first of its /64; None when the server tells none.

    The server (``ome_dashboard.serve``) has put there what ``X-Forwarded-For`` says when the proxy is trusted, and
    dropped the header when it isn't. So no header is read here.
    """
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, ONE_CLIENT), strict=False).network_address)
