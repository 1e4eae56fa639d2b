"""The cast of the rules' tests: small manifests, with keywords named as the fields of OME's API.

A model ``llama`` for the whole cluster, a runtime ``fast`` that serves it, a service ``chat`` in namespace ``team``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selection.rules.candidates import Candidate
from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import read_fleet
from selection.rules.objects import Entry, Model, Runtime, Service
from selection.rules.parsing import parse_model, parse_runtime, parse_service
from selection.rules.semantics import V1_3, Semantics

__all__ = [
    "MODE",
    "a_model",
    "a_runtime",
    "a_service",
    "an_entry",
    "candidates_of",
    "deployed",
    "explained",
    "moded",
    "read_entry",
    "read_model",
    "read_runtime",
    "read_service",
    "reason_of",
]

Manifest = dict[str, Any]

MODE = "ome.io/deploymentMode"


def _manifest(kind: str, name: str, namespace: str | None, spec: Mapping[str, Any], **metadata: Any) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **metadata}
    version = {"Deployment": "apps/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}.get(kind, "ome.io/v1beta1")
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": dict(spec)}


def a_model(name: str = "llama", namespace: str | None = None, **spec: Any) -> Manifest:
    """A ClusterBaseModel, or a BaseModel when it has a namespace."""
    kind = "BaseModel" if namespace else "ClusterBaseModel"
    return _manifest(kind, name, namespace, {"modelFormat": {"name": "safetensors"}, **spec})


def an_entry(**fields: Any) -> dict[str, Any]:
    """An entry of ``supportedModelFormats`` that serves ``llama`` and can be selected."""
    return {"modelFormat": {"name": "safetensors"}, "autoSelect": True, **fields}


def a_runtime(
    name: str = "fast",
    namespace: str | None = None,
    *entries: dict[str, Any],
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A ClusterServingRuntime, or a ServingRuntime when it has a namespace; it serves ``llama`` unless told else."""
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    metadata = {"annotations": dict(annotations)} if annotations else {}
    formats = {"supportedModelFormats": list(entries) or [an_entry()]}
    return _manifest(kind, name, namespace, {**formats, **spec}, **metadata)


def a_service(
    name: str = "chat",
    namespace: str = "team",
    *,
    annotations: Mapping[str, str] | None = None,
    status: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Manifest:
    """An InferenceService for ``llama`` with an engine. A field given as None is left out."""
    metadata = {"annotations": dict(annotations)} if annotations else {}
    fields = {"model": {"name": "llama"}, "engine": {}, **spec}
    fields = {field: value for field, value in fields.items() if value is not None}
    manifest = _manifest("InferenceService", name, namespace, fields, **metadata)
    return {**manifest, "status": dict(status)} if status else manifest


def moded(mode: str, **fields: Any) -> dict[str, Any]:
    """A component, of a service or of a runtime, whose annotation says a deployment mode."""
    return {"annotations": {MODE: mode}, **fields}


def deployed(kind: str, component: str = "engine", runtime: str = "fast", service: str = "chat") -> Manifest:
    """A workload that OME made for a component of a service in ``team``."""
    labels = {"ome.io/inferenceservice": service, "component": component, "serving-runtime": runtime}
    name = f"lws-{service}-{component}" if kind == "LeaderWorkerSet" else f"{service}-{component}"
    return _manifest(kind, name, "team", {}, labels=labels)


def read_model(**spec: Any) -> Model:
    """The model as the rules see it."""
    return parse_model(a_model(**spec))


def read_entry(**fields: Any) -> Entry:
    """One entry as the rules see it, with nothing but the given fields."""
    return parse_runtime(a_runtime("fast", None, fields)).entries[0]


def read_runtime(*entries: dict[str, Any], **spec: Any) -> Runtime:
    """A cluster runtime as the rules see it."""
    return parse_runtime(a_runtime("fast", None, *entries, **spec))


def read_service(**fields: Any) -> Service:
    """The service as the rules see it."""
    return parse_service(a_service(**fields))


def explained(*manifests: Manifest, semantics: Semantics = V1_3) -> Explanation:
    """The explanation of ``chat`` among these objects."""
    return explain_service(read_fleet(manifests, semantics), "team", "chat")


def candidates_of(explanation: Explanation) -> dict[str, Candidate]:
    """The candidates by ``namespace/name``, with nothing before the slash for the cluster's."""
    refs = ((candidate.verdict.runtime.ref, candidate) for candidate in explanation.candidates)
    return {f"{ref.namespace}/{ref.name}": candidate for ref, candidate in refs}


def reason_of(explanation: Explanation, name: str = "fast") -> str | None:
    """OME's reason for a cluster runtime, None when it qualifies."""
    reason = candidates_of(explanation)[f"/{name}"].reason
    return reason.reason if reason else None
