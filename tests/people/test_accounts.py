"""Accounts: what makes one, who may change which, who has to wait."""

from __future__ import annotations

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import Settings

from selection.people.accounts import (
    AccountError,
    create_account,
    end_wait,
    may_change,
    may_manage,
    password_path,
    set_active,
    set_groups,
    waiting_names,
)
from selection.people.granting import give
from selection.people.models import ActRecord, Role
from selection.people.persons import Person
from selection.people.scopes import Scope
from selection.people.subjects import account_subject, parse
from selection.people.tokens import create_token, revoke
from selection.people.writing import Writer
from selection.store.sight import NOTHING, seeing
from tests.people.writers import by

pytestmark = pytest.mark.django_db


def test_a_name_that_differs_in_capitals_alone_is_taken() -> None:
    create_account("alice")
    with pytest.raises(AccountError, match="already"):
        create_account("Alice")


@pytest.mark.parametrize("name", ["", " ", "a b", "x" * 151, "a/b", "a\x00b", "a\nb"])
def test_a_name_that_is_none_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(AccountError) as caught:
        create_account(name)
    assert "\n" not in str(caught.value)
    assert not User.objects.exists()


def test_a_group_that_cannot_be_named_like_that_leaves_everything_as_it_was() -> None:
    alice = create_account("alice", groups=["ml"])
    with pytest.raises(AccountError):
        set_groups(alice, ["platform", "x" * 151])
    assert [group.name for group in alice.groups.all()] == ["ml"]
    assert not Group.objects.filter(name="platform").exists()


def test_groups_are_named_that_had_to_be_made() -> None:
    alice = create_account("alice", groups=["ml"])
    assert set_groups(alice, ["ml", "platform", "platform"]) == ["platform"]


def test_keeping_out_what_is_out_is_no_change() -> None:
    alice = create_account("alice")
    assert [set_active(alice, False), set_active(alice, False), set_active(alice, True)] == [True, False, True]


def test_an_admin_of_everything_manages_accounts_but_no_superusers() -> None:
    carol, bob, root = create_account("carol"), create_account("bob"), create_account("root", superuser=True)
    give(carol, Role.ADMIN, by=by("root"))
    assert [may_change(Person("carol", carol), user) for user in (bob, root)] == [True, False]
    assert [may_change(Person("root", root), user) for user in (bob, root)] == [True, True]
    assert may_change(Person("whoever is here"), root)


def test_an_admin_of_one_cluster_manages_no_accounts() -> None:
    carol = create_account("carol")
    give(carol, Role.ADMIN, cluster="prod", by=by("root"))
    assert not may_manage(Person("carol", carol))


def test_a_token_of_a_small_scope_manages_no_accounts() -> None:
    root = create_account("root", superuser=True)
    assert not may_manage(Person("root", root, "nightly", Scope.REVIEW))
    assert may_manage(Person("root", root, "nightly", Scope.ADMIN))


def test_who_waits_is_who_failed_too_often_from_one_address_whatever_the_browser() -> None:
    def failed(name: str, address: str, browser: str, times: int) -> None:
        AccessAttempt.objects.create(
            username=name,
            ip_address=address,
            user_agent=browser,
            failures_since_start=times,
            attempt_time=timezone.now(),
        )

    alice = create_account("alice")
    for browser in ("one", "two"):
        failed("alice", "192.0.2.1", browser, 3)
    failed("bob", "192.0.2.1", "one", 3)
    failed("bob", "192.0.2.2", "one", 3)
    assert waiting_names() == {"alice"}
    assert end_wait(alice)
    assert waiting_names() == set()
    assert not end_wait(alice)


def test_what_was_done_to_an_account_is_in_the_record_with_who_did_it(settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara"
    alice = create_account("alice", groups=["ml"])
    set_groups(alice, ["ml"], by("root"))
    set_groups(alice, ["platform"], by("root"))
    set_active(alice, False, by("root"))
    set_active(alice, False, by("root"))
    password_path(alice, Writer(Person("carol"), "page"))
    token, secret = create_token(User.objects.create_user("bot"), "nightly", days=1, by=by("carol"))
    revoke(token, by("root"))
    revoke(token, by("root"))
    acts = list(ActRecord.objects.order_by("pk").values_list("actor", "via", "act", "subject", "before", "after"))
    assert acts[:4] == [
        ("Mara", "command", "make-account", "account:alice", None, {"groups": ["ml"], "superuser": False}),
        ("root", "command", "set-groups", "account:alice", {"groups": ["ml"]}, {"groups": ["platform"]}),
        ("root", "command", "keep-out", "account:alice", {"active": True}, {"active": False}),
        ("carol", "page", "make-link", "account:alice", None, None),
    ]
    assert [(actor, act, subject) for actor, _, act, subject, _, _ in acts[4:]] == [
        ("carol", "make-token", "account:bot"),
        ("root", "revoke-token", "account:bot"),
    ]
    assert secret not in repr(acts)
    assert parse("account:alice") == account_subject("alice")


def test_what_was_done_to_accounts_is_for_who_sees_everything() -> None:
    create_account("alice")
    assert ActRecord.objects.count() == 1
    with seeing(NOTHING):
        assert not ActRecord.objects.exists()


def test_an_account_that_could_not_be_made_leaves_no_record() -> None:
    with pytest.raises(AccountError):
        create_account("a b")
    assert not ActRecord.objects.exists()
