"""Manifests of one object each, as long and as deep as in life."""

from __future__ import annotations

import random
from typing import Any

__all__ = [
    "GPUS",
    "KINDS_OF_MODES",
    "MODES",
    "Manifest",
    "a_metadata",
    "a_model",
    "a_multi_node_component",
    "a_router",
    "a_runtime",
    "a_service",
    "a_single_node_component",
    "a_workload",
    "an_accelerator_class",
    "an_entry",
]

Manifest = dict[str, Any]

API = "ome.io/v1beta1"
MODES = ("RawDeployment", "MultiNode", "OMENative")
GPUS = ("nvidia-a100-40gb", "nvidia-a100-80gb", "nvidia-h100", "nvidia-h200", "nvidia-l40s", "amd-mi300x")
KINDS_OF_MODES = {
    "RawDeployment": ("Deployment", "apps/v1"),
    "MultiNode": ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1"),
    "OMENative": ("InferenceReplica", API),
}
MOMENT = "2026-05-04T08:15:00Z"


def a_metadata(number: int, name: str, namespace: str = "") -> Manifest:
    """Metadata as an API server fills it in."""
    metadata: Manifest = {
        "name": name,
        "uid": f"5f1c8c1e-0000-4000-8000-{name[-12:]:0>12}",
        "resourceVersion": str(1000 + number),
        "generation": 1,
        "creationTimestamp": MOMENT,
    }
    return {**metadata, "namespace": namespace} if namespace else metadata


def an_accelerator_class(name: str) -> Manifest:
    """An AcceleratorClass of that name."""
    vendor, _, model = name.partition("-")
    spec = {"vendor": vendor, "model": model, "resources": [{"name": f"{vendor}.com/gpu", "quantity": "1"}]}
    return {"apiVersion": API, "kind": "AcceleratorClass", "metadata": a_metadata(0, name), "spec": spec}


def an_entry(
    architecture: str, *, framework: str, quantization: str, auto_select: bool, priority: int | str
) -> Manifest:
    """An entry of ``supportedModelFormats``, for models of frameworks up to a version (so OME reads the operator)."""
    entry: Manifest = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0", "operator": "Equal", "weight": 1},
        "modelFramework": {
            "name": "transformers",
            "version": framework,
            "operator": "GreaterThanOrEqual",
            "weight": 1,
        },
        "modelArchitecture": architecture,
        "autoSelect": auto_select,
        "priority": priority,
    }
    return {**entry, "quantization": quantization} if quantization else entry


def a_runtime(metadata: Manifest, spec: Manifest) -> Manifest:
    """A ServingRuntime where it has a namespace, a ClusterServingRuntime where it has none."""
    kind = "ServingRuntime" if "namespace" in metadata else "ClusterServingRuntime"
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def a_single_node_component(dice: random.Random) -> Manifest:
    """An ``engineConfig`` with one runner."""
    return {**_pod(), "runner": _runner(dice, ["--tp-size", str(dice.choice((1, 2, 4, 8)))])}


def a_multi_node_component(dice: random.Random) -> Manifest:
    """An ``engineConfig`` with leader and worker, which find each other by LeaderWorkerSet's variables."""
    nodes = dice.choice((2, 4))
    args = ["--tp-size", "16", "--nnodes", str(nodes), "--dist-init-addr", "$(LWS_LEADER_ADDRESS):5000"]
    return {
        **_pod(),
        "leader": {"runner": _runner(dice, [*args, "--node-rank", "0"])},
        "worker": {"size": nodes - 1, "runner": _runner(dice, [*args, "--node-rank", "$(LWS_WORKER_INDEX)"])},
    }


def a_router() -> Manifest:
    """A ``routerConfig``."""
    namespace = {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    runner = {
        "name": "router",
        "image": "registry.example.com/router:v0.2.4",
        "ports": [{"containerPort": 8080, "name": "http"}],
        "command": ["python3", "-m", "router", "--service-discovery", "--service-discovery-namespace", "$(NAMESPACE)"],
        "env": [namespace],
        "resources": {"limits": {"cpu": "1", "memory": "2Gi"}},
        "readinessProbe": _probe("/readiness", 10),
        "livenessProbe": _probe("/liveness", 10),
    }
    return {"runner": runner}


def _pod() -> Manifest:
    return {
        "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "prometheus.io/path": "/metrics"},
        "labels": {"logging-forward": "enabled"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory"}}],
    }


def _probe(path: str, seconds: int) -> Manifest:
    check = {"path": path, "port": 8080, "scheme": "HTTP"}
    return {"httpGet": check, "failureThreshold": 5, "successThreshold": 1, "periodSeconds": seconds}


def _runner(dice: random.Random, args: list[str]) -> Manifest:
    amounts = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8"}
    return {
        "name": "ome-container",
        "image": f"registry.example.com/engine:v{dice.randint(0, 3)}.{dice.randint(0, 20)}.{dice.randint(0, 9)}",
        "ports": [{"containerPort": 8080, "name": "http1", "protocol": "TCP"}],
        "command": ["python3", "-m", "engine.launch_server", "--host", "0.0.0.0", "--port", "8080"],  # noqa: S104
        "args": ["--enable-metrics", "--model-path", "$(MODEL_PATH)", "--mem-frac", "0.9", *args],
        "env": [{"name": "NCCL_DEBUG", "value": "WARN"}, {"name": "OMP_NUM_THREADS", "value": "8"}],
        "volumeMounts": [{"mountPath": "/dev/shm", "name": "dshm"}],  # noqa: S108
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "readinessProbe": _probe("/health_generate", 60),
        "livenessProbe": _probe("/health", 60),
        "startupProbe": _probe("/health_generate", 6),
    }


def a_model(metadata: Manifest, *, framework: str, architecture: str, quantization: str, size: str) -> Manifest:
    """A BaseModel where it has a namespace, a ClusterBaseModel where it has none."""
    spec: Manifest = {
        "vendor": "example",
        "modelFormat": {"name": "safetensors", "version": "1.0.0", "operator": "Equal", "weight": 1},
        "modelFramework": {"name": "transformers", "version": framework, "operator": "Equal", "weight": 1},
        "modelType": "llama",
        "modelArchitecture": architecture,
        "modelParameterSize": size,
        "maxTokens": 131072,
        "modelCapabilities": ["TEXT_TO_TEXT"],
        "storage": {"storageUri": f"oci://n/example/b/models/o/{metadata['name']}", "path": "/raid/models"},
    }
    if quantization:
        spec["quantization"] = quantization
    kind = "BaseModel" if "namespace" in metadata else "ClusterBaseModel"
    status = {"state": "Ready", "nodesReady": [f"gpu-node-{number:02}" for number in range(8)]}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def a_service(metadata: Manifest, spec: Manifest) -> Manifest:
    """An InferenceService that runs."""
    host = f"{metadata['name']}.{metadata['namespace']}.svc.cluster.local"
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": MOMENT, "severity": "Info"}
        for kind in ("EngineReady", "IngressReady", "Ready")
    ]
    components = {
        name: {"url": f"http://{metadata['name']}-{name}.{metadata['namespace']}", "latestCreatedRevision": "1"}
        for name in ("engine", "decoder", "router")
        if name in spec
    }
    model = {"states": {"activeModelState": "Loaded", "targetModelState": "Loaded"}, "transitionStatus": "UpToDate"}
    status = {
        "url": f"http://{host}",
        "address": {"url": f"http://{host}"},
        "components": components,
        "conditions": conditions,
        "modelStatus": model,
        "observedGeneration": 1,
    }
    return {"apiVersion": API, "kind": "InferenceService", "metadata": metadata, "spec": spec, "status": status}


def a_workload(service: Manifest, component: str, kind: str, version: str) -> Manifest:
    """What OME made for one component of a service."""
    of = service["metadata"]
    metadata = a_metadata(0, f"{of['name']}-{component}", of["namespace"])
    labels = {"ome.io/inferenceservice": of["name"], "component": component}
    metadata["labels"] = labels
    metadata["ownerReferences"] = [
        {"apiVersion": API, "kind": "InferenceService", "name": of["name"], "uid": of["uid"], "controller": True}
    ]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [_runner(random.Random(1), [])], **_pod()}}
    available = {"type": "Available", "status": "True", "lastTransitionTime": MOMENT}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        "status": {"replicas": 1, "readyReplicas": 1, "conditions": [available]},
    }
