"""Whose name stands by what is written."""

from __future__ import annotations

import getpass

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory
from pytest_django import Settings

from selection.people import persons
from selection.people.persons import Person, local_person, person_of, person_or_none
from selection.people.scopes import Scope
from selection.people.tokens import create_token
from tests.people.writers import by


@pytest.fixture(autouse=True)
def _ask_anew() -> None:
    persons._machine_user.cache_clear()


def test_in_local_mode_it_is_the_machines_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "mara")
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert person_of(request) == Person("mara")
    assert person_of(request).local


def test_in_local_mode_a_setting_may_name_somebody_else(settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara from the platform team"
    assert local_person() == Person("Mara from the platform team")


def test_a_machine_whose_user_has_no_name_has_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise OSError("No username set in the environment")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert local_person() == Person("somebody")


def test_in_server_mode_a_stranger_is_nobody(settings: Settings) -> None:
    settings.LOCAL = False
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert person_or_none(request) is None
    with pytest.raises(PermissionDenied):
        person_of(request)


@pytest.mark.django_db
def test_a_session_and_a_token_give_the_same_person_but_for_the_token() -> None:
    alice = User.objects.create_user("alice")
    request = RequestFactory().get("/")
    request.user = alice
    assert person_of(request) == Person("alice", alice)
    token, _ = create_token(alice, "nightly", scope=Scope.REVIEW, days=1, by=by("alice"))
    vars(request)["token"] = token
    assert person_of(request) == Person("alice", alice, "nightly", Scope.REVIEW)
    assert str(person_of(request)) == "alice (token nightly)"
    assert not person_of(request).local
