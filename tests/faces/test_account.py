"""One's own account and tokens: whose name it is, changing the password, making and revoking tokens."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from selection.people.models import Token
from selection.people.scopes import Scope
from selection.people.tokens import create_token, find_token
from tests.people.writers import by

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
TOKENS = "/account/tokens/"
RIGHT = {"name": "nightly report", "scope": "review", "days": "30"}


@pytest.fixture
def alice(client: Client, server_mode: Settings) -> User:
    """Alice, who has signed in and may see nothing yet."""
    user = User.objects.create_user("alice", email="alice@example.com", password=PASSWORD)
    client.force_login(user)
    return user


# In local mode


def test_in_local_mode_the_page_says_whose_name_is_written(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara <platform>"
    page = client.get("/account/").content.decode()
    assert "Mara &lt;platform&gt;" in page
    assert "nobody signs in" in page
    assert 'href="/account/"' in client.get("/runtimes/").content.decode()


def test_in_local_mode_no_token_is_needed_and_the_page_says_so(client: Client) -> None:
    page = client.get(TOKENS).content.decode()
    assert "need no token" in page
    assert "curl http://testserver/api/v1/services" in page  # where it is served, whatever the port
    assert "<form" not in page.partition("<main")[2].partition("</main")[0]
    assert client.post(TOKENS, RIGHT).status_code == 200
    assert not Token.objects.exists()
    assert client.get("/account/password/").headers["Location"] == "/account/"


# On a server


@pytest.mark.parametrize("path", ["/account/", TOKENS, "/account/password/", "/accounts/", "/accounts/alice/"])
def test_it_requires_login(client: Client, server_mode: Settings, path: str) -> None:
    assert client.get(path).headers["Location"] == f"/login/?next={path}"


def test_the_page_says_who_one_is(client: Client, alice: User) -> None:
    page = client.get("/account/").content.decode()
    assert "alice@example.com" in page
    assert "Everybody's accounts" not in page


def test_a_changed_password_ends_other_sessions_and_keeps_this_one(client: Client, alice: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(alice)
    form = {"old_password": PASSWORD, "new_password1": "a horse, again", "new_password2": "a horse, again"}
    assert client.post("/account/password/", form).headers["Location"] == "/account/"
    assert client.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    alice.refresh_from_db()
    assert alice.check_password("a horse, again")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"old_password": "wrong"}, "incorrect"),
        ({"new_password2": "another"}, "match"),
        ({"new_password1": "12345678", "new_password2": "12345678"}, "numeric"),
        ({"new_password1": "alice@example", "new_password2": "alice@example"}, "too similar"),
    ],
)
def test_a_password_that_will_not_do_is_refused_in_words(
    client: Client, alice: User, change: dict[str, str], told: str
) -> None:
    form = {"old_password": PASSWORD, "new_password1": "a horse, again", "new_password2": "a horse, again", **change}
    page = client.post("/account/password/", form).content.decode()
    assert told in page
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_a_new_token_is_shown_once(client: Client, alice: User) -> None:
    response = client.post(TOKENS, RIGHT)
    found = re.search(r"omedash_\w{8}_\w{43}", response.content.decode())
    assert found is not None
    token = find_token(found[0])
    assert token is not None
    assert (token.user, token.name, token.scope, token.created_by) == (alice, "nightly report", Scope.REVIEW, "alice")
    assert "no-store" in response.headers["Cache-Control"]
    again = client.get(TOKENS).content.decode()
    assert token.prefix in again
    assert found[0] not in again


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"name": "x" * 81}, {"scope": "all"}, {"days": "400"}, {"days": "ten"}, {"name": "a\x00b"}],
)
def test_a_token_that_cannot_be_made_says_where_it_is_wrong(
    client: Client, alice: User, change: dict[str, str]
) -> None:
    page = client.post(TOKENS, {**RIGHT, **change}).content.decode()
    assert "form-errors" in page
    assert not Token.objects.exists()


def test_a_name_is_used_once(client: Client, alice: User) -> None:
    client.post(TOKENS, RIGHT)
    assert "revoke it first" in client.post(TOKENS, RIGHT).content.decode()
    assert Token.objects.count() == 1


def test_no_longer_than_the_setting_allows_is_offered(client: Client, alice: User, settings: Settings) -> None:
    settings.TOKEN_DAYS = 45
    page = client.get(TOKENS).content.decode()
    assert re.findall(r'<option value="(\d+)"', page) == ["7", "30", "45"]
    assert '<option value="45" selected>' in page


def test_one_revokes_ones_own(client: Client, alice: User) -> None:
    token, _ = create_token(alice, "nightly", days=1, by=by("alice"))
    response = client.post(f"{TOKENS}{token.pk}/revoke/", follow=True)
    assert "The token nightly is revoked." in response.content.decode()
    token.refresh_from_db()
    assert token.revoked_by == "alice"
    assert client.get(f"{TOKENS}{token.pk}/revoke/").status_code == 405


def test_one_neither_sees_nor_revokes_anybody_elses(client: Client, alice: User) -> None:
    token, _ = create_token(User.objects.create_user("bob"), "bobs own", days=1, by=by("bob"))
    assert "bobs own" not in client.get(TOKENS).content.decode()
    assert client.post(f"{TOKENS}{token.pk}/revoke/").status_code == 403
    assert client.post(f"{TOKENS}999999/revoke/").status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None


def test_a_form_of_another_site_makes_no_token(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post(TOKENS, RIGHT).status_code == 403
    assert not Token.objects.exists()


def test_the_number_of_queries_does_not_grow_with_the_tokens(client: Client, alice: User) -> None:
    counts = []
    for number in range(2):
        for each in range(10):
            create_token(alice, f"{number} {each}", days=1, by=by("alice"))
        with CaptureQueriesContext(connection) as queries:
            client.get(TOKENS)
        counts.append(len(queries))
    assert counts[0] == counts[1]
