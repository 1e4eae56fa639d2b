"""Everybody's accounts: who may, adding, links for passwords, groups, keeping out."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from selection.people.accounts import create_account
from selection.people.granting import give
from selection.people.models import Role
from selection.people.tokens import create_token
from tests.people.writers import by

pytestmark = pytest.mark.django_db
ACCOUNTS = "/accounts/"
NEW = {"name": "bob", "email": "bob@example.com", "groups": "ml, platform"}


@pytest.fixture
def root(client: Client, server_mode: Settings) -> User:
    """A superuser, who has signed in."""
    user = User.objects.create_superuser("root", password="correct horse battery")
    client.force_login(user)
    return user


def link_in(page: str) -> str:
    """The path of the link that a page shows."""
    found = re.search(r"http://testserver(/account/set-password/[^/]+/[^/]+/)<", page)
    assert found is not None
    return found[1]


def test_who_administers_nothing_sees_none(client: Client, server_mode: Settings) -> None:
    client.force_login(User.objects.create_user("alice"))
    User.objects.create_user("bob")
    for path in (ACCOUNTS, "/accounts/bob/", "/accounts/nobody/"):
        assert client.get(path).status_code == 403
        assert client.post(path, {**NEW, "name": "carol", "do": "keep-out"}).status_code == 403
    assert User.objects.filter(is_active=True).count() == 2


def test_in_local_mode_whoever_is_there_may(client: Client) -> None:
    assert client.post(ACCOUNTS, NEW).status_code == 200
    assert "bob" in client.get(ACCOUNTS).content.decode()


def test_a_new_account_has_no_password_but_a_link(client: Client, root: User) -> None:
    response = client.post(ACCOUNTS, NEW)
    bob = User.objects.get(username="bob")
    assert not bob.has_usable_password()
    assert not bob.is_staff
    assert sorted(bob.groups.values_list("name", flat=True)) == ["ml", "platform"]
    assert "no-store" in response.headers["Cache-Control"]
    link_in(response.content.decode())
    assert "/account/set-password/" not in client.get("/accounts/bob/").content.decode()


def test_the_link_sets_a_password_once(client: Client, root: User) -> None:
    path = link_in(client.post(ACCOUNTS, NEW).content.decode())
    theirs = Client()
    page = theirs.get(path, follow=True)
    assert "bob" in page.content.decode()
    form = {"new_password1": "a horse, again", "new_password2": "a horse, again"}
    assert theirs.post(page.request["PATH_INFO"], form).headers["Location"] == "/login/"
    signed_in = theirs.post("/login/", {"username": "bob", "password": "a horse, again"})
    assert signed_in.status_code == 302
    assert "has been used, or it is too old" in Client().get(path, follow=True).content.decode()


def test_the_link_refuses_a_weak_password(client: Client, root: User) -> None:
    path = link_in(client.post(ACCOUNTS, NEW).content.decode())
    theirs = Client()
    inner = theirs.get(path, follow=True).request["PATH_INFO"]
    page = theirs.post(inner, {"new_password1": "bob", "new_password2": "bob"}).content.decode()
    assert "form-errors" in page
    assert not User.objects.get(username="bob").has_usable_password()


def test_a_link_that_is_too_old_is_refused(client: Client, root: User, settings: Settings) -> None:
    path = link_in(client.post(ACCOUNTS, NEW).content.decode())
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert "too old" in Client().get(path, follow=True).content.decode()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "root"}, "already"),
        ({"name": "ROOT"}, "already"),
        ({"name": "a b"}, "valid username"),
        ({"name": ""}, "required"),
        ({"email": "nowhere"}, "valid email"),
        ({"groups": "x" * 151}, "no comma"),
    ],
)
def test_an_account_that_cannot_be_made_says_why(client: Client, root: User, change: dict[str, str], told: str) -> None:
    assert told in client.post(ACCOUNTS, {**NEW, **change}).content.decode()
    assert User.objects.count() == 1
    assert not Group.objects.exists()


def test_groups_and_address_are_changed(client: Client, root: User) -> None:
    create_account("bob", groups=["ml"])
    form = {"do": "save", "email": "b@example.com", "groups": "platform"}
    page = client.post("/accounts/bob/", form, follow=True).content.decode()
    assert "New: the group platform." in page
    bob = User.objects.get(username="bob")
    assert bob.email == "b@example.com"
    assert [group.name for group in bob.groups.all()] == ["platform"]


def test_who_is_kept_out_loses_sessions_and_gets_back_in(client: Client, root: User) -> None:
    bob = create_account("bob")
    theirs = Client()
    theirs.force_login(bob)
    assert theirs.get("/account/").status_code == 200
    client.post("/accounts/bob/", {"do": "keep-out"})
    assert theirs.get("/account/").status_code == 302
    client.post("/accounts/bob/", {"do": "let-in"})
    assert User.objects.get(username="bob").is_active


def test_nobody_keeps_themselves_out(client: Client, root: User) -> None:
    page = client.post("/accounts/root/", {"do": "keep-out"}, follow=True).content.decode()
    assert "somebody else has to" in page
    assert User.objects.get(username="root").is_active


def test_who_has_to_wait_is_let_try_again(client: Client, root: User) -> None:
    create_account("bob")
    for _ in range(5):
        Client().post("/login/", {"username": "bob", "password": "wrong"})
    assert "has to wait" in client.get(ACCOUNTS).content.decode()
    assert "End the wait" in client.get("/accounts/bob/").content.decode()
    client.post("/accounts/bob/", {"do": "end-wait"})
    assert not AccessAttempt.objects.exists()
    assert "End the wait" not in client.get("/accounts/bob/").content.decode()


def test_an_old_failure_is_no_wait(client: Client, root: User) -> None:
    create_account("bob")
    for _ in range(5):
        Client().post("/login/", {"username": "bob", "password": "wrong"})
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert "has to wait" not in client.get(ACCOUNTS).content.decode()


def test_an_administrator_revokes_somebodys_token(client: Client, root: User) -> None:
    token, _ = create_token(create_account("bob"), "nightly", days=1, by=by("bob"))
    assert "nightly" in client.get("/accounts/bob/").content.decode()
    answer = client.post(f"/account/tokens/{token.pk}/revoke/")
    assert answer.headers["Location"] == "/accounts/bob/"
    token.refresh_from_db()
    assert token.revoked_by == "root"


def test_only_superusers_change_a_superusers_account(client: Client, root: User) -> None:
    carol = create_account("carol")
    give(carol, Role.ADMIN, by=by("root"))
    theirs = Client()
    theirs.force_login(carol)
    page = theirs.get("/accounts/root/")
    assert page.status_code == 200
    assert "only superusers change those" in page.content.decode()
    for act in ("link", "save", "keep-out", "end-wait"):
        assert theirs.post("/accounts/root/", {"do": act}).status_code == 403
    create_account("bob")
    assert theirs.post("/accounts/bob/", {"do": "link"}).status_code == 200


def test_a_name_that_is_none_is_404(client: Client, root: User) -> None:
    assert client.get("/accounts/nobody/").status_code == 404
    assert client.get("/accounts/a%00b/").status_code == 404


@pytest.mark.parametrize(("text", "names"), [("bo", ["bob"]), ("example", ["bob"]), ("ml", ["bob"]), ("\x00", None)])
def test_accounts_are_found_by_name_address_and_group(
    client: Client, root: User, text: str, names: list[str] | None
) -> None:
    create_account("bob", email="bob@example.com", groups=["ml"])
    page = client.get(ACCOUNTS, {"q": text}).content.decode()
    assert re.findall(r'href="/accounts/(\w+)/"', page) == (["bob", "root"] if names is None else names)


def test_the_number_of_queries_does_not_grow_with_the_accounts(client: Client, root: User) -> None:
    counts = []
    for number in range(2):
        for each in range(5):
            create_account(f"user-{number}-{each}", groups=["ml"])
        with CaptureQueriesContext(connection) as queries:
            client.get(ACCOUNTS)
        counts.append(len(queries))
    assert counts[0] == counts[1]
