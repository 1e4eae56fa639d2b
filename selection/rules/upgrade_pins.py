"""Pins: what to write before the upgrade so that v1.3 leaves things as they are, each tried by the rules.

Follows OME: move from LeaderWorkerSet to OMENative ("pin a component to MultiNode"), reference a runtime explicitly. A
pin is offered only when v1.2's answer stays the same with it and v1.3 then no longer makes the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet, evolved
from .merge_patches import merge_patched
from .modes import MODE_ANNOTATION, MULTI_NODE, VIRTUAL_DEPLOYMENT
from .objects import Component, ObjectRef, RuntimeRef, Service
from .parent_copies import bare_manifest
from .semantics import V1_3
from .upgrade import Change, Pin, RuntimePin, side_of
from .upgrade_changes import MODE_CODES, UsesLws, changes_of

__all__ = ["Draft", "pinned_runtimes", "pinned_service", "tried"]

_RUNTIME_CODES = frozenset({"another-runtime", "another-runtime-when-unpinned", "selection-differs", "loses-runtime"})


@dataclass(frozen=True, slots=True)
class Draft:
    """One service with its two answers and what differs."""

    service: Service
    before: Explanation
    after: Explanation
    changes: tuple[Change, ...]
    uses_lws: UsesLws

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.service.ref.namespace, self.service.ref.name


def tried(old: Fleet, new: Fleet, drafts: Iterable[Draft], between: Callable[[], None]) -> dict[ObjectRef, Pin]:
    """The pin of each service for which one holds something back.

    Args:
        old: the cluster by v1.2.
        new: the cluster by v1.3.
        drafts: the services that something changes for.
        between: called between two services.
    """
    waiting = [(draft, patches) for draft in drafts if (patches := _patches(draft))]
    found: dict[ObjectRef, Pin] = {}
    while waiting:
        put = {draft.key: pinned_service(draft.service, patches[0]) for draft, patches in waiting}
        trials = [replace(fleet, services={**fleet.services, **put}) for fleet in (old, new)]
        again = []
        for draft, patches in waiting:
            holds = _holds(draft, *(explain_service(fleet, *draft.key, brief=True) for fleet in trials))
            if holds:
                found[draft.service.ref] = Pin(patches[0], holds, _restarts(patches[0]))
            elif patches[1:]:
                again.append((draft, patches[1:]))
            between()
        waiting = again
    return found


def _patches(draft: Draft) -> list[dict[str, Any]]:
    """What may hold: everything together, then the modes and the runtime alone.

    A runtime that was selected may refuse the mode that a service asks for; of one that is named it is only advice.
    """
    modes: dict[str, Any] = {}
    for change in draft.changes:
        was = change.facts.get("from")
        if change.code in MODE_CODES and was in V1_3.modes and was != VIRTUAL_DEPLOYMENT:
            modes[change.component] = {"annotations": {MODE_ANNOTATION: was}}
    asks = any(change.code in _RUNTIME_CODES for change in draft.changes)
    runtime: dict[str, Any] = {}
    selected = draft.before.selected
    if selected is not None and (asks or not draft.service.named_runtime):
        name = {} if draft.service.named_runtime else {"name": selected.ref.name}
        runtime = {"runtime": {**name, "kind": selected.ref.kind}}
    together = {**runtime, **modes}
    patches = [together, modes, runtime] if asks else [modes, together] if modes else []
    return [{"spec": patch} for place, patch in enumerate(patches) if patch and patch not in patches[:place]]


def pinned_service(service: Service, patch: Mapping[str, Any]) -> Service:
    """The service as it reads after one of these patches: as if its manifest had been patched and read again."""
    components = dict(service.components)
    runtime = service.runtime
    for name, change in patch["spec"].items():
        if name == "runtime":
            runtime = replace(runtime or RuntimeRef(), **change)
        else:
            own = components.get(name, Component())
            components[name] = replace(own, annotations={**own.annotations, **change["annotations"]})
    return replace(service, components=components, runtime=runtime)


def _holds(draft: Draft, old: Explanation, new: Explanation) -> tuple[tuple[str, str], ...]:
    """The changes that are gone; none when others come instead, or when v1.2 already answers otherwise."""
    if not _same(draft.before, old):
        return ()
    left = {change.key: change for change in changes_of(old, new, draft.uses_lws)}
    known = {change.key for change in draft.changes}
    if any(change.severity != "know" for key, change in left.items() if key not in known):
        return ()
    return tuple(change.key for change in draft.changes if change.key not in left)


def _same(one: Explanation, other: Explanation) -> bool:
    """Whether the same runs, and would be admitted; naming what was selected is no difference.

    A selector that doesn't break down any more is one: it would act on the service at once.
    """
    left, right = side_of(one), side_of(other)
    broken = [bool(each.notes.get("openRange")) for each in (one, other)]
    return broken[0] == broken[1] and (left.runtime, left.modes, left.allowed) == (
        right.runtime,
        right.modes,
        right.allowed,
    )


def _restarts(patch: Mapping[str, Any]) -> bool:
    parts = (part for name, part in patch["spec"].items() if name != "runtime")
    return any(part["annotations"][MODE_ANNOTATION] == MULTI_NODE for part in parts)


def pinned_runtimes(
    old: Fleet,
    new: Fleet,
    moving: Mapping[ObjectRef, Sequence[Draft]],
    having: Mapping[ObjectRef, Sequence[Draft]],
    between: Callable[[], None],
) -> dict[ObjectRef, RuntimePin]:
    """The pin of each runtime that keeps services on MultiNode and changes nothing else.

    Args:
        old: the cluster by v1.2.
        new: the cluster by v1.3.
        moving: by runtime, the services that move because of its shape.
        having: by runtime, every service that gets it.
        between: called between two services.
    """
    patches = {ref: _runtime_patch(drafts) for ref, drafts in moving.items()}
    known = {ref: new.runtimes[(ref.namespace, ref.name)] for ref in patches}
    put = [merge_patched(bare_manifest(runtime), patches[ref]) for ref, runtime in known.items()]
    trials = [evolved(fleet, put, ()) for fleet in (old, new)]
    found = {}
    for ref, patch in patches.items():
        movers = {draft.key for draft in moving[ref]}
        holds, harmless = 0, True
        for draft in having[ref]:
            before, after = (explain_service(fleet, *draft.key, brief=True) for fleet in trials)
            pinned = draft.service.runtime is not None and draft.service.runtime.pinned
            gone = set(_holds(draft, before, after))
            holds += draft.key in movers and not pinned and _leaving(draft) <= gone
            fresh = changes_of(before, after, draft.uses_lws)
            worse = {each.key for each in fresh if each.severity != "know"} - {each.key for each in draft.changes}
            harmless &= _same(draft.before, before) and not worse
            between()
        if holds and harmless:
            found[ref] = RuntimePin(patch, holds, len(movers) - holds)
    return found


def _runtime_patch(drafts: Iterable[Draft]) -> dict[str, Any]:
    moved = {component for draft in drafts for _, component in _leaving(draft)}
    return {"spec": {f"{name}Config": {"annotations": {MODE_ANNOTATION: MULTI_NODE}} for name in sorted(moved)}}


def _leaving(draft: Draft) -> set[tuple[str, str]]:
    """The changes of components that leave MultiNode: one that is held alone leaves the service half moved."""
    return {change.key for change in draft.changes if change.code in MODE_CODES and change.facts["from"] == MULTI_NODE}
