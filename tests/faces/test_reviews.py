"""The pages of reviews: the list, opening one, one review, its acts, its comparison, and what they send."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection.people.freezing import Scope
from selection.people.models import Participant, Review, ReviewItem, Role, Signature
from selection.people.reviews import Reply, answer, close, open_review, sign
from tests.faces.small_fleet import HOSTILE, load, model, service, small_fleet
from tests.people.cast import somebody
from tests.people.writers import by

pytestmark = pytest.mark.django_db

ADA = by("ada")


@pytest.fixture
def opened() -> Review:
    """A review of the small fleet."""
    load()
    return open_review(ADA, "Sprint 12", Scope((("lab", ""),)), purpose="Look at *all* of it.", signatures_needed=2)


def answer_all(review: Review) -> None:
    for item in ReviewItem.objects.filter(review=review):
        answer(ADA, item, Reply("fine"), item.version)


def text(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


# --- the list ----------------------------------------------------------------------------------------


def test_without_a_review_the_list_says_what_one_is(client: Client) -> None:
    assert "No review yet" in text(client, "/reviews/")


def test_the_list_tells_where_each_stands(client: Client, opened: Review) -> None:
    open_review(ADA, "Errors", Scope((("lab", "apps"),), severities=("error",)))
    page = text(client, "/reviews/")
    assert f'href="/reviews/{opened.pk}/"' in page
    assert "all of lab" in page
    assert "namespace apps of lab; severity error" in page
    assert f"0 of {ReviewItem.objects.filter(review=opened).count()}" in page
    load([each for each in small_fleet() if each["metadata"]["name"] != "lost"])
    assert text(client, "/reviews/").partition("<main")[2].count("Stale") == 2


def test_the_list_is_filtered_and_exported(client: Client, opened: Review) -> None:
    other = open_review(ADA, "Errors", Scope((("lab", "apps"),), severities=("error",)), participants=["bob"])
    close(ADA, other, 1)
    for query, names in (
        ("", {"Sprint 12", "Errors"}),
        ("state=open", {"Sprint 12"}),
        ("state=closed", {"Errors"}),
        ("participant=bob", {"Errors"}),
        ("cluster=lab", {"Sprint 12", "Errors"}),
        ("cluster=far", set()),
        ("q=sprint", {"Sprint 12"}),
        ("created_by=bob", set()),
    ):
        rows = json.loads(b"".join(client.get(f"/reviews/?format=json&{query}")))
        assert {row["name"] for row in rows} == names, query
    [row] = json.loads(b"".join(client.get("/reviews/?format=json&state=closed")))
    assert (row["state"], row["answered"], row["signed"], row["closed_by"]) == ("closed", 0, 0, "ada")


def test_the_number_of_queries_does_not_grow(client: Client, opened: Review) -> None:
    def queries(path: str) -> int:
        client.get(path)
        with CaptureQueriesContext(connection) as caught:
            client.get(path)
        return len(caught)

    few = queries("/reviews/")
    for number in range(8):
        answer_all(open_review(ADA, f"Another {number}", Scope((("lab", "apps"), ("lab", "team")))))
    assert queries("/reviews/") <= few + 4
    small = open_review(ADA, "Small", Scope((("lab", "team"),)))
    assert queries(f"/reviews/{opened.pk}/") <= queries(f"/reviews/{small.pk}/") + 4
    item = ReviewItem.objects.filter(review=opened).last()
    assert item is not None
    assert queries(f"/reviews/{opened.pk}/items/{item.place}/") <= 25


# --- opening one -------------------------------------------------------------------------------------


def test_the_filters_of_the_list_of_findings_become_the_scope(client: Client) -> None:
    load()
    page = text(client, "/findings/?severity=error&namespace=apps&q=lost")
    assert 'href="/reviews/new/?severity=error&amp;namespace=apps&amp;q=lost"' in page
    page = text(client, "/reviews/new/?severity=error&namespace=apps&q=lost")
    assert '<option value="apps/lab" selected>' in page
    assert "<code>q</code>" in page
    assert 'value="error" id="id_severities_0" checked' in page or 'id="id_severities_0" checked' in page
    assert "As it stands it would hold" in page


def test_an_upgrade_and_a_migration_are_opened_with_their_codes(client: Client) -> None:
    load(ome_version="1.2")
    assert "/reviews/new/?cluster=lab&amp;family=upgrade" in text(client, "/upgrade/?cluster=lab")
    assert "/reviews/new/?cluster=lab&amp;family=migration" in text(client, "/migration/order/?cluster=lab")
    page = text(client, "/reviews/new/?cluster=lab&family=upgrade")
    assert '<option value="breaks-lws" selected>' in page
    assert '<option value="at-risk">' in page


def form(**given: Any) -> dict[str, Any]:
    return {"name": "One", "places": ["/lab"], "signatures_needed": 1, **given}


def test_a_preview_counts_and_writes_nothing(client: Client) -> None:
    load()
    response = client.post("/reviews/new/", form(do="preview", severities=["error"]))
    assert response.status_code == 200
    assert "As it stands it would hold <strong>" in response.content.decode()
    assert not Review.objects.exists()


def test_one_is_opened(client: Client, opened: Review) -> None:
    given = form(purpose="Before *v1.3*", participants="bob, carl", previous=str(opened.pk), codes=["invalid"])
    response = client.post("/reviews/new/", given)
    review = Review.objects.get(name="One")
    assert response["Location"] == f"/reviews/{review.pk}/"
    assert review.previous_id == opened.pk
    assert {item.code for item in review.items.all()} == {"invalid"}
    assert set(Participant.objects.filter(review=review).values_list("name", flat=True)) >= {"bob", "carl"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": " "}, "This field is required."),
        ({"places": []}, "A review needs a cluster or a namespace at least."),
        ({"places": ["/far"]}, "Select a valid choice"),
        ({"signatures_needed": 0}, "greater than or equal to 1"),
        ({"participants": "a\x07b"}, "printable"),
        ({"codes": ["no-such-code"]}, "Select a valid choice"),
    ],
)
def test_what_can_not_be_is_said_and_what_was_typed_stays(client: Client, given: dict[str, Any], told: str) -> None:
    load()
    response = client.post("/reviews/new/", form(purpose="stays here", **given))
    assert response.status_code == 422
    page = response.content.decode()
    assert told in page
    assert "stays here" in page
    assert not Review.objects.exists()


# --- one ---------------------------------------------------------------------------------------------


def test_a_review_says_how_far_it_is(client: Client, opened: Review) -> None:
    page = text(client, f"/reviews/{opened.pk}/")
    total = opened.items.count()
    assert f"{total} of {total} items have no answer yet." in page
    assert "<em>all</em>" in page
    answer_all(opened)
    assert "Every item is answered; 2 signatures are missing." in text(client, f"/reviews/{opened.pk}/")
    sign(ADA, opened, 1)
    sign(by("bob"), opened, 1)
    page = text(client, f"/reviews/{opened.pk}/")
    assert "2 have signed, and everything is as it was frozen" in page
    load([each for each in small_fleet() if each["metadata"]["name"] != "lost"])
    page = text(client, f"/reviews/{opened.pk}/")
    assert "isn’t so any more, so what was signed isn’t either" in page
    assert "Finding gone" in page
    assert "Object gone" in page


def test_its_items_are_filtered_and_exported(client: Client, opened: Review) -> None:
    item = opened.items.all()[0]
    answer(ADA, item, Reply("needs-change", owner="bob", reason="soon"), 1)
    rows = json.loads(b"".join(client.get(f"/reviews/{opened.pk}/?format=json&answer=needs-change")))
    assert [(row["place"], row["owner"], row["reason"]) for row in rows] == [(1, "bob", "soon")]
    assert rows[0]["what"]
    rest = json.loads(b"".join(client.get(f"/reviews/{opened.pk}/?format=json&answer=none")))
    assert len(rest) == opened.items.count() - 1


def test_acts_are_asked_for_once_more_and_done(client: Client, opened: Review) -> None:
    assert "Nothing is answered or signed after that" in text(client, f"/reviews/{opened.pk}/close/")
    assert Review.objects.get(pk=opened.pk).closed_at is None
    client.post(f"/reviews/{opened.pk}/close/", {"version": 1})
    assert Review.objects.get(pk=opened.pk).closed_at
    client.post(f"/reviews/{opened.pk}/reopen/", {"version": 2})
    assert Review.objects.get(pk=opened.pk).closed_at is None
    assert client.get(f"/reviews/{opened.pk}/burn/").status_code == 404


def signing(client: Client, review: Review) -> dict[str, Any]:
    response = client.get(f"/reviews/{review.pk}/sign/")
    return {
        "version": response.context["review"].version,
        "answers": response.context["answers"],
        "note": "as far as I can see",
    }


def test_signing_is_refused_with_the_reason_and_keeps_the_words(client: Client, opened: Review) -> None:
    response = client.post(f"/reviews/{opened.pk}/sign/", signing(client, opened))
    assert response.status_code == 409
    assert "without an answer" in response.content.decode()
    assert "as far as I can see" in response.content.decode()
    answer_all(opened)
    given = signing(client, opened)
    item = opened.items.all()[0]
    answer(by("bob"), item, Reply("fine", reason="on second thoughts"), item.version)
    response = client.post(f"/reviews/{opened.pk}/sign/", given)
    assert response.status_code == 409
    assert "Somebody changed it meanwhile" in response.content.decode()
    assert not Signature.objects.exists()
    assert client.post(f"/reviews/{opened.pk}/sign/", signing(client, opened)).status_code == 302
    assert Signature.objects.get().note == "as far as I can see"
    assert client.post(f"/reviews/{opened.pk}/withdraw/", {"version": 1}).status_code == 302
    assert not Signature.objects.exists()


def test_bringing_up_to_date_shows_first_what_stays(client: Client, opened: Review) -> None:
    answer_all(opened)
    load([each for each in small_fleet() if each["metadata"]["name"] != "lost"])
    page = text(client, f"/reviews/{opened.pk}/refresh/")
    kept = ReviewItem.objects.filter(review=opened).exclude(name="lost")
    assert "to findings that are gone" in page
    response = client.post(f"/reviews/{opened.pk}/refresh/", {"version": 1})
    assert response.status_code == 302
    assert not ReviewItem.objects.filter(review=opened, name="lost").exists()
    assert kept.filter(answer="fine").exists()
    stale = client.post(f"/reviews/{opened.pk}/refresh/", {"version": 1})
    assert stale.status_code == 409


def test_people_are_added_and_taken_off(client: Client, opened: Review) -> None:
    client.post(f"/reviews/{opened.pk}/participants/", {"add": "bob, carl"})
    client.post(f"/reviews/{opened.pk}/participants/", {"remove": "carl"})
    assert set(opened.participants.values_list("name", flat=True)) == {"ada", "bob"}
    client.post(f"/reviews/{opened.pk}/participants/", {"add": "x" * 200})
    assert "printable characters" in text(client, f"/reviews/{opened.pk}/")


def test_it_is_compared_with_the_one_before(client: Client, opened: Review) -> None:
    changed = [each for each in small_fleet() if each["metadata"]["name"] != "lost"]
    load([*changed, service("lost-too", "apps", "no-such-model")])
    later = open_review(ADA, "Sprint 13", Scope((("lab", ""),)), previous=opened)
    page = text(client, f"/reviews/{later.pk}/compare/")
    assert "after Sprint 12" in page
    assert "lost-too" in page
    assert page.index("lost-too") < page.index('id="gone"')
    assert "There is no such review" in text(client, f"/reviews/{later.pk}/compare/?with=x")
    assert "Choose the review" in text(client, f"/reviews/{opened.pk}/compare/")


# --- what is sent ------------------------------------------------------------------------------------


def test_markdown_holds_all_of_it_and_no_markup_of_others(client: Client, opened: Review) -> None:
    load([*small_fleet(), model("a-model", storage={"storageUri": "<b>"})])
    for place, item in enumerate(opened.items.all()):
        words = f"{HOSTILE} [x](http://x) *not bold* {place}"
        answer(ADA, item, Reply("accepted", reason=words, expires_on=timezone.now().date() + timedelta(days=9)), 1)
    response = client.get(f"/reviews/{opened.pk}/?format=markdown")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    found = response.content.decode()
    assert found.startswith("# Sprint 12\n")
    assert found.count("\\<script\\>alert(1)") == opened.items.count()
    assert "<script>" not in found
    assert "\\*not bold\\*" in found
    assert "Look at *all* of it." in found


def test_for_paper_everything_is_on_one_page(client: Client, opened: Review) -> None:
    page = text(client, f"/reviews/{opened.pk}/?format=page")
    assert page.count("paper-answer") == opened.items.count()


def test_hostile_words_show_as_text(client: Client) -> None:
    load()
    review = open_review(ADA, HOSTILE, Scope((("lab", "apps"),)), purpose=HOSTILE, participants=[HOSTILE])
    item = review.items.all()[0]
    answer(ADA, item, Reply("needs-change", owner=HOSTILE, reason=HOSTILE), 1)
    answer_all(review)
    sign(ADA, review, 1, HOSTILE)
    for path in ("", "items/1/", "close/", "sign/", "compare/", "refresh/", "?format=page"):
        assert HOSTILE not in text(client, f"/reviews/{review.pk}/{path}"), path
    assert HOSTILE not in text(client, "/reviews/")


# --- who may -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("server_mode")
def test_who_sees_only_a_part_of_it_does_not_know_of_it(client: Client, opened: Review) -> None:
    part = open_review(ADA, "Apps alone", Scope((("lab", "apps"),)))
    client.force_login(somebody("vera", Role.VIEWER, cluster="lab", namespace="apps"))
    assert "Sprint 12" not in text(client, "/reviews/")
    assert "Apps alone" in text(client, "/reviews/")
    for path in ("", "items/1/", "compare/", "close/", "?format=markdown", "?format=json"):
        assert client.get(f"/reviews/{opened.pk}/{path}").status_code == 404, path
    assert "Close" not in text(client, f"/reviews/{part.pk}/").partition("<main")[2].partition("Compare")[0]
    assert client.get("/reviews/new/").status_code == 403
    for path in ("sign/", "close/", "refresh/", "participants/"):
        assert client.post(f"/reviews/{part.pk}/{path}", {"version": 1, "add": "x"}).status_code == 403, path
    given = {"key": part.items.all()[0].key, "version": 1, "answer": "fine"}
    assert client.post(f"/reviews/{part.pk}/items/1/", given).status_code == 403


@pytest.mark.usefixtures("server_mode")
def test_a_reviewer_is_offered_what_they_may_review_and_no_more(client: Client) -> None:
    load()
    client.force_login(somebody("rita", Role.REVIEWER, cluster="lab", namespace="apps"))
    page = text(client, "/reviews/new/")
    assert 'value="apps/lab"' in page
    assert 'value="/lab"' not in page
    assert client.post("/reviews/new/", form()).status_code == 422
    assert client.post("/reviews/new/", form(places=["apps/lab"])).status_code == 302
    assert client.post("/reviews/new/", form(places=["apps/lab"], participants="nobody")).status_code == 422
    somebody("vera", Role.VIEWER, cluster="lab", namespace="team")
    refused = client.post("/reviews/new/", form(places=["apps/lab"], participants="vera"))
    assert "may not see all" in refused.content.decode()
    assert User.objects.count() == 2
