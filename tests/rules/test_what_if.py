"""What would be otherwise: held to judging the changed fleet anew, and told change by change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_2, Semantics
from selection.rules.what_if import what_if
from selection.rules.what_if_answer import ACTS, CODES, TENDENCIES, Given, ServiceChange, Standing, WhatIf
from selection.rules.what_if_changes import standing_of

from .fleets_more import edits, everything, holds, put_into, releases, rich_fleets, unreadable
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, deployed, moded

CHAT = ObjectRef("InferenceService", "team", "chat")
FAST = ObjectRef("ClusterServingRuntime", "", "fast")

BASE = [a_model(), a_runtime("fast"), a_service()]
TWO = [a_model(), a_runtime("fast"), a_runtime("slow", None, an_entry(priority=0)), a_service()]


def standings(fleet: Fleet) -> dict[ObjectRef, Standing]:
    """The standing of every service, readable or not."""
    unread = {(ref.namespace, ref.name) for ref in fleet.problems if ref.kind == "InferenceService"}
    keys = fleet.services.keys() | unread
    return {ObjectRef("InferenceService", *key): standing_of(explain_service(fleet, *key, brief=True)) for key in keys}


def asked(there: list[Manifest], *put: Manifest, drop: tuple[ObjectRef, ...] = (), live: bool = True) -> WhatIf:
    """The answer about a fleet of these objects."""
    return what_if(read_fleet(there), put, drop, live=live)


def only(answer: WhatIf) -> ServiceChange:
    """The one service that differs."""
    (row,) = answer.services
    return row


def codes(answer: WhatIf) -> list[tuple[str, str]]:
    """The codes and components of the one service that differs."""
    return [(change.code, change.component) for change in only(answer).changes]


def the_given(answer: WhatIf) -> Given:
    """The one object given."""
    (each,) = answer.given
    return each


# --- the algebra ------------------------------------------------------------------------------------------


@holds(2)
@given(rich_fleets(), releases, st.data())
def test_what_differs_is_what_differs_between_two_fleets_judged_anew(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    edit = data.draw(edits(manifests))
    old, new = read_fleet(manifests, release), read_fleet(put_into(manifests, edit), release)
    before, after = standings(old), standings(new)
    answer = what_if(old, edit.put, edit.dropped, live=False)
    told = {row.service: (row.before, row.after) for row in answer.services}
    for ref in before.keys() | after.keys():
        was, becomes = before.get(ref), after.get(ref)
        if ref in told:
            assert told[ref] == (was, becomes)
        else:
            assert was is not None
            assert becomes is not None
            assert comparable(was) == comparable(becomes)
    assert told.keys() <= before.keys() | after.keys()
    assert answer.total == (len(before), len(after))


def comparable(standing: Standing) -> tuple[Any, ...]:
    """A standing but for what automatic selection chooses where it isn't asked: no change is told of that."""
    warnings = [warning for warning in standing.admission.warnings if " will be auto-selected for " not in warning]
    mode_of_rendered = {name: mode for name, mode in standing.modes.items() if standing.runtime is not None}
    conflicts = {name: frozenset(found) for name, found in standing.conflicts.items()}
    errors = standing.admission.errors
    return standing.outcome, standing.runtime, standing.model, mode_of_rendered, conflicts, errors, warnings


@holds(4)
@given(rich_fleets(), releases, st.data())
def test_the_fleet_asked_about_stays_as_it_is_and_the_other_one_is_the_fleet_of_what_would_be_there(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    edit = data.draw(edits(manifests))
    fleet = read_fleet(manifests, release)
    answer = what_if(fleet, edit.put, edit.dropped, live=False)
    answer.to_dict()
    assert answer.before is fleet
    assert everything(fleet) == everything(read_fleet(manifests, release))
    assert everything(answer.after) == everything(read_fleet(put_into(manifests, edit), release))


@holds(8)
@given(rich_fleets(), releases)
def test_nothing_given_changes_nothing_and_what_is_there_given_again_neither(
    manifests: list[Manifest], release: Semantics
) -> None:
    fleet = read_fleet(manifests, release)
    assert what_if(fleet, []).services == ()
    once = {ref_of(manifest): manifest for manifest in manifests}
    again = what_if(fleet, list(once.values()), live=False)
    assert again.services == ()
    assert {each.act for each in again.given} <= {"unchanged", "added"}
    read = {each.object for each in again.given if each.act == "added"}
    assert all(ref.kind not in {"InferenceService", "ServingRuntime", "BaseModel"} for ref in read)


@holds(8)
@given(rich_fleets(), releases, st.data())
def test_adding_and_then_deleting_is_nothing(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    fleet = read_fleet(manifests, release)
    there = {ref_of(manifest) for manifest in manifests}
    new = {ref_of(each): each for each in data.draw(edits(manifests)).put if ref_of(each) not in there}
    added = what_if(fleet, list(new.values()), live=False)
    gone = what_if(added.after, [], list(new))
    assert standings(gone.after) == standings(fleet)
    there_and_back = {row.service: row for row in gone.services}
    for row in added.services:
        back = there_and_back[row.service]
        assert (back.before, back.after) == (row.after, row.before)


@holds(8)
@given(rich_fleets(), st.data())
def test_the_order_of_what_is_given_doesnt_matter(manifests: list[Manifest], data: st.DataObject) -> None:
    edit = data.draw(edits(manifests))
    fleet = read_fleet(manifests)
    one = what_if(fleet, edit.put, edit.dropped)
    other = what_if(fleet, edit.put[::-1], edit.dropped[::-1])
    assert [(row.service, row.before, row.after, row.changes) for row in one.services] == [
        (row.service, row.before, row.after, row.changes) for row in other.services
    ]


@holds(8)
@given(rich_fleets(), st.data())
def test_an_answer_is_told_with_known_codes(manifests: list[Manifest], data: st.DataObject) -> None:
    edit = data.draw(edits(manifests))
    told = what_if(read_fleet(manifests), edit.put, edit.dropped).to_dict()
    assert {each["act"] for each in told["objects"]} <= set(ACTS)
    assert {change["code"] for row in told["services"] for change in row["changes"]} <= set(CODES)
    assert {row["tendency"] for row in told["services"]} <= set(TENDENCIES)
    assert told["services_changed"] == sum(told["tendencies"].values()) == len(told["services"])


# --- one change at a time ---------------------------------------------------------------------------------


def test_a_deleted_runtime_is_lost_by_whom_it_served() -> None:
    answer = asked(BASE, drop=(FAST,))
    row = only(answer)
    assert codes(answer) == [("loses-runtime", ""), ("refused-now", "")]
    assert row.before is not None
    assert row.after is not None
    assert (row.before.runtime, row.after.runtime) == (FAST, None)
    assert (row.tendency, row.reached_by, row.given) == ("worse", (FAST,), False)
    assert the_given(answer) == Given(FAST, "deleted", None, None, 1, {"loses-runtime": 1, "refused-now": 1})
    assert answer.worse


def test_an_added_runtime_is_won_by_who_had_none() -> None:
    answer = asked([a_model(), a_service()], a_runtime("fast"))
    assert codes(answer) == [("gets-runtime", ""), ("admitted-now", "")]
    assert only(answer).changes[0].facts["to"] == FAST.to_dict()
    assert not answer.worse


def test_a_runtime_that_comes_first_is_another_one() -> None:
    answer = asked([*BASE], a_runtime("faster", None, an_entry(priority=5)))
    assert codes(answer) == [("another-runtime", "")]
    assert only(answer).changes[0].facts == {
        "from": FAST.to_dict(),
        "to": {"kind": "ClusterServingRuntime", "namespace": None, "name": "faster"},
    }
    assert answer.tendencies == {"worse": 0, "different": 1, "better": 0}


def test_a_runtime_of_another_spec_renders_the_same_services_anew() -> None:
    answer = asked(BASE, a_runtime("fast", None, engineConfig={"runner": {"name": "ome-container", "image": "b"}}))
    assert codes(answer) == [("spec-differs", "")]


def test_a_pinned_service_is_rendered_from_its_revision_whatever_becomes_of_the_runtime() -> None:
    pinned = a_service(runtime={"name": "fast", "autoSync": False})
    answer = asked([a_model(), a_runtime("fast"), pinned], a_runtime("fast", None, engineConfig={"minReplicas": 2}))
    assert answer.services == ()
    assert answer.judged == 1


def test_a_mode_that_a_runtime_declares_is_told_by_component() -> None:
    answer = asked(BASE, a_runtime("fast", None, engineConfig=moded("OMENative")))
    found = {change.code: change for change in only(answer).changes}
    assert found["mode-changes"].component == "engine"
    assert found["mode-changes"].facts == {"from": "RawDeployment", "to": "OMENative"}
    assert found["conflict-appears"].facts == {"conflict": "silent-takeover"}


def test_a_conflict_that_goes_is_told() -> None:
    loud = [a_model(), a_runtime("fast", None, engineConfig=moded("OMENative")), a_service()]
    found = {change.code: change for change in only(asked(loud, a_runtime("fast"))).changes}
    assert found["conflict-goes"].facts == {"conflict": "silent-takeover"}
    assert found["conflict-goes"].tendency == "better"


def test_components_come_and_go() -> None:
    answer = asked(BASE, a_service(decoder={}))
    assert ("component-added", "decoder") in codes(answer)
    back = asked([a_model(), a_runtime("fast"), a_service(decoder={})], a_service())
    assert ("component-gone", "decoder") in codes(back)


def test_a_new_service_is_explained_and_told_as_added() -> None:
    answer = asked(BASE, a_service("talk", model={"name": "nobody-knows-it"}))
    talk = ObjectRef("InferenceService", "team", "talk")
    assert codes(answer) == [("refused-now", ""), ("added", "")]
    given_ = the_given(answer)
    assert (given_.object, given_.act, given_.refused) == (talk, "added", True)
    explanation = answer.explain(talk)
    assert explanation is not None
    assert explanation.outcome == "invalid"
    assert answer.total == (1, 2)


def test_a_deleted_service_is_told_and_one_that_isnt_there_is_said_not_to_be() -> None:
    answer = asked(BASE, drop=(CHAT, ObjectRef("InferenceService", "team", "ghost")))
    assert codes(answer) == [("deleted", "")]
    assert [each.act for each in answer.given] == ["deleted", "not-there"]
    assert answer.total == (1, 0)
    assert not answer.worse
    assert answer.explain(CHAT) is None


def test_of_an_object_put_in_and_deleted_the_one_put_in_counts() -> None:
    answer = asked(BASE, a_service(), drop=(CHAT,))
    assert [each.act for each in answer.given] == ["unchanged"]
    assert answer.services == ()


def test_what_admission_says_of_a_runtime_is_told() -> None:
    wants = a_runtime("fast", None, acceleratorRequirements={"acceleratorClasses": ["h100"]})
    answer = asked(BASE, wants)
    assert the_given(answer).refused
    admission = the_given(answer).admission
    assert admission is not None
    assert admission.errors == ("unknown accelerator classes referenced in AcceleratorRequirements: [h100]",)
    with_class = asked(BASE, wants, {"apiVersion": "v", "kind": "AcceleratorClass", "metadata": {"name": "h100"}})
    assert not with_class.worse


def test_a_cycle_of_inheritance_is_refused() -> None:
    one = a_runtime("one", None, annotations={"ome.io/inherit-from": "two"})
    two = a_runtime("two", None, annotations={"ome.io/inherit-from": "one"})
    answer = asked(BASE, one, two)
    assert [each.refused for each in answer.given] == [True, True]


def test_an_object_that_cant_be_read_is_a_problem_and_no_candidate() -> None:
    answer = asked(BASE, unreadable(a_runtime("fast")))
    assert ("loses-runtime", "") in codes(answer)
    problem = the_given(answer).problem
    assert problem is not None
    assert problem.object == FAST
    assert answer.worse


def test_a_model_by_a_name_that_is_taken_elsewhere_is_another_model() -> None:
    answer = asked(BASE, a_model("llama", "team"))
    assert codes(answer) == [("model-differs", "")]
    assert only(answer).changes[0].facts["to"]["kind"] == "BaseModel"


def test_a_kind_that_no_rule_reads_changes_nothing() -> None:
    answer = asked(BASE, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "team"}})
    assert answer.services == ()


def test_v1_2_judges_by_its_own_rules() -> None:
    answer = what_if(read_fleet(BASE, V1_2), [a_service(engine={"leader": {}, "worker": {}})])
    assert answer.version == "1.2"
    assert only(answer).after is not None
    assert only(answer).after.modes == {"engine": "MultiNode"}  # type: ignore[union-attr]


# --- a status is the controllers' ---------------------------------------------------------------------------

PINNED: dict[str, Any] = {"pinnedRevisionName": "cr-fast-0123abcd"}


def revision_of(answer: WhatIf) -> str:
    return answer.after.services[("team", "chat")].pinned_revision


def test_an_object_keeps_the_status_that_stands_there() -> None:
    drifted = {**PINNED, "conditions": [{"type": "RuntimeDrifted", "status": "True", "reason": "RevisionMismatch"}]}
    there = [a_model(), a_runtime("fast"), a_service(status=drifted)]
    answer = asked(there, a_service(annotations={"a": "b"}))
    service = answer.after.services[("team", "chat")]
    assert (service.pinned_revision, service.conditions) == (
        "cr-fast-0123abcd",
        {"RuntimeDrifted": ("True", "RevisionMismatch")},
    )


def test_a_status_that_is_given_doesnt_count_on_a_cluster() -> None:
    assert revision_of(asked(BASE, a_service(status=PINNED))) == ""
    new = asked([a_model()], a_service(status=PINNED))
    assert revision_of(new) == ""


def test_on_nothing_a_status_counts_as_it_is_written() -> None:
    assert revision_of(asked([], a_service(status=PINNED), live=False)) == "cr-fast-0123abcd"


@pytest.mark.parametrize("ready", ["True", "False"])
def test_a_workload_stays_as_ready_as_it_is(ready: str) -> None:
    there = {**deployed("Deployment"), "status": {"conditions": [{"type": "Available", "status": ready}]}}
    answer = asked([*BASE, there], deployed("Deployment"))
    (workload,) = answer.after.workloads[("team", "chat")]
    assert workload.ready is (ready == "True")
    assert the_given(answer).act == "unchanged"


# --- what the API server writes -------------------------------------------------------------------------------

DEFAULTS = {"weight": 1, "operator": "Equal"}


def test_an_object_given_without_what_the_api_server_wrote_is_the_same() -> None:
    entry = an_entry(modelFormat={"name": "safetensors", **DEFAULTS}, modelFramework={"name": "x", **DEFAULTS})
    port = {"containerPort": 80, "protocol": "TCP"}
    there = [
        a_model(modelFormat={"name": "safetensors", **DEFAULTS}),
        a_runtime("fast", None, entry, engineConfig={"runner": {"name": "r", "ports": [port]}}),
        a_service(model={"name": "llama", "kind": "ClusterBaseModel", "apiGroup": "ome.io"}),
    ]
    plain = an_entry(modelFramework={"name": "x", "operator": None})
    given_again = [
        a_model(),
        a_runtime("fast", None, plain, engineConfig={"runner": {"name": "r", "ports": [{"containerPort": 80}]}}),
        a_service(),
    ]
    answer = asked(there, *given_again)
    assert [each.act for each in answer.given] == ["unchanged"] * 3
    assert answer.services == ()


def test_what_is_malformed_gets_no_defaults_and_stays_unreadable() -> None:
    broken = [a_model(modelFormat=7), a_runtime("fast", None, an_entry(modelFormat="x")), a_service(model=[])]
    broken.append({**a_runtime("slow"), "spec": 7})
    broken.append(a_runtime("odd") | {"spec": {"supportedModelFormats": [7]}})
    assert [each.problem is not None for each in asked(BASE, *broken).given] == [True] * 5


# --- what is told of many -------------------------------------------------------------------------------------


def test_a_service_names_at_most_ten_that_reach_it_and_counts_them_all() -> None:
    many = [a_runtime(f"extra-{number:02}", None, an_entry(priority=9)) for number in range(15)]
    row = only(asked(BASE, *many))
    assert (len(row.reached_by), row.reaching) == (10, 15)


def test_only_the_first_are_explained_whole() -> None:
    answer = asked(BASE, *(a_service(f"talk-{number}") for number in range(4)), a_model("other"))
    told = answer.to_dict(explained=2)["objects"]
    assert [each["explanation"] is not None for each in told] == [True, True, False, False, False]
    assert [each["explanation"] is not None for each in answer.to_dict()["objects"]] == [True] * 5
    assert told[0]["explanation"]["candidates"]


def test_evolving_step_by_step_comes_to_the_same() -> None:
    fleet = read_fleet(TWO)
    step = evolved(fleet, [a_runtime("faster", None, an_entry(priority=7))], [])
    once = what_if(fleet, [a_runtime("faster", None, an_entry(priority=7))], [FAST])
    assert standings(what_if(step, [], [FAST]).after) == standings(once.after)
