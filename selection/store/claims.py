"""Which process follows which cluster: exactly one at a time, and another one soon after it died.

On PostgreSQL a claim is a session advisory lock on a connection of its own: the server frees it the moment that
the connection ends, whatever ended it. On SQLite it is a lock on a file beside the database, for all clusters at
once, which the operating system frees with the process. Neither can tell a process that it lost its claim while it
writes: therefore every claim has a number, and writing names it (``storing.locked``).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Protocol

from django.core.files import locks
from django.db import DatabaseError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from .models import Cluster, KindSync

__all__ = ["HOLDER", "SILENT", "Claim", "Locks", "beat", "holder_of", "open_locks", "record", "release"]

HOLDER = f"{socket.gethostname()}:{os.getpid()}"
"""What this process calls itself: its host and number."""

SILENT = timedelta(seconds=20)
"""A holder that hasn't said anything for so long isn't counted on."""

_CLASS = 0x4F4D45  # sets our advisory locks apart from those of others in the same database

_CLIENT = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class Locks(Protocol):
    """What keeps other processes away. One thread uses it."""

    def take(self, cluster: Cluster) -> bool:
        """Lock a cluster; False when another process has it.

        Raises:
            DatabaseError: the database can't be reached; ask :meth:`alive` what became of the others.
        """

    def give(self, pk: int) -> None:
        """Unlock a cluster."""

    def alive(self) -> bool:
        """Whether all that was taken is still ours. When it isn't, nothing is, and all can be taken again."""

    def close(self) -> None:
        """Unlock everything."""


def open_locks() -> Locks:
    """The locks that fit the database."""
    return _AdvisoryLocks() if connection.vendor == "postgresql" else _FileLock()


class _AdvisoryLocks:
    """PostgreSQL: advisory locks of one session."""

    def __init__(self) -> None:
        self._session: BaseDatabaseWrapper | None = None

    def take(self, cluster: Cluster) -> bool:
        if self._session is None:
            self._session = _session()
        return bool(self._ask("SELECT pg_try_advisory_lock(%s, %s)", _CLASS, cluster.pk & 0x7FFFFFFF))

    def give(self, pk: int) -> None:
        with suppress(DatabaseError):
            if self._session is not None:
                self._ask("SELECT pg_advisory_unlock(%s, %s)", _CLASS, pk & 0x7FFFFFFF)

    def alive(self) -> bool:
        if self._session is None:
            return True  # nothing was taken
        try:
            return bool(self._ask("SELECT 1"))
        except DatabaseError:
            self.close()
            return False

    def close(self) -> None:
        if self._session is not None:
            with suppress(DatabaseError):
                self._session.close()
            self._session = None

    def _ask(self, sql: str, *values: int) -> Any:
        assert self._session is not None  # noqa: S101 - callers have looked
        with self._session.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchone()[0]


def _session() -> BaseDatabaseWrapper:
    """A connection of its own, on which both sides notice soon that the other is gone."""
    session = connection.copy()
    session.settings_dict["CONN_HEALTH_CHECKS"] = False  # a check that fails would connect anew, without our locks
    session.settings_dict["OPTIONS"] = {**session.settings_dict["OPTIONS"], **_CLIENT}
    session.ensure_connection()
    return session


class _FileLock:
    """SQLite: one lock beside the database's file. A database in memory is nobody else's."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def take(self, cluster: Cluster) -> bool:
        name = str(connection.settings_dict["NAME"])
        if self._file is not None or ":memory:" in name or "mode=memory" in name:
            return True
        file = Path(f"{name}.following").open("ab")  # noqa: SIM115 - it stays open as long as the claim lasts
        if locks.lock(file, locks.LOCK_EX | locks.LOCK_NB):
            self._file = file
            return True
        file.close()
        return False

    def give(self, pk: int) -> None:
        """Nothing to do: the file stands for all clusters."""

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim by its number. ``after`` is the holder before that never gave it back, ``""`` when there was none."""

    number: int
    after: str


def record(cluster: Cluster) -> Claim:
    """Count the cluster's claim up and write down that this process holds it. The lock comes first.

    Raises:
        Cluster.DoesNotExist: it was forgotten.
    """
    with transaction.atomic():
        now = Cluster.objects.select_for_update().get(pk=cluster.pk)
        claim = Claim(now.claim + 1, now.holder)
        Cluster.objects.filter(pk=cluster.pk).update(claim=claim.number, holder=HOLDER, heartbeat_at=timezone.now())
        KindSync.objects.filter(cluster=cluster).update(watching=False, watch_trouble="")
    return claim


def beat(held: Mapping[int, int]) -> set[int]:
    """Say that this process is there. ``held`` leads from clusters to claims; those that are lost are returned."""
    now = timezone.now()
    return {
        pk for pk, number in held.items() if not Cluster.objects.filter(pk=pk, claim=number).update(heartbeat_at=now)
    }


def release(pk: int, number: int) -> None:
    """Give a claim back in words, unless it is somebody else's by now. The lock is to be given back afterwards."""
    with transaction.atomic():
        if Cluster.objects.filter(pk=pk, claim=number).update(holder=""):
            KindSync.objects.filter(cluster=pk).update(watching=False, watch_trouble="")


def holder_of(name: str) -> str:
    """The process that follows the cluster of this name just now, ``""`` when none does."""
    lately = Cluster.objects.filter(name=name, heartbeat_at__gt=timezone.now() - SILENT)
    return lately.values_list("holder", flat=True).first() or ""
