"""What programs write through the interface: under whose name, with which rights, and every way to be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from selection.people.models import ActRecord, Comment, Handling, Review, Role
from selection.people.scopes import Scope
from selection.store.models import Finding
from tests.faces.api.bots import ROOT, SERVICE, Bot, key_of, opened, soon
from tests.faces.api.contract import answer_schema, complaints, operations
from tests.people.cast import somebody

from .test_problems import problem

pytestmark = pytest.mark.django_db


def test_a_finding_is_taken_on_and_decided(bot: Bot) -> None:
    key = key_of("apps")
    path = f"/findings/{key}/handling"
    assert bot.done("GET", path, operation="readHandling")["version"] == 0
    tag = bot.ask("GET", path).headers["ETag"]
    taken = bot.done("PATCH", path, {"owner": "bot", "version": 0}, operation="changeHandling")
    assert (taken["owner"], taken["state"], taken["version"]) == ("bot", "open", 1)
    assert bot.client.get(f"{ROOT}{path}", headers={"If-None-Match": tag}).status_code == 200
    body = {"state": "accepted", "reason": "Until then.", "expires_on": soon(), "version": 1}
    accepted = bot.done("PUT", path, body, operation="writeHandling")
    assert (accepted["owner"], accepted["decision"], accepted["decided_by"]) == ("", "accepted", "bot")
    told = bot.done("GET", f"/findings/{key}", operation="readFinding")
    assert (told["handling"], told["version"], told["decision"]) == (accepted, 2, "accepted")
    assert Handling.objects.get(key=key).version == 2


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"state": "accepted", "version": 0}, 422, "/reason"),
        ({"state": "accepted", "reason": "so", "version": 0}, 422, "/expires_on"),
        ({"state": "accepted", "reason": "so", "expires_on": "2020-01-01", "version": 0}, 422, "/expires_on"),
        ({"owner": "nobody-here", "version": 0}, 422, "/owner"),
        ({"state": "fixed", "version": 0}, 400, "/state"),
        ({"state": "open"}, 400, "/version"),
        ({"owner": 7, "version": 0}, 400, "/owner"),
        ({"version": True}, 400, "/version"),
        ({"version": 0, "onwer": "bot"}, 400, "/onwer"),
    ],
)
def test_a_decision_that_cant_be_is_refused_by_its_field(bot: Bot, body: Any, status: int, pointer: str) -> None:
    found = bot.refused("PATCH", f"/findings/{key_of('apps')}/handling", body, status=status)
    assert [each["pointer"] for each in found["errors"]] == [pointer]
    assert not Handling.objects.exists()


def test_all_that_is_said_of_an_acceptance_has_a_day(bot: Bot) -> None:
    body = {"state": "accepted", "reason": "so", "version": 0}
    found = bot.refused("PUT", f"/findings/{key_of('apps')}/handling", body, status=422)
    assert [each["pointer"] for each in found["errors"]] == ["/expires_on"]


def test_the_second_of_two_is_told_sees_both_sides_and_loses_nothing(bot: Bot) -> None:
    key = key_of("apps")
    other = Bot("other", Role.REVIEWER)
    other.done("PATCH", f"/findings/{key}/handling", {"owner": "other", "version": 0}, operation="changeHandling")
    response = bot.ask("PATCH", f"/findings/{key}/handling", {"owner": "bot", "version": 0})
    found = problem(response, 409)
    assert (found["code"], found["current"]["owner"], found["wanted"]) == ("stale", "other", {"owner": "bot"})
    told = next(each for name, _, each in operations("patch") if name == "changeHandling")
    assert complaints(answer_schema(told, "409", "application/problem+json"), found) == []


def test_many_findings_are_tried_handled_and_undone_as_one(bot: Bot) -> None:
    keys = list(Finding.objects.filter(namespace="apps", gone_at=None).values_list("key", flat=True)[:2])
    body = {"keys": keys, "owner": "bot", "state": "in-progress"}
    tried = bot.done("POST", "/findings/handlings", {**body, "dry_run": True}, operation="handleFindings")
    assert (tried["dry_run"], tried["batch"]) == (True, None)
    assert [(each["touched"], each["after"]["owner"]) for each in tried["findings"]] == [(True, "bot")] * 2
    assert not Handling.objects.exists()
    assert not ActRecord.objects.filter(via="api").exists()
    done = bot.done("POST", "/findings/handlings", body, operation="handleFindings")
    assert [each["after"]["state"] for each in done["findings"]] == ["in-progress"] * 2
    assert bot.refused("POST", "/findings/handlings", body, status=409)["code"] == "stale"
    undone = bot.done("POST", f"/acts/{done['batch']}/undo", operation="undoActs")
    assert [each["state"] for each in undone["findings"]] == ["open"] * 2
    assert bot.refused("POST", f"/acts/{done['batch']}/undo", status=409)["code"] == "conflict"
    bot.refused("POST", "/acts/other/undo", status=404)


def test_of_many_findings_all_are_handled_or_none(bot: Bot) -> None:
    body = {"keys": [key_of("apps"), key_of("team")], "state": "in-progress"}
    bot.refused("POST", "/findings/handlings", body, status=404)  # the other namespace isn't seen
    somebody("bot", Role.VIEWER, cluster="lab", namespace="team")
    bot.refused("POST", "/findings/handlings", body, status=403)
    assert not Handling.objects.exists()


def test_a_comment_is_made_edited_and_removed(bot: Bot) -> None:
    body = {"subject": SERVICE, "text": "Is **this** so? <script>alert(1)</script>"}
    response = bot.ask("POST", "/comments", body)
    made = json.loads(response.content)
    assert response.headers["Location"] == made["self"]
    assert (made["author"], made["token"], made["text"]) == ("bot", "bot's token", body["text"])
    assert "<strong>this</strong>" in made["html"]
    assert "<script>" not in made["html"]
    path = f"/comments/{made['id']}"
    edited = bot.done("PATCH", path, {"text": "It is.", "version": 1}, operation="editComment")
    assert (edited["text"], edited["version"]) == ("It is.", 2)
    found = bot.refused("PATCH", path, {"text": "Mine.", "version": 1}, status=409)
    assert (found["current"]["text"], found["wanted"]) == ("It is.", {"text": "Mine."})
    assert bot.refused("DELETE", path, status=400)["errors"][0]["parameter"] == "version"
    gone = bot.done("DELETE", f"{path}?version=2", operation="removeComment")
    assert (gone["text"], gone["html"], gone["removed_by"]) == ("", "", "bot")
    (row,) = bot.done("GET", f"/comments?subject={SERVICE}", operation="listComments")["items"]
    assert row == gone
    acts = bot.done("GET", f"/acts?subject={SERVICE}", operation="listActs")["items"]
    assert [act["act"] for act in acts] == ["removed", "edited", "commented"]
    assert {(act["before"] or act["after"])["text"] for act in acts} == {None}  # what was taken away admins read alone


@pytest.mark.parametrize(
    ("subject", "status"),
    [
        ("nonsense", 422),
        ("account:bot", 422),
        ("object:InferenceService/team/chat/lab", 404),
        ("object:InferenceService/apps/chat/elsewhere", 404),
        ("review:018f3a52-7c1e-4d6b-9a35-0c2f6f6b1e77", 422),
    ],
)
def test_only_what_one_sees_is_discussed(bot: Bot, subject: str, status: int) -> None:
    bot.refused("POST", "/comments", {"subject": subject, "text": "So?"}, status=status)
    assert not Comment.objects.exists()


def test_nothing_of_another_namespace_is_told(bot: Bot) -> None:
    other = Bot("other", Role.REVIEWER, "team")
    key = key_of("team")
    review = opened(other, places=[{"cluster": "lab", "namespace": "team"}])
    other.done("PATCH", f"/findings/{key}/handling", {"owner": "other", "version": 0}, operation="changeHandling")
    said = {"subject": f"finding:{key}", "text": "Secret."}
    comment = other.done("POST", "/comments", said, operation="createComment", status=201)
    for path in (f"/findings/{key}", f"/findings/{key}/handling", f"/reviews/{review['id']}",
                 f"/reviews/{review['id']}/items", f"/comments/{comment['id']}"):  # fmt: skip
        bot.refused("GET", path, status=404)
    for path in ("/reviews", "/comments", "/acts"):
        assert json.loads(bot.ask("GET", path).content)["items"] == [], path
    assert bot.refused("POST", "/comments", said, status=422)["errors"][0]["pointer"] == "/subject"
    bot.refused("POST", "/reviews", {"name": "all", "places": [{"cluster": "lab", "namespace": "team"}]}, status=404)
    bot.refused("POST", "/reviews", {"name": "all", "places": [{"cluster": "lab"}]}, status=403)
    bot.refused("POST", "/reviews", {"name": "all", "places": [{"cluster": "far"}]}, status=404)
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("role", "scope", "code"),
    [(Role.VIEWER, Scope.REVIEW, "forbidden"), (Role.REVIEWER, Scope.READ, "token-scope")],
)
def test_who_may_only_look_writes_nothing(bot: Bot, role: Role, scope: Scope, code: str) -> None:
    review = opened(bot)
    path = f"/reviews/{review['id']}"
    looker = Bot("looker", role, scope=scope)
    before = ActRecord.objects.count()
    for method, address, body in (
        ("PATCH", f"/findings/{key_of('apps')}/handling", {"state": "in-progress", "version": 0}),
        ("PUT", f"/findings/{key_of('apps')}/handling", {"state": "in-progress", "version": 0}),
        ("POST", "/findings/handlings", {"keys": [key_of("apps")], "state": "in-progress"}),
        ("POST", "/comments", {"subject": SERVICE, "text": "So?"}),
        ("POST", "/reviews", {"name": "all", "places": [{"cluster": "lab", "namespace": "apps"}]}),
        ("PUT", f"{path}/items/1/answer", {"answer": "fine", "version": 1}),
        ("POST", f"{path}/refresh", {"version": 1}),
        ("POST", f"{path}/sign", {"version": 1, "answers": review["answers"]}),
        ("POST", f"{path}/unsign", None),
        ("POST", f"{path}/close", {"version": 1}),
        ("POST", f"{path}/participants", {"names": ["looker"]}),
        ("DELETE", f"{path}/participants/bot", None),
    ):
        assert looker.refused(method, address, body, status=403)["code"] == code, address
    assert ActRecord.objects.count() == before


def test_a_session_writes_with_the_token_of_a_form_alone(bot: Bot) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(somebody("alice", Role.REVIEWER))
    body = {"subject": SERVICE, "text": "So?"}
    response = client.post(f"{ROOT}/comments", body, content_type="application/json")
    problem(response, 403)
    client.cookies["csrftoken"] = token = "a" * 32
    headers = {"X-CSRFToken": token}
    response = client.post(f"{ROOT}/comments", body, content_type="application/json", headers=headers)
    assert response.status_code == 201
    assert (response.json()["author"], response.json()["token"]) == ("alice", "")


def test_a_body_beyond_a_megabyte_is_not_read(bot: Bot) -> None:
    found = bot.refused("POST", "/comments", {"subject": SERVICE, "text": "x" * 1024 * 1024}, status=413)
    assert found["code"] == "too-large"


@pytest.mark.parametrize("path", ["reviews", "comments", "acts", "reviews/{}/items"])
def test_a_list_takes_as_many_queries_for_many_rows_as_for_few(bot: Bot, path: str) -> None:
    for name in ("Nightly", "Weekly", "Monthly"):
        review = opened(bot, name=name)
        bot.done("POST", "/comments", {"subject": SERVICE, "text": name}, operation="createComment", status=201)
    counts = []
    for limit in (2, 200):
        with CaptureQueriesContext(connection) as queries:
            found = json.loads(bot.ask("GET", f"/{path.format(review['id'])}?limit={limit}").content)
        counts.append(len(queries))
        assert len(found["items"]) >= min(limit, 3)
    assert counts[0] == counts[1]


def test_a_tag_holds_until_somebody_does_something(bot: Bot) -> None:
    review = opened(bot)
    paths = [
        "/reviews",
        f"/reviews/{review['id']}",
        f"/reviews/{review['id']}/items",
        "/comments",
        "/acts",
        "/findings",
    ]
    tags = {path: bot.ask("GET", path).headers["ETag"] for path in paths}
    again = {path: bot.client.get(f"{ROOT}{path}", headers={"If-None-Match": tag}) for path, tag in tags.items()}
    assert {path: response.status_code for path, response in again.items()} == dict.fromkeys(paths, 304)
    bot.done("POST", "/comments", {"subject": SERVICE, "text": "So?"}, operation="createComment", status=201)
    again = {path: bot.client.get(f"{ROOT}{path}", headers={"If-None-Match": tag}) for path, tag in tags.items()}
    assert {path: response.status_code for path, response in again.items()} == dict.fromkeys(paths, 200)
