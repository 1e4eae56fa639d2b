"""The severities of findings: set on a page and by a command, seen by everybody."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import Settings

from selection.people.models import Role
from selection.rules.codes import CODES
from selection.store.models import Finding, SeveritySetting
from selection.store.severities import set_severity
from tests.faces.cli import refused, run, run_json
from tests.faces.clusters import store, text_of
from tests.people.cast import somebody
from tests.rules.manifests import a_model, a_service

pytestmark = pytest.mark.django_db

PAGE = "/findings/severities/"


def a_fleet() -> None:
    """A service that gets no runtime."""
    store(a_model(), a_service())


def severity() -> str:
    return Finding.objects.get(code="no-runtime").severity


def test_it_lists_every_code_with_what_holds_and_how_many_there_are(client: Client) -> None:
    a_fleet()
    page = client.get(PAGE).content.decode()

    for code in CODES:
        assert f'<select name="{code}"' in page
    row = page.partition('href="/findings/?code=no-runtime">No runtime</a>')[2].partition("</tr>")[0]
    assert re.search(r'data-label="Now">1</td>', row)


def test_what_is_saved_is_in_force_at_once_with_whose_word_it_is(client: Client) -> None:
    a_fleet()
    response = client.post(PAGE, {"no-runtime": "info", "drift": "default", "reason": "a lab"}, follow=True)

    assert "1 code changed, 1 finding graded anew." in text_of(response)
    assert severity() == "info"
    setting = SeveritySetting.objects.get()
    assert (setting.code, setting.severity, setting.reason) == ("no-runtime", "info", "a lab")
    assert setting.by
    assert "a lab" in text_of(client.get(PAGE))


def test_what_is_not_told_stays(client: Client) -> None:
    a_fleet()
    set_severity("no-runtime", "off", by="ada")
    client.post(PAGE, {"no-runtime": "off", "drift": "info"})

    assert SeveritySetting.objects.get(code="no-runtime").by == "ada", "it isn't said again"
    client.post(PAGE, {"no-runtime": "default"})
    assert severity() == "error"
    assert list(SeveritySetting.objects.values_list("code", flat=True)) == ["drift"]


def test_a_severity_that_does_not_exist_is_refused_by_name(client: Client) -> None:
    a_fleet()

    assert "fatal is no severity" in text_of(client.post(PAGE, {"no-runtime": "fatal"}, follow=True))
    assert severity() == "error"


def test_a_code_that_is_off_leads_to_what_is_hidden(client: Client) -> None:
    a_fleet()
    set_severity("no-runtime", "off")

    assert 'href="/findings/?code=no-runtime&amp;severity=off">No runtime</a>' in client.get(PAGE).content.decode()


@pytest.mark.usefixtures("server_mode")
@pytest.mark.parametrize(
    ("role", "cluster", "allowed"),
    [
        (Role.VIEWER, "", False),
        (Role.REVIEWER, "", False),
        (Role.ADMIN, "prod", False),
        (Role.ADMIN, "", True),
    ],
)
def test_who_is_an_admin_of_everything_sets_them(client: Client, role: Role, cluster: str, allowed: bool) -> None:
    a_fleet()
    client.force_login(somebody("ada", role, cluster=cluster))

    assert ("<select" in client.get(PAGE).content.decode()) == allowed
    assert client.post(PAGE, {"no-runtime": "info"}).status_code == (302 if allowed else 403)
    assert severity() == ("info" if allowed else "error")


def test_it_requires_signing_in_on_a_server(client: Client, server_mode: Settings) -> None:
    for response in (client.get(PAGE), client.post(PAGE, {"no-runtime": "info"})):
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/")
    assert not SeveritySetting.objects.exists()


def test_it_refuses_what_another_site_sends() -> None:
    assert Client(enforce_csrf_checks=True).post(PAGE, {"no-runtime": "info"}).status_code == 403


# --- the command -------------------------------------------------------------------------------------


def test_the_command_lists_and_sets(client: Client) -> None:
    a_fleet()

    assert (
        run("severities", "no-runtime", "warning", "--reason", "a lab")
        == "no-runtime: warning, 1 finding graded anew\n"
    )
    assert severity() == "warning"
    line = next(line for line in run("severities").splitlines() if line.startswith("no-runtime"))
    assert line.split()[:4] == ["no-runtime", "outcome", "warning", "error"]
    (told,) = run_json("severities", "no-runtime")
    assert (told["severity"], told["default"], told["reason"]) == ("warning", "error", "a lab")
    assert told["by"]
    assert run("severities", "no-runtime", "default") == "no-runtime: default, 1 finding graded anew\n"
    assert {each["code"] for each in run_json("severities")} == set(CODES)


def test_the_command_names_what_may_be_meant() -> None:
    assert "'no-runtimes' is no code of a finding; did you mean no-runtime, " in refused(
        "severities", "no-runtimes", "info"
    )


def test_findings_that_are_off_or_gone_are_listed_when_asked_for() -> None:
    a_fleet()
    store(a_model())
    set_severity("no-runtime", "off")

    assert run("findings") == "no findings\n"
    assert [each["state"] for each in run_json("findings", "--state", "gone", "--severity", "off")] == ["gone"]
    assert run("findings", "--state", "gone") == "no findings\n"
    assert "leave out -f" in refused("findings", "--state", "gone", "--ome-version", "1.2")
