"""What people do with findings on pages: take them on, decide, be told when somebody was quicker, act on many."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from selection.people.handlings import Wish, handle
from selection.people.models import ActRecord, Handling, Role
from selection.store.models import Finding
from tests.faces.clusters import store, text_of
from tests.people.cast import somebody
from tests.people.writers import by
from tests.rules.manifests import a_model, a_service

pytestmark = pytest.mark.django_db

HOSTILE = '"><script>alert(1)</script>'


def soon() -> str:
    return (timezone.now().date() + timedelta(days=30)).isoformat()


@pytest.fixture
def fleet() -> list[Finding]:
    """Three findings in a namespace, and one in another."""
    names = ["one", "three", "two"]
    services = [a_service(name, model={"name": f"gone-{name}"}) for name in names]
    store(a_model(), *services, a_service("other", "hr", model={"name": "gone"}))
    return list(Finding.objects.select_related("cluster").filter(code="invalid", namespace="team").order_by("name"))


def address(finding: Finding) -> str:
    return f"/findings/{finding.key}/handling/"


def decide(client: Client, finding: Finding, seen: int = 0, **told: Any) -> Any:
    return client.post(address(finding), {"do": "decide", "seen": seen, **told})


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/findings/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


# --- one ---------------------------------------------------------------------------------------------


def test_one_is_taken_decided_and_told(client: Client, fleet: list[Finding], settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    finding = fleet[0]
    assert "Nobody has decided. It has no owner." in text_of(client.get(f"/findings/{finding.key}/"))
    taken = client.post(address(finding), {"do": "take", "seen": 0})
    assert (taken.status_code, taken.headers["Location"]) == (302, f"/findings/{finding.key}/#handling")
    done = decide(client, finding, 1, state="accepted", reason=f"a test bed {HOSTILE}", expires_on=soon())
    assert done.status_code == 302
    page = client.get(f"/findings/{finding.key}/")
    text = text_of(page)
    assert f"Accepted It stays as it is until {soon()}" in text
    assert "Its owner is ada." in text
    assert "Decided by ada" in text
    assert "It is saved." in text
    assert HOSTILE not in page.content.decode()
    assert "ada set the owner" in text.partition("What became of it")[2]
    assert Handling.objects.get().version == 2


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"state": "accepted", "reason": "", "expires_on": "2999-01-01"}, "Accepting a finding needs a reason."),
        ({"state": "accepted", "reason": "my words"}, "Accepting a finding needs a day"),
        ({"state": "accepted", "reason": "my words", "expires_on": "tomorrow"}, "Write a day such as 2026-12-31."),
        ({"state": "accepted", "reason": "my words", "expires_on": "2020-01-01"}, "2020-01-01 is past."),
        ({"state": "fixed", "reason": "my words"}, "Select a valid choice."),
        ({"state": "open", "reason": "x" * 5001}, "at most 5000 characters"),
    ],
)
def test_what_can_not_be_is_told_beside_its_field_and_no_word_is_lost(
    client: Client, fleet: list[Finding], told: dict[str, Any], says: str
) -> None:
    response = decide(client, fleet[0], **told)
    assert response.status_code == 400
    assert says in text_of(response)
    assert told["reason"] in response.content.decode()
    assert not Handling.objects.exists()


def test_an_acceptance_that_lapsed_says_why(client: Client, fleet: list[Finding]) -> None:
    wish = Wish(state="accepted", reason="a test bed", expires_on=timezone.now().date() + timedelta(days=30))
    for finding in fleet[:2]:
        handle(by("ada"), finding, wish, 0)
    Handling.objects.filter(key=fleet[0].key).update(expires_on=timezone.now().date() - timedelta(days=1))
    Handling.objects.filter(key=fleet[1].key).update(evidence="0" * 32)
    assert "which is past: look again" in text_of(client.get(f"/findings/{fleet[0].key}/"))
    assert "became another: look again" in text_of(client.get(f"/findings/{fleet[1].key}/"))
    assert {row["name"]: row["lapsed"] for row in rows(client, "decision=lapsed")} == {
        "one": "expired", "three": "evidence-changed",
    }  # fmt: skip


def test_the_second_of_two_sees_both_and_saves_after_that(client: Client, fleet: list[Finding]) -> None:
    finding = fleet[0]
    handle(by("bob"), finding, Wish(state="in-progress", reason="bob looks"), 0)
    response = decide(client, finding, 0, state="accepted", reason=f"mine {HOSTILE}", expires_on=soon())
    text = text_of(response)
    assert response.status_code == 409
    assert "bob looks" in text.partition("What stands now")[2].partition("What you wrote")[0]
    assert f"mine {HOSTILE}" in text.partition("What you wrote")[2]
    assert HOSTILE not in response.content.decode()
    seen = re.search(r'name="seen" value="(\d+)"', response.content.decode())
    assert seen is not None
    assert decide(client, finding, int(seen[1]), state="open", reason="agreed").status_code == 302
    assert Handling.objects.get().reason == "agreed"


@pytest.mark.parametrize("seen", ["", "x", "-1", "9" * 30, "1.5"])
def test_a_version_that_is_none_overwrites_nothing(client: Client, fleet: list[Finding], seen: str) -> None:
    response = client.post(address(fleet[0]), {"do": "decide", "state": "open", "reason": "x", "seen": seen})
    assert response.status_code == 409
    assert not Handling.objects.exists()


def test_an_owner_that_changes_is_no_new_decision(client: Client, fleet: list[Finding]) -> None:
    wish = Wish(state="accepted", reason="a test bed", expires_on=timezone.now().date())
    handle(by("ada"), fleet[0], wish, 0)
    Handling.objects.update(evidence="0" * 32)
    assert client.post(address(fleet[0]), {"do": "own", "owner": "bob", "seen": 1}).status_code == 302
    assert (Handling.objects.get().owner, Handling.objects.get().evidence) == ("bob", "0" * 32)


@pytest.mark.usefixtures("server_mode")
def test_a_viewer_sees_what_was_decided_and_has_no_form(client: Client, fleet: list[Finding]) -> None:
    handle(by("ada"), fleet[0], Wish(owner="ada", state="in-progress", reason="I look"), 0)
    client.force_login(somebody("vic", Role.VIEWER, cluster="prod", namespace="team"))
    page = client.get(f"/findings/{fleet[0].key}/")
    assert "I look" in text_of(page)
    assert "/handling/" not in page.content.decode()
    assert decide(client, fleet[0], 1, state="open", reason="x").status_code == 403
    assert 'form="together"' not in client.get("/findings/").content.decode()
    assert client.get("/findings/together/?all=1").status_code == 403


def test_a_form_from_elsewhere_is_refused(fleet: list[Finding]) -> None:
    client = Client(enforce_csrf_checks=True)
    assert decide(client, fleet[0], state="open", reason="x").status_code == 403
    assert client.post("/findings/together/", {"do": "save"}).status_code == 403


# --- the list ----------------------------------------------------------------------------------------


def test_the_list_filters_and_exports_what_people_do(client: Client, fleet: list[Finding], settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    day = timezone.now().date() + timedelta(days=30)
    handle(by("bob"), fleet[0], Wish(owner="ada"), 0)
    handle(by("bob"), fleet[1], Wish(owner="bob", state="accepted", reason="why", expires_on=day), 0)

    def names(query: str) -> set[str]:
        return {row["name"] for row in rows(client, f"code=invalid&{query}")}

    everything = {"one", "two", "three", "other"}
    assert names("") == everything
    assert names("decision=accepted") == {"three"}
    assert names("decision=open") == everything - {"three"}
    assert names("decision=in-progress") == set()
    assert names("owned=me") == {"one"}
    assert names("owned=somebody") == {"one", "three"}
    assert names("owned=nobody") == {"two", "other"}
    assert names("owner=bob") == {"three"}
    assert names("owner=nobody-there") == set()
    told = next(row for row in rows(client, "owner=bob"))
    assert (told["decision"], told["lapsed"], told["owner"], told["reason"], told["decided_by"]) == (
        "accepted", "", "bob", "why", "bob",
    )  # fmt: skip
    assert told["expires_on"] == day.isoformat()
    assert told["decided_at"].endswith("Z")
    page = text_of(client.get("/findings/?owner=bob"))
    assert re.search(rf"Accepted ?bob ?until {day}", page)


def test_what_is_fixed_is_asked_for(client: Client, fleet: list[Finding]) -> None:
    store(a_model())
    assert {row["name"] for row in rows(client, "decision=fixed&code=invalid")} == {"one", "two", "three", "other"}
    assert {row["decision"] for row in rows(client, "decision=fixed")} == {"fixed"}
    assert not rows(client, "decision=fixed&state=present")
    assert "fixed" in text_of(client.get("/findings/?decision=fixed")).lower()


def test_neither_rows_nor_acts_cost_a_query_each(client: Client, fleet: list[Finding]) -> None:
    paths = ("/findings/", f"/findings/{fleet[0].key}/", "/findings/together/?all=1", "/mine/", "/acts/")
    handle(by("ada"), fleet[0], Wish(owner="ada"), 0)
    before = {path: queries_of(client, path) for path in paths}
    for finding in fleet[1:]:
        handle(by("ada"), finding, Wish(owner="ada"), 0)
    for version in range(1, 6):
        handle(by("ada"), fleet[0], Wish(state="open", reason=f"reason {version}"), version)
    assert {path: queries_of(client, path) for path in paths} == before
    assert max(before.values()) <= 16


def queries_of(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


# --- many --------------------------------------------------------------------------------------------


def preview(client: Client, query: str, **told: str) -> tuple[str, list[str]]:
    """The page after the preview, and what its form sends of the findings."""
    first = client.get(f"/findings/together/?{query}").content.decode()
    keys = re.findall(r'name="key" value="([^"]+)"', first)
    page = client.post("/findings/together/", {"do": "preview", "key": keys, **told})
    assert page.status_code == 200
    assert not ActRecord.objects.filter(act="undone").exists()
    return text_of(page), re.findall(r'name="key" value="([^"]+)"', page.content.decode())


def test_many_are_chosen_looked_at_done_and_taken_back(client: Client, fleet: list[Finding]) -> None:
    handle(by("ada"), fleet[2], Wish(owner="carl"), 0)
    told = {"owning": "set", "owner": "bob", "state": "accepted", "reason": "a test bed", "expires_on": soon()}
    query = "&".join(f"key={finding.key}" for finding in fleet)
    text, keys = preview(client, query, **told)
    assert "This would change 3 of 3 findings. Nothing is done yet." in text
    assert re.search(r"Open ?carl ?Accepted ?bob", text)
    assert Handling.objects.count() == 1
    done = client.post("/findings/together/", {"do": "save", "key": keys, **told}, follow=True)
    assert "It can be taken back until" in text_of(done)
    assert set(Handling.objects.values_list("owner", "state")) == {("bob", "accepted")}
    there = done.redirect_chain[-1][0]
    back = client.post(there, follow=True)
    assert "It is taken back." in text_of(back)
    assert sorted(Handling.objects.values_list("owner", "state")) == [("", "open"), ("", "open"), ("carl", "open")]


def test_all_that_the_filter_leaves(client: Client, fleet: list[Finding]) -> None:
    text, keys = preview(client, "all=1&namespace=team&code=invalid", owning="nobody")
    assert len(keys) == 3
    assert "This would change 0 of 3 findings" in text
    page = client.post("/findings/together/", {"do": "save", "key": keys, "owning": "nobody"}, follow=True)
    assert "Nothing had to change." in text_of(page)
    assert client.get("/findings/together/?all=1&since=never").status_code == 404


def test_when_somebody_was_quicker_nothing_is_done_and_no_word_is_lost(client: Client, fleet: list[Finding]) -> None:
    told = {"state": "open", "reason": "my words"}
    _, keys = preview(client, "all=1&code=invalid", **told)
    handle(by("bob"), fleet[1], Wish(owner="bob"), 0)
    response = client.post("/findings/together/", {"do": "save", "key": keys, **told})
    assert response.status_code == 409
    assert "Somebody else changed one of them" in text_of(response)
    assert "my words" in response.content.decode()
    assert Handling.objects.count() == 1


def test_it_can_not_be_taken_back_after_somebody_went_on(client: Client, fleet: list[Finding]) -> None:
    _, keys = preview(client, "all=1&code=invalid", state="in-progress")
    there = client.post("/findings/together/", {"do": "save", "key": keys, "state": "in-progress"}).headers["Location"]
    assert "Take it back" in text_of(client.get(there))
    handle(by("bob"), fleet[1], Wish(owner="bob"), 1)
    assert "so it can't be taken back" in text_of(client.get(there))
    assert "somebody did something else with it since" in text_of(client.post(there, follow=True))
    assert set(Handling.objects.values_list("state", flat=True)) == {"in-progress"}


@pytest.mark.parametrize(
    "told",
    [{}, {"owning": "set"}, {"state": "accepted"}, {"state": "accepted", "reason": "x", "expires_on": "2020-01-01"}],
)
def test_what_can_not_be_done_with_many_is_refused(client: Client, fleet: list[Finding], told: dict[str, str]) -> None:
    response = client.post("/findings/together/", {"do": "save", "key": f"{fleet[0].key}:0", **told})
    assert response.status_code == 400
    assert not Handling.objects.exists()


@pytest.mark.usefixtures("server_mode")
def test_those_where_one_may_not_decide_are_left_out_and_told(client: Client, fleet: list[Finding]) -> None:
    user = somebody("rita", Role.REVIEWER, cluster="prod", namespace="team")
    somebody("rita", Role.VIEWER, cluster="prod", namespace="hr")
    client.force_login(user)
    first = client.get("/findings/together/?all=1&code=invalid")
    assert "Left out 1" in text_of(first)
    keys = [f"{finding.key}:0" for finding in Finding.objects.filter(code="invalid")]
    client.post("/findings/together/", {"do": "save", "key": keys, "state": "in-progress"})
    assert set(Handling.objects.values_list("namespace", flat=True)) == {"team"}


def test_there_is_no_such_batch(client: Client, fleet: list[Finding]) -> None:
    assert client.get("/findings/together/0123/").status_code == 404
    assert client.post("/findings/together/0123/").status_code == 404
