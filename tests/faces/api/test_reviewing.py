"""Programs review: open, answer, sign, bring up to date, compare; each answer fits the document."""

from __future__ import annotations

import json

import pytest

from selection.people.models import Handling, Role
from tests.faces.api.bots import ROOT, Bot, answer_all, opened
from tests.faces.small_fleet import load, small_fleet
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db


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
