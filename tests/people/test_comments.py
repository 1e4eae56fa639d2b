"""What people say: who may, what is kept of every version, who is named, and who sees it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from selection.people.comments import (
    comments_on,
    counts_of,
    edit,
    may_edit,
    may_remove,
    mentions_of,
    remove,
    say,
)
from selection.people.markdown import LONGEST
from selection.people.models import ActRecord, Comment, Mention, Role
from selection.people.persons import Person
from selection.people.rights import sight_of
from selection.people.scopes import Scope
from selection.people.subjects import Subject, object_subject
from selection.people.writing import Refused, Stale, Writer
from selection.rules.objects import ObjectRef
from selection.store.models import Cluster
from selection.store.sight import seeing
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db

ADA = Writer(Person("ada"), "page")
CHAT = object_subject("east", ObjectRef("InferenceService", "ml", "chat"))
PAY = object_subject("east", ObjectRef("InferenceService", "hr", "pay"))
RUNTIME = object_subject("east", ObjectRef("ClusterServingRuntime", "", "vllm"))


def writer(name: str, role: Role | None = Role.REVIEWER, **place: str) -> Writer:
    return Writer(Person(name, somebody(name, role, **place)), "page")


# --- said, edited, removed ---------------------------------------------------------------------------


def test_what_is_said_stands_with_its_writer_and_in_the_record() -> None:
    bot = Writer(Person("ada", somebody("ada", Role.REVIEWER), "nightly", Scope.REVIEW), "api")
    row = say(bot, CHAT, "  one\r\ntwo  ")
    assert (row.author, row.token, row.text, row.version) == ("ada", "nightly", "one\ntwo", 1)
    assert (row.subject, row.cluster, row.namespace) == (CHAT.text, "east", "ml")
    act = ActRecord.objects.get()
    assert (act.act, act.actor, act.token, act.via, act.before) == ("commented", "ada", "nightly", "api", None)
    assert act.after == {"comment": str(row.pk), "text": "one\ntwo"}
    assert list(comments_on(CHAT)) == [row]
    assert counts_of([CHAT, PAY]) == {CHAT.text: 1, PAY.text: 0}


def test_every_version_stays_in_the_record() -> None:
    row = say(ADA, CHAT, "first")
    edit(ADA, row, "second", 1)
    again = edit(ADA, row, "third", 2)
    assert (again.text, again.version, again.edited_at is not None) == ("third", 3, True)
    told = [(act.act, (act.before or {}).get("text"), (act.after or {}).get("text")) for act in ActRecord.objects.all()]
    assert told == [("edited", "second", "third"), ("edited", "first", "second"), ("commented", None, "first")]


def test_saying_the_same_again_is_no_act() -> None:
    row = say(ADA, CHAT, "first")
    assert edit(ADA, row, " first ", 1).version == 1
    assert ActRecord.objects.count() == 1


def test_who_edits_an_old_version_is_told_with_both_texts() -> None:
    row = say(ADA, CHAT, "first")
    edit(ADA, row, "mine", 1)
    with pytest.raises(Stale) as error:
        edit(ADA, row, "yours", 1)
    assert isinstance(error.value.current, Comment)
    assert (error.value.current.text, error.value.wanted) == ("mine", {"text": "yours"})
    with pytest.raises(Stale):
        remove(ADA, row, 1)
    assert Comment.objects.get().text == "mine"


def test_what_was_removed_leaves_its_place_and_stands_in_the_record_alone() -> None:
    somebody("bob")
    row = say(ADA, CHAT, "@bob a secret")
    gone = remove(ADA, row, 1)
    assert (gone.text, gone.removed_by, gone.removed_at is not None) == ("", "ada", True)
    assert (counts_of([CHAT]), list(comments_on(CHAT)), Mention.objects.count()) == ({CHAT.text: 0}, [gone], 0)
    act = ActRecord.objects.first()
    assert act is not None
    assert (act.act, act.after) == ("removed", None)
    assert act.before == {"comment": str(row.pk), "text": "@bob a secret"}
    changes: list[Callable[[], Comment]] = [lambda: edit(ADA, row, "again", 2), lambda: remove(ADA, row, 2)]
    for change in changes:
        with pytest.raises(Refused, match="removed"):
            change()


@pytest.mark.parametrize("text", ["", " \n ", "x" * (LONGEST + 1), "a\0b"])
def test_what_can_not_be_said_is_refused_and_nothing_is_written(text: str) -> None:
    with pytest.raises(Refused) as error:
        say(ADA, CHAT, text)
    assert error.value.field == "text"
    row = say(ADA, CHAT, "x" * LONGEST)
    with pytest.raises(Refused):
        edit(ADA, row, text, 1)
    assert Comment.objects.get().text == "x" * LONGEST
    assert ActRecord.objects.count() == 1


def test_what_was_said_outlasts_its_object() -> None:
    row = say(ADA, Subject("finding:gone-" + "0" * 32, "finding", "east", "ml", "gone-" + "0" * 32), "still true")
    assert edit(ADA, row, "not any more", 1).cluster == "east"
    assert ActRecord.objects.filter(subject=row.subject, namespace="ml").count() == 2


# --- who may -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "place", "subject", "allowed"),
    [
        (None, {}, CHAT, False),
        (Role.VIEWER, {}, CHAT, False),
        (Role.REVIEWER, {"cluster": "east", "namespace": "ml"}, CHAT, True),
        (Role.REVIEWER, {"cluster": "east", "namespace": "ml"}, PAY, False),
        (Role.REVIEWER, {"cluster": "east", "namespace": "ml"}, RUNTIME, False),
        (Role.REVIEWER, {"cluster": "east"}, RUNTIME, True),
        (Role.ADMIN, {"cluster": "west"}, CHAT, False),
        (Role.ADMIN, {}, PAY, True),
    ],
)
def test_it_takes_a_role_where_the_subject_is(
    role: Role | None, place: dict[str, str], subject: Subject, allowed: bool
) -> None:
    speaker = writer("bob", role, **place)
    if allowed:
        assert say(speaker, subject, "hello").author == "bob"
        return
    with pytest.raises(PermissionDenied):
        say(speaker, subject, "hello")
    assert not Comment.objects.exists()
    assert not ActRecord.objects.exists()


def test_a_token_needs_the_scope() -> None:
    reader = Writer(Person("bob", somebody("bob", Role.ADMIN), "nightly", Scope.READ), "api")
    with pytest.raises(PermissionDenied):
        say(reader, CHAT, "hello")


def test_nobody_puts_words_into_anothers_mouth_and_an_admin_may_take_them_away() -> None:
    row = say(writer("ada"), CHAT, "mine")
    other, admin = writer("bob"), writer("root", Role.ADMIN)
    assert [(may_edit(each, row), may_remove(each, row)) for each in (other, admin)] == [(False, False), (False, True)]
    attempts: list[Callable[[], Comment]] = [
        lambda: edit(other, row, "x", 1),
        lambda: edit(admin, row, "x", 1),
        lambda: remove(other, row, 1),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionDenied):
            attempt()
    assert remove(admin, row, 1).removed_by == "root"


def test_who_may_not_comment_there_any_more_does_not_change_what_they_said() -> None:
    row = say(writer("ada"), CHAT, "mine")
    outsider = Writer(Person("ada", User.objects.create_user("ada-too")), "page")
    attempts: list[Callable[[], Comment]] = [lambda: edit(outsider, row, "x", 1), lambda: remove(outsider, row, 1)]
    for attempt in attempts:
        with pytest.raises(PermissionDenied):
            attempt()


# --- who is named, and who sees it -------------------------------------------------------------------


def test_users_are_named_once_each_and_only_those_that_there_are() -> None:
    for name in ("bob", "eve.b"):
        somebody(name)
    User.objects.create_user("left", is_active=False)
    row = say(ADA, CHAT, "@bob, @bob: ask @eve.b. Not @left, @nobody, `@bob` nor mail@bob")
    assert set(row.mentions.values_list("name", flat=True)) == {"bob", "eve.b"}
    edit(ADA, row, "only @eve.b", 1)
    assert set(row.mentions.values_list("name", flat=True)) == {"eve.b"}
    assert (list(mentions_of("eve.b")), list(mentions_of("bob"))) == ([row], [])


def test_what_is_said_of_a_place_is_seen_by_who_sees_the_place() -> None:
    Cluster.objects.create(name="east")
    bob = somebody("bob", Role.VIEWER, cluster="east", namespace="ml")
    for subject in (CHAT, PAY, RUNTIME):
        say(ADA, subject, "@bob look")
    with seeing(sight_of(bob)):
        assert set(mentions_of("bob").values_list("subject", flat=True)) == {CHAT.text, RUNTIME.text}
        assert counts_of([CHAT, PAY]) == {CHAT.text: 1, PAY.text: 0}
        assert not comments_on(PAY).exists()
        assert set(ActRecord.objects.values_list("subject", flat=True)) == {CHAT.text, RUNTIME.text}
        assert Mention.objects.count() == 2
    with seeing(sight_of(somebody("eve", None))):
        assert not Comment.objects.exists()
        assert not ActRecord.objects.exists()
        assert not mentions_of("bob").exists()
