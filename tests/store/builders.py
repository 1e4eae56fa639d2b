"""Manifests, listings and comparisons for the tests of the store."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from django.db.models import Model

from selection.cluster.kinds import KINDS, Kind, KindListing
from selection.store.models import (
    Cluster,
    ComponentResult,
    ConflictRow,
    Finding,
    KindSync,
    ModelResult,
    ReferenceRow,
    RuntimeResult,
    ServiceResult,
    StoredObject,
)
from selection.store.sync import SyncReport, open_cluster, sync_cluster

__all__ = [
    "BY_KIND",
    "MODE",
    "Manifest",
    "brought",
    "listed",
    "manager",
    "model",
    "revision",
    "rows",
    "runtime",
    "service",
    "sync",
    "workload",
]

Manifest = dict[str, Any]

MODE = "ome.io/deploymentMode"
BY_KIND = {kind.kind: kind for kind in KINDS}

_numbers = itertools.count(1)


def _object(kind: str, name: str, namespace: str = "", **parts: Any) -> Manifest:
    number = next(_numbers)
    metadata = {"name": name, "uid": f"uid-{number}", "resourceVersion": str(number), **parts.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": BY_KIND[kind].api_version, "kind": kind, "metadata": metadata, **parts}


def model(name: str = "llama", namespace: str = "", **spec: Any) -> Manifest:
    """A model in safetensors; ``spec`` says more."""
    spec = {"modelFormat": {"name": "safetensors"}, **spec}
    return _object("BaseModel" if namespace else "ClusterBaseModel", name, namespace, spec=spec)


def runtime(name: str, namespace: str = "", *, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """A runtime that serves any model in safetensors; ``spec`` says more."""
    spec = {"supportedModelFormats": [{"modelFormat": {"name": "safetensors"}, "autoSelect": True}], **spec}
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    return _object(kind, name, namespace, spec=spec, metadata={"annotations": annotations or {}})


def service(name: str, namespace: str = "ml", *, status: Any = None, **spec: Any) -> Manifest:
    """A service of the model ``llama`` with an engine; ``spec`` says otherwise."""
    spec = {"model": {"name": "llama"}, "engine": {}, **spec}
    return _object("InferenceService", name, namespace, spec=spec, **({} if status is None else {"status": status}))


def workload(
    kind: str, name: str, of: str, namespace: str = "ml", *, component: str = "engine", by: str = ""
) -> Manifest:
    """A workload that OME made for the component of a service."""
    labels = {"ome.io/inferenceservice": of, "component": component, **({"serving-runtime": by} if by else {})}
    return _object(kind, name, namespace, metadata={"labels": labels}, spec={})


def revision(name: str, data: Any) -> Manifest:
    """A revision of a runtime in OME's namespace."""
    return _object("ControllerRevision", name, "ome", data=data, revision=1)


def manager(image: str, namespace: str = "ome") -> Manifest:
    """OME's own Deployment."""
    containers = [{"name": "manager", "image": image}]
    return _object(
        "Deployment", "ome-controller-manager", namespace, spec={"template": {"spec": {"containers": containers}}}
    )


def brought(kind: str | Kind, *objects: Manifest) -> KindListing:
    """One kind as a cluster lists it."""
    kind = BY_KIND[kind] if isinstance(kind, str) else kind
    return KindListing(kind, "complete", objects=list(objects), resource_version="1")


def listed(objects: Iterable[Manifest]) -> list[KindListing]:
    """Every kind, complete."""
    found: dict[str, list[Manifest]] = {kind.kind: [] for kind in KINDS}
    for each in objects:
        found[each["kind"]].append(each)
    return [brought(kind, *each) for kind, each in found.items()]


def sync(name: str, *objects: Manifest, **settings: Any) -> tuple[Cluster, SyncReport]:
    """Sync a cluster that holds these objects and no others."""
    cluster = open_cluster(name, **settings)
    report = sync_cluster(cluster, listed(objects))
    return Cluster.objects.get(pk=cluster.pk), report


_TABLES: dict[type[Model], str] = {
    StoredObject: "cluster",
    KindSync: "cluster",
    ServiceResult: "cluster",
    ComponentResult: "result__cluster",
    ConflictRow: "cluster",
    RuntimeResult: "cluster",
    ReferenceRow: "runtime__cluster",
    ModelResult: "cluster",
    Finding: "cluster",
}
_TIMES = {"attempted_at", "listed_at", "confirmed_at"}


def rows(cluster: Cluster, *, only: Iterable[type[Model]] = tuple(_TABLES)) -> dict[str, list[dict[str, Any]]]:
    """Every row of a cluster with its primary key and all columns but the times of reading."""
    return {
        table.__name__: [
            {key: value for key, value in row.items() if key not in _TIMES}
            for row in table._default_manager.filter(**{_TABLES[table]: cluster}).order_by("pk").values()
        ]
        for table in only
    }
