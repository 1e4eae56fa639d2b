"""``/api/v1/person``: for whom a program acts, with which rights, and until when."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.dateparse import parse_datetime
from pytest_django import Settings

from selection.people.accounts import create_account
from selection.people.granting import give
from selection.people.models import Role, Token
from selection.people.scopes import Scope
from selection.people.tokens import create_token
from tests.people.writers import by

pytestmark = pytest.mark.django_db
PERSON = "/api/v1/person"


def test_in_local_mode_it_is_whoever_is_there(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara"
    assert client.get(PERSON).json() == {
        "name": "Mara",
        "local": True,
        "superuser": True,
        "groups": [],
        "roles": [],
        "token": None,
    }


def test_a_program_learns_for_whom_it_acts_and_until_when(client: Client, server_mode: Settings) -> None:
    bot = create_account("upgrade-bot", groups=["platform"])
    give(bot, Role.VIEWER, by=by("root"))
    give(bot.groups.get(), Role.REVIEWER, cluster="prod", namespace="ml", by=by("root"))
    _, secret = create_token(bot, "nightly", scope=Scope.REVIEW, days=7, by=by("root"))
    response = client.get(PERSON, headers={"Authorization": f"Bearer {secret}"})
    value = response.json()
    token = Token.objects.get()
    assert parse_datetime(value["token"].pop("expires_at")) == token.ends_at.replace(
        microsecond=token.ends_at.microsecond // 1000 * 1000
    )
    assert value == {
        "name": "upgrade-bot",
        "local": False,
        "superuser": False,
        "groups": ["platform"],
        "roles": [
            {"role": "viewer", "cluster": None, "namespace": None},
            {"role": "reviewer", "cluster": "prod", "namespace": "ml"},
        ],
        "token": {"name": "nightly", "prefix": token.prefix, "scope": "review"},
    }
    assert secret not in response.content.decode()


def test_a_session_has_no_token(client: Client, server_mode: Settings) -> None:
    client.force_login(User.objects.create_superuser("root"))
    value = client.get(PERSON).json()
    assert (value["name"], value["superuser"], value["token"]) == ("root", True, None)


def test_a_stranger_learns_nothing(client: Client, server_mode: Settings) -> None:
    assert client.get(PERSON).status_code == 401
