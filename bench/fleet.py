"""A made-up fleet of any size, the same for the same seed.

What matters for the time that selection takes is kept as in life: most services of a namespace use a few
models, models share a few dozen architectures, most runtimes serve one architecture and a range of sizes,
some services name their runtime, and a part of everything is multi-node.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

__all__ = ["Size", "changed_runtime", "manifests"]

Manifest = dict[str, Any]

API = "ome.io/v1beta1"
SIZES = ("0.5B", "1.5B", "3B", "7B", "8B", "13B", "14B", "32B", "70B", "72B", "123B", "235B", "405B", "671B")
RANGES = (("0.1B", "4B"), ("1B", "15B"), ("7B", "34B"), ("30B", "80B"), ("65B", "250B"), ("200B", "1T"))
MODES = ("RawDeployment", "MultiNode", "OMENative")
ARCHITECTURES = tuple(f"Family{number:02}ForCausalLM" for number in range(40))


@dataclass(frozen=True)
class Size:
    """How many objects of each kind."""

    services: int = 10_000
    runtimes: int = 1_000
    models: int = 500
    namespaces: int = 50

    def part(self, divisor: int) -> Size:
        """The same shape, smaller."""
        return Size(
            *(max(1, count // divisor) for count in (self.services, self.runtimes, self.models, self.namespaces))
        )


def manifests(size: Size, seed: int = 1) -> list[Manifest]:
    """Every object of the fleet, as an API server would give it."""
    dice = random.Random(seed)
    namespaces = [f"team-{number:02}" for number in range(size.namespaces)]
    runtimes = [_runtime(dice, number, namespaces) for number in range(size.runtimes)]
    models = [_model(dice, number, namespaces) for number in range(size.models)]
    shared = [model["metadata"]["name"] for model in models if model["kind"] == "ClusterBaseModel"] or ["none"]
    favourites = {namespace: dice.sample(shared, min(12, len(shared))) for namespace in namespaces}
    named = [runtime["metadata"]["name"] for runtime in runtimes if runtime["kind"] == "ClusterServingRuntime"]
    services = [_service(dice, number, namespaces, favourites, named or ["none"]) for number in range(size.services)]
    workloads = [made for service in services if (made := _workload(dice, service))]
    return [*runtimes, *models, *services, *workloads]


def changed_runtime(fleet: list[Manifest]) -> Manifest:
    """A runtime of the fleet, as it is after somebody raised its priority."""
    runtime = next(each for each in fleet if each["kind"] == "ClusterServingRuntime")
    entries = [{**entry, "priority": 9} for entry in runtime["spec"]["supportedModelFormats"]]
    metadata = {**runtime["metadata"], "resourceVersion": "999999999", "generation": 2}
    return {**runtime, "metadata": metadata, "spec": {**runtime["spec"], "supportedModelFormats": entries}}


def _metadata(number: int, name: str, namespace: str = "") -> Manifest:
    metadata: Manifest = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(1000 + number), "generation": 1}
    return {**metadata, "namespace": namespace} if namespace else metadata


def _format(version: str) -> Manifest:
    return {"name": "safetensors", "version": version, "operator": "Equal", "weight": 1}


def _framework(version: str) -> Manifest:
    return {"name": "transformers", "version": version, "operator": "GreaterThanOrEqual", "weight": 1}


def _runner(dice: random.Random) -> Manifest:
    return {
        "name": "ome-container",
        "image": f"registry.example.com/engine:{dice.randint(1, 9)}.{dice.randint(0, 20)}",
        "args": ["--model-path", "$(MODEL_PATH)", "--tp-size", str(dice.choice((1, 2, 4, 8))), "--port", "8080"],
        "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi"}},
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 15},
    }


def _runtime(dice: random.Random, number: int, namespaces: list[str]) -> Manifest:
    smallest, largest = dice.choice(RANGES)
    engine: Manifest = {"runner": _runner(dice)}
    if dice.random() < 0.3:
        engine = {"leader": {"runner": _runner(dice)}, "worker": {"size": 1, "runner": _runner(dice)}}
    if dice.random() < 0.2:
        engine["annotations"] = {"ome.io/deploymentMode": dice.choice(MODES)}
    formats = [
        {
            "modelFormat": _format("1.0.0"),
            "modelFramework": _framework("4.40.0"),
            "modelArchitecture": architecture,
            "autoSelect": dice.random() < 0.8,
            "priority": dice.randint(1, 3),
        }
        for architecture in dice.sample(ARCHITECTURES, dice.choice((1, 1, 1, 2, 4)))
    ]
    spec: Manifest = {
        "supportedModelFormats": formats,
        "modelSizeRange": {"min": smallest, "max": largest},
        "protocolVersions": ["openAI"],
        "engineConfig": engine,
    }
    if dice.random() < 0.03:
        spec["disabled"] = True
    namespaced = dice.random() < 0.1
    return {
        "apiVersion": API,
        "kind": "ServingRuntime" if namespaced else "ClusterServingRuntime",
        "metadata": _metadata(number, f"runtime-{number:04}", dice.choice(namespaces) if namespaced else ""),
        "spec": spec,
    }


def _model(dice: random.Random, number: int, namespaces: list[str]) -> Manifest:
    namespaced = dice.random() < 0.1
    return {
        "apiVersion": API,
        "kind": "BaseModel" if namespaced else "ClusterBaseModel",
        "metadata": _metadata(number, f"model-{number:03}", dice.choice(namespaces) if namespaced else ""),
        "spec": {
            "modelFormat": _format("1.0.0"),
            "modelFramework": {**_framework(f"4.{dice.randint(38, 52)}.0"), "operator": "Equal"},
            "modelArchitecture": dice.choice(ARCHITECTURES),
            "modelParameterSize": dice.choice(SIZES),
            "modelCapabilities": ["TEXT_TO_TEXT"],
            "storage": {"storageUri": f"oci://n/example/b/models/o/model-{number:03}"},
        },
        "status": {"state": "Ready"},
    }


def _service(
    dice: random.Random, number: int, namespaces: list[str], favourites: dict[str, list[str]], named: list[str]
) -> Manifest:
    namespace = namespaces[number % len(namespaces)]
    metadata = _metadata(number, f"service-{number:05}", namespace)
    spec: Manifest = {
        "model": {"name": dice.choice(favourites[namespace]), "kind": "ClusterBaseModel", "apiGroup": "ome.io"},
        "engine": {"minReplicas": 1, "maxReplicas": dice.randint(1, 4)},
    }
    if dice.random() < 0.3:
        spec["runtime"] = {"name": dice.choice(named), "kind": "ClusterServingRuntime", "apiGroup": "ome.io"}
    if dice.random() < 0.3:
        metadata["annotations"] = {"ome.io/deploymentMode": dice.choice(MODES)}
    return {"apiVersion": API, "kind": "InferenceService", "metadata": metadata, "spec": spec}


def _workload(dice: random.Random, service: Manifest) -> Manifest | None:
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    kind, version = dice.choice(
        (
            ("Deployment", "apps/v1"),
            ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1"),
            ("InferenceReplica", API),
            ("", ""),
        )
    )
    if not kind:
        return None
    metadata = _metadata(0, f"{name}-engine", namespace)
    metadata["labels"] = {"ome.io/inferenceservice": name, "component": "engine"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"replicas": 1}}
