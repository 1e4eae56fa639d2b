"""Reviews: opened, frozen, brought up to date, closed; who may, who takes part, and what is recorded."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied

from selection.people import freezing
from selection.people.freezing import Scope
from selection.people.models import ActRecord, Participant, Review, ReviewInput, ReviewItem, ReviewPlace, Role
from selection.people.persons import Person
from selection.people.reviews import (
    MOST_SIGNATURES,
    Reply,
    add_participants,
    answer,
    close,
    may_review,
    open_review,
    preview_refresh,
    refresh,
    remove_participant,
    reopen,
    reviews_of,
    sign,
    unsign,
)
from selection.people.rights import sight_of
from selection.people.scopes import Scope as TokenScope
from selection.people.subjects import BadSubject, parse
from selection.people.writing import Refused, Stale, Writer
from selection.rules.codes import CODES
from selection.store.models import Cluster, Finding
from selection.store.sight import seeing
from tests.people.cast import somebody
from tests.people.review_fleet import EAST, answered, fleet, item_of, opened, read, soon
from tests.people.writers import by
from tests.store.builders import model, runtime, service, workload

pytestmark = pytest.mark.django_db

ADA, BOB = by("ada"), by("bob")


def of(name: str, role: Role | None, cluster: str = "", namespace: str = "") -> Writer:
    return Writer(Person(name, somebody(name, role, cluster=cluster, namespace=namespace)), "page")


# --- opening -----------------------------------------------------------------------------------------


def test_opening_freezes_what_is_there_and_is_recorded() -> None:
    read(fleet())
    review = opened(ADA, purpose="  why  ", participants=["bob"])
    assert (review.name, review.purpose, review.created_by, review.version) == ("Sprint", "why", "ada", 1)
    findings = {row.key: row for row in Finding.objects.all()}
    items = list(ReviewItem.objects.filter(review=review))
    assert {item.key for item in items} == findings.keys()
    assert [item.place for item in items] == list(range(1, len(items) + 1))
    for item in items:
        row = findings[item.key]
        same = ("kind", "namespace", "name", "component", "code", "about", "path", "severity", "evidence", "facts")
        assert [getattr(item, name) for name in same] == [getattr(row, name) for name in same]
        assert item.answer == ""
    urgencies = [findings[item.key].urgency for item in items]
    assert urgencies == sorted(urgencies)
    assert set(Participant.objects.values_list("name", flat=True)) == {"ada", "bob"}
    [act] = ActRecord.objects.all()
    assert (act.actor, act.act, act.subject, act.cluster, act.namespace) == (
        "ada", "review-opened", f"review:{review.pk}", "east", "*",
    )  # fmt: skip
    assert act.after == {"name": "Sprint", "items": len(items), "signatures_needed": 1}


def test_what_is_gone_or_off_is_not_in_it() -> None:
    objects = fleet()
    read(objects)
    read({name: each for name, each in objects.items() if name != "chat"})
    Finding.objects.filter(name="search").update(severity="off")
    names = set(ReviewItem.objects.filter(review=opened(ADA)).values_list("name", flat=True))
    assert not names & {"chat", "search"}


def test_a_scope_is_of_places_codes_and_severities() -> None:
    read(fleet())
    read(fleet(), "west")

    def names(*places: tuple[str, str], **more: tuple[str, ...]) -> set[tuple[str, str]]:
        review = opened(ADA, Scope(places, **more))
        return set(ReviewItem.objects.filter(review=review, code="invalid").values_list("cluster", "name"))

    assert names(("east", "")) == {("east", "chat"), ("east", "search")}
    assert names(("east", "hr")) == {("east", "search")}
    assert names(("east", "hr"), ("west", "ml")) == {("east", "search"), ("west", "chat")}
    assert names(("east", ""), codes=("overlap",)) == set()
    assert names(("east", ""), severities=("error",)) == {("east", "chat"), ("east", "search")}
    assert names(("east", ""), severities=("info",)) == set()
    assert names(("east", "nowhere")) == set()


@pytest.mark.parametrize(
    ("scope", "more", "field"),
    [
        (Scope(()), {}, "places"),
        (Scope((("north", ""),)), {}, "places"),
        (Scope((("east", ""),), codes=("no-such",)), {}, "codes"),
        (Scope((("east", ""),), severities=("off",)), {}, "severities"),
        (EAST, {"name": " \n "}, "name"),
        (EAST, {"name": "x" * 201}, "name"),
        (EAST, {"name": "a\x07b"}, "name"),
        (EAST, {"purpose": "x" * 20_001}, "purpose"),
        (EAST, {"purpose": "a\0b"}, "purpose"),
        (EAST, {"signatures_needed": 0}, "signatures_needed"),
        (EAST, {"signatures_needed": MOST_SIGNATURES + 1}, "signatures_needed"),
        (EAST, {"participants": ["a\nb"]}, "participants"),
    ],
)
def test_what_can_not_be_is_refused_with_its_field_and_nothing_is_written(
    scope: Scope, more: dict[str, object], field: str
) -> None:
    read(fleet())
    with pytest.raises(Refused) as error:
        open_review(ADA, scope=scope, **{"name": "One", **more})  # type: ignore[arg-type]
    assert error.value.field == field
    assert not Review.objects.exists()
    assert not ReviewPlace.objects.exists()
    assert not ActRecord.objects.exists()


def test_a_review_holds_so_many_items_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    read(fleet())
    there = Finding.objects.count()
    monkeypatch.setattr(freezing, "MOST_ITEMS", there)
    review = opened(ADA)
    monkeypatch.setattr(freezing, "MOST_ITEMS", there - 1)
    for act in (lambda: opened(ADA), lambda: refresh(ADA, review, 1), lambda: preview_refresh(review)):
        with pytest.raises(Refused, match="narrow it"):
            act()


# --- frozen ------------------------------------------------------------------------------------------


def test_the_inputs_are_the_findings_objects_and_what_answers_were_computed_from() -> None:
    objects = fleet()
    objects["other-model"] = model("other-model")
    objects["long"] = service(
        "long", runtime={"name": "sglang"}, engine={"annotations": {"ome.io/deploymentMode": "x"}}
    )
    objects["lws"] = workload("LeaderWorkerSet", "lws", "chat")
    read(objects)
    review = opened(ADA, Scope((("east", "ml"),)))
    names = set(ReviewInput.objects.filter(review=review).values_list("kind", "name"))
    assert ("InferenceService", "chat") in names
    assert ("InferenceService", "search") not in names, "of another namespace"
    assert ("ClusterBaseModel", "other-model") not in names, "no answer rests on it"
    row = ReviewInput.objects.get(review=review, name="chat")
    assert row.resource_version == objects["chat"]["metadata"]["resourceVersion"]
    assert len(row.deciding) == 32


def test_the_same_state_gives_the_same_digest_and_another_another() -> None:
    objects = fleet()
    read(objects)
    first, second = opened(ADA), opened(BOB)
    assert first.state_digest == second.state_digest
    objects["chat"] = service("chat", model={"name": "missing"}, engine={"minReplicas": 2})
    read(objects)
    assert opened(ADA).state_digest != first.state_digest


# --- who may -----------------------------------------------------------------------------------------


def test_opening_takes_a_reviewer_of_every_place() -> None:
    read(fleet())
    both = Scope((("east", "ml"), ("east", "hr")))
    rita = of("rita", Role.REVIEWER, "east", "ml")
    opened(rita, Scope((("east", "ml"),)))
    for scope in (both, EAST, Scope((("east", "hr"),))):
        with pytest.raises(PermissionDenied):
            opened(rita, scope)
    of("rita", Role.VIEWER, "east", "hr")
    with pytest.raises(PermissionDenied):
        opened(of("vera", Role.VIEWER), EAST)
    of("rita", Role.REVIEWER, "east", "hr")
    fresh = Writer(Person("rita", type(somebody("rita", None)).objects.get(username="rita")), "page")
    opened(fresh, both)
    with pytest.raises(PermissionDenied):
        opened(fresh, EAST)


def test_every_act_asks_again_and_a_token_needs_the_scope() -> None:
    read(fleet())
    review = opened(ADA)
    answered(ADA, review)
    vera = of("vera", Role.VIEWER)
    nightly = Writer(Person("rita", somebody("rita", Role.REVIEWER), "nightly", TokenScope.READ), "api")
    rita = Writer(Person("rita", somebody("rita", Role.REVIEWER), "nightly", TokenScope.REVIEW), "api")
    item = item_of(review, "chat")
    sign(rita, review, 1)
    for writer in (vera, nightly):
        for act in (
            lambda by: refresh(by, review, 1),
            lambda by: close(by, review, 1),
            lambda by: reopen(by, review, 1),
            lambda by: sign(by, review, 1),
            lambda by: unsign(by, review),
            lambda by: answer(by, item, Reply("fine", reason="x"), item.version),
            lambda by: add_participants(by, review, ["bob"]),
            lambda by: remove_participant(by, review, "ada"),
        ):
            with pytest.raises(PermissionDenied):
                act(writer)
    assert not may_review(vera.person, review)
    assert may_review(rita.person, review)
    assert review.signatures.get().token == "nightly"


def test_only_who_sees_all_of_it_sees_it_and_its_acts() -> None:
    read(fleet())
    read(fleet(), "west")
    whole, part = opened(ADA), opened(ADA, Scope((("east", "ml"),)), "Part")
    wide = opened(ADA, Scope((("east", "ml"), ("west", "ml"))), "Wide")
    two = opened(ADA, Scope((("east", "ml"), ("east", "hr"))), "Two")
    for name, cluster, namespace, seen in (
        ("part", "east", "ml", {part}),
        ("other", "east", "hr", set()),
        ("whole", "east", "", {whole, part, two}),
        ("everywhere", "", "", {whole, part, wide, two}),
        ("both-parts", "", "ml", {part, wide}),
    ):
        with seeing(sight_of(somebody(name, Role.VIEWER, cluster=cluster, namespace=namespace))):
            assert set(Review.objects.all()) == seen, name
            told = set(ActRecord.objects.values_list("subject", flat=True))
            assert told <= {f"review:{each.pk}" for each in seen}, name
    with seeing(sight_of(somebody("part", None))), pytest.raises(BadSubject):
        parse(f"review:{whole.pk}")


def test_who_takes_part_has_to_see_the_whole_review() -> None:
    read(fleet())
    rita = of("rita", Role.REVIEWER, "east")
    somebody("vera", Role.VIEWER, cluster="east", namespace="ml")
    somebody("carl", Role.VIEWER, cluster="east")
    with pytest.raises(Refused, match="vera may not see all"):
        opened(rita, participants=["vera"])
    with pytest.raises(Refused, match="there is no account 'nobody'"):
        opened(rita, participants=["nobody"])
    review = opened(rita, participants=["carl", "carl", " "])
    assert [each.name for each in review.participants.all()] == ["carl", "rita"]
    remove_participant(rita, review, "carl")
    remove_participant(rita, review, "carl")
    add_participants(rita, review, ["carl"])
    acts = list(ActRecord.objects.order_by("pk").values_list("act", flat=True))
    assert acts == ["review-opened", "participant-removed", "participants-added"]
    assert list(reviews_of("carl")) == [review]


# --- brought up to date ------------------------------------------------------------------------------


def test_bringing_up_to_date_keeps_answers_to_the_same_and_the_words_of_the_others() -> None:
    objects = fleet()
    read(objects)
    review = opened(ADA)
    answer(ADA, item_of(review, "chat"), Reply("accepted", reason="a test bed", expires_on=soon()), 1)
    answer(BOB, item_of(review, "search"), Reply("needs-change", owner="carl", reason="soon"), 1)
    objects["chat"] = service("chat", model={"name": "missing-too"})
    del objects["good"]
    objects["late"] = service("late", model={"name": "missing"})
    read(objects)
    told = preview_refresh(review)
    assert (told.kept, [item.name for item in told.again], told.gone) == (1, ["chat"], ())
    assert told.items == ReviewItem.objects.filter(review=review).count() + told.new - _gone(review)
    row = refresh(BOB, review, 1)
    assert row.version == 2
    assert item_of(review, "search").answered_by == "bob"
    assert item_of(review, "search").version == 2, "whoever looked at it looked at the same"
    assert item_of(review, "chat").answer == ""
    assert item_of(review, "chat").version == 3
    assert item_of(review, "late").answer == ""
    act = ActRecord.objects.get(act="review-refreshed")
    [dropped] = act.before["answers"].values()
    assert (dropped["reason"], dropped["answered_by"], dropped["answer"]) == ("a test bed", "ada", "accepted")
    with pytest.raises(Stale):
        refresh(BOB, review, 1)


def _gone(review: Review) -> int:
    there = set(Finding.objects.filter(gone_at=None).values_list("key", flat=True))
    return sum(item.key not in there for item in ReviewItem.objects.filter(review=review))


def test_a_forgotten_cluster_loses_no_answer() -> None:
    read(fleet())
    review = opened(ADA)
    answered(ADA, review)
    sign(ADA, review, 1)
    Cluster.objects.all().delete()
    with pytest.raises(Refused, match="there is no cluster 'east'"):
        refresh(ADA, review, 1)
    with pytest.raises(Refused, match="there is no cluster"):
        preview_refresh(review)
    assert not ReviewItem.objects.filter(review=review, answer="").exists()


# --- closing -----------------------------------------------------------------------------------------


def test_a_closed_review_takes_nothing_until_it_is_reopened() -> None:
    read(fleet())
    review = opened(ADA)
    item = item_of(review, "chat")
    assert close(BOB, review, 1).closed_by == "bob"
    for act in (
        lambda: close(BOB, review, 2),
        lambda: refresh(BOB, review, 2),
        lambda: sign(BOB, review, 2),
        lambda: unsign(BOB, review),
        lambda: answer(BOB, item, Reply("fine"), 1),
        lambda: add_participants(BOB, review, ["carl"]),
    ):
        with pytest.raises(Refused, match="closed"):
            act()
    with pytest.raises(Stale):
        reopen(BOB, review, 1)
    assert reopen(ADA, review, 2).closed_at is None
    with pytest.raises(Refused, match="isn't closed"):
        reopen(ADA, review, 3)
    answer(BOB, item, Reply("fine"), 1)
    assert list(ActRecord.objects.order_by("pk").values_list("act", flat=True)) == [
        "review-opened", "review-closed", "review-reopened", "answered",
    ]  # fmt: skip


def test_every_code_can_be_in_a_scope() -> None:
    read({"only": runtime("only")})
    Scope((("east", ""),), codes=tuple(CODES)).check()
