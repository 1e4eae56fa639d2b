"""What people wrote goes into a file and comes back, whole, and twice is as once."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from selection.people import comments, handlings, reviews
from selection.people.freezing import Scope
from selection.people.handlings import Wish
from selection.people.keeping import PARTS, BadExport, export_reviews, import_reviews
from selection.people.models import ActRecord, Comment, Handling, Review, ReviewItem
from selection.people.persons import Person
from selection.people.reviews import Reply
from selection.people.subjects import finding_subject, object_subject
from selection.people.writing import Writer
from selection.rules.objects import ObjectRef
from selection.store.models import Cluster, Finding
from tests.store.builders import model, runtime, service, sync

pytestmark = pytest.mark.django_db

ADA = Writer(Person("ada"), "page")
BOB = Writer(Person("bob", token="nightly"), "api")


@pytest.fixture
def written() -> str:
    """Something of everything, exported."""
    sync("east", model(), runtime("vllm"), service("chat", model="missing"), service("search"))
    finding = Finding.objects.select_related("cluster").get(name="chat", code="invalid")
    soon = timezone.now().date() + timedelta(days=30)
    handlings.handle(ADA, finding, Wish(owner="bob", state="in-progress"), 0)
    said = comments.say(BOB, finding_subject(finding), "Who asked for a model that isn't there? 🤔\n\n- nobody")
    comments.edit(BOB, said, "Nobody did.", 1)
    gone = comments.say(ADA, object_subject("east", ObjectRef("InferenceService", "ml", "chat")), "hello")
    comments.remove(ADA, gone, 1)
    review = reviews.open_review(ADA, "Sprint 12", Scope((("east", ""),)), participants=["bob"])
    for item in ReviewItem.objects.filter(review=review):
        reviews.answer(ADA, item, Reply("accepted", reason="known", expires_on=soon), item.version)
    reviews.sign(BOB, Review.objects.get(pk=review.pk), 1, "fine with me")
    reviews.open_review(ADA, "Sprint 13", Scope((("east", "ml"),), codes=("invalid",)), previous=review)
    return exported()


def exported() -> str:
    file = io.StringIO()
    export_reviews(file)
    return file.getvalue()


def emptied() -> None:
    """Everything that people wrote is gone; the record of acts isn't deleted by anything but the test."""
    for part in reversed(PARTS):
        for each in (*part.parts, part):
            rows = each.model._base_manager.all()
            rows._raw_delete(rows.db)


def test_a_round_trip_through_an_empty_database_is_exact(written: str) -> None:
    emptied()
    assert not Comment.objects.exists()
    done = import_reviews(written)
    assert not done.replaced
    assert not done.kept
    assert exported() == written
    assert {name for name, rows in json.loads(written).items() if isinstance(rows, list) and rows} == {
        "acts", "comments", "handlings", "reviews",
    }  # fmt: skip


def test_importing_twice_changes_nothing(written: str) -> None:
    done = import_reviews(written)
    assert done.changed == 0
    assert exported() == written


def test_it_comes_to_a_database_that_never_saw_the_cluster(written: str) -> None:
    Cluster.objects.all().delete()
    assert exported() == written
    assert import_reviews(written).changed == 0


def test_the_later_version_is_kept_wherever_it_comes_from(written: str) -> None:
    comment = Comment.objects.get(removed_at=None)
    comments.edit(BOB, comment, "Nobody, and nobody knew.", comment.version)
    newer = exported()
    assert import_reviews(written).changed == 0
    assert exported() == newer
    Comment.objects.filter(pk=comment.pk).update(text="Nobody did.", version=2)
    done = import_reviews(newer)
    assert done.replaced == {"comments": 1}
    assert exported() == newer


def test_answers_that_were_given_elsewhere_come_along(written: str) -> None:
    row = ReviewItem.objects.filter(review__name="Sprint 13").get()
    reviews.answer(BOB, row, Reply("fine"), row.version)
    newer = exported()
    ReviewItem.objects.filter(pk=row.pk).update(answer="", answered_by="", answered_at=None, version=1)
    import_reviews(newer)
    assert exported() == newer


def changed(text: str, *path: str | int, to: Any) -> str:
    value = json.loads(text)
    place = value
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(value)


@pytest.mark.parametrize(
    ("path", "to", "told"),
    [
        (("format",), "else", "not an export"),
        (("version",), 2, "an export of format 2, and this release reads format 1"),
        (("comments",), {}, "comments is not a list"),
        (("comments", 0), 7, "comments[0] is not an object"),
        (("comments", 0, "created_at"), "yesterday", "comments[0].created_at: "),
        (("comments", 0, "id"), "x", "comments[0].id: "),
        (("comments", 0, "colour"), "red", "comments[0] has 'colour', which isn't known"),
        (("handlings", 0, "state"), "done", "handlings[0].state: "),
        (("handlings", 0, "version"), "many", "handlings[0].version: "),
        (("reviews", 0, "items"), None, "reviews[0].items is not a list"),
        (("reviews", 0, "items", 0, "answer"), "maybe", "reviews[0].items[0].answer: "),
        (("acts", 0, "at"), None, "acts[0].at: "),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_nothing_is_changed(
    written: str, path: tuple[str | int, ...], to: Any, told: str
) -> None:
    emptied()
    with pytest.raises(BadExport) as error:
        import_reviews(changed(written, *path, to=to))
    assert told in str(error.value)
    assert not Handling.objects.exists()
    assert not ActRecord.objects.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000, "{}"])
def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(BadExport):
        import_reviews(text)
