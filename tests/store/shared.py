"""This process uses a database that its threads, and other processes, can share.

SQLite's database in memory locks whole tables between threads and fails at once where a file waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections
from pytest_django import DjangoDbBlocker

from .databases import OwnDatabase

__all__ = ["shared_database"]


@pytest.fixture
def shared_database(own_database: OwnDatabase, django_db_blocker: DjangoDbBlocker) -> Iterator[OwnDatabase]:
    """A migrated database of the test's own that Django uses in all threads. Such a test isn't marked ``django_db``."""
    wrapper: Any = connections["default"]
    kept, name = wrapper.connection, wrapper.settings_dict["NAME"]
    with django_db_blocker.unblock():
        wrapper.connection = None
        wrapper.settings_dict["NAME"] = own_database.file or own_database.url.rsplit("/", 1)[1]
        try:
            yield own_database
        finally:
            wrapper.close()
            wrapper.connection, wrapper.settings_dict["NAME"] = kept, name
