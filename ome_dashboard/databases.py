"""The database, from ``DATABASE_URL``: SQLite in a file by default, PostgreSQL when it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url

__all__ = ["SQLITE_OPTIONS", "database"]

#: Readers don't wait for a writer (WAL), a writer waits for its turn for up to 20 seconds, and a
#: transaction takes the write lock when it begins, so that it can't fail half-way for want of it
#: (Django: "SQLite notes", "Transactions behavior").
SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}

SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"


def database(url: str, default: Path) -> dict[str, Any]:
    """Django's settings of the database at ``url``; the SQLite file ``default`` when it is empty.

    Raises:
        ValueError: not a database URL, or of a kind other than SQLite and PostgreSQL. The message
            does not repeat the URL, for it may hold a password.
    """
    if not url:
        return {"ENGINE": SQLITE, "NAME": default, "OPTIONS": dict(SQLITE_OPTIONS)}
    try:
        # A connection is kept for a minute, and tried before it is used again.
        parsed: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    except ValueError:
        raise ValueError("DATABASE_URL can't be read") from None
    if parsed["ENGINE"] == SQLITE:
        return {"ENGINE": SQLITE, "NAME": parsed["NAME"], "OPTIONS": dict(SQLITE_OPTIONS)}
    if parsed["ENGINE"] != POSTGRESQL:
        raise ValueError("DATABASE_URL names neither sqlite nor postgres")
    if not parsed["NAME"] and "service" not in parsed.get("OPTIONS", {}):
        raise ValueError("DATABASE_URL names no database")
    return parsed
