"""Answers to the items of a review: what each takes, what it does with the finding, and who was slower."""

from __future__ import annotations

import threading
from datetime import date, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from selection.people.handlings import Wish, handle
from selection.people.models import ActRecord, Handling, Review, ReviewItem, Role
from selection.people.persons import Person
from selection.people.reviews import Reply, answer, refresh
from selection.people.standings import standing
from selection.people.writing import Refused, Stale, Writer
from selection.store.models import Finding
from tests.people.cast import somebody
from tests.people.review_fleet import fleet, item_of, opened, read, soon
from tests.people.writers import by
from tests.store.builders import service

pytestmark = pytest.mark.django_db

ADA, BOB = by("ada"), Writer(Person("bob", token="nightly"), "api")


@pytest.fixture
def review() -> Review:
    read(fleet())
    return opened(ADA)


def finding(name: str = "chat") -> Finding:
    return Finding.objects.select_related("cluster").get(name=name, code="invalid")


def test_fine_says_who_and_when_and_leaves_the_finding_alone(review: Review) -> None:
    row = answer(BOB, item_of(review, "chat"), Reply("fine", reason=" as meant "), 1)
    assert (row.answer, row.reason, row.answered_by, row.version) == ("fine", "as meant", "bob", 2)
    assert row.answered_at is not None
    assert not Handling.objects.exists()
    act = ActRecord.objects.get(act="answered")
    assert (act.actor, act.token, act.via, act.cluster, act.namespace) == ("bob", "nightly", "api", "east", "ml")
    assert act.subject == f"item:{review.pk}/{row.key}"
    assert act.before is None
    assert act.after == {"answer": "fine", "owner": "", "reason": "as meant", "expires_on": None}
    assert {each.name for each in review.participants.all()} == {"ada", "bob"}


def test_needs_change_gives_the_finding_an_owner_who_is_at_it(review: Review) -> None:
    answer(ADA, item_of(review, "chat"), Reply("needs-change", owner="carl", reason="name a model"), 1)
    row = Handling.objects.get()
    assert (row.key, row.owner, row.state, row.reason) == (finding().key, "carl", "in-progress", "name a model")
    assert [act.act for act in ActRecord.objects.order_by("pk")] == ["review-opened", "handled", "answered"]


def test_accepted_accepts_the_finding_until_the_day(review: Review) -> None:
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="a test bed", expires_on=soon()), 1)
    row = Handling.objects.get()
    assert (row.state, row.reason, row.expires_on) == ("accepted", "a test bed", soon())
    assert standing(finding(), row, timezone.now().date()).state == "accepted"


def test_what_somebody_did_with_the_finding_before_is_no_conflict(review: Review) -> None:
    handle(BOB, finding(), Wish(owner="bob"), 0)
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="a test bed", expires_on=soon()), 1)
    row = Handling.objects.get()
    assert (row.owner, row.state, row.version) == ("bob", "accepted", 2)


def test_an_answer_to_what_is_gone_is_kept_with_the_item(review: Review) -> None:
    objects = fleet()
    del objects["chat"]
    read(objects)
    row = answer(ADA, item_of(review, "chat"), Reply("accepted", reason="it went", expires_on=soon()), 1)
    assert row.answer == "accepted"
    assert not Handling.objects.exists()


def test_taking_it_back_keeps_it_in_the_record(review: Review) -> None:
    answer(ADA, item_of(review, "chat"), Reply("needs-change", owner="carl", reason="soon"), 1)
    row = answer(ADA, item_of(review, "chat"), Reply(""), 2)
    assert (row.answer, row.owner, row.reason, row.answered_by, row.answered_at) == ("", "", "", "", None)
    newest = ActRecord.objects.filter(act="answered")[0]
    assert newest.before["reason"] == "soon"
    assert newest.after["answer"] == ""


def test_the_same_answer_is_no_act(review: Review) -> None:
    row = answer(ADA, item_of(review, "chat"), Reply("fine"), 1)
    assert answer(BOB, row, Reply("fine"), 2).answered_by == "ada"
    assert ActRecord.objects.filter(act="answered").count() == 1


@pytest.mark.parametrize("gone", [False, True], ids=["there", "gone"])
@pytest.mark.parametrize(
    ("reply", "field"),
    [
        (Reply("maybe"), "answer"),
        (Reply("needs-change"), "owner"),
        (Reply("needs-change", owner=" "), "owner"),
        (Reply("needs-change", owner="a\nb"), "owner"),
        (Reply("accepted", expires_on=date(2999, 1, 1)), "reason"),
        (Reply("accepted", reason="x"), "expires_on"),
        (Reply("accepted", reason="x", expires_on=date(2020, 1, 1)), "expires_on"),
        (Reply("accepted", reason="x", expires_on=date(2999, 1, 1)), "expires_on"),
        (Reply("fine", reason="x" * 5001), "reason"),
        (Reply("fine", reason="a\0b"), "reason"),
    ],
)
def test_what_can_not_be_is_refused_with_its_field_and_nothing_is_written(
    review: Review, reply: Reply, field: str, gone: bool
) -> None:
    item = item_of(review, "chat")
    if gone:
        Finding.objects.filter(key=item.key).delete()
    with pytest.raises(Refused) as error:
        answer(ADA, item, reply, 1)
    assert error.value.field == field
    assert item_of(review, "chat").version == 1
    assert not Handling.objects.exists()
    assert not ActRecord.objects.filter(act="answered").exists()


def test_the_owner_has_to_see_it(review: Review) -> None:
    rita = Writer(Person("rita", somebody("rita", Role.REVIEWER)), "page")
    somebody("carl", Role.VIEWER, cluster="east", namespace="hr")
    with pytest.raises(Refused, match="carl may not see"):
        answer(rita, item_of(review, "chat"), Reply("needs-change", owner="carl"), 1)
    with pytest.raises(Refused, match="there is no account"):
        answer(rita, item_of(review, "chat"), Reply("needs-change", owner="dora"), 1)
    answer(rita, item_of(review, "search"), Reply("needs-change", owner="carl"), 1)


def test_who_was_slower_is_told_and_both_answers_are_there(review: Review) -> None:
    item = item_of(review, "chat")
    answer(ADA, item, Reply("fine", reason="as meant"), 1)
    with pytest.raises(Stale) as error:
        answer(BOB, item, Reply("needs-change", owner="carl", reason="no, it isn't"), 1)
    assert isinstance(error.value.current, ReviewItem)
    assert (error.value.current.answer, error.value.current.reason) == ("fine", "as meant")
    assert error.value.wanted["reason"] == "no, it isn't"
    assert item_of(review, "chat").reason == "as meant"


def test_an_answer_to_other_evidence_is_none(review: Review) -> None:
    """The review was brought up to date between looking and answering."""
    item = item_of(review, "chat")
    objects = fleet()
    objects["chat"] = service("chat", model={"name": "missing-too"})
    read(objects)
    refresh(ADA, review, 1)
    now = item_of(review, "chat")
    assert now.evidence != item.evidence
    for seen in (item.version, now.version):
        with pytest.raises(Stale):
            answer(BOB, item, Reply("fine"), seen, item.evidence)
    assert answer(BOB, now, Reply("fine"), now.version, now.evidence).answer == "fine"


def test_an_answer_finds_its_finding_wherever_it_stands_now(review: Review) -> None:
    """Bringing it up to date makes new rows, and other places."""
    item = item_of(review, "search")
    objects = fleet()
    del objects["chat"]
    read(objects)
    refresh(ADA, review, 1)
    row = answer(BOB, item, Reply("fine"), 1, item.evidence)
    assert (row.name, row.code, row.answer) == ("search", "invalid", "fine")
    assert ReviewItem.objects.filter(review=review).exclude(answer="").count() == 1
    gone = ReviewItem(review=review, key=finding("chat").key, cluster="east", namespace="ml")
    with pytest.raises(Refused, match="isn't in the review any more"):
        answer(BOB, gone, Reply("fine"), 1)


@pytest.mark.postgresql  # SQLite lets one write at a time
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_answers_and_one_is_told() -> None:
    read(fleet())
    review = opened(ADA)
    items = list(ReviewItem.objects.filter(review=review))
    told: dict[str, list[str]] = {"ada": [], "bob": []}
    ready = threading.Barrier(2)

    def go_through(name: str, answers: list[str]) -> None:
        try:
            for item in items:
                ready.wait(60)
                try:
                    answer(by(name), item, Reply("accepted", reason=f"by {name}", expires_on=soon()), 1)
                    answers.append("saved")
                except Stale:
                    answers.append("told")
        finally:
            connection.close()

    threads = [threading.Thread(target=go_through, args=each) for each in told.items()]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    assert [sorted(pair) for pair in zip(*told.values(), strict=True)] == [["saved", "told"]] * len(items)
    assert ActRecord.objects.filter(act="answered").count() == len(items)
    for row in ReviewItem.objects.filter(review=review):
        assert row.reason == f"by {row.answered_by}"
        assert row.version == 2


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_answering_while_it_is_brought_up_to_date_waits_in_no_circle() -> None:
    read(fleet())
    review = opened(ADA)
    items = list(ReviewItem.objects.filter(review=review))
    failed: list[BaseException] = []

    def renew() -> None:
        try:
            for seen in range(1, 6):
                refresh(BOB, review, seen)
        except BaseException as error:
            failed.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=renew)
    thread.start()
    for item in items:
        answer(ADA, item, Reply("fine", reason=item.name), 1, item.evidence)
    thread.join(120)
    assert not failed
    for row in ReviewItem.objects.filter(review=review):
        assert (row.answer, row.reason) == ("fine", row.name)


def test_accepting_for_as_long_as_may_be(review: Review) -> None:
    day = timezone.now().date() + timedelta(days=366)
    assert answer(ADA, item_of(review, "chat"), Reply("accepted", reason="x", expires_on=day), 1).expires_on == day
