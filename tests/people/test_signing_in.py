"""Signing in: how often one may fail, and what the page says then."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import cast

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import User
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def alice() -> User:
    return User.objects.create_user("alice", password=PASSWORD)


def sign_in(client: Client, password: str = PASSWORD, name: str = "alice", address: str = "192.0.2.1") -> HttpResponse:
    form = {"username": name, "password": password, "next": "/runtimes/"}
    return cast(HttpResponse, client.post("/login/", form, REMOTE_ADDR=address))


def fail(client: Client, times: int = 5, **given: str) -> list[int]:
    return [sign_in(client, "wrong", **given).status_code for _ in range(times)]


def test_after_five_failures_the_page_says_to_wait(client: Client) -> None:
    assert fail(client) == [200, 200, 200, 200, 429]
    answer = sign_in(client, "wrong")
    page = answer.content.decode()
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "900"
    assert "alice was tried 5 times from your address with a wrong password, and has to wait 15 minutes" in page
    assert 'name="next" value="/runtimes/"' in page


def test_the_right_password_does_not_help_while_waiting(client: Client) -> None:
    fail(client)
    assert sign_in(client).status_code == 429


def test_other_addresses_and_other_names_are_not_kept_out(client: Client) -> None:
    User.objects.create_user("bob", password=PASSWORD)
    fail(client)
    assert sign_in(client, address="192.0.2.2").status_code == 302
    assert sign_in(Client(), name="bob").status_code == 302


def test_headers_change_nothing_about_the_address(client: Client) -> None:
    for number in range(5):
        client.post(
            "/login/",
            {"username": "alice", "password": "wrong"},
            headers={"X-Forwarded-For": f"198.51.100.{number}", "User-Agent": f"browser {number}"},
            REMOTE_ADDR="192.0.2.1",
        )
    assert sign_in(client).status_code == 429


def test_it_is_over_when_the_time_is_and_trying_meanwhile_does_not_make_it_longer(client: Client) -> None:
    fail(client)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert sign_in(client).status_code == 429
    AccessAttempt.objects.update(attempt_time=AccessAttempt.objects.get().attempt_time - timedelta(minutes=2))
    assert sign_in(client).status_code == 302


def test_signing_in_forgets_earlier_failures(client: Client) -> None:
    fail(client, 4)
    assert sign_in(client).status_code == 302
    assert fail(Client(), 4) == [200] * 4


def test_a_command_ends_the_wait(client: Client) -> None:
    fail(client)
    call_command("axes_reset_username", "alice", stdout=StringIO())
    assert sign_in(client).status_code == 302


def test_a_hostile_name_is_shown_as_text(client: Client) -> None:
    fail(client, name="<b>alice</b>")
    page = sign_in(client, "wrong", name="<b>alice</b>").content.decode()
    assert "&lt;b&gt;alice&lt;/b&gt; was tried" in page
    assert "<b>alice" not in page


def test_no_password_is_kept_and_no_list_of_who_signed_in(client: Client) -> None:
    sign_in(client, "hunter2-wrong")
    assert "hunter2" not in repr(list(AccessAttempt.objects.values()))
    sign_in(client)
    assert not AccessLog.objects.exists()


def test_the_log_tells_the_address_and_neither_name_nor_password(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    sign_in(client, "hunter2-wrong", name="hunter2-name")
    assert "192.0.2.1" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("address", ["", "unix:", "2001:db8::1", "fe80::1%eth0"])
def test_any_address_that_a_server_tells_will_do(client: Client, address: str) -> None:
    assert fail(client, address=address) == [200, 200, 200, 200, 429]


def test_the_numbers_are_settings(client: Client, settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 1
    settings.AXES_COOLOFF_TIME = timedelta(minutes=1)
    answer = sign_in(client, "wrong")
    assert answer.status_code == 429
    assert "tried 1 time from your address with a wrong password, and has to wait 1 minute now" in (
        answer.content.decode()
    )


def test_on_a_new_server_the_page_says_how_to_make_the_first_account(client: Client) -> None:
    first = "manage.py account create NAME --superuser"
    assert first not in client.get("/login/").content.decode()
    User.objects.all().delete()
    assert first in client.get("/login/").content.decode()


def test_a_session_gets_a_new_key_when_somebody_signs_in(client: Client) -> None:
    client.get("/login/")
    session = client.session
    session["kept"] = "yes"
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = str(before)
    sign_in(client)
    assert client.session.session_key != before
