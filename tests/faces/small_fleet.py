"""A small cluster with one of everything that the lists show, judged as a sync judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from selection.cluster.kinds import KINDS, KindListing
from selection.store.models import Cluster
from selection.store.sync import open_cluster, sync_cluster

__all__ = ["HOSTILE", "MODE", "load", "model", "runtime", "service", "small_fleet"]

MODE = "ome.io/deploymentMode"
HOSTILE = "<script>alert(1)</script>"

Manifest = dict[str, Any]


def _object(kind: str, name: str, namespace: str, spec: Mapping[str, Any], annotations: Mapping[str, str]) -> Manifest:
    metadata: Manifest = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": "ome.io/v1beta1", "kind": kind, "metadata": metadata, "spec": dict(spec)}


def runtime(
    name: str,
    namespace: str = "",
    *,
    annotations: Mapping[str, str] | None = None,
    entry: Manifest | None = None,
    **spec: Any,
) -> Manifest:
    """A runtime with one entry for Llama models of transformers up to 4.51.0; ``entry`` changes it."""
    formats = {
        "name": "safetensors",
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.51.0", "operator": "GreaterThanOrEqual"},
        "modelArchitecture": "LlamaForCausalLM",
        "autoSelect": True,
        **(entry or {}),
    }
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    return _object(kind, name, namespace, {"supportedModelFormats": [formats], **spec}, annotations or {})


def model(name: str, namespace: str = "", **spec: Any) -> Manifest:
    """A Llama model of 7B parameters; ``spec`` changes it."""
    full = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.46.1"},
        "modelArchitecture": "LlamaForCausalLM",
        "modelParameterSize": "7B",
        **spec,
    }
    return _object("BaseModel" if namespace else "ClusterBaseModel", name, namespace, full, {})


def service(
    name: str, namespace: str, model_name: str, runtime_name: str = "", mode: str = "", **spec: Any
) -> Manifest:
    """A service with an engine, which may name a runtime and ask for a mode."""
    engine: Manifest = {"annotations": {MODE: mode}} if mode else {}
    full: Manifest = {"model": {"name": model_name}, "engine": engine, **spec}
    if runtime_name:
        full["runtime"] = {"name": runtime_name}
    return _object("InferenceService", name, namespace, full, {})


def _workload(kind: str, name: str, namespace: str, of: str, runtime_name: str) -> Manifest:
    labels = {"ome.io/inferenceservice": of, "component": "engine", "serving-runtime": runtime_name}
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace, "labels": labels}}


def _container(name: str, *command: str) -> Manifest:
    return {"name": name, "image": "server", "command": list(command)}


def small_fleet() -> list[Manifest]:
    """The objects: what each is there for stands in its name."""
    multi_node = {
        "annotations": {MODE: "MultiNode"},
        "leader": {"runner": _container("ome-container", "serve", "$(LWS_LEADER_ADDRESS)")},
        "worker": {
            "runner": _container("ome-container", "serve", "$(LWS_LEADER_ADDRESS)"),
            "initContainers": [_container("wait", "wait-for", "$(LWS_LEADER_ADDRESS)")],
        },
    }
    return [
        runtime("small", modelSizeRange={"min": "1B", "max": "9B"}, entry={"priority": 2}),
        runtime("wide", modelSizeRange={"min": "1B", "max": "80B"}, entry={"priority": 2}),
        runtime("team-own", "team", modelSizeRange={"min": "1B", "max": "9B"}),
        runtime("multi-node", engineConfig=multi_node, modelSizeRange={"min": "60B", "max": "80B"}),
        runtime("qwen", entry={"modelArchitecture": "Qwen3ForCausalLM"}),
        runtime("by-name", entry={"autoSelect": False}),
        runtime("off", disabled=True),
        runtime(
            "base-profile",
            disabled=True,
            annotations={"ome.io/runtime-profile": "true"},
            engineConfig={"annotations": {MODE: "OMENative"}, "minReplicas": 2},
        ),
        runtime(
            "heir", disabled=False, annotations={"ome.io/inherit-from": "base-profile"}, entry={"autoSelect": False}
        ),
        runtime("orphan", annotations={"ome.io/inherit-from": "gone"}, entry={"autoSelect": False}),
        runtime("misspelt", engineConfig={"annotations": {MODE: "multinode"}}, entry={"autoSelect": False}),
        _object("ClusterServingRuntime", "unreadable", "", {"supportedModelFormats": "onnx"}, {}),
        model("llama-7b"),
        model("llama-70b", modelParameterSize="70B"),
        model("llama-7b", "team"),
        _object("ClusterBaseModel", "from-file", "", {"storage": {"storageUri": "hf://x/y"}}, {}),
        model("nobody-serves", modelArchitecture="OtherForCausalLM"),
        service("chat", "apps", "llama-7b"),
        service("chat", "team", "llama-7b"),
        service("by-its-name", "apps", "llama-7b", "by-name"),
        service("heir-user", "apps", "llama-7b", "heir"),
        service("orphaned", "apps", "llama-7b", "orphan"),
        service("long", "apps", "llama-70b", "multi-node"),
        service("long-raw", "apps", "llama-70b", "multi-node", deploymentMode="RawDeployment"),
        service("long-native", "apps", "llama-70b", "multi-node", "OMENative"),
        service("rejected", "apps", "llama-70b", mode="OMENative", runtime_name=""),
        service("waits", "apps", "from-file"),
        service("lost", "apps", "nobody-serves"),
        _object("InferenceService", "broken", "apps", {"engine": {"annotations": f"{MODE}=x {HOSTILE}"}}, {}),
        _workload("LeaderWorkerSet", "lws-long-engine", "apps", "long", "multi-node"),
        _workload("InferenceReplica", "long-native-engine", "apps", "long-native", "multi-node"),
    ]


def load(manifests: Iterable[Manifest] | None = None, name: str = "lab", ome_version: str = "1.3") -> Cluster:
    """Store the objects as a sync does, every kind complete, and judge them."""
    listed: dict[str, list[Manifest]] = {}
    for manifest in small_fleet() if manifests is None else manifests:
        listed.setdefault(manifest["kind"], []).append(manifest)
    cluster = open_cluster(name, source="a test", ome_version=ome_version)
    sync_cluster(cluster, [KindListing(kind, "complete", objects=listed.get(kind.kind, [])) for kind in KINDS])
    cluster.refresh_from_db()
    return cluster
