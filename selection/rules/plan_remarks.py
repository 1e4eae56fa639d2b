"""Why a service's plan isn't ready, and what makes it harder.

Follows OME: move from LeaderWorkerSet to OMENative. The codes are listed in :mod:`.service_plan`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet
from .modes import OME_NATIVE, RAW_DEPLOYMENT
from .objects import ObjectRef
from .plan_drafts import STARTED, Draft
from .plan_notes import Note
from .references import find_references

__all__ = ["reasons", "risks"]

_HARMLESS = frozenset({"ignored"})
"""Conflicts that stop nothing: v1.2's webhook, and some builds of v1.3, write a mode where nobody reads it."""


def reasons(draft: Draft, after: Explanation, upgraded: Fleet | None) -> Iterator[Note]:
    """Why the plan can't be carried out as it is.

    Args:
        draft: the plan so far.
        after: what the rules say of the service once the plan is done.
        upgraded: the cluster as the next release reads it, None when this one has OMENative.
    """
    base = draft.before
    if upgraded is not None and any(each.state in STARTED for each in draft.components):
        base = explain_service(upgraded, draft.ref.namespace, draft.ref.name, brief=True)
        yield Note("needs-v1.3", {"version": draft.fleet.semantics.version, "moves": _moved(base, draft)})
    for problem in draft.before.problems if draft.service is None else ():
        yield Note("unreadable", {"path": problem.path, "message": problem.message})
    if draft.service is not None and not draft.manifest:
        yield Note("unreadable", {"path": "", "message": "its manifest isn't there"})
    if draft.service is None or not draft.manifest:
        return
    if draft.before.selected is None:
        yield Note("no-runtime", {"message": draft.before.message or ""})
        return
    if draft.copy is not None:
        yield from draft.copy.reasons
    if places := _own_references(draft):
        yield Note("own-references", {"places": places})
    yield from (Note("service-refused", {"message": message}) for message in after.admission.errors)
    if draft.copy is not None and (after.selected is None or after.selected.ref != draft.copy.copy):
        yield Note("other-runtime", {"runtime": str(after.selected.ref) if after.selected else None})
    for name in draft.moving:
        modes = after.modes[name]
        if modes.running.mode != OME_NATIVE or not modes.rendered:
            yield Note("not-omenative", {"component": name, **modes.running.to_dict()})
    for name, modes in after.modes.items():
        known = {conflict.code for conflict in base.modes[name].conflicts}
        told = [
            conflict.code
            for conflict in modes.conflicts
            if conflict.code not in _HARMLESS and (name in draft.moving or conflict.code not in {*known, "drift"})
        ]
        if told:
            yield Note("conflict", {"component": name, "conflicts": list(dict.fromkeys(told))})
    for message in after.notes.get("acceleratorMissing", ()) if draft.moving else ():
        yield Note("class-missing", {"message": message})


def _moved(upgraded: Explanation, draft: Draft) -> list[str]:
    """The components that the upgrade itself moves, because nothing but a leader or worker says how they run."""
    modes = upgraded.modes
    return [name for name in draft.moving if modes[name].rendered and modes[name].running.mode == OME_NATIVE]


def _own_references(draft: Draft) -> list[str]:
    """Where the service's own fields name LeaderWorkerSet: they win over the copy's, and no patch mends them."""
    spec = draft.manifest.get("spec")
    if not draft.moving or not isinstance(spec, Mapping):
        return []
    own = {name: spec.get(name) for name in (*draft.moving, "router")}
    return list(dict.fromkeys(each.path for each in find_references(own)))


def _unexpanded(draft: Draft) -> list[Mapping[str, Any]]:
    """The variables of the copy that stay unexpanded in what moves."""
    notes = draft.copy.notes if draft.copy is not None else ()
    told = [each for note in notes if note.code == "env-value-order" for each in note.facts["variables"]]
    return [each for each in told if each["component"] in draft.moving]


def risks(draft: Draft, waiting: Mapping[ObjectRef, int]) -> Iterator[Note]:
    """What makes the move harder; ``waiting`` says how many services have to leave each runtime."""
    service, runtime = draft.service, draft.runtime
    if service is None or runtime is None or not draft.moving:
        return
    still = [each.name for each in draft.components if each.state == "not-started"]
    if still := [name for name in still if draft.before.modes[name].running.mode == OME_NATIVE]:
        yield Note("not-acted", {"components": still})
    named = service.runtime
    if named is not None and named.pinned:
        revision = named.revision or service.pinned_revision
        yield Note("pinned-revision" if named.revision else "pinned", {"revision": revision or None})
    if len(draft.stopping) > 1:
        yield Note("pair")
    if rolling := draft.rolling():
        yield Note("rolls", {"components": list(rolling)})
    if draft.copy is not None and draft.copy.rework and not draft.copy.exists:
        yield Note("rework", {"count": len(draft.copy.rework)})
    if unexpanded := _unexpanded(draft):
        yield Note("env-value-order", {"variables": unexpanded})
    if (others := waiting.get(runtime.ref, 0)) > 1:
        yield Note("shared-runtime", {"services": others})
    single = [each.name for each in draft.components if each.name in draft.stopping and each.pods.replicas == 1]
    if single:
        yield Note("one-replica", {"components": single})
    if draft.copy is not None and not service.named_runtime:
        yield Note("auto-selected", {"copy": draft.copy.copy.to_dict()})
        if draft.copy.inherits:
            yield Note("auto-inherits", {"runtime": runtime.ref.to_dict()})
    if "router" in service.components and draft.copy is not None:
        yield Note("router")
    for name, chosen in draft.classes.items():
        if chosen.policy and name in draft.moving:
            facts = {"component": name, "policy": chosen.policy, "classes": list(runtime.accelerator_classes)}
            yield Note("class-by-policy", facts)
    raw = [each.name for each in draft.components if each.moves and each.running.mode == RAW_DEPLOYMENT]
    if raw:
        yield Note("raw-partner", {"components": raw})
