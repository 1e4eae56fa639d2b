"""Previewing the upgrade from v1.2 to v1.3: the same objects judged by both releases' rules, and what differs.

Follows OME: the upgrade notes from v1.2 to v1.3. A mode in a service's ``metadata.annotations``, where v1.2's webhook
writes one, is neither a pin nor a mistake: no rule reads it but for ``VirtualDeployment``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet
from .modes import MULTI_NODE, RAW_DEPLOYMENT
from .objects import ObjectRef
from .plan_notes import Note
from .plan_steps import kubectl
from .references import find_references
from .semantics import V1_2, V1_3, Semantics
from .upgrade import Change, ObjectUpgrade, RuntimeMoves, ServiceUpgrade, UpgradePreview, side_of, urgency
from .upgrade_changes import UsesLws, changes_of
from .upgrade_fields import CLASS, runtime_upgrades, service_upgrades
from .upgrade_pins import Draft, pinned_runtimes, tried

__all__ = ["as_of", "changes_after", "upgrade_preview"]

Manifests = Mapping[ObjectRef, Mapping[str, Any]]

_POD_MONITOR = "podmonitors.monitoring.coreos.com"
_NAMED = 5  # of the objects that can't be read; a list of all is among the findings


def as_of(fleet: Fleet, semantics: Semantics) -> Fleet:
    """The same objects under another release of OME; the fleet itself when it is that one."""
    if fleet.semantics == semantics:
        return fleet
    return Fleet(
        semantics,
        fleet.services,
        fleet.runtimes,
        fleet.models,
        fleet.accelerator_classes,
        fleet.workloads,
        fleet.owners,
        fleet.revisions,
        fleet.problems,
    )


def _on() -> None:
    """Go on at once."""


def upgrade_preview(
    fleet: Fleet, manifests: Manifests | None = None, *, between: Callable[[], None] = _on
) -> UpgradePreview:
    """What an upgrade from v1.2 to v1.3 changes in a cluster, whichever of the two it runs.

    Args:
        fleet: the cluster.
        manifests: of services, for the fields that a fleet doesn't keep: at least of those in whose manifest one of
            :data:`selection.rules.upgrade_fields.WORDS` stands.
        between: called between two services, for a thread that has to let others run.
    """
    known = manifests or {}
    old, new = as_of(fleet, V1_2), as_of(fleet, V1_3)
    drafts = []
    for key in sorted(fleet.services):
        drafts.append(_draft(old, new, key))
        between()
    changed = [draft for draft in drafts if draft.changes]
    pins = tried(old, new, changed, between)
    rows = [
        ServiceUpgrade(
            draft.service.ref, side_of(draft.before), side_of(draft.after), draft.changes, pins.get(draft.service.ref)
        )
        for draft in changed
    ]
    having = _by_runtime(drafts)
    return UpgradePreview(
        runs=fleet.semantics.version,
        total=len(drafts),
        services=tuple(sorted(rows, key=lambda row: (urgency(row.changes[0].code), row.service))),
        objects=tuple(sorted(_objects(old, new, known, having), key=_place)),
        runtimes=_runtimes(old, new, having, between),
        checks=tuple(_checks(fleet, drafts, rows)),
    )


def changes_after(before: Explanation, new: Fleet) -> tuple[Change, ...]:
    """What an upgrade changes for a service that v1.2 explains so, the worst first; nothing if it can't be read."""
    if before.service is None:
        return ()
    ref = before.subject
    after = explain_service(new, ref.namespace, ref.name, brief=True)
    return changes_of(before, after, _uses_lws(new, after))


def _draft(old: Fleet, new: Fleet, key: tuple[str, str]) -> Draft:
    before, after = (explain_service(fleet, *key, brief=True) for fleet in (old, new))
    service = new.services[key]
    uses_lws = _uses_lws(new, after)
    return Draft(service, before, after, changes_of(before, after, uses_lws), uses_lws)


def _uses_lws(new: Fleet, after: Explanation) -> UsesLws:
    """Asks what a component and the router in front of it are rendered from: the service's own fields, and its revision
    where it follows one, else its runtime."""

    def uses(component: str) -> bool:
        declared = after.service.components if after.service is not None else {}
        names = [name for name in dict.fromkeys((component, "router")) if name in declared]
        if any(declared[name].uses_leader_worker_set for name in names):
            return True
        revision = new.find_revision(after.revision) if after.revision else None
        data = revision.get("data") if revision is not None else None
        if isinstance(data, Mapping):
            rendered = data.get("spec", data)
            configs = [rendered.get(f"{name}Config") for name in names] if isinstance(rendered, Mapping) else []
            return any(isinstance(config, Mapping) and find_references(config) for config in configs)
        return after.selected is not None and any(new.uses_leader_worker_set(after.selected, name) for name in names)

    return uses


def _by_runtime(drafts: Iterable[Draft]) -> dict[ObjectRef, list[Draft]]:
    found: dict[ObjectRef, list[Draft]] = {}
    for draft in drafts:
        runtimes = (each.selected.ref for each in (draft.before, draft.after) if each.selected is not None)
        for ref in dict.fromkeys(runtimes):
            found.setdefault(ref, []).append(draft)
    return found


def _objects(
    old: Fleet, new: Fleet, manifests: Manifests, having: Mapping[ObjectRef, list[Draft]]
) -> Iterator[ObjectUpgrade]:
    for service in new.services.values():
        yield from service_upgrades(service, manifests.get(service.ref))
    for runtime in new.runtimes.values():
        drafts = having.get(runtime.ref, ())
        for each in runtime_upgrades(old, new, runtime, len(drafts)):
            yield replace(each, services=sum(_reached(each.change, runtime.ref, draft) for draft in drafts))


def _reached(change: Change, runtime: ObjectRef, draft: Draft) -> bool:
    """Whether what becomes of a runtime's field reaches a service that gets the runtime.

    What the runtime inherits reaches those alone that name it and follow it: one that was selected is rendered from the
    runtime's own fields, and a revision is what it was. An autoscaler's class reaches a component that a service
    declares and writes no class for.
    """
    service, inherited = draft.service, change.code == "inherit-from-counts" or "inherited" in change.facts
    if inherited:
        pinned = service.runtime is not None and service.runtime.pinned
        gets = draft.after.selected is not None and draft.after.selected.ref == runtime
        if not gets or pinned or not service.named_runtime:
            return False
    if change.code == "keda-annotation":
        component = service.components.get(change.component)
        return component is not None and CLASS not in component.annotations
    return True


def _place(each: ObjectUpgrade) -> tuple[int, int, ObjectRef, str]:
    return urgency(each.change.code), -(each.services or 0), each.object, each.path


def _runtimes(
    old: Fleet, new: Fleet, having: Mapping[ObjectRef, list[Draft]], between: Callable[[], None]
) -> tuple[RuntimeMoves, ...]:
    moving: dict[ObjectRef, list[Draft]] = {}
    for ref, drafts in having.items():
        own = [draft for draft in drafts if _moves(draft) and draft.after.selected and draft.after.selected.ref == ref]
        if own:
            moving[ref] = own
    pins = pinned_runtimes(old, new, moving, having, between) if moving else {}
    rows = [
        RuntimeMoves(ref, len(drafts), sum(_breaks(draft) for draft in drafts), pins.get(ref))
        for ref, drafts in moving.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.moves, -row.breaks, row.runtime)))


def _moves(draft: Draft) -> bool:
    """Whether a component of it moves only because of a leader or worker."""
    return any("moves-by-shape" in (change.code, change.facts.get("change")) for change in draft.changes)


def _breaks(draft: Draft) -> bool:
    return any(change.code == "breaks-lws" for change in draft.changes)


def _checks(fleet: Fleet, drafts: Iterable[Draft], rows: Iterable[ServiceUpgrade]) -> Iterator[Note]:
    """What the objects don't tell, or tell of no service alone."""
    waiting = following = 0
    for draft in drafts:
        modes = set(side_of(draft.after).modes.values())
        waiting += bool(modes & {RAW_DEPLOYMENT, MULTI_NODE})
        runtime = draft.service.runtime
        following += bool(runtime is not None and runtime.name and not runtime.pinned)
    if waiting:
        yield Note("pod-monitor", {"services": waiting, "command": kubectl("get", "crd", _POD_MONITOR)})
    restarted = sum(row.pin is not None and row.pin.restarts for row in rows)
    if restarted:
        yield Note("pins-restart", {"services": restarted})
    if following:
        yield Note("follows-edits", {"services": following})
    if fleet.problems:
        first = [str(ref) for ref in sorted(fleet.problems)[:_NAMED]]
        more = len(fleet.problems) - len(first)
        yield Note("unreadable", {"objects": len(fleet.problems), "first": first, "more": more})
