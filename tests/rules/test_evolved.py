"""A fleet that was changed step by step is the fleet of the objects as they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service, explain_services
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.index import serves
from selection.rules.objects import Model, ObjectRef, Runtime
from selection.rules.overlaps import overlap_findings
from selection.rules.parsing import ref_of
from selection.rules.selection import question_of
from selection.rules.semantics import V1_2, V1_3, Semantics

from .fleets_more import edits, everything, holds, put_into, releases, rich_fleets, unreadable
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, deployed


def ask_nothing(fleet: Fleet) -> None:
    """No answer is remembered."""


def ask_in_brief(fleet: Fleet) -> None:
    """As an evaluation asks: of every service and model in brief."""
    explain_services(fleet, brief=True)
    list(overlap_findings(fleet))
    for model in fleet.models.values():
        fleet.judged(question_of(None, model, fleet.semantics), model.ref.namespace, brief=True)


def ask_one(fleet: Fleet) -> None:
    """As a page asks: of one service, in full."""
    if ("team", "chat") in fleet.services or ObjectRef("InferenceService", "team", "chat") in fleet.problems:
        explain_service(fleet, "team", "chat")


ASKED = [ask_nothing, ask_in_brief, ask_in_brief, ask_one, everything]


@holds(4)
@given(rich_fleets(), releases, st.data())
def test_a_fleet_changed_step_by_step_is_the_fleet_of_what_is_there(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    fleet = read_fleet(manifests, release)
    for _ in range(data.draw(st.integers(1, 4))):
        data.draw(st.sampled_from(ASKED))(fleet)
        edit = data.draw(edits(manifests)) if manifests else data.draw(edits([a_model()]))
        manifests = put_into(manifests, edit)
        fleet = evolved(fleet, edit.put, edit.dropped)
        plain = read_fleet(manifests, release)
        data.draw(st.sampled_from(ASKED))(fleet)
        assert everything(fleet) == everything(plain)


@holds(8)
@given(rich_fleets(), st.data())
def test_the_fleet_that_was_changed_stays_as_it_is(manifests: list[Manifest], data: st.DataObject) -> None:
    fleet = read_fleet(manifests)
    told = everything(fleet)
    edit = data.draw(edits(manifests))
    changed = evolved(fleet, edit.put, edit.dropped)
    everything(changed)
    assert everything(fleet) == told
    again = [manifest for manifest in manifests if ref_of(manifest) in edit.refs]
    assert everything(evolved(changed, again, edit.refs)) == told


# --- one of each kind --------------------------------------------------------------------------------

BASE = [
    a_model(),
    a_model("llama", "team"),
    a_runtime("fast"),
    a_runtime("slow", None, annotations={"ome.io/inherit-from": "fast"}),
    a_runtime("own", "team", an_entry(priority=2)),
    a_service(),
    a_service("talk", "other", runtime={"name": "slow"}),
    a_service("pinned", runtime={"name": "fast", "autoSync": False, "revision": "cr-fast-0123abcd"}),
    {"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": "h100"}},
    deployed("Deployment", service="pinned"),
    deployed("InferenceReplica"),
    deployed("LeaderWorkerSet"),
    {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "cr-fast-0123abcd", "namespace": "ome"},
        "data": {"spec": {"engineConfig": {"leader": {}, "worker": {}}}},
    },
]


def renamed(manifest: Manifest) -> Manifest:
    """Another object with the same content."""
    return {**manifest, "metadata": {**manifest["metadata"], "name": "new"}}


def repeated(manifest: Manifest) -> Manifest:
    """The same object in another version."""
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": "2"}}


@pytest.mark.parametrize("ask", [ask_nothing, ask_in_brief, everything])
@pytest.mark.parametrize("change", [renamed, repeated, unreadable, None])
@pytest.mark.parametrize("manifest", BASE, ids=lambda manifest: f"{manifest['kind']}-{manifest['metadata']['name']}")
def test_an_object_of_any_kind_may_come_change_break_and_go(
    manifest: Manifest, change: Callable[[Manifest], Manifest] | None, ask: Callable[[Fleet], Any]
) -> None:
    ref = ref_of(manifest)
    others = [each for each in BASE if each is not manifest]
    fleet = read_fleet(BASE)
    ask(fleet)
    if change is None:
        fleet, expected = evolved(fleet, [], [ref]), others
    elif change is renamed:
        fleet, expected = evolved(fleet, [change(manifest)], []), [*BASE, change(manifest)]
    else:
        fleet, expected = evolved(fleet, [change(manifest)], []), [*others, change(manifest)]
    assert everything(fleet) == everything(read_fleet(expected))
    ask(fleet)
    back = evolved(fleet, [manifest], [ref_of(renamed(manifest))])
    assert everything(back) == everything(read_fleet(BASE))


def test_what_was_not_there_may_be_dropped() -> None:
    fleet = evolved(read_fleet(BASE), [], [ref_of(renamed(manifest)) for manifest in BASE] + [ObjectRef("?", "", "?")])
    assert everything(fleet) == everything(read_fleet(BASE))


def test_an_object_that_is_dropped_and_put_is_there() -> None:
    fleet = evolved(read_fleet(BASE), BASE, [ref_of(manifest) for manifest in BASE])
    assert everything(fleet) == everything(read_fleet(BASE))


def test_a_revision_may_share_its_name_with_one_in_another_namespace() -> None:
    name = BASE[-1]["metadata"]["name"]
    twin = {**BASE[-1], "metadata": {"name": name, "namespace": "z"}, "data": {"spec": {}}}
    fleet = read_fleet([*BASE, twin])
    assert everything(evolved(fleet, [], [ref_of(twin)])) == everything(read_fleet(BASE))
    assert everything(evolved(read_fleet(BASE), [twin], [])) == everything(fleet)
    assert everything(evolved(fleet, [], [ref_of(BASE[-1])])) == everything(read_fleet([*BASE[:-1], twin]))


def test_the_release_stays() -> None:
    assert evolved(read_fleet(BASE, V1_2), [], []).semantics is V1_2


def test_many_runtimes_may_change_at_once() -> None:
    fleet = read_fleet([a_model(), a_service(), *(a_runtime(f"r{number}") for number in range(30))])
    ask_in_brief(fleet)
    changed = [a_runtime(f"r{number}", None, an_entry(priority=number)) for number in range(30)]
    assert everything(evolved(fleet, changed, [])) == everything(read_fleet([a_model(), a_service(), *changed]))


def test_a_namespace_may_get_its_first_runtime_and_lose_its_last() -> None:
    fleet = read_fleet([a_model(), a_service(), a_runtime("fast")])
    ask_in_brief(fleet)
    assert explain_service(fleet, "team", "chat", brief=True).score == 1
    more = evolved(fleet, [a_runtime("own", "team", an_entry(priority=5))], [])
    ask_in_brief(more)
    assert explain_service(more, "team", "chat", brief=True).score == 5
    less = evolved(more, [], [ObjectRef("ServingRuntime", "team", "own")])
    assert explain_service(less, "team", "chat", brief=True).score == 1
    assert explain_service(less, "team", "chat", brief=True).considered == 1


# --- what is remembered ------------------------------------------------------------------------------


def test_an_answer_that_a_change_cannot_touch_is_not_made_again() -> None:
    other = a_runtime("onnx", None, an_entry(modelFormat={"name": "onnx"}))
    fleet = read_fleet([a_model(), a_service(), a_runtime("fast"), other])
    question = question_of(None, fleet.models[("", "llama")], fleet.semantics)
    before = fleet.shortlist(question, "")
    changed = evolved(fleet, [a_runtime("onnx", None, an_entry(modelFormat={"name": "onnx"}, priority=3))], [])
    assert changed.shortlist(question, "") is before
    touched = evolved(fleet, [a_runtime("onnx", None, an_entry(priority=3))], [])
    assert [verdict.runtime.ref.name for verdict in touched.shortlist(question, "")] == ["onnx", "fast"]


def test_a_long_life_does_not_fill_the_memory_with_answers_about_what_is_gone() -> None:
    def child(number: int) -> Manifest:
        leader = {"runner": {"args": ["$(LWS_LEADER_ADDRESS)", str(number)]}}
        return a_runtime("child", None, annotations={"ome.io/inherit-from": "fast"}, engineConfig={"leader": leader})

    pinned = {"name": "fast", "autoSync": False, "revision": "cr-fast-0123abcd"}
    services = [a_service(), a_service("named", runtime={"name": "child"}), a_service("pinned", runtime=pinned)]
    fleet = read_fleet([a_model(), a_runtime("fast"), BASE[-1], child(0), *services])
    sizes = set()
    for number in range(1, 40):
        fleet = evolved(fleet, [child(number)], [])
        for _ in range(3):
            explain_services(fleet, brief=True)
            explain_services(fleet)
        assert fleet.uses_leader_worker_set(fleet.runtimes[("", "child")], "engine")
        sizes.add(len(fleet._references))
    assert max(sizes) <= 10


@pytest.mark.parametrize("place", ["fleet", "index"])
def test_a_fleet_evolves_while_others_ask_the_old_one(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    formats = [f"format-{number}" for number in range(4)]
    models = [a_model(name, modelFormat={"name": name}) for name in formats]
    runtimes = [a_runtime(name, None, an_entry(modelFormat={"name": name})) for name in formats]
    old = read_fleet([*models, *runtimes])
    questions = [question_of(None, old.models[("", name)], V1_3) for name in formats]
    old.shortlist(questions[0], "")

    def asked_meanwhile(runtime: Runtime, model: Model) -> bool:
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("selection.rules.index.serves", serves)
            for question in questions:
                old.shortlist(question, "")
        return serves(runtime, model)

    monkeypatch.setattr(f"selection.rules.{place}.serves", asked_meanwhile)
    assert evolved(old, [runtimes[0]], []).shortlist(questions[1], "") == old.shortlist(questions[1], "")
