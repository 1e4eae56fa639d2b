"""The change of a service that moves it to OMENative, and the one that brings it back, as JSON merge patches.

Follows OME: move from LeaderWorkerSet to OMENative (step 3, and "pin a component to MultiNode"), runtime revisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .accelerator_needs import merged_component
from .merge_patches import merge_patched, turned_back
from .modes import MODE_ANNOTATION, MULTI_NODE, OME_NATIVE, merged_shape, runtime_mode
from .objects import ObjectRef, Runtime, Service
from .semantics import V1_3

__all__ = ["SYNC", "Move", "back_patch", "move_patch", "settled"]

Manifest = Mapping[str, Any]

SYNC = "ome.io/runtime-sync"
_PIN_CONDITIONS = frozenset({"RuntimeDrifted", "RuntimeReady"})


@dataclass(frozen=True, slots=True)
class Move:
    """What has to change.

    Attributes:
        components: those that will run OMENative; engine and decoder always together.
        staying: those of them that run OMENative already and go on with the pods they have.
        replacing: those of them that leave MultiNode, where the autoscaler of OMENative would be new.
        returning: those of them that go back to MultiNode, if need be; RawDeployment comes back by itself.
        runtime: what the components are rendered from now, None when there is none.
        copy: the runtime to name, None when the one it has works as it is.
        paused: whether the service follows a revision, or drift pauses its updates.
    """

    components: Sequence[str]
    staying: Sequence[str]
    replacing: Sequence[str]
    returning: Sequence[str]
    runtime: Runtime | None
    copy: ObjectRef | None
    paused: bool


def move_patch(manifest: Manifest, service: Service, move: Move) -> dict[str, Any]:
    """The merge patch that moves a service: one for everything, because engine and decoder can't move apart.

    Empty when nothing is left to change in the service.
    """
    patch: dict[str, Any] = {}
    spec = {name: change for name in move.components if (change := _component(manifest, service, name, move))}
    changed = [name for name, change in spec.items() if "annotations" in change]
    for name in move.components if changed else ():  # the webhook wants both, so one patch says both
        spec.setdefault(name, {})["annotations"] = {MODE_ANNOTATION: OME_NATIVE}
    spec = {name: spec[name] for name in move.components if name in spec}
    runtime = _runtime(service, move)
    if runtime:
        spec = {"runtime": runtime, **spec}
    if move.paused and (spec or set(move.components) != set(move.staying)):
        patch["metadata"] = {"annotations": {SYNC: _token(manifest, "to", move, service)}}
    if spec:
        patch["spec"] = spec
    return patch


def back_patch(manifest: Manifest, service: Service, patch: Mapping[str, Any], move: Move) -> dict[str, Any]:
    """The merge patch that brings a moved service back: MultiNode in so many words, the old runtime, its old fields.

    A service whose runtime was selected goes back to selection, unless that would refuse the runtime for its mode.
    """
    back = turned_back(manifest, patch)
    if not service.named_runtime and move.runtime is not None and _refuses_multi_node(move.runtime, move.returning):
        ref = move.runtime.ref
        back = merge_patched(back, {"spec": {"runtime": {"name": ref.name, "kind": ref.kind}}})
    for name in move.returning:
        back = merge_patched(back, {"spec": {name: {"annotations": {MODE_ANNOTATION: MULTI_NODE}}}})
    if move.paused:
        back["metadata"] = {"annotations": {SYNC: _token(merge_patched(manifest, patch), "back-to", move, service)}}
    return back


def _refuses_multi_node(runtime: Runtime, components: Sequence[str]) -> bool:
    """Whether automatic selection passes the runtime over for a service that asks for MultiNode."""
    declared = (runtime_mode(runtime, name, V1_3) for name in components)
    return any(each is not None and each.mode != MULTI_NODE for each in declared)


def settled(manifest: Manifest) -> dict[str, Any]:
    """A patched service once OME has acted on its ``ome.io/runtime-sync``: its status tells no more of the old pin."""
    status = manifest.get("status")
    if not isinstance(status, Mapping):
        return dict(manifest)
    conditions = status.get("conditions")
    kept = [
        each
        for each in (conditions if isinstance(conditions, list) else ())
        if not (isinstance(each, Mapping) and each.get("type") in _PIN_CONDITIONS)
    ]
    rest = {key: value for key, value in status.items() if key not in {"pinnedRevisionName", "conditions"}}
    return {**manifest, "status": {**rest, "conditions": kept}}


def _component(manifest: Manifest, service: Service, name: str, move: Move) -> dict[str, Any]:
    """What changes in one component. Of one that runs OMENative nothing that would replace its pods or scale it."""
    change: dict[str, Any] = {}
    declared = service.components[name]
    if name not in move.staying and declared.annotations.get(MODE_ANNOTATION) != OME_NATIVE:
        change["annotations"] = {MODE_ANNOTATION: OME_NATIVE}
    config = move.runtime.components.get(name) if move.runtime is not None else None
    if any(merged_shape(declared, config)):
        change |= {field: {} for field in ("leader", "worker") if not getattr(declared, field)}
    if name not in move.replacing:
        return change
    rendered = merged_component(
        move.runtime.spec.get(f"{name}Config") if move.runtime is not None else None, manifest["spec"].get(name), name
    )
    least = rendered.get("minReplicas")
    if least is None:
        change["minReplicas"] = least = 1
    if not rendered.get("maxReplicas"):
        change["maxReplicas"] = max(least, 1)
    return change


def _runtime(service: Service, move: Move) -> dict[str, Any]:
    change: dict[str, Any] = {}
    copy, named = move.copy, service.runtime
    if copy is not None and copy.name != service.named_runtime:
        change["name"] = copy.name
    if copy is not None and (copy.namespace or (named is not None and named.kind == "ServingRuntime")):
        kind = None if named is None else named.kind
        change |= {"kind": copy.kind} if kind != copy.kind else {}
    if named is not None and named.revision:
        change["revision"] = None
    return change


def _token(manifest: Manifest, word: str, move: Move, service: Service) -> str:
    """A value that OME hasn't acted on yet: ``ome.io/runtime-sync`` works once for each value."""
    runtime = service.named_runtime if word == "back-to" or move.copy is None else move.copy.name
    metadata, status = manifest.get("metadata") or {}, manifest.get("status") or {}
    used = {(metadata.get("annotations") or {}).get(SYNC), status.get("lastRuntimeSyncToken")}
    token, number = f"{word}-{runtime}", 1
    while token in used:
        number += 1
        token = f"{word}-{runtime}-{number}"
    return token
