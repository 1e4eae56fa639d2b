"""How many accelerators pods ask for: requests and limits, containers and init containers, sizes and replicas."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.accelerator_needs import Pods, component_pods, merged_component, workload_pods

GPU = "nvidia.com/gpu"


def asking(number: Any = 1, name: str = GPU, field: str = "limits") -> dict[str, Any]:
    return {"resources": {field: {name: number}}}


def numbers(component: dict[str, Any]) -> dict[str, int]:
    return dict(component_pods(component).accelerators)


CASES: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({}, {}),
    ({"runner": asking(8)}, {GPU: 8}),
    ({"runner": asking("8")}, {GPU: 8}),
    ({"runner": asking(8, field="requests")}, {GPU: 8}),
    ({"runner": {"resources": {"limits": {GPU: 8}, "requests": {GPU: 4, "cpu": 1}}}}, {GPU: 4}),
    ({"runner": asking(2), "containers": [asking(1), asking(1, "amd.com/gpu")]}, {"amd.com/gpu": 1, GPU: 3}),
    ({"runner": asking(2), "initContainers": [asking(4), asking(3)]}, {GPU: 4}),
    ({"runner": asking(2), "initContainers": [asking(1)]}, {GPU: 2}),
    ({"runner": asking(2), "minReplicas": 3}, {GPU: 6}),
    ({"runner": asking(2), "minReplicas": 0}, {}),
    ({"leader": {"runner": asking(8)}, "worker": {"runner": asking(8)}}, {GPU: 16}),
    ({"leader": {"runner": asking(0)}, "worker": {"runner": asking(8), "size": 3}}, {GPU: 24}),
    ({"leader": {"runner": asking(8)}, "runner": asking(100)}, {GPU: 8}),
    # what counts as one
    ({"runner": asking(1, "nvidia.com/mig-3g.40gb")}, {"nvidia.com/mig-3g.40gb": 1}),
    ({"runner": asking(4, "google.com/tpu")}, {"google.com/tpu": 4}),
    ({"runner": asking(4, "habana.ai/gaudi")}, {"habana.ai/gaudi": 4}),
    ({"runner": asking(4, "rdma/hca")}, {}),
    ({"runner": asking(4, "memory")}, {}),
    # what no API server would take
    ({"runner": asking("many")}, {}),
    ({"runner": asking("1e99")}, {}),
    ({"runner": {"resources": None}}, {}),
]


@pytest.mark.parametrize(("component", "accelerators"), CASES)
def test_a_component_asks_for(component: dict[str, Any], accelerators: dict[str, int]) -> None:
    assert numbers(component) == accelerators


def test_a_service_says_more_than_its_runtime() -> None:
    config = {"leader": {"runner": {"name": "main", **asking(8)}}, "worker": {"runner": {"name": "main", **asking(8)}}}
    declared = {"minReplicas": 2, "worker": {"size": 3}, "leader": {"runner": {"name": "main", **asking(4)}}}
    assert component_pods(merged_component(config, declared, "engine")) == Pods(2, 1, 3, ((GPU, 56),))
    assert component_pods(merged_component(config, {"minReplicas": "2"}, "engine")).replicas == 1
    assert merged_component(None, None, "engine") == {}


def test_a_workload_holds_what_its_templates_say() -> None:
    def template(number: int) -> dict[str, Any]:
        return {"spec": {"containers": [asking(number)]}}

    rendered = Pods(2, 1, 1, ((GPU, 4),))
    group = {"size": 4, "leaderTemplate": template(1), "workerTemplate": template(2)}
    assert workload_pods({"spec": {"replicas": 2, "leaderWorkerTemplate": group}}, rendered).accelerators == (
        (GPU, 14),
    )
    both = {"size": 2, "workerTemplate": template(8)}
    assert workload_pods({"spec": {"leaderWorkerTemplate": both}}, rendered).accelerators == ((GPU, 16),)
    plain = {"spec": {"replicas": 3, "template": template(1)}}
    assert workload_pods(plain, rendered) == Pods(3, 1, 0, ((GPU, 3),))
    silent = {"spec": {"replicas": 3, "leaderWorkerTemplate": {"size": 2}}}
    assert workload_pods(silent, rendered).accelerators == ((GPU, 6),)
    assert workload_pods({}, Pods(0, 1, 0)).accelerators == ()


def test_pods_as_json() -> None:
    assert Pods(2, 1, 3, ((GPU, 64),)).to_dict() == {
        "replicas": 2,
        "leaders": 1,
        "workers": 3,
        "pods": 8,
        "accelerators": {GPU: 64},
    }
