"""A cluster's objects, read once: what is found by which name, what counts twice, and what is left aside."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.objects import Model, ObjectRef, Problem, Runtime
from selection.rules.parsing import ref_of
from selection.rules.selection import question_of
from selection.rules.semantics import V1_2, V1_3

from .manifests import Manifest, a_model, a_runtime, a_service, deployed, moded


def child(name: str, parent: str, namespace: str | None = None, **spec: Any) -> Manifest:
    """A runtime that inherits all that it doesn't say."""
    manifest = a_runtime(name, namespace, annotations={"ome.io/inherit-from": parent})
    return {**manifest, "spec": spec}


def the_runtime(fleet: Fleet, name: str, namespace: str = "") -> Runtime:
    """A runtime that is there and readable."""
    found = fleet.find_runtime(namespace, name)
    assert isinstance(found, Runtime)
    return found


def test_the_namespaces_own_model_wins_over_the_clusters() -> None:
    fleet = read_fleet([a_model(), a_model("llama", "team")])
    for namespace, kind in (("team", "BaseModel"), ("other", "ClusterBaseModel")):
        found = fleet.find_model(namespace, "llama")
        assert isinstance(found, Model)
        assert found.ref.kind == kind
    assert fleet.find_model("team", "qwen") is None


def test_an_unreadable_model_does_not_let_the_clusters_take_its_place() -> None:
    fleet = read_fleet([a_model(), a_model("llama", "team", modelParameterSize=7)])
    assert isinstance(fleet.find_model("team", "llama"), Problem)


def test_a_runtime_is_found_in_its_scope_alone() -> None:
    fleet = read_fleet([a_runtime("fast", "team"), a_runtime("slow"), a_runtime("odd", disabled="no")])
    assert the_runtime(fleet, "fast", "team").ref.kind == "ServingRuntime"
    assert fleet.find_runtime("", "fast") is None
    assert fleet.find_runtime("team", "slow") is None
    assert isinstance(fleet.find_runtime("", "odd"), Problem)


def test_the_candidates_of_a_namespace_are_its_own_and_the_clusters() -> None:
    fleet = read_fleet([a_runtime("b"), a_runtime("c", "team"), a_runtime("a"), a_runtime("d", "other")])
    assert [runtime.ref.name for runtime in fleet.candidates("team")] == ["c", "a", "b"]
    assert [runtime.ref.name for runtime in fleet.candidates("nobody")] == ["a", "b"]


def test_of_two_manifests_of_one_object_the_last_counts() -> None:
    good, bad = a_runtime("fast", disabled=True), a_runtime("fast", disabled="yes")
    fleet = read_fleet([bad, good])
    assert the_runtime(fleet, "fast").disabled
    assert fleet.problems == {}
    fleet = read_fleet([good, bad])
    assert fleet.runtimes == {}
    assert list(fleet.problems) == [ObjectRef("ClusterServingRuntime", "", "fast")]


def test_a_workload_that_changes_its_owner_is_there_once() -> None:
    first = deployed("Deployment", service="chat")
    second = {**deployed("Deployment", service="talk"), "metadata": dict(first["metadata"])}
    second["metadata"]["labels"] = {"ome.io/inferenceservice": "talk", "component": "engine"}
    fleet = read_fleet([first, second])
    assert not fleet.workloads.get(("team", "chat"))
    assert [workload.service for workload in fleet.workloads[("team", "talk")]] == ["talk"]


def test_other_kinds_are_passed_over() -> None:
    others = [{"kind": "ConfigMap", "metadata": {"name": "a"}}, {"kind": "Deployment", "metadata": {"name": "web"}}]
    fleet = read_fleet(others)
    assert (fleet.problems, fleet.workloads) == ({}, {})


UNREADABLE: list[tuple[Any, str, str]] = [
    ("text", "?", "a manifest is an object"),
    ({}, "?", "an object needs a kind"),
    ({"kind": ["ServingRuntime"]}, "?", "expected text, found a list"),
    ({"kind": "BaseModel"}, "?", "an object needs a name"),
    (a_model("odd", modelFormat=[]), "odd", "expected an object, found a list"),
    # a field that decides nothing here makes a runtime unreadable, too: OME's typed client can't read it either
    (a_runtime("odd", engineConfig={"runner": {"image": 7}}), "odd", "expected text, found the number 7"),
]


@pytest.mark.parametrize(("manifest", "name", "message"), UNREADABLE)
def test_what_cannot_be_read_is_a_problem_and_hides_nothing(manifest: Any, name: str, message: str) -> None:
    fleet = read_fleet([a_model(), manifest, a_runtime(), a_service()])
    assert [(problem.object.name, problem.message) for problem in fleet.problems.values()] == [(name, message)]
    assert (len(fleet.services), len(fleet.runtimes), len(fleet.models)) == (1, 1, 1)


def test_a_problem_is_printed_with_object_place_and_message() -> None:
    problem = next(iter(read_fleet([a_model("odd", "team", modelParameterSize=7)]).problems.values()))
    assert problem.to_dict() == {
        "object": {"kind": "BaseModel", "namespace": "team", "name": "odd"},
        "path": "spec.modelParameterSize",
        "message": "expected text, found the number 7",
    }


def test_a_runtime_is_merged_with_what_it_inherits() -> None:
    fleet = read_fleet([a_runtime("base", engineConfig=moded("MultiNode")), child("fast", "base", disabled=False)])
    effective = fleet.effective(the_runtime(fleet, "fast"))
    assert effective.chain.names == ("base", "fast")
    assert effective.runtime is not None
    assert effective.runtime.ref.name == "fast"
    assert len(effective.runtime.entries) == 1
    assert the_runtime(fleet, "fast").entries == ()


def test_a_runtime_without_a_parent_is_itself() -> None:
    fleet = read_fleet([a_runtime()])
    runtime = the_runtime(fleet, "fast")
    assert fleet.effective(runtime).runtime is runtime


def test_an_unreadable_parent_breaks_the_chain() -> None:
    fleet = read_fleet([a_runtime("base", disabled="yes"), child("fast", "base")])
    effective = fleet.effective(the_runtime(fleet, "fast"))
    assert effective.runtime is None
    assert effective.chain.problem is not None
    assert effective.chain.problem.reason == "ParentNotFound"


def test_v1_2_inherits_nothing() -> None:
    fleet = read_fleet([a_runtime("base"), child("fast", "base")], V1_2)
    runtime = the_runtime(fleet, "fast")
    assert fleet.effective(runtime).runtime is runtime
    assert fleet.effective(runtime).chain.names == ("fast",)


def test_children_are_those_whose_nearest_parent_it_is() -> None:
    fleet = read_fleet(
        [
            a_runtime("base"),
            child("mid", "base"),
            child("leaf", "mid"),
            child("own", "base", "team"),
            child("lost", "gone"),
        ]
    )
    names = [runtime.ref.name for runtime in fleet.children(the_runtime(fleet, "base"))]
    assert sorted(names) == ["mid", "own"]
    assert [runtime.ref.name for runtime in fleet.children(the_runtime(fleet, "mid"))] == ["leaf"]


def test_a_component_of_a_runtime_may_lean_on_leader_worker_set() -> None:
    runner = {"runner": {"env": [{"name": "LEADER", "value": "$(LWS_LEADER_ADDRESS)"}]}}
    fleet = read_fleet([a_runtime(engineConfig={"leader": runner, "worker": {}}, decoderConfig={"worker": {}})])
    runtime = the_runtime(fleet, "fast")
    assert fleet.uses_leader_worker_set(runtime, "engine")
    assert not fleet.uses_leader_worker_set(runtime, "decoder")
    assert not fleet.uses_leader_worker_set(runtime, "router")


def test_an_answer_is_made_once_for_all_who_ask_the_same() -> None:
    fleet = read_fleet([a_model(), a_model("other"), a_runtime()])
    one, other = (question_of(None, model, V1_3) for model in fleet.models.values())
    assert fleet.judged(one, "team") is fleet.judged(other, "team")
    assert fleet.judged(one, "team", brief=True) is fleet.judged(other, "team", brief=True)
    assert fleet.judged(one, "team").total == 1


def test_a_fleet_evolves_and_the_old_one_stays() -> None:
    old = read_fleet([a_model(), a_runtime("fast"), a_service(), deployed("Deployment")])
    dropped = [ref_of(each) for each in (a_runtime("fast"), deployed("Deployment"), a_runtime("never-there"))]
    new = evolved(old, [a_runtime("slow"), a_model(disabled="no")], dropped)
    assert [name for _, name in new.runtimes] == ["slow"]
    assert new.models == {}
    assert [problem.path for problem in new.problems.values()] == ["spec.disabled"]
    assert not any(new.workloads.values())
    assert ([name for _, name in old.runtimes], len(old.models), old.problems) == (["fast"], 1, {})
    assert len(old.workloads[("team", "chat")]) == 1


def test_an_accelerator_class_comes_and_goes() -> None:
    named = {"kind": "AcceleratorClass", "metadata": {"name": "h100"}}
    fleet = read_fleet([named])
    assert fleet.accelerator_classes == {"h100"}
    assert evolved(fleet, [], [ref_of(named)]).accelerator_classes == set()
