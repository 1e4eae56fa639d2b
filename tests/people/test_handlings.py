"""What people do with a finding: who may, what it takes, what is recorded, and what becomes of it."""

from __future__ import annotations

import threading
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.utils import timezone

from selection.people.handlings import LONGEST_ACCEPTANCE, Wish, handle, handle_many, handlings_of, undo
from selection.people.models import ActRecord, Grant, Handling
from selection.people.persons import Person
from selection.people.rights import sight_of
from selection.people.standings import STATES, in_state, standing
from selection.people.subjects import finding_subject, parse
from selection.people.writing import Refused, Stale, Writer
from selection.rules.objects import ObjectRef
from selection.store.models import Cluster, Finding
from selection.store.sight import seeing
from tests.store.builders import model, runtime, service, sync

pytestmark = pytest.mark.django_db

ADA = Writer(Person("ada"), "page")
BOB = Writer(Person("bob", token="nightly"), "api")
FLEET = [
    model(),
    runtime("vllm"),
    service("chat", model={"name": "missing"}),
    service("search", "hr", model={"name": "gone"}),
]


def today() -> date:
    return timezone.now().date()


def soon() -> date:
    return today() + timedelta(days=30)


@pytest.fixture
def invalid() -> Finding:
    sync("east", *FLEET)
    return the_finding()


def the_finding(name: str = "chat") -> Finding:
    return Finding.objects.select_related("cluster").get(name=name, code="invalid")


def person(name: str, role: str = "", cluster: str = "", namespace: str = "") -> Person:
    user = User.objects.create_user(name)
    if role:
        Grant.objects.create(
            user=user, role=role, cluster=cluster, namespace=namespace, created_at=timezone.now(), created_by="root"
        )
    return Person(name, user)


# --- one ---------------------------------------------------------------------------------------------


def test_taking_one_is_recorded_with_what_it_was_and_is(invalid: Finding) -> None:
    row = handle(BOB, invalid, Wish(owner="bob", state="in-progress"), 0)
    assert (row.owner, row.state, row.version, row.decided_by) == ("bob", "in-progress", 1, "bob")
    [act] = ActRecord.objects.all()
    assert (act.actor, act.token, act.via, act.act) == ("bob", "nightly", "api", "handled")
    assert (act.subject, act.cluster, act.namespace) == (f"finding:{invalid.key}", "east", "ml")
    assert act.before is None
    assert act.after["owner"] == "bob"
    handle(ADA, invalid, Wish(owner=""), 1)
    newest = ActRecord.objects.first()
    assert newest is not None
    assert (newest.act, newest.before, newest.after) == ("owned", {"owner": "bob"}, {"owner": ""})


def test_what_changes_nothing_is_no_act(invalid: Finding) -> None:
    handle(ADA, invalid, Wish(owner="bob"), 0)
    assert handle(ADA, invalid, Wish(owner="bob"), 1).version == 1
    assert ActRecord.objects.count() == 1


def test_accepting_takes_a_reason_and_a_day_and_rests_on_the_evidence(invalid: Finding) -> None:
    row = handle(ADA, invalid, Wish(state="accepted", reason="a test bed", expires_on=soon()), 0)
    assert row.evidence == invalid.evidence
    assert standing(invalid, row, today()).state == "accepted"
    opened = handle(ADA, invalid, Wish(state="open"), 1)
    assert (opened.reason, opened.expires_on, opened.evidence) == ("", None, "")


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        (Wish(state="accepted", expires_on=date(2999, 1, 1)), "reason"),
        (Wish(state="accepted", reason="x"), "expires_on"),
        (Wish(state="accepted", reason="  ", expires_on=date(2999, 1, 1)), "reason"),
        (Wish(state="accepted", reason="x", expires_on=date(2020, 1, 1)), "expires_on"),
        (Wish(state="accepted", reason="x", expires_on=date(2999, 1, 1)), "expires_on"),
        (Wish(state="fixed"), "state"),
        (Wish(state="open", reason="x" * 5001), "reason"),
        (Wish(state="open", reason="a\0b"), "reason"),
        (Wish(owner="a\nb"), "owner"),
    ],
)
def test_what_can_not_be_is_refused_with_its_field_and_nothing_is_written(
    invalid: Finding, wish: Wish, field: str
) -> None:
    with pytest.raises(Refused) as error:
        handle(ADA, invalid, wish, 0)
    assert error.value.field == field
    assert not Handling.objects.exists()
    assert not ActRecord.objects.exists()


def test_the_longest_acceptance_is_taken(invalid: Finding) -> None:
    handle(ADA, invalid, Wish(state="accepted", reason="x", expires_on=today() + LONGEST_ACCEPTANCE), 0)
    assert Handling.objects.get().state == "accepted"


def test_who_did_not_see_the_newest_is_told_and_both_texts_are_there(invalid: Finding) -> None:
    handle(ADA, invalid, Wish(state="in-progress", reason="I look"), 0)
    for seen in (0, 2):
        with pytest.raises(Stale) as error:
            handle(BOB, invalid, Wish(state="open", reason="leave it"), seen)
        assert isinstance(error.value.current, Handling)
        assert error.value.current.reason == "I look"
        assert error.value.wanted == {"state": "open", "reason": "leave it"}
    assert ActRecord.objects.count() == 1


# --- who may -----------------------------------------------------------------------------------------


def test_a_role_in_the_place_is_needed_and_a_tokens_scope(invalid: Finding) -> None:
    for name, role, cluster, namespace in (
        ("nobody", "", "", ""),
        ("viewer", "viewer", "east", "ml"),
        ("elsewhere", "reviewer", "east", "hr"),
        ("westerner", "admin", "west", ""),
    ):
        with pytest.raises(PermissionDenied):
            handle(Writer(person(name, role, cluster, namespace), "page"), invalid, Wish(owner=""), 0)
    reviewer = person("reviewer", "reviewer", "east", "ml")
    handle(Writer(reviewer, "page"), invalid, Wish(owner="reviewer"), 0)
    assert Handling.objects.get().owner == "reviewer"


def test_an_owner_is_an_account_that_sees_the_finding(invalid: Finding) -> None:
    ada = Writer(person("ada", "admin"), "page")
    person("viewer", "viewer", "east", "ml")
    person("stranger", "viewer", "east", "hr")
    User.objects.create_user("left", is_active=False)
    handle(ada, invalid, Wish(owner="viewer"), 0)
    for name in ("stranger", "left", "nobody"):
        with pytest.raises(Refused) as error:
            handle(ada, invalid, Wish(owner=name), 1)
        assert error.value.field == "owner"


# --- many --------------------------------------------------------------------------------------------


def test_many_are_handled_all_or_none_and_undone_as_one(invalid: Finding) -> None:
    findings = [invalid, the_finding("search")]
    handle(ADA, findings[1], Wish(owner="carl"), 0)
    with pytest.raises(Stale):
        handle_many(ADA, findings, Wish(owner="ada"), {})
    assert not Handling.objects.filter(owner="ada").exists()
    rows = handle_many(ADA, findings, Wish(owner="ada"), {findings[1].key: 1})
    assert [row.owner for row in rows] == ["ada", "ada"]
    [batch] = set(ActRecord.objects.exclude(batch="").values_list("batch", flat=True))
    undo(ADA, batch)
    assert {key: row.owner for key, row in handlings_of(findings).items()} == {
        findings[0].key: "", findings[1].key: "carl",
    }  # fmt: skip
    with pytest.raises(Refused):
        undo(ADA, batch)


def test_an_undo_can_be_undone(invalid: Finding) -> None:
    handle_many(ADA, [invalid], Wish(state="accepted", reason="x", expires_on=soon()), {})
    first = ActRecord.objects.earliest("pk").batch
    undo(ADA, first)
    assert Handling.objects.get().state == "open"
    undo(ADA, ActRecord.objects.latest("pk").batch)
    row = Handling.objects.get()
    assert (row.state, row.reason, row.expires_on, row.evidence) == ("accepted", "x", soon(), invalid.evidence)


def test_nothing_is_undone_that_somebody_went_on_with(invalid: Finding) -> None:
    handle_many(ADA, [invalid, the_finding("search")], Wish(owner="ada"), {})
    batch = ActRecord.objects.latest("pk").batch
    handle(BOB, invalid, Wish(owner="bob"), 1)
    with pytest.raises(Refused, match="something else"):
        undo(ADA, batch)
    assert handlings_of([the_finding("search")]).popitem()[1].owner == "ada"
    for nothing in ("", "no-such-batch"):
        with pytest.raises(Refused):
            undo(ADA, nothing)


def test_who_sees_only_a_part_of_what_was_done_undoes_nothing(invalid: Finding) -> None:
    handle_many(ADA, [invalid, the_finding("search")], Wish(owner="ada"), {})
    batch = ActRecord.objects.latest("pk").batch
    part = person("part", "reviewer", "east", "ml")
    assert part.user is not None
    with seeing(sight_of(part.user)), pytest.raises(Refused, match="see nothing"):
        undo(Writer(part, "page"), batch)
    assert set(Handling.objects.values_list("owner", flat=True)) == {"ada"}


# --- what becomes of it ------------------------------------------------------------------------------


def test_a_decision_outlasts_delete_and_re_create_and_the_cluster_itself(invalid: Finding) -> None:
    row = handle(ADA, invalid, Wish(state="accepted", reason="x", expires_on=soon()), 0)
    sync("east", *[each for each in FLEET if each["metadata"]["name"] != "chat"])
    assert standing(the_finding(), row, today()).state == "fixed"
    sync("east", *FLEET)
    assert standing(the_finding(), row, today()).state == "accepted"
    Cluster.objects.all().delete()
    assert parse(f"finding:{row.key}").cluster == "east"
    assert standing(None, row, today()).state == "fixed"
    sync("east", *FLEET)
    assert the_finding().key == row.key
    assert standing(the_finding(), handlings_of([the_finding()])[row.key], today()).state == "accepted"


def test_an_acceptance_lapses_when_its_evidence_changes(invalid: Finding) -> None:
    row = handle(ADA, invalid, Wish(state="accepted", reason="x", expires_on=soon()), 0)
    sync("east", *FLEET[:2], service("chat", model={"name": "another"}), FLEET[3])
    now = [each for each in Finding.objects.filter(name="chat", gone_at=None) if each.key == row.key]
    assert [standing(each, row, today()).lapsed for each in now] == ["evidence-changed"]


def test_every_state_is_the_same_by_the_database_and_one_by_one() -> None:
    names = [f"chat-{number}" for number in range(7)]
    broken = [service(name, model={"name": f"missing-{name}"}) for name in names]
    sync("east", model(), *broken)
    wishes = [
        None,
        Wish(owner="ada"),
        Wish(state="in-progress"),
        *[Wish(state="accepted", reason="x", expires_on=soon())] * 4,
    ]
    for name, wish in zip(names, wishes, strict=True):
        if wish is not None:
            handle(ADA, the_finding(name), wish, 0)
    Handling.objects.filter(name="chat-4").update(expires_on=today() - timedelta(days=1))
    Handling.objects.filter(name="chat-5").update(evidence="0" * 32)
    sync("east", model(), *broken[:-1])
    found = {
        state: set(in_state(Finding.objects.filter(code="invalid"), state, today()).values_list("name", flat=True))
        for state in (*STATES, "lapsed")
    }
    assert found == {
        "open": {"chat-0", "chat-1", "chat-4", "chat-5"},
        "in-progress": {"chat-2"},
        "accepted": {"chat-3"},
        "fixed": {"chat-6"},
        "lapsed": {"chat-4", "chat-5"},
    }
    handlings = {row.key: row for row in Handling.objects.all()}
    for finding in Finding.objects.filter(code="invalid"):
        told = standing(finding, handlings.get(finding.key), today())
        assert finding.name in found[told.state]
        assert (finding.name in found["lapsed"]) == bool(told.lapsed)


def test_the_record_is_only_added_to(invalid: Finding) -> None:
    handle(ADA, invalid, Wish(owner="ada"), 0)
    row = ActRecord.objects.get()
    row.actor = "mallory"
    for change in (row.save, row.delete, ActRecord.objects.all().delete, lambda: ActRecord.objects.update(actor="x")):
        with pytest.raises(TypeError):
            change()
    assert ActRecord.objects.get().actor == "ada"


def test_subjects_are_read_as_they_are_written(invalid: Finding) -> None:
    subject = finding_subject(invalid)
    assert parse(subject.text) == subject
    assert (subject.cluster, subject.namespace) == ("east", "ml")
    assert parse("object:InferenceService/ml/chat/arn:aws/east").ref == ObjectRef("InferenceService", "ml", "chat")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_begin_at_once_one_is_told() -> None:
    sync("east", *FLEET)
    finding = the_finding()
    ready = threading.Barrier(2)
    outcomes: list[str] = []

    def begin(writer: Writer) -> None:
        try:
            ready.wait(30)
            handle(writer, finding, Wish(owner=writer.person.name), 0)
            outcomes.append("done")
        except Stale:
            outcomes.append("stale")
        finally:
            connection.close()

    threads = [threading.Thread(target=begin, args=[each]) for each in (ADA, BOB)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(outcomes) == ["done", "stale"]
    assert Handling.objects.get().version == ActRecord.objects.count() == 1
