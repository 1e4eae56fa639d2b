"""What happened: the record of what people did, who sees which of it, and what is one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from selection.faces.words import DID
from selection.people import models
from selection.people.accounts import create_account, set_active
from selection.people.comments import edit, remove, say
from selection.people.freezing import Scope
from selection.people.handlings import Wish, handle
from selection.people.models import ActRecord, Participant, Review, Role
from selection.people.persons import Person
from selection.people.reviews import open_review
from selection.people.subjects import object_subject
from selection.people.writing import Writer
from selection.rules.objects import ObjectRef
from selection.store.models import Finding
from tests.faces.clusters import store, text_of
from tests.people.cast import somebody
from tests.people.writers import by
from tests.rules.manifests import a_model, a_service

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert(1)</script>"'
CHAT = object_subject("prod", ObjectRef("InferenceService", "team", "chat"))
PAY = object_subject("prod", ObjectRef("InferenceService", "hr", "pay"))
ADA = Writer(Person("ada"), "page")


@pytest.fixture(autouse=True)
def fleet() -> None:
    store(a_model(), a_service("chat", model={"name": "gone"}), a_service("pay", "hr", model={"name": "gone"}))


def the(name: str) -> Finding:
    found = Finding.objects.select_related("cluster").filter(name=name, code="invalid").first()
    assert found is not None
    return found


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/acts/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def something_of_everything() -> None:
    handle(ADA, the("chat"), Wish(owner="bob", state="in-progress", reason=f"why {HOSTILE}"), 0)
    say(Writer(Person("bob", token="nightly"), "api"), CHAT, f"said {HOSTILE}")
    say(ADA, PAY, "of salaries")
    create_account("eve", by=by("root"))


# --- the record --------------------------------------------------------------------------------------


def test_it_tells_who_did_what_to_what_from_what_to_what(client: Client) -> None:
    something_of_everything()
    response = client.get("/acts/")
    text = text_of(response)
    for words in (
        "set owner and decision", "commented", "made the account", "token nightly", "by the REST interface",
        "by a command", "team/chat", "Can't be judged", f"why {HOSTILE}",
    ):  # fmt: skip
        assert words in text, words
    assert "<script>alert" not in response.content.decode()
    assert 'href="/services/prod/team/chat/"' in response.content.decode()
    assert f'href="/findings/{the("chat").key}/"' in response.content.decode()


@pytest.mark.parametrize(
    ("query", "acts"),
    [
        ("actor=bob", {"commented"}),
        ("act=handled", {"handled"}),
        ("via=api", {"commented"}),
        ("via=command", {"make-account"}),
        ("about=account", {"make-account"}),
        ("about=finding", {"handled"}),
        ("cluster=prod&namespace=hr", {"commented"}),
        ("namespace=none-there", set()),
        (f"subject={CHAT.text}", {"commented"}),
        ("q=salaries", set()),
        ("q=nightly", {"commented"}),
        ("since=1h", {"handled", "commented", "make-account"}),
        ("until=1h", set()),
    ],
)
def test_it_narrows(client: Client, query: str, acts: set[str]) -> None:
    something_of_everything()
    assert {row["act"] for row in rows(client, query)} == acts


def test_its_exports_hold_every_field(client: Client) -> None:
    something_of_everything()
    [row] = rows(client, "act=handled")
    assert (row["actor"], row["via"], row["cluster"], row["namespace"]) == ("ada", "page", "prod", "team")
    assert row["before"] is None
    assert row["after"]["owner"] == "bob"
    assert row["number"] == str(ActRecord.objects.get(act="handled").number)
    response = client.get("/acts/?format=csv")
    assert isinstance(response, StreamingHttpResponse)
    assert response.getvalue().decode().startswith("at,actor,token,via,act,subject,cluster,namespace,before,after")


def test_it_costs_the_same_however_much_happened(client: Client) -> None:
    something_of_everything()

    def queries(query: str) -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(f"/acts/?{query}").status_code == 200
        return len(found)

    client.get("/acts/")
    before = {query: queries(query) for query in ("", "group=actor", "group=subject")}
    row = say(ADA, CHAT, "once more")
    for version in range(1, 10):
        edit(ADA, row, f"version {version}", version)
    for version in range(1, 10):
        handle(ADA, the("chat"), Wish(owner=f"bob-{version}"), version)
    assert {query: queries(query) for query in before} == before
    assert max(before.values()) <= 14


def test_every_act_that_the_code_records_has_words() -> None:
    source = "".join(each.read_text() for each in Path(models.__file__).parents[1].glob("*.py"))
    recorded = {
        *re.findall(r'note\(\s*\w+,\s*"([a-z-]+)"', source),
        "owned",
        "decided",
        "handled",
        "keep-out",
        "let-in",
    }
    assert len(recorded) > 20
    assert recorded <= set(DID)
    assert all(each.label for each in DID.values())


def test_nobody_has_done_anything_yet(client: Client) -> None:
    assert "Nobody has done anything yet" in text_of(client.get("/acts/"))


# --- who sees it -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("server_mode")
def test_what_was_done_elsewhere_is_in_no_row_count_offer_or_export(client: Client) -> None:
    something_of_everything()
    say(Writer(Person("zoe"), "page"), PAY, "of salaries")
    client.force_login(somebody("vic", Role.VIEWER, cluster="prod", namespace="team"))
    assert {row["namespace"] for row in rows(client)} == {"team"}
    page = client.get("/acts/")
    assert "2 acts" in text_of(page)
    shown = page.content.decode().partition("<main")[2].partition("</main>")[0]
    assert not re.findall(r"salaries|\bzoe\b|\bpay\b|\beve\b", shown)
    assert not rows(client, f"subject={PAY.text}")


@pytest.mark.usefixtures("server_mode")
def test_the_words_of_a_comment_that_was_taken_away_are_for_admins(client: Client) -> None:
    row = say(ADA, CHAT, "the first slip")
    edit(ADA, row, "the second slip", 1)
    remove(ADA, row, 2)
    kept = say(ADA, CHAT, "stays")
    for name, role, sees in (("vic", Role.VIEWER, False), ("rita", Role.REVIEWER, False), ("adam", Role.ADMIN, True)):
        client.force_login(somebody(name, role, cluster="prod", namespace="team"))
        told = json.dumps(rows(client))
        assert ("slip" in told) == sees
        assert "stays" in told
        assert ("slip" in client.get("/acts/").content.decode()) == sees
        assert "slip" not in client.get("/services/prod/team/chat/").content.decode()
    assert kept.version == 1


# --- what is one's own -------------------------------------------------------------------------------


def test_it_gathers_what_is_mine(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "rita"
    somebody("rita")
    assert "Nothing waits for you" in text_of(client.get("/mine/"))
    handle(ADA, the("chat"), Wish(owner="rita"), 0)
    handle(ADA, the("pay"), Wish(owner="bob"), 0)
    say(ADA, CHAT, f"@rita look {HOSTILE}")
    open_review(Writer(Person("rita"), "page"), "before the upgrade", Scope((("prod", ""),)))
    page = client.get("/mine/")
    text = text_of(page)
    assert "You own 1 finding that is there, 1 comment names you, and you take part in 1 open review." in text
    assert "before the upgrade" in text
    assert "team/chat" in text
    assert "hr/pay" not in text
    assert "<script>alert" not in page.content.decode()
    assert Participant.objects.filter(name="rita").exists()
    assert Review.objects.count() == 1


@pytest.mark.usefixtures("server_mode")
def test_what_one_may_not_see_any_more_is_not_ones_own(client: Client) -> None:
    user = somebody("rita", Role.REVIEWER, cluster="prod", namespace="team")
    handle(ADA, the("pay"), Wish(owner="rita"), 0)
    say(ADA, PAY, "@rita of salaries")
    client.force_login(user)
    text = text_of(client.get("/mine/"))
    assert "Nothing waits for you" in text
    assert "salaries" not in text
    set_active(user, False, by("root"))
    assert client.get("/mine/").status_code == 302


@pytest.mark.usefixtures("server_mode")
@pytest.mark.parametrize("path", ["/mine/", "/findings/?owned=me"])
def test_a_page_that_renews_itself_shows_nobody_what_is_anothers(client: Client, path: str) -> None:
    people = [somebody(name, Role.VIEWER, cluster="prod", namespace="team") for name in ("rita", "vic")]
    handle(ADA, the("chat"), Wish(owner="rita"), 0)
    found = []
    for person in people:
        client.force_login(person)
        found.append("team/chat" in text_of(client.get(path, headers={"X-Live": "1"})))
    assert found == [True, False]
