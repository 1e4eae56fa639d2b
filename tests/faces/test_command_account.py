"""``manage.py account``: accounts from a shell."""

from __future__ import annotations

import re

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from tests.faces.cli import refused, run, run_json

pytestmark = pytest.mark.django_db


def test_it_makes_one_and_prints_a_link_that_sets_the_password() -> None:
    link = run("account", "create", "bob", "--email", "bob@example.com", "--group", "ml", "--group", "ops").strip()
    bob = User.objects.get()
    assert not bob.is_superuser
    assert not bob.has_usable_password()
    assert sorted(bob.groups.values_list("name", flat=True)) == ["ml", "ops"]
    found = re.fullmatch(r"http://127\.0\.0\.1:8000(/account/set-password/\S+)", link)
    assert found is not None
    client = Client()
    page = client.get(found[1], follow=True).request["PATH_INFO"]
    client.post(page, {"new_password1": "a horse, again", "new_password2": "a horse, again"})
    bob.refresh_from_db()
    assert bob.check_password("a horse, again")


def test_on_a_server_the_link_names_its_host(settings: Settings) -> None:
    settings.LOCAL = False
    settings.ALLOWED_HOSTS = ["ome.example.com", "other.example.com"]
    made = run_json("account", "create", "bob", "--superuser")
    assert made["link"].startswith("https://ome.example.com/account/set-password/")
    assert User.objects.get().is_superuser
    assert run_json("account", "link", "bob")["name"] == "bob"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "alice"), "already"),
        (("create", "ALICE"), "already"),
        (("create", "a b"), "valid username"),
        (("create", "bob", "--email", "nowhere"), "valid email"),
        (("create", "bob", "--group", "a,b"), "no comma"),
        (("link", "alise"), "did you mean alice?"),
        (("groups", "alice", "--add", ""), "no comma"),
        (("keep-out", "nobody"), "there is no account named nobody"),
    ],
)
def test_what_it_cannot_do_it_says_in_one_line(arguments: tuple[str, ...], told: str) -> None:
    User.objects.create_user("alice")
    assert told in refused("account", *arguments)
    assert User.objects.count() == 1


def test_it_lists_them() -> None:
    User.objects.create_superuser("root", password="x")
    run("account", "create", "bob", "--group", "ml")
    run("account", "create", "carol")
    run("account", "keep-out", "carol")
    assert [(row["name"], row["state"], row["groups"]) for row in run_json("account", "list")] == [
        ("bob", "no-password", ["ml"]),
        ("carol", "kept-out", []),
        ("root", "active", []),
    ]
    assert run("account", "list").splitlines()[0].split() == ["NAME", "STATE", "GROUPS", "EMAIL", "SIGNED", "IN"]


def test_groups_are_added_and_taken() -> None:
    run("account", "create", "bob", "--group", "ml")
    assert run("account", "groups", "bob", "--add", "ops", "--remove", "ml") == "bob: ops\n"
    assert run("account", "groups", "bob", "--remove", "ops") == "bob: in no group\n"


def test_who_is_kept_out_is_let_in_again() -> None:
    run("account", "create", "bob")
    run("account", "keep-out", "bob")
    assert not User.objects.get().is_active
    run("account", "let-in", "bob")
    assert User.objects.get().is_active


def test_a_wait_is_ended(client: Client) -> None:
    User.objects.create_user("alice", password="correct horse battery")
    for _ in range(5):
        client.post("/login/", {"username": "alice", "password": "wrong"})
    assert run_json("account", "list")[0]["state"] == "waits"
    assert run("account", "end-wait", "alice") == "alice: may try again\n"
    assert not AccessAttempt.objects.exists()
    assert run("account", "end-wait", "alice") == "alice: had not to wait\n"
