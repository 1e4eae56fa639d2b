"""A small fleet, how its objects change, and what was kept of that."""

from __future__ import annotations

import copy
from typing import Any

from selection.store.models import Change

from .builders import MODE, Manifest, model, runtime, service

__all__ = ["BASE", "SGLANG", "VLLM", "again", "causes", "engine", "told", "without"]

VLLM, SGLANG = "ClusterServingRuntime//vllm", "ServingRuntime/ml/sglang"
BASE = [model(), runtime("vllm"), service("chat"), service("search", "web")]


def again(manifest: Manifest, *, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """The object with something else in its spec, in another version."""
    new = copy.deepcopy(manifest)
    new["metadata"]["resourceVersion"] = str(int(new["metadata"]["resourceVersion"]) + 10_000)
    if annotations is not None:
        new["metadata"]["annotations"] = annotations
    new["spec"].update(spec)
    return new


def without(objects: list[Manifest], *names: str) -> list[Manifest]:
    return [each for each in objects if each["metadata"]["name"] not in names]


def told() -> list[tuple[str, str, str, str, str]]:
    """Every change: the service, what, the component, before and after."""
    return [
        (row.service, row.what, row.component, row.before, row.after)
        for row in Change.objects.order_by("namespace", "service", "pk")
    ]


def causes() -> set[str]:
    """The names of the objects that caused something, ``""`` where none did."""
    return {row.cause.name if row.cause else "" for row in Change.objects.all()}


def engine(mode: str) -> dict[str, Any]:
    return {"annotations": {MODE: mode}}
