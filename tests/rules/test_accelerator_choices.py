"""Which AcceleratorClass a component gets, and what it makes of the accelerators that a move needs."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.accelerator_choices import NO_CLASS, ClassChoice, chosen_class, with_class
from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import parse_runtime, ref_of
from selection.rules.planning import plan_services
from selection.rules.service_plan import ServicePlan

from .manifests import Manifest, a_model, a_runtime, a_service, deployed, moded

CLASSES = {"acceleratorClasses": ["h100", "h200"]}
GPUS = {"resources": {"limits": {"nvidia.com/gpu": 4}}}
PODS: dict[str, Any] = {
    "leader": {"runner": {"name": "main", **GPUS}},
    "worker": {"size": 1, "runner": {"name": "main", **GPUS}},
}


def a_class(name: str, *resources: dict[str, Any]) -> Manifest:
    spec = {"discovery": {}, "capabilities": {}, "resources": list(resources)}
    return {"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": name}, "spec": spec}


H100 = a_class("h100", {"name": "nvidia.com/gpu", "quantity": "8"})
H200 = a_class("h200", {"name": "nvidia.com/gpu"})

CHOICES: list[tuple[dict[str, Any], ClassChoice]] = [
    ({}, NO_CLASS),
    ({"acceleratorSelector": {"acceleratorClass": "h200"}}, ClassChoice("h200")),
    # also one that the runtime doesn't list, and whatever policy is written beside it
    ({"acceleratorSelector": {"acceleratorClass": "b200", "policy": "Cheapest"}}, ClassChoice("b200")),
    # a component's override wins, but a name wins over any policy
    (
        {
            "acceleratorSelector": {"acceleratorClass": "h200"},
            "engine": {"acceleratorOverride": {"acceleratorClass": "h100"}},
        },
        ClassChoice("h100"),
    ),
    (
        {"acceleratorSelector": {"acceleratorClass": "h200"}, "engine": {"acceleratorOverride": {"policy": "BestFit"}}},
        ClassChoice("h200"),
    ),
    (
        {"acceleratorSelector": {"policy": "Cheapest"}, "engine": {"acceleratorOverride": {"policy": "BestFit"}}},
        ClassChoice(policy="BestFit"),
    ),
    # another component's override is none of its business
    ({"decoder": {"acceleratorOverride": {"acceleratorClass": "h100"}}}, NO_CLASS),
    # the first one listed, as long as nothing is to be compared
    ({"acceleratorSelector": {"policy": "FirstAvailable"}}, ClassChoice("h100")),
    (
        {"acceleratorSelector": {"policy": "FirstAvailable", "constraints": {"minMemory": 100}}},
        ClassChoice(policy="FirstAvailable"),
    ),
    # constraints alone pick nothing
    ({"acceleratorSelector": {"constraints": {"minMemory": 100}}}, NO_CLASS),
    ({"acceleratorSelector": "h100"}, NO_CLASS),
]


@pytest.mark.parametrize(("spec", "choice"), CHOICES)
def test_a_class_is_chosen_by_name_then_by_policy(spec: dict[str, Any], choice: ClassChoice) -> None:
    assert chosen_class(spec, parse_runtime(a_runtime(acceleratorRequirements=CLASSES)), "engine") == choice


def test_a_runtime_that_lists_no_class_drops_what_is_asked_for() -> None:
    spec = {"acceleratorSelector": {"acceleratorClass": "h200"}}
    assert chosen_class(spec, parse_runtime(a_runtime()), "engine") == NO_CLASS
    assert chosen_class(spec, None, "engine") == NO_CLASS


def test_a_class_asks_once_where_it_says_no_number_and_leaves_other_resources() -> None:
    runner = {"name": "main", "resources": {"limits": {"cpu": "4"}, "requests": {"nvidia.com/gpu": 2}}}
    found = with_class({"runner": runner}, None, H200)
    assert found["runner"]["resources"] == {
        "limits": {"cpu": "4", "nvidia.com/gpu": "1"},
        "requests": {"nvidia.com/gpu": "1"},
    }
    assert with_class({"minReplicas": 1}, None, H200) == {"minReplicas": 1}


def plan(service: Manifest, *objects: Manifest) -> ServicePlan:
    runtime = a_runtime(engineConfig=PODS, acceleratorRequirements=CLASSES)
    manifests = [a_model(), runtime, service, deployed("LeaderWorkerSet"), *objects]
    ref = ObjectRef("InferenceService", "team", "chat")
    (found,) = plan_services(read_fleet(manifests), [ref], {ref_of(each): each for each in manifests})
    return found


def asking(name: str = "", **engine: Any) -> Manifest:
    selector = {"acceleratorClass": name} if name else None
    return a_service(runtime={"name": "fast"}, engine=moded("MultiNode", **engine), acceleratorSelector=selector)


def needs(found: ServicePlan) -> dict[str, int]:
    return dict(found.needs)


def test_the_accelerators_of_a_move_are_those_of_the_class() -> None:
    both = (H100, H200)
    assert needs(plan(asking(), *both)) == {"nvidia.com/gpu": 8}
    found = plan(asking("h100"), *both)
    assert (found.ready, needs(found)) == (True, {"nvidia.com/gpu": 16})
    assert found.to_dict()["components"][0]["accelerator_class"] == "h100"
    assert needs(plan(asking("h200"), *both)) == {"nvidia.com/gpu": 2}


def test_what_a_service_writes_for_a_runner_stays() -> None:
    own = {"leader": {"runner": {"name": "main", **GPUS}}, "worker": {}}
    assert needs(plan(asking("h100", **own), H100, H200)) == {"nvidia.com/gpu": 4 + 8}


def test_a_class_that_a_policy_picks_is_told_and_counted_as_the_runtime_writes_it() -> None:
    found = plan(asking(acceleratorOverride={"policy": "Cheapest"}), H100, H200)
    assert (found.ready, needs(found)) == (True, {"nvidia.com/gpu": 8})
    (note,) = [note for note in found.risks if note.code == "class-by-policy"]
    assert note.facts == {"component": "engine", "policy": "Cheapest", "classes": ["h100", "h200"]}


def test_a_class_that_is_not_there_stops_the_move() -> None:
    found = plan(asking("gone"), H100, H200)
    (note,) = [note for note in found.reasons if note.code == "class-missing"]
    assert note.facts["message"].endswith("accelerator class gone not found at cluster scope")
