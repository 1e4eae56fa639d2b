"""Has PostgreSQL notice soon that the host on the other end of a connection is gone.

A host that vanishes amid a transaction leaves its locks behind, a cluster's row among them, until the server gives the
connection up. By the system's own settings that takes two hours.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper

__all__ = ["SETTINGS", "ask_for_keepalives"]

SETTINGS = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
"""PostgreSQL's "TCP settings" (seconds, seconds, times, milliseconds): given up after 20 seconds. Over a socket on the
same machine they mean nothing."""


def ask_for_keepalives(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Set :data:`SETTINGS` on a connection that was just made; to be connected to ``connection_created``."""
    if connection.vendor != "postgresql":
        return
    calls = ", ".join(["set_config(%s, %s, false)"] * len(SETTINGS))
    with suppress(DatabaseError), connection.cursor() as cursor:  # a server on a system that lacks one
        cursor.execute(f"SELECT {calls}", [part for each in SETTINGS.items() for part in each])
