"""What would be if some objects were there, other ones, or gone: the same rules on the fleet as it stands and as it
would stand, and what differs between both answers for every service.

Nothing is asked of a cluster. What is judged is the whole: as if every object had been applied and every deletion done,
in whichever order. An object that admission refuses is judged as if it had been admitted, and its refusal is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from .admission import Admission, admit_runtime
from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet, evolved
from .objects import ObjectRef, Runtime
from .parsing import ref_of
from .reach import Reaching
from .what_if_answer import Given, ServiceChange, WhatIf
from .what_if_changes import changes_between, standing_of, urgency
from .what_if_written import same_specs, written

__all__ = ["changed_services", "what_if"]

_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_MODELS = frozenset({"BaseModel", "ClusterBaseModel"})
_NAMED = 10  # of the objects that reach a service; more than these help nobody

Manifest = Mapping[str, Any]
Key = tuple[str, str]


def what_if(
    fleet: Fleet, put: Collection[Manifest], dropped: Collection[ObjectRef] = (), *, live: bool = True
) -> WhatIf:
    """What differs if these objects were put in, or in place of those that are there, and those were dropped.

    Args:
        fleet: what is there; an empty one for nothing. It stays as it is.
        put: manifests, of each object one. Of kinds that the rules don't look at they change nothing.
        dropped: what is deleted; what isn't there changes nothing. What is also put in is put in.
        live: whether it is a cluster's fleet, so that an API server stands before it: that writes its defaults into
            objects, and a status is the controllers' alone. An object keeps the one that stands there, and a new one
            has none. Otherwise an object counts as it is written.
    """
    manifests = [_with_status(fleet, written(manifest)) for manifest in put] if live else list(put)
    refs = [ref_of(manifest) for manifest in manifests]
    given_again = set(refs)
    gone = [ref for ref in dropped if ref not in given_again]
    after = evolved(fleet, manifests, gone)
    sides = Reaching(fleet), Reaching(after)
    reached = {ref: sides[0].of(ref).services | sides[1].of(ref).services for ref in (*refs, *gone)}
    touched: set[Key] = set()
    for each in reached.values():
        touched |= each
    causes = _causes(reached)
    rows = changed_services(fleet, after, touched, causes)
    effects: dict[ObjectRef, Counter[str]] = {ref: Counter() for ref in reached}
    for row in rows:
        codes = {change.code for change in row.changes}
        for ref in causes[(row.service.namespace, row.service.name)]:
            effects[ref].update(codes)
            effects[ref][""] += 1
    deleted = set(gone)
    given = [_given(fleet, after, ref, deleted=ref in deleted, effects=effects[ref]) for ref in reached]
    return WhatIf(
        version=fleet.semantics.version,
        total=(_count(fleet), _count(after)),
        judged=len(touched),
        given=tuple(given),
        services=tuple(sorted(rows, key=lambda row: (urgency(row.changes[0].code), row.service))),
        before=fleet,
        after=after,
    )


def _count(fleet: Fleet) -> int:
    return len(fleet.services) + sum(ref.kind == "InferenceService" for ref in fleet.problems)


def _causes(reached: Mapping[ObjectRef, set[Key]]) -> dict[Key, list[ObjectRef]]:
    """The objects given that reach each service, in their order."""
    found: dict[Key, list[ObjectRef]] = {}
    for ref, each in reached.items():
        for key in each:
            found.setdefault(key, []).append(ref)
    return found


def changed_services(
    before: Fleet, after: Fleet, touched: Iterable[Key], causes: Mapping[Key, list[ObjectRef]]
) -> list[ServiceChange]:
    """The services among those touched whose answer differs, by namespace and name.

    Args:
        before: one fleet.
        after: the other; it may be judged by another release's rules.
        touched: the services to look at, by namespace and name.
        causes: for each of them the objects that reach it.
    """
    rows = []
    specs = _Specs()
    for key in sorted(touched):
        was, becomes = _explained(before, key), _explained(after, key)
        changes = changes_between(was, becomes, specs.differ)
        if not changes:
            continue
        service, own = ObjectRef("InferenceService", *key), causes[key]
        rows.append(
            ServiceChange(
                service=service,
                before=standing_of(was) if was else None,
                after=standing_of(becomes) if becomes else None,
                changes=changes,
                reached_by=tuple(own[:_NAMED]),
                reaching=len(own),
                given=service in own,
            )
        )
    return rows


def _explained(fleet: Fleet, key: Key) -> Explanation | None:
    try:
        return explain_service(fleet, *key, brief=True)
    except LookupError:
        return None


class _Specs:
    """Tells whether two specs differ in what OME's types hold; remembers it, for services share their runtimes."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Runtime, Runtime, bool]] = {}

    def differ(self, one: Runtime, other: Runtime) -> bool:
        if one.spec is other.spec:
            return False
        key = (id(one.spec), id(other.spec))
        if key not in self._known:
            # Both are kept beside the answer, so that their identities aren't given to others.
            self._known[key] = (one, other, not same_specs(one.spec, other.spec))
        return self._known[key][2]


def _given(before: Fleet, after: Fleet, ref: ObjectRef, *, deleted: bool, effects: Counter[str]) -> Given:
    was, becomes = _object(before, ref), _object(after, ref)
    if deleted:
        act = "deleted" if was is not None else "not-there"
    elif was is None:
        act = "added"
    else:
        act = "unchanged" if _same(was, becomes) else "changed"
    changed = effects.pop("", 0)
    return Given(ref, act, after.problems.get(ref), _admission(after, ref), changed, dict(effects))


def _object(fleet: Fleet, ref: ObjectRef) -> object | None:
    """What the fleet keeps of an object, None when it isn't there."""
    key = (ref.namespace, ref.name)
    if ref in fleet.problems:
        return fleet.problems[ref]
    if ref.kind == "InferenceService":
        return fleet.services.get(key)
    if ref.kind in _RUNTIMES:
        return fleet.runtimes.get(key)
    if ref.kind in _MODELS:
        return fleet.models.get(key)
    if ref.kind == "AcceleratorClass":
        return ref if ref.name in fleet.accelerator_classes else None
    if ref.kind == "ControllerRevision":
        return fleet.revisions.get(ref.name, {}).get(ref.namespace)
    owner = fleet.owners.get(ref)
    return next((each for each in fleet.workloads[owner] if each.ref == ref), None) if owner else None


def _same(was: object, becomes: object) -> bool:
    """Whether the rules can't tell both apart."""
    if isinstance(was, Runtime) and isinstance(becomes, Runtime):
        same = replace(was, generation="") == replace(becomes, generation="")
        return same and same_specs(was.spec, becomes.spec)
    return was == becomes


def _admission(fleet: Fleet, ref: ObjectRef) -> Admission | None:
    """What a webhook says of creating or updating it, None where none looks or it can't be read or is gone."""
    if ref.kind in _RUNTIMES:
        runtime = fleet.runtimes.get((ref.namespace, ref.name))
        return admit_runtime(fleet, runtime) if runtime is not None else None
    if ref.kind == "InferenceService" and (ref.namespace, ref.name) in fleet.services:
        return explain_service(fleet, ref.namespace, ref.name, brief=True).admission
    return None


def _with_status(fleet: Fleet, manifest: Manifest) -> Manifest:
    """The manifest with the status of the object that stands there, as far as the rules read one."""
    ref = ref_of(manifest)
    status: dict[str, Any] = {}
    there = _object(fleet, ref)
    if ref.kind == "InferenceService":
        service = fleet.services.get((ref.namespace, ref.name))
        if service is not None:
            status["pinnedRevisionName"] = service.pinned_revision
            status["conditions"] = [
                {"type": type_, "status": value, "reason": reason}
                for type_, (value, reason) in service.conditions.items()
            ]
    elif (ready := getattr(there, "ready", None)) is not None:
        status["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
    kept = {key: value for key, value in manifest.items() if key != "status"}
    return {**kept, "status": status} if status else kept
