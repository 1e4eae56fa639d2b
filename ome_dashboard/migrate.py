"""Bring the tables up to date: ``python -m ome_dashboard.migrate``.

The same as ``manage.py migrate``, for pods that start together: on PostgreSQL one of them does it, by a lock, and the
others wait and find nothing left to do. It leaves with one line and status 1 when it can't.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

__all__ = ["main", "migrate"]

LOCK = 7_233_101_515_231_015_936
"""Any number, always the same: what advisory locks of PostgreSQL are told apart by. Others use theirs."""


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock, on a connection of its own: the migrations' own may be closed in between."""
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        if own.vendor == "postgresql":
            with own.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield
    finally:
        own.close()  # and with it the lock


def migrate(verbosity: int = 1) -> None:
    """Apply every migration, one process at a time.

    Raises:
        DatabaseError: the database can't be reached, or a migration failed.
        CommandError: the settings are wrong.
    """
    with _alone():
        call_command("migrate", interactive=False, verbosity=verbosity)


def main() -> None:
    """Do it, or say in one line why not."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ome_dashboard.settings")
    django.setup()
    try:
        migrate()
    except (DatabaseError, CommandError) as error:
        sys.exit(f"The tables can't be brought up to date: {str(error).strip().splitlines()[0]}")


if __name__ == "__main__":
    main()
