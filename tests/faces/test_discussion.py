"""Discussions on pages: said, edited by two at once, taken away; and drafts that outlive a session."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from selection.faces.discussing import MOST, SHOWN, say_address
from selection.faces.drafts import FROM_ONE_ADDRESS, LARGEST
from selection.people.comments import edit, remove, say
from selection.people.models import Comment, Handling, Role
from selection.people.subjects import Subject, finding_subject, object_subject
from selection.rules.objects import ObjectRef
from selection.store.models import Finding
from tests.faces.clusters import store, text_of
from tests.people.cast import somebody
from tests.people.writers import by
from tests.rules.manifests import a_model, a_runtime, a_service

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
CHAT = object_subject("prod", ObjectRef("InferenceService", "team", "chat"))
PAGES = {
    "/services/prod/team/chat/": CHAT,
    "/runtimes/prod/-/vllm/": object_subject("prod", ObjectRef("ClusterServingRuntime", "", "vllm")),
    "/models/prod/-/llama/": object_subject("prod", ObjectRef("ClusterBaseModel", "", "llama")),
}
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def fleet() -> None:
    caches["limits"].clear()
    store(a_model("llama"), a_runtime("vllm"), a_service("chat", model={"name": "gone"}), a_service("pay", "hr"))


def finding() -> Finding:
    found = Finding.objects.select_related("cluster").filter(name="chat").first()
    assert found is not None
    return found


def of_finding() -> tuple[str, Subject]:
    return f"/findings/{finding().key}/", finding_subject(finding())


def seen_in(page: Any) -> str:
    found = re.search(r'name="seen" value="(\d+)"', page.content.decode())
    assert found is not None
    return found[1]


# --- said --------------------------------------------------------------------------------------------


def test_something_is_said_where_it_belongs_and_stands_there(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    for path, subject in [*PAGES.items(), of_finding()]:
        page = client.get(path).content.decode()
        assert f'action="{html.escape(say_address(subject))}"' in page
        done = client.post(say_address(subject), {"text": f"**look** {HOSTILE}"})
        row = Comment.objects.get(subject=subject.text)
        assert (done.status_code, done.headers["Location"]) == (302, f"{path}#comment-{row.pk}")
        response = client.get(path)
        shown = response.content.decode()
        assert "<strong>look</strong>" in shown
        assert HOSTILE in text_of(response)
        assert "<script>alert" not in shown
        assert "<img" not in shown
        assert "ada commented" in text_of(response)


@pytest.mark.parametrize("text", ["", "   ", "x" * 20_001])
def test_what_can_not_be_said_is_told_and_no_word_is_lost(client: Client, text: str) -> None:
    response = client.post(say_address(CHAT), {"text": text})
    assert response.status_code == 400
    assert 'role="alert"' in response.content.decode()
    assert text in response.content.decode()
    assert not Comment.objects.exists()


@pytest.mark.parametrize(
    "subject", ["", "nothing", "account:ada", "cluster:prod", "finding:drift-0123", "object:Pod/team/chat/prod", "a\0b"]
)
def test_what_is_not_discussed_is_not_found(client: Client, subject: str) -> None:
    assert client.post(reverse("say") + "?" + f"subject={subject}", {"text": "x"}).status_code == 404
    assert client.get(reverse("say"), {"subject": subject}).status_code == 404


def test_who_looks_at_the_forms_address_is_led_to_its_page(client: Client) -> None:
    assert client.get(say_address(CHAT)).headers["Location"] == "/services/prod/team/chat/#discussion"


def test_many_comments_are_shown_on_demand_and_cost_no_query_each(client: Client) -> None:
    path, subject = next(iter(PAGES.items()))

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(path)
        return len(found)

    client.get(path)
    none = queries()
    for number in range(SHOWN + 2):
        say(by("ada"), subject, f"number {number} is here")
    assert queries() == none
    page = client.get(path)
    assert "number 1 is here" not in text_of(page)
    assert f"number {SHOWN + 1} is here" in text_of(page)
    assert "Show the earlier ones too" in text_of(page)
    assert "number 0 is here" in text_of(client.get(f"{path}?comments=all"))
    assert MOST > SHOWN


def test_what_was_said_stays_when_its_object_goes_and_comes_again(client: Client) -> None:
    say(by("ada"), CHAT, "still here")
    store(a_model("llama"))
    store(a_model("llama"), a_service("chat"))
    assert "still here" in text_of(client.get("/services/prod/team/chat/"))


# --- changed -----------------------------------------------------------------------------------------


def test_one_says_it_otherwise(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    row = say(by("ada"), CHAT, "first")
    path = f"/comments/{row.pk}/"
    assert f'href="{path}"' in client.get("/services/prod/team/chat/").content.decode()
    page = client.get(path)
    done = client.post(path, {"do": "edit", "text": "second", "seen": seen_in(page)})
    assert done.headers["Location"] == f"/services/prod/team/chat/#comment-{row.pk}"
    assert re.search(r"second", text_of(client.get("/services/prod/team/chat/")))
    assert "edited" in text_of(client.get("/services/prod/team/chat/"))


def test_the_second_of_two_sees_both_versions_and_keeps_the_text(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    row = say(by("ada"), CHAT, "first")
    edit(by("ada"), row, f"theirs {HOSTILE}", 1)
    response = client.post(f"/comments/{row.pk}/", {"do": "edit", "text": f"mine {HOSTILE}", "seen": "1"})
    text = text_of(response)
    assert response.status_code == 409
    assert f"theirs {HOSTILE}" in text.partition("What stands now")[2].partition("What you wrote")[0]
    assert text.partition("What you wrote")[2].count(f"mine {HOSTILE}") == 2
    assert "<script>alert" not in response.content.decode()
    assert seen_in(response) == "2"
    assert client.post(f"/comments/{row.pk}/", {"do": "remove", "seen": "1"}).status_code == 409


def test_what_was_taken_away_meanwhile_costs_no_word(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    row = say(by("ada"), CHAT, "first")
    remove(by("ada"), row, 1)
    response = client.post(f"/comments/{row.pk}/", {"do": "edit", "text": "my long words", "seen": "1"})
    assert response.status_code == 400
    assert "my long words" in text_of(response)


def test_what_is_taken_away_leaves_its_place(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "ada"
    row = say(by("ada"), CHAT, "a slip of the tongue")
    client.post(f"/comments/{row.pk}/", {"do": "remove", "seen": "1"})
    text = text_of(client.get("/services/prod/team/chat/"))
    assert "Taken away by ada" in text
    assert "a slip of the tongue" not in text


@pytest.mark.usefixtures("server_mode")
def test_who_may_not_is_refused_and_sees_no_form(client: Client) -> None:
    row, hidden = say(by("ada"), CHAT, "hello"), say(by("ada"), Subject("object:x", "object", "prod", "hr"), "salaries")
    client.force_login(somebody("vic", Role.VIEWER, cluster="prod", namespace="team"))
    page = client.get("/services/prod/team/chat/").content.decode()
    assert "hello" in page
    assert 'class="say"' not in page
    assert f"/comments/{row.pk}/" not in page
    assert client.post(say_address(CHAT), {"text": "x"}).status_code == 403
    assert client.get(f"/comments/{row.pk}/").status_code == 403
    assert client.get(f"/comments/{hidden.pk}/").status_code == 404
    assert (
        client.get(say_address(object_subject("prod", ObjectRef("InferenceService", "hr", "pay")))).status_code == 404
    )
    assert Comment.objects.count() == 2


# --- drafts ------------------------------------------------------------------------------------------


def sign_in(client: Client, there: str, name: str) -> Any:
    return client.post("/login/", {"username": name, "password": PASSWORD, "next": there}, follow=True)


@pytest.mark.usefixtures("server_mode")
def test_a_comment_survives_the_end_of_the_session(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    user = somebody("rita", Role.REVIEWER)
    user.set_password(PASSWORD)
    user.save()
    path, subject = of_finding()
    sent = client.post(say_address(subject), {"text": f"my long words {HOSTILE}"}, secure=True)
    assert sent.status_code == 302
    assert sent.headers["Location"].startswith("/login/?next=/comments/")
    form = client.get(sent.headers["Location"]).content.decode()
    [there] = re.findall(r'name="next" value="([^"]*)"', form)
    page = sign_in(client, html.unescape(there), "rita")
    assert page.redirect_chain[-1][0] == f"{path}#discussion"
    assert f"my long words {HOSTILE}" in text_of(page)
    assert "It isn't saved yet" in text_of(page)
    assert "<script>alert" not in page.content.decode()
    assert not Comment.objects.exists()
    client.post(say_address(subject), {"text": f"my long words {HOSTILE}"})
    assert Comment.objects.get().author == "rita"
    assert "It isn't saved yet" not in text_of(client.get(path))
    assert "my long words" not in caplog.text


@pytest.mark.usefixtures("server_mode")
def test_a_decision_and_an_edit_survive_it_too(client: Client) -> None:
    user = somebody("rita", Role.REVIEWER)
    user.set_password(PASSWORD)
    user.save()
    row = say(by("rita"), CHAT, "first")
    path, _ = of_finding()
    told = {"do": "decide", "state": "accepted", "reason": "because of this", "expires_on": "", "seen": "0"}
    client.post(f"{path}handling/", told)
    client.post(f"/comments/{row.pk}/", {"do": "edit", "text": "second", "seen": "1"})
    page = sign_in(client, f"{path}handling/", "rita")
    assert "because of this" in page.content.decode()
    assert "selected>Accepted" in page.content.decode()
    assert "second" in client.get(f"/comments/{row.pk}/").content.decode()
    assert not Handling.objects.exists()


@pytest.mark.usefixtures("server_mode")
def test_strangers_do_not_fill_the_database(client: Client) -> None:
    client.post(say_address(CHAT), {"text": "x" * (LARGEST + 1)})
    assert not Session.objects.exists()
    for _ in range(FROM_ONE_ADDRESS + 5):
        Client().post(say_address(CHAT), {"text": "words"})
    assert Session.objects.count() <= FROM_ONE_ADDRESS
    client.post("/severities/", {"reason": "x"})
    caches["limits"].clear()
    for number in range(8):
        client.post(f"/comments/?subject=object:{number}", {"text": f"number {number}"})
    assert [told["text"] for told in client.session["drafts"].values()] == [f"number {each}" for each in range(3, 8)]


def test_local_mode_keeps_none(client: Client) -> None:
    client.post(say_address(CHAT), {"text": "words"})
    assert "drafts" not in client.session
