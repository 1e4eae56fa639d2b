"""What programs write through the interface: under whose name, with which rights, and every way to be refused."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from selection.people.models import ActRecord, Comment, Handling, Review, Role
from selection.people.scopes import Scope
from selection.people.tokens import create_token
from selection.store.models import Finding
from tests.faces.api.contract import answer_schema, complaints, operations
from tests.faces.small_fleet import load, small_fleet
from tests.people.cast import somebody
from tests.people.writers import by

from .test_problems import problem

pytestmark = pytest.mark.django_db

ROOT = "/api/v1"
SERVICE = "object:InferenceService/apps/chat/lab"


class Bot:
    """A program with a token; each answer is held against the OpenAPI document."""

    def __init__(self, name: str, role: Role | None, namespace: str = "apps", *, scope: Scope = Scope.REVIEW) -> None:
        user = somebody(name, role, cluster="lab", namespace=namespace)
        _, secret = create_token(user, f"{name}'s token", scope=scope, days=1, by=by("root"))
        self.client = Client(headers={"Authorization": f"Bearer {secret}"}, enforce_csrf_checks=True)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The response."""
        text = "" if body is None else json.dumps(body, default=str)
        return self.client.generic(method, f"{ROOT}{path}", text, "application/json")

    def done(self, method: str, path: str, body: Any = None, *, operation: str, status: int = 200) -> Any:
        """The answer of a success."""
        response = self.ask(method, path, body)
        assert response.status_code == status, response.content
        value = json.loads(response.content)
        told = next(each for name, _, each in operations(method.lower()) if name == operation)
        assert complaints(answer_schema(told, str(status), "application/json"), value) == []
        return value

    def refused(self, method: str, path: str, body: Any = None, *, status: int) -> dict[str, Any]:
        """The problem of a refusal."""
        return problem(self.ask(method, path, body), status)


@pytest.fixture
def bot(server_mode: Settings) -> Bot:
    """A reviewer of one of two namespaces."""
    load()
    return Bot("bot", Role.REVIEWER)


def key_of(namespace: str) -> str:
    """The key of a finding of a namespace."""
    return str(
        Finding.objects.filter(namespace=namespace, gone_at=None).order_by("key").values_list("key", flat=True)[0]
    )


def soon() -> str:
    """A day to accept something until."""
    return (timezone.now().date() + timedelta(days=30)).isoformat()


def opened(bot: Bot, **more: Any) -> Any:
    """A review that the bot has opened of its namespace."""
    body = {"name": "Nightly", "places": [{"cluster": "lab", "namespace": "apps"}], **more}
    return bot.done("POST", "/reviews", body, operation="openReview", status=201)


def items_of(bot: Bot, review: Any) -> list[dict[str, Any]]:
    """The items of a review."""
    path = f"/reviews/{review['id']}/items?limit=500"
    return list(bot.done("GET", path, operation="listReviewItems")["items"])


def answer_all(bot: Bot, review: Any) -> None:
    """Everything is fine."""
    for item in items_of(bot, review):
        body = {"answer": "fine", "version": item["version"], "evidence": item["evidence"]}
        path = item["self"].removeprefix(ROOT)
        bot.done("PUT", f"{path}/answer", body, operation="answerReviewItem")


def test_a_bot_reviews_from_opening_to_signing_under_its_own_name(bot: Bot) -> None:
    review = opened(bot, purpose="Is *all* well?")
    assert (review["state"], review["created_by"], review["may"]) == ("open", "bot", {"review": True, "sign": True})
    path = f"/reviews/{review['id']}"
    answer_all(bot, review)
    bot.done(
        "POST", "/comments", {"subject": f"review:{review['id']}", "text": "**Fine**."},
        operation="createComment", status=201,
    )  # fmt: skip
    ready = bot.done("GET", path, operation="readReview")
    assert (ready["state"], ready["progress"]["open"]) == ("ready", 0)
    words = {"version": ready["version"], "answers": ready["answers"], "note": "by the nightly check"}
    signed = bot.done("POST", f"{path}/sign", words, operation="signReview")
    assert signed["state"] == "signed"
    (signature,) = signed["signatures"]
    assert (signature["name"], signature["token"], signature["counts"]) == ("bot", "bot's token", True)
    acts = bot.done("GET", f"/acts?subject=review:{review['id']}&limit=500", operation="listActs")["items"]
    assert {(act["actor"], act["token"], act["via"]) for act in acts} == {("bot", "bot's token", "api")}
    told = [act["act"] for act in acts]
    assert told[:2] == ["signed", "commented"]
    assert told[-1] == "review-opened"
    assert told.count("answered") == ready["progress"]["total"] > 1


def test_a_review_is_told_as_markdown_to_who_asks_for_that(bot: Bot) -> None:
    review = opened(bot)
    response = bot.client.get(f"{ROOT}/reviews/{review['id']}", headers={"Accept": "text/markdown"})
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith("# Nightly\n")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("cluster=lab", ["Second", "Nightly"]),
        ("cluster=lab&limit=1", ["Second"]),
        ("cluster=far", []),
        ("participant=bot&state=open", ["Second", "Nightly"]),
        ("participant=mate", ["Second"]),
        ("state=closed", []),
        ("q=night&sort=-name", ["Nightly"]),
    ],
)
def test_reviews_are_found_by_what_they_are_about(bot: Bot, query: str, names: list[str]) -> None:
    somebody("mate", Role.VIEWER, cluster="lab", namespace="apps")
    opened(bot)
    opened(bot, name="Second", participants=["mate"])
    rows = bot.done("GET", f"/reviews?{query}", operation="listReviews")["items"]
    assert [row["name"] for row in rows] == names


def test_an_item_is_found_by_its_place_and_by_its_finding(bot: Bot) -> None:
    review = opened(bot)
    path = f"/reviews/{review['id']}/items"
    item = bot.done("GET", f"{path}/1", operation="readReviewItem")
    assert bot.done("GET", f"{path}/{item['key']}", operation="readReviewItem") == item
    assert item["subject"] == f"item:{review['id']}/{item['key']}"
    for other in ("0", "99999", "no-such-key"):
        bot.refused("GET", f"{path}/{other}", status=404)
    body = {"answer": "needs-change", "version": item["version"]}
    assert bot.refused("PUT", f"{path}/1/answer", body, status=422)["errors"][0]["pointer"] == "/owner"
    bot.done("PUT", f"{path}/1/answer", {**body, "owner": "bot"}, operation="answerReviewItem")
    found = bot.refused("PUT", f"{path}/1/answer", {"answer": "fine", "version": item["version"]}, status=409)
    assert (found["current"]["answer"], found["wanted"]["answer"]) == ("needs-change", "fine")
    assert Handling.objects.get(key=item["key"]).owner == "bot"


def test_a_review_closes_opens_again_and_is_followed_by_another(bot: Bot) -> None:
    first = opened(bot)
    path = f"/reviews/{first['id']}"
    closed = bot.done("POST", f"{path}/close", {"version": first["version"]}, operation="closeReview")
    assert (closed["state"], closed["closed_by"]) == ("closed", "bot")
    assert bot.refused("POST", f"{path}/close", {"version": closed["version"]}, status=409)["code"] == "conflict"
    again = bot.done("POST", f"{path}/reopen", {"version": closed["version"]}, operation="reopenReview")
    assert again["state"] == "open"
    second = opened(bot, previous=first["id"])
    told = bot.done("GET", f"/reviews/{second['id']}/compare", operation="compareReviews")
    assert (told["earlier"], told["new"], told["gone"], told["changed"]) == (first["id"], [], [], [])
    assert told["same"] == second["progress"]["total"]
    assert bot.refused("GET", f"{path}/compare", status=404)["code"] == "not-found"


def test_a_review_that_is_stale_is_brought_up_to_date(bot: Bot) -> None:
    review = opened(bot)
    path = f"/reviews/{review['id']}"
    answer_all(bot, review)
    tag = bot.ask("GET", path).headers["ETag"]
    load([each for each in small_fleet() if each["metadata"]["name"] != "lost"])
    response = bot.client.get(f"{ROOT}{path}", headers={"If-None-Match": tag})
    assert response.status_code == 200
    stale = json.loads(response.content)
    assert stale["state"] == "stale"
    assert {each["what"] for each in stale["differences"]} >= {"finding-gone"}
    sign = {"version": stale["version"], "answers": stale["answers"]}
    assert bot.refused("POST", f"{path}/sign", sign, status=409)["code"] == "conflict"
    would = bot.done("GET", f"{path}/refresh", operation="previewRefresh")
    seen = {"version": stale["version"]}
    fresh = bot.done("POST", f"{path}/refresh", seen, operation="refreshReview")
    assert fresh["state"] != "stale"
    assert fresh["progress"]["total"] == would["items"]
    assert bot.refused("POST", f"{path}/refresh", seen, status=409)["code"] == "stale"


def test_who_takes_part_is_said_and_taken_back(bot: Bot) -> None:
    review = opened(bot)
    somebody("mate", Role.VIEWER, cluster="lab", namespace="apps")
    somebody("far", Role.VIEWER, cluster="lab", namespace="team")
    path = f"/reviews/{review['id']}/participants"
    told = bot.done("POST", path, {"names": ["mate"]}, operation="addParticipants")
    assert [each["name"] for each in told["participants"]] == ["bot", "mate"]
    assert bot.refused("POST", path, {"names": ["far"]}, status=422)["errors"][0]["pointer"] == "/participants"
    told = bot.done("DELETE", f"{path}/mate", operation="removeParticipant")
    assert [each["name"] for each in told["participants"]] == ["bot"]
    bot.refused("DELETE", f"{path}/mate", status=404)


def test_a_signature_is_taken_back(bot: Bot) -> None:
    review = opened(bot)
    path = f"/reviews/{review['id']}"
    assert bot.refused("POST", f"{path}/unsign", status=409)["detail"] == "There is no signature of yours that counts."
    answer_all(bot, review)
    ready = bot.done("GET", path, operation="readReview")
    other = {"version": ready["version"], "answers": "another"}
    assert bot.refused("POST", f"{path}/sign", other, status=409)["code"] == "stale"
    bot.done("POST", f"{path}/sign", {**other, "answers": ready["answers"]}, operation="signReview")
    assert bot.done("POST", f"{path}/unsign", operation="unsignReview")["signatures"] == []


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
