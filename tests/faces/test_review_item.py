"""The items of a review on pages: one after another, answered, and who was slower keeps every word."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from selection.people.freezing import Scope
from selection.people.models import ActRecord, Comment, Review, ReviewItem, Role
from selection.people.reviews import Reply, answer, close, open_review, refresh
from tests.faces.small_fleet import load, service, small_fleet
from tests.people.cast import somebody
from tests.people.writers import by

pytestmark = pytest.mark.django_db

ADA, BOB = by("ada"), by("bob")
SOON = (timezone.now().date() + timedelta(days=30)).isoformat()


@pytest.fixture
def review() -> Review:
    """A review of the small fleet."""
    load()
    return open_review(ADA, "Sprint 12", Scope((("lab", ""),)))


def lost(review: Review) -> ReviewItem:
    """The item of a service whose model nobody serves."""
    return ReviewItem.objects.get(review=review, name="lost", code="no-runtime")


def at(item: ReviewItem) -> str:
    return f"/reviews/{item.review_id}/items/{item.place}/"


def given(item: ReviewItem, **more: Any) -> dict[str, Any]:
    return {"key": item.key, "version": item.version, "evidence": item.evidence, "answer": "fine", **more}


def text(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


def test_an_item_is_told_with_its_evidence_and_what_is_next_to_it(client: Client, review: Review) -> None:
    item = lost(review)
    page = text(client, at(item))
    assert "It still rests on the same." in page
    assert f'href="/findings/{item.key}/"' in page
    assert "/objects/lab/InferenceService/apps/lost/" in page or "/services/lab/apps/lost/" in page
    assert f"Item {item.place} of {review.items.count()}" in page
    assert f'href="/reviews/{review.pk}/items/{item.place + 1}/" data-item="next" rel="next"' in page
    last = review.items.count()
    assert 'data-item="next"' not in text(client, f"/reviews/{review.pk}/items/{last}/")
    assert 'data-item="previous"' not in text(client, f"/reviews/{review.pk}/items/1/")
    text(client, f"/reviews/{review.pk}/items/{last + 1}/", 404)
    text(client, f"/reviews/{review.pk}/items/0/", 404)


def test_what_became_another_stands_beside_what_was_frozen(client: Client, review: Review) -> None:
    objects = [each for each in small_fleet() if each["metadata"]["name"] != "lost"]
    load([*objects, service("lost", "apps", "nobody-serves", engine={"minReplicas": 3})])
    text(client, at(lost(review)))
    load(objects)
    assert "It isn’t there any more." in text(client, at(lost(review)))
    ReviewItem.objects.filter(review=review, name="orphaned").update(evidence="another")
    item = ReviewItem.objects.filter(review=review, name="orphaned")[0]
    assert "and rests on this:" in text(client, at(item))


@pytest.mark.parametrize(("go", "place"), [("next", "after"), ("stay", "same"), ("open", "first-open"), ("", "review")])
def test_after_an_answer_it_goes_on(client: Client, review: Review, go: str, place: str) -> None:
    items = list(review.items.all())
    item = items[-1] if place == "review" else items[3]
    if place == "first-open":
        for each in items[4:]:
            answer(ADA, each, Reply("fine"), 1)
    response = client.post(at(item), given(item, go=go or "next"))
    there = {
        "after": f"/reviews/{review.pk}/items/5/",
        "same": at(item),
        "first-open": f"/reviews/{review.pk}/items/1/",
        "review": f"/reviews/{review.pk}/",
    }[place]
    assert response["Location"] == there
    row = ReviewItem.objects.get(pk=item.pk)
    assert (row.answer, row.version) == ("fine", 2)
    assert ActRecord.objects.filter(act="answered")[0].via == "page"


def test_each_kind_of_answer_is_taken_with_what_it_needs(client: Client, review: Review) -> None:
    item = lost(review)
    client.post(at(item), given(item, answer="needs-change", owner="carl", reason="serve it"))
    row = lost(review)
    assert (row.answer, row.owner, row.reason) == ("needs-change", "carl", "serve it")
    client.post(at(row), given(row, answer="accepted", reason="a test bed", expires_on=SOON))
    row = lost(review)
    assert (row.answer, row.owner, row.expires_on.isoformat()) == ("accepted", "", SOON)  # type: ignore[union-attr]
    client.post(at(row), given(row, answer=""))
    assert lost(review).answer == ""
    page = text(client, at(item))
    assert "3 answers so far" in page
    assert "a test bed" in page


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"answer": "needs-change"}, "somebody has to change it"),
        ({"answer": "accepted", "expires_on": SOON}, "needs a reason"),
        ({"answer": "accepted"}, "needs a reason"),
        ({"answer": "accepted", "expires_on": "2020-01-01"}, "needs a reason"),
        ({"answer": "accepted", "expires_on": "soon"}, "Enter a valid date."),
        ({"answer": "perhaps"}, "Select a valid choice."),
        ({"reason": "x" * 5001}, "at most 5000 characters"),
    ],
)
def test_what_can_not_be_is_said_beside_its_field_and_what_was_typed_stays(
    client: Client, review: Review, more: dict[str, Any], told: str
) -> None:
    item = lost(review)
    response = client.post(at(item), given(item, owner="" if "needs" in more.get("answer", "") else "carl", **more))
    assert response.status_code == 422
    page = response.content.decode()
    assert told in page
    assert f'name="version" value="{item.version}"' in page
    assert lost(review).answer == ""


def test_who_was_slower_sees_both_answers_and_may_send_the_own_one_again(client: Client, review: Review) -> None:
    item = lost(review)
    answer(BOB, item, Reply("fine", reason="it is meant so"), 1)
    mine = given(item, answer="needs-change", owner="carl", reason="no, it has to go")
    response = client.post(at(item), mine)
    assert response.status_code == 409
    page = response.content.decode()
    assert "Somebody else answered meanwhile" in page
    assert page.count("it is meant so") >= 2, "as the answer that is there, and in the record"
    assert page.count("no, it has to go") == 2, "as yours, and in the form"
    assert 'name="version" value="2"' in page
    assert lost(review).answer == "fine"
    assert client.post(at(item), {**mine, "version": 2}).status_code == 302
    assert lost(review).reason == "no, it has to go"


def test_what_was_answered_goes_to_its_finding_wherever_that_stands(client: Client, review: Review) -> None:
    item = list(review.items.all())[-1]
    load([each for each in small_fleet() if each["metadata"]["name"] != "lost"])
    refresh(ADA, review, 1)
    moved = review.items.get(key=item.key)
    assert moved.place < item.place
    assert client.post(at(item), given(item, go="stay"))["Location"] == at(moved)
    assert [each.key for each in review.items.exclude(answer="")] == [item.key]
    gone = ReviewItem(review=review, key="gone", version=1, place=1)
    response = client.post(at(gone), given(gone, reason="not lost"))
    assert response.status_code == 409
    assert "not lost" in response.content.decode()


def test_a_closed_review_shows_its_answers_and_takes_none(client: Client, review: Review) -> None:
    item = lost(review)
    close(ADA, review, 1)
    page = text(client, at(item))
    assert "This review is closed." in page
    assert 'name="answer"' not in page
    response = client.post(at(item), given(item))
    assert response.status_code == 422
    assert lost(review).answer == ""


def test_an_item_and_a_review_have_a_discussion(client: Client, review: Review) -> None:
    item = lost(review)
    for subject, path in (
        (f"review:{review.pk}", f"/reviews/{review.pk}/"),
        (f"item:{review.pk}/{item.key}", at(item)),
    ):
        assert "Nobody has said anything yet." in text(client, path)
        assert client.post(f"/comments/?subject={subject}", {"text": f"about *{path}*"}).status_code == 302
        assert f"about <em>{path}</em>" in text(client, path)
    assert Comment.objects.count() == 2


def test_an_answer_outlives_the_session_it_was_written_in(
    client: Client, review: Review, server_mode: Settings
) -> None:
    asks = "django.contrib.auth.middleware.LoginRequiredMiddleware"
    order = [each for each in server_mode.MIDDLEWARE if each != asks]
    order.insert(order.index("selection.faces.drafts.DraftMiddleware") + 1, asks)  # as settings.py has it
    server_mode.MIDDLEWARE = order
    item = lost(review)
    rita = somebody("rita", Role.REVIEWER)
    response = client.post(at(item), given(item, answer="needs-change", owner="rita", reason="written in vain?"))
    assert response.status_code == 302
    assert "/login/" in response["Location"]
    client.force_login(rita)
    page = text(client, at(item))
    assert "written in vain?" in page
    assert lost(review).answer == ""
    again = given(item, answer="needs-change", owner="rita", reason="written in vain?")
    assert client.post(at(item), again).status_code == 302
    assert lost(review).reason == "written in vain?"
    assert "written in vain?" not in text(client, at(item)).partition("<form")[0]
