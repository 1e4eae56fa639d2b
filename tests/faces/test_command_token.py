"""``manage.py token``: tokens from a shell."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from selection.people.models import Token
from selection.people.tokens import find_token
from tests.faces.cli import refused, run, run_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alice() -> User:
    return User.objects.create_user("alice")


def test_it_makes_one_and_prints_nothing_but_its_secret(settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara"
    token = find_token(run("token", "create", "alice", "nightly", "--scope", "review", "--days", "7").strip())
    assert token is not None
    assert (token.user.username, token.name, token.scope, token.created_by) == ("alice", "nightly", "review", "Mara")
    assert (token.expires_at - token.created_at).days == 7


def test_as_json_it_tells_everything() -> None:
    made = run_json("token", "create", "alice", "nightly")
    assert find_token(made.pop("secret")) is not None
    assert [made] == run_json("token", "list")
    assert (made["scope"], made["state"], made["last_used_at"]) == ("read", "active", None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "alise", "nightly"), "did you mean alice?"),
        (("create", "alice", ""), "needs a name"),
        (("create", "alice", "nightly", "--days", "0"), "holds for 1 to 365 days"),
        (("create", "alice", "nightly", "--days", "366"), "holds for 1 to 365 days"),
        (("list", "nobody"), "there is no account named nobody"),
        (("revoke", "omedash_nothing1"), "no token that begins like that"),
    ],
)
def test_what_it_cannot_do_it_says_in_one_line(arguments: tuple[str, ...], told: str) -> None:
    assert told in refused("token", *arguments)
    assert not Token.objects.exists()


def test_the_list_shows_no_secret_and_can_be_of_one_account() -> None:
    User.objects.create_user("bob")
    secret = run("token", "create", "alice", "nightly").strip()
    run("token", "create", "bob", "hourly")
    listed = run("token", "list", "alice")
    assert "nightly" in listed
    assert "hourly" not in listed
    assert secret[:16] in listed
    assert secret not in listed
    assert len(run_json("token", "list")) == 2


@pytest.mark.parametrize("given", [lambda secret: secret[:16], lambda secret: secret])
def test_it_revokes_by_what_a_token_begins_with(given: object) -> None:
    secret = run("token", "create", "alice", "nightly").strip()
    assert callable(given)
    assert run("token", "revoke", given(secret)) == f"{secret[:16]} (nightly) of alice: revoked\n"
    assert run("token", "revoke", given(secret)).endswith("was revoked already\n")
    assert run_json("token", "list")[0]["state"] == "revoked"
