"""Whether the database can serve: it answers, and it has every table that this code knows."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

__all__ = ["WITHIN", "Readiness", "why_not_ready"]

WITHIN = 2.0
"""Seconds after which a database that says nothing counts as gone."""

FRESH = 1.0
"""Seconds for which an answer holds: whoever asks more often costs the database nothing."""


def why_not_ready() -> str:
    """Why the database can't serve, in one line without any secret; ``""`` when it can.

    It is asked over a connection of its own, for those of requests may be the ones that hang.
    """
    connection = _own_connection()
    try:
        applied = MigrationRecorder(connection).applied_migrations()
    except DatabaseError as error:
        return f"the database doesn't answer: {type(error).__name__}"
    finally:
        connection.close()
    missing = len(_known_migrations() - applied.keys())
    return f"{missing} migration{'' if missing == 1 else 's'} not applied: run manage.py migrate" if missing else ""


def _own_connection() -> BaseDatabaseWrapper:
    connection = connections.create_connection(DEFAULT_DB_ALIAS)
    if connection.vendor == "postgresql":
        # The server's side may be gone without a word: neither connecting nor sending may wait for ever.
        options: dict[str, Any] = {"connect_timeout": int(WITHIN), "tcp_user_timeout": int(WITHIN * 1000)}
        connection.settings_dict = {
            **connection.settings_dict,
            "OPTIONS": {**connection.settings_dict.get("OPTIONS", {}), **options},
        }
    return connection


_known: set[tuple[str, str]] | None = None


def _known_migrations() -> set[tuple[str, str]]:
    global _known
    if _known is None:  # they are files, and don't change while the process runs
        loader = MigrationLoader(None, load=False)
        loader.load_disk()
        _known = set(loader.disk_migrations)
    return _known


@dataclass(slots=True)
class _Check:
    """A look at the database that has begun."""

    began: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    reason: str = ""


class Readiness:
    """Answers whether the database can serve within :data:`WITHIN` seconds, also when the database hangs.

    A thread looks, and whoever asks meanwhile waits for the same one. One that hangs is left to itself after five
    times as long, and at most :data:`MOST` of them are.
    """

    MOST = 4

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._check: _Check | None = None
        self._hanging: list[_Check] = []

    def why_not(self) -> str:
        """Why it can't serve, ``""`` when it can."""
        check = self._current()
        if check.done.wait(max(0.0, check.began + WITHIN - time.monotonic())):
            return check.reason
        return f"the database hasn't answered for {time.monotonic() - check.began:.0f} s"

    def _current(self) -> _Check:
        with self._lock:
            now, check = time.monotonic(), self._check
            self._hanging = [each for each in self._hanging if not each.done.is_set()]
            if check is not None:
                if now - check.began < (FRESH if check.done.is_set() else 5 * WITHIN):
                    return check
                if not check.done.is_set():
                    if len(self._hanging) >= self.MOST:
                        return check
                    self._hanging.append(check)
            self._check = check = _Check()
        threading.Thread(target=self._look, args=(check,), daemon=True, name="readiness").start()
        return check

    def _look(self, check: _Check) -> None:
        try:
            check.reason = why_not_ready()
        except Exception as error:  # whatever it is, it isn't ready, and the prober must hear of it
            check.reason = f"the database can't be asked: {type(error).__name__}"
        finally:
            check.done.set()
