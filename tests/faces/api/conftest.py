"""What the tests of the REST interface share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker, Settings

from selection.people.models import Role
from tests.faces.api.bots import Bot
from tests.faces.api.written import write_about
from tests.faces.small_fleet import load


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The demo fleet with its past, and what people wrote of it, once for the tests of a module: they only read."""
    with django_db_blocker.unblock():
        named = str(connection.settings_dict["NAME"])
        assert "memory" in named or named.startswith("test_"), "this would flush a real database"
        try:
            call_command("demo", with_past=True, verbosity=0)
            write_about("eu-prod", "frontier", "research-chat")
            yield
        finally:
            call_command("flush", interactive=False, verbosity=0)


@pytest.fixture
def bot(server_mode: Settings) -> Bot:
    """A reviewer of one of two namespaces."""
    load()
    return Bot("bot", Role.REVIEWER)
