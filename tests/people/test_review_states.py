"""Where a review stands: how far, signed by whom, and whether what was frozen is still so."""

from __future__ import annotations

import copy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection.people.freezing import Scope
from selection.people.models import ActRecord, Review, ReviewItem, Signature
from selection.people.review_differences import tell_apart
from selection.people.review_states import STATES, answers_digest, compare_reviews, standings_of, state_of
from selection.people.reviews import Reply, answer, close, refresh, reopen, sign, unsign
from selection.people.writing import Refused, Stale
from selection.store.models import Cluster, Finding
from tests.people.review_fleet import EAST, answered, fleet, item_of, opened, read, soon
from tests.people.writers import by
from tests.store.builders import Manifest, service

pytestmark = pytest.mark.django_db

ADA, BOB = by("ada"), by("bob")


@pytest.fixture
def objects() -> dict[str, Manifest]:
    """What is read; a test changes it and reads it again."""
    found = fleet()
    read(found)
    return found


def state(review: Review) -> str:
    """The state, which short and whole must agree on."""
    row = Review.objects.prefetch_related("places").get(pk=review.pk)
    found, short = state_of(row), standings_of([row])[row.pk]
    assert (found.state, found.progress, len(found.signatures)) == (short.state, short.progress, short.signed)
    assert found.state in STATES
    return found.state


def differs(review: Review) -> set[tuple[str, str]]:
    return {(each.what, each.name) for each in state_of(review).differences}


# --- progress and signatures -------------------------------------------------------------------------


def test_it_goes_from_open_to_signed_and_closed(objects: dict[str, Manifest]) -> None:
    review = opened(ADA, signatures_needed=2)
    assert state(review) == "open"
    total = state_of(review).progress.total
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="x", expires_on=soon()), 1)
    answer(ADA, item_of(review, "search"), Reply("needs-change", owner="bob"), 1)
    progress = state_of(review).progress
    assert (progress.accepted, progress.needs_change, progress.answered, progress.open) == (1, 1, 2, total - 2)
    answered(ADA, review)
    assert state(review) == "ready"
    sign(ADA, review, 1, " I looked at each ")
    assert state(review) == "ready"
    sign(BOB, review, 1)
    assert state(review) == "signed"
    assert [(each.name, each.note) for each in state_of(review).signatures] == [
        ("ada", "I looked at each"),
        ("bob", ""),
    ]
    close(ADA, review, 1)
    assert state(review) == "closed"
    reopen(ADA, review, 2)
    assert state(review) == "signed"


def test_an_empty_scope_can_be_signed_and_is_stale_with_the_first_finding(objects: dict[str, Manifest]) -> None:
    review = opened(ADA, Scope((("east", "new"),)))
    assert state(review) == "ready"
    sign(ADA, review, 1)
    assert state(review) == "signed"
    objects["late"] = service("late", "new", model={"name": "missing"})
    read(objects)
    assert state(review) == "stale"


def test_signing_is_refused_while_items_are_open_twice_and_when_stale(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    with pytest.raises(Refused, match=f"{state_of(review).progress.total} items are without an answer"):
        sign(ADA, review, 1)
    for item in list(ReviewItem.objects.filter(review=review))[1:]:
        answer(ADA, item, Reply("fine"), 1)
    with pytest.raises(Refused, match="1 item is without an answer"):
        sign(ADA, review, 1)
    answered(ADA, review)
    with pytest.raises(Stale):
        sign(ADA, review, 2)
    with pytest.raises(Refused, match="5,000"):
        sign(ADA, review, 1, "x" * 5001)
    sign(ADA, review, 1)
    with pytest.raises(Refused, match="signed this already"):
        sign(ADA, review, 1)
    del objects["chat"]
    read(objects)
    with pytest.raises(Refused, match="isn't so any more"):
        sign(BOB, review, 1)
    assert Signature.objects.count() == 1
    assert ActRecord.objects.filter(act="signed").count() == 1


def test_what_is_signed_are_the_answers_that_were_seen(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review)
    seen = answers_digest(review)
    item = item_of(review, "chat")
    answer(BOB, item, Reply("fine", reason="but"), item.version)
    with pytest.raises(Stale) as error:
        sign(ADA, review, 1, "all of it", seen)
    assert error.value.wanted == {"note": "all of it"}
    sign(ADA, review, 1, "all of it", answers_digest(review))


def test_a_signature_does_not_count_after_an_answer_became_another(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review)
    sign(ADA, review, 1)
    item = item_of(review, "chat")
    answer(BOB, item, Reply("needs-change", owner="bob"), item.version)
    assert state(review) == "ready"
    assert [each.name for each in state_of(review).earlier] == ["ada"]
    sign(ADA, review, 1)
    assert state(review) == "signed"
    item = item_of(review, "chat")
    answer(BOB, item, Reply("fine"), item.version)
    assert state(review) == "signed", "the first signature was put under just that"


def test_a_signature_does_not_count_after_another_state_was_frozen(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review)
    sign(ADA, review, 1)
    objects["chat"] = service("chat", model={"name": "missing"}, engine={"minReplicas": 3})
    read(objects)
    assert state(review) == "stale"
    refresh(ADA, review, 1)
    assert state(review) == "ready"
    assert ReviewItem.objects.filter(review=review, answer="").count() == 0


def test_a_signature_is_taken_back(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review)
    sign(ADA, review, 1)
    with pytest.raises(Refused, match="no signature of yours"):
        unsign(BOB, review)
    unsign(ADA, review)
    assert state(review) == "ready"
    sign(ADA, review, 1)
    assert state(review) == "signed"


# --- stale -------------------------------------------------------------------------------------------


def test_noise_makes_nothing_stale(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    for each in objects.values():
        each["metadata"]["resourceVersion"] = f"9{each['metadata']['resourceVersion']}"
        each["metadata"]["managedFields"] = [{"manager": "kubectl"}]
        each["metadata"].setdefault("annotations", {})["other/tool"] = "x"
        each["status"] = {"observedGeneration": 7, "url": "http://x"}
    read(objects)
    assert differs(review) == set()
    assert state(review) == "open"
    read(objects)
    assert state(review) == "open"


def test_a_deciding_field_of_an_input_makes_it_stale_and_back_again(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    was = copy.deepcopy(objects["chat"])
    objects["chat"]["spec"]["engine"] = {"minReplicas": 2}
    read(objects)
    assert differs(review) == {("object-changed", "chat")}
    assert state(review) == "stale"
    objects["chat"] = was
    read(objects)
    assert state(review) == "open"


def test_new_changed_and_gone_findings_are_told(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    objects["chat"] = service("chat", model={"name": "missing-too"})
    del objects["search"]
    objects["late"] = service("late", model={"name": "missing"})
    read(objects)
    told = differs(review)
    assert {("finding-new", "late"), ("finding-changed", "chat"), ("finding-gone", "search")} <= told
    assert {("object-changed", "chat"), ("object-gone", "search")} <= told
    assert not {name for _, name in told} & {"good", "llama"}
    assert list(tell_apart(state_of(review).differences)) == [
        "finding-new", "finding-changed", "finding-gone", "object-changed", "object-gone",
    ]  # fmt: skip
    gone = next(each for each in state_of(review).differences if each.what == "finding-gone")
    assert gone.place == item_of(review, "search").place
    assert gone.to_dict()["code"] == "invalid"


def test_another_severity_and_off_make_it_stale(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    Finding.objects.filter(name="chat", code="invalid").update(severity="info")
    assert differs(review) == {("finding-changed", "chat")}
    assert state(review) == "stale"
    Finding.objects.filter(name="chat", code="invalid").update(severity="off")
    assert differs(review) == {("finding-gone", "chat")}
    assert state(review) == "stale"


def test_an_acceptance_that_expired_makes_it_stale_until_it_is_answered_again(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="x", expires_on=soon()), 1)
    answered(ADA, review)
    yesterday = timezone.now().date() - timedelta(days=1)
    ReviewItem.objects.filter(review=review, answer="accepted").update(expires_on=yesterday)
    assert differs(review) == {("acceptance-expired", "chat")}
    assert state(review) == "stale"
    with pytest.raises(Refused, match="isn't so any more"):
        sign(ADA, review, 1)
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="x", expires_on=soon()), 2)
    assert state(review) == "ready"
    ReviewItem.objects.filter(review=review, answer="accepted").update(expires_on=yesterday)
    refresh(ADA, review, 1)
    assert item_of(review, "chat").answer == ""


def test_deleted_and_created_again_it_is_the_same_finding(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review, Reply("fine", reason="as meant"))
    sign(ADA, review, 1)
    chat = objects.pop("chat")
    read(objects)
    assert state(review) == "stale"
    objects["chat"] = service("chat", model={"name": "missing"})
    assert objects["chat"]["metadata"]["uid"] != chat["metadata"]["uid"]
    read(objects)
    assert state(review) == "signed"
    assert item_of(review, "chat").reason == "as meant"


def test_forgotten_and_read_again_it_is_as_it_was(objects: dict[str, Manifest]) -> None:
    review = opened(ADA)
    answered(ADA, review)
    sign(ADA, review, 1)
    Cluster.objects.all().delete()
    assert state(review) == "stale"
    assert {what for what, _ in differs(review)} == {"finding-gone", "object-gone"}
    read(objects)
    assert state(review) == "signed"


# --- compared, and how much it asks ------------------------------------------------------------------


def test_two_reviews_are_compared_by_their_findings(objects: dict[str, Manifest]) -> None:
    first = opened(ADA)
    objects["chat"] = service("chat", model={"name": "missing-too"})
    del objects["search"]
    objects["late"] = service("late", model={"name": "missing"})
    read(objects)
    second = opened(ADA)
    found = compare_reviews(second, first)
    assert {item.name for item in found.new} >= {"late"}
    assert {item.name for item in found.gone} >= {"search"}
    assert ("chat", "chat") in {(then.name, now.name) for then, now in found.changed}
    assert all(then.key == now.key for then, now in found.changed)
    assert found.same == first.items.count() - len(found.gone) - len(found.changed)


def test_the_queries_of_many_reviews_are_as_many_as_of_one(objects: dict[str, Manifest]) -> None:
    def queries(reviews: list[Review]) -> int:
        with CaptureQueriesContext(connection) as caught:
            standings_of(reviews)
        return len(caught)

    first = opened(ADA)
    answered(ADA, first)
    sign(ADA, first, 1)
    read({name: each for name, each in objects.items() if name != "good"})
    read(objects)
    one = queries(list(Review.objects.prefetch_related("places")))
    for number in range(5):
        review = opened(ADA, EAST if number % 2 else Scope((("east", "hr"), ("east", "ml"))), f"Another {number}")
        answered(BOB, review)
        sign(BOB, review, 1)
    assert queries(list(Review.objects.prefetch_related("places"))) <= one
    assert {each.state for each in standings_of(list(Review.objects.all())).values()} == {"signed"}
