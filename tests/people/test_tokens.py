"""Tokens: what is kept of them, how they are found, and when they end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.db.models import QuerySet
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.people.models import Token
from selection.people.scopes import Scope
from selection.people.tokens import TokenError, create_token, find_token, prefix_of, revoke, touch
from tests.people.writers import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


def made(user: User, name: str = "nightly", days: int = 30) -> tuple[Token, str]:
    return create_token(user, name, days=days, by=by("alice"))


def test_the_secret_finds_its_token_and_is_kept_nowhere(alice: User) -> None:
    token, secret = made(alice)
    assert find_token(secret) == token
    row = Token.objects.filter(pk=token.pk).values().get()
    assert secret[len(token.prefix) + 1 :] not in repr(row)
    assert secret.startswith(token.prefix)
    assert len(secret) == len("omedash_12345678_") + 43


@pytest.mark.parametrize("change", [lambda s: s[:-1] + ("a" if s[-1] != "a" else "b"), lambda s: s + "a", str.upper])
def test_a_secret_that_is_nearly_right_finds_nothing(alice: User, change: object) -> None:
    _, secret = made(alice)
    assert callable(change)
    assert find_token(change(secret)) is None


@pytest.mark.parametrize("secret", ["", "omedash_", "omedash_ABCDEFGH_" + 43 * "x", "\x00", "é" * 60, "x" * 100_000])
def test_anything_else_finds_nothing(secret: str) -> None:
    assert find_token(secret) is None


def test_text_of_another_form_is_not_looked_up(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert find_token("x" * 60) is None


def test_two_tokens_share_no_secret_and_no_prefix(alice: User) -> None:
    secrets = [made(alice, f"number {number}")[1] for number in range(20)]
    assert len(set(secrets)) == len({prefix_of(secret) for secret in secrets}) == 20


@pytest.mark.parametrize(("name", "days"), [("", 1), (" \n ", 1), ("x" * 81, 1), ("a\x00b", 1), ("a", 0), ("a", 366)])
def test_a_token_that_cannot_be_made_says_why_in_one_line(alice: User, name: str, days: int) -> None:
    with pytest.raises(TokenError) as caught:
        create_token(alice, name, days=days, by=by("alice"))
    assert "\n" not in str(caught.value)
    assert not Token.objects.exists()


def test_a_name_is_taken_until_its_token_is_revoked(alice: User) -> None:
    token, _ = made(alice)
    with pytest.raises(TokenError, match="revoke it first"):
        made(alice)
    assert revoke(token, by("bob"))
    assert made(alice)[0].pk != token.pk


def test_two_people_may_use_one_name(alice: User) -> None:
    made(alice)
    made(User.objects.create_user("bob"))
    assert Token.objects.count() == 2


def test_an_account_that_is_not_active_gets_no_token(alice: User) -> None:
    alice.is_active = False
    with pytest.raises(TokenError, match="isn't active"):
        made(alice)


def test_revoking_says_who_and_is_done_once(alice: User) -> None:
    token, _ = made(alice)
    assert revoke(token, by("bob"))
    assert not revoke(token, by("carol"))
    token.refresh_from_db()
    assert token.revoked_by == "bob"
    assert token.state(timezone.now()) == "revoked"


def test_it_ends_when_it_was_said(alice: User) -> None:
    token, _ = made(alice, days=2)
    assert token.state(token.created_at + timedelta(days=2, seconds=-1)) == "active"
    assert token.state(token.created_at + timedelta(days=2)) == "expired"


def test_it_ends_sooner_when_the_setting_allows_less_now(alice: User, settings: Settings) -> None:
    token, _ = made(alice, days=30)
    settings.TOKEN_DAYS = 7
    assert token.state(token.created_at + timedelta(days=8)) == "expired"


def test_it_rests_while_its_users_account_does(alice: User) -> None:
    token, _ = made(alice)
    alice.is_active = False
    assert token.state(timezone.now()) == "inactive"


def test_use_is_noted_once_a_minute(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    token, _ = made(alice)
    noon = timezone.now()
    touch(token, noon)
    token.refresh_from_db()
    assert token.last_used_at == noon
    with django_assert_num_queries(0):
        touch(token, noon + timedelta(seconds=59))
    touch(token, noon + timedelta(seconds=60))
    token.refresh_from_db()
    assert token.last_used_at == noon + timedelta(seconds=60)


def test_a_use_that_cannot_be_noted_is_no_reason_to_fail(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*arguments: object, **fields: object) -> int:
        raise OperationalError("database is locked")

    token, _ = made(alice)
    monkeypatch.setattr(QuerySet, "update", locked)
    touch(token, timezone.now())
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            waits = cursor.execute("PRAGMA busy_timeout").fetchone()
        assert waits == (20_000,)


def test_a_later_use_is_not_overwritten_by_an_earlier_one(alice: User) -> None:
    token, _ = made(alice)
    noon = timezone.now()
    Token.objects.filter(pk=token.pk).update(last_used_at=noon)
    touch(token, noon - timedelta(seconds=10))
    token.refresh_from_db()
    assert token.last_used_at == noon


def test_scopes_hold_those_before_them() -> None:
    held = {scope: [other for other in Scope if scope.holds(other)] for scope in Scope}
    assert held == {
        Scope.READ: [Scope.READ],
        Scope.REVIEW: [Scope.READ, Scope.REVIEW],
        Scope.ADMIN: [Scope.READ, Scope.REVIEW, Scope.ADMIN],
    }
