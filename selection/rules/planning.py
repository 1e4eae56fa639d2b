"""Planning the move of services: drafts, and their outcome by the same rules that explain any service.

Follows OME: move from LeaderWorkerSet to OMENative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from .explain import explain_service
from .fleet import Fleet, evolved
from .index import serves
from .modes import OME_NATIVE
from .objects import ObjectRef
from .parent_copies import bare_manifest
from .plan_drafts import STARTED, Draft, Manifests
from .plan_remarks import reasons, risks
from .runtime_copy import RuntimeCopy, plan_copy
from .semantics import V1_3
from .service_plan import ServicePlan
from .upgrade_preview import as_of

__all__ = ["plan_services", "services_on_the_way"]

Waiting = Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, int]]


def services_on_the_way(fleet: Fleet) -> list[ObjectRef]:
    """The services with an engine or decoder on MultiNode, or that left something behind, by namespace and name."""
    found = []
    for namespace, name in sorted(fleet.services):
        modes = explain_service(fleet, namespace, name, brief=True).modes.values()
        if any(each.migration not in {None, "done"} for each in modes):
            found.append(ObjectRef("InferenceService", namespace, name))
    return found


def plan_services(
    fleet: Fleet,
    services: Iterable[ObjectRef],
    manifests: Manifests,
    *,
    placeholder: str | None = None,
    waiting: Waiting | None = None,
) -> tuple[ServicePlan, ...]:
    """Plans for services of this fleet, in the order given.

    A release without OMENative has to be upgraded first: then the outcome is what v1.3 makes of the changed objects.

    Args:
        fleet: the cluster.
        services: the services.
        manifests: those of the services; of their runtimes, workloads and accelerator classes, where there are any,
            for what a fleet doesn't keep.
        placeholder: what stands where a value was taken out of a manifest.
        waiting: tells how many services have to leave each of some runtimes, for who has counted them; else they are
            counted here, which takes a look at each service that could get one of them.

    Raises:
        LookupError: the fleet has no such service.
    """
    copies: dict[ObjectRef, RuntimeCopy] = {}

    def copy_of(ref: ObjectRef) -> RuntimeCopy:
        if ref not in copies:
            manifest = manifests.get(ref) or bare_manifest(fleet.runtimes[(ref.namespace, ref.name)])
            copies[ref] = plan_copy(fleet, manifest, placeholder=placeholder)
        return copies[ref]

    drafts = [Draft(fleet, ref, manifests, copy_of) for ref in services]
    left = sorted({draft.runtime.ref for draft in drafts if draft.runtime is not None and draft.moving})
    counted = _waiting(fleet, drafts) if waiting is None else waiting(left)
    put = [each.manifest for each in copies.values() if not each.exists]
    put += [manifest for draft in drafts for manifest in draft.put()]
    dropped = [each.ref for draft in drafts for each in draft.leftovers()]
    upgraded = None if OME_NATIVE in fleet.semantics.modes else as_of(fleet, V1_3)
    changed = evolved(upgraded or fleet, put, dropped)
    return tuple(_planned(draft, changed, upgraded, counted) for draft in drafts)


def _planned(draft: Draft, changed: Fleet, upgraded: Fleet | None, waiting: Mapping[ObjectRef, int]) -> ServicePlan:
    after = explain_service(changed, draft.ref.namespace, draft.ref.name, brief=True)
    return draft.plan(after, tuple(reasons(draft, after, upgraded)), tuple(risks(draft, waiting)))


def _waiting(fleet: Fleet, drafts: Sequence[Draft]) -> Counter[ObjectRef]:
    """How many services have to leave each runtime of these drafts: the drafts', and the fleet's that get it today.

    A service gets a runtime by its name or by selection; one that has moved already waits on nothing.
    """
    waiting = Counter(draft.runtime.ref for draft in drafts if draft.runtime is not None and draft.moving)
    planned = {draft.ref for draft in drafts}
    originals = [fleet.runtimes[key] for ref in waiting if (key := (ref.namespace, ref.name)) in fleet.runtimes]
    names = {ref.name for ref in waiting}
    served = {each.ref.name for each in fleet.models.values() if any(serves(one, each) for one in originals)}
    for service in fleet.services.values():
        could = service.named_runtime in names if service.named_runtime else service.model_name in served
        if not could or service.ref in planned:
            continue
        found = explain_service(fleet, service.ref.namespace, service.ref.name, brief=True)
        started = any(each.migration in STARTED for each in found.modes.values())
        if started and found.selected is not None and found.selected.ref in waiting:
            waiting[found.selected.ref] += 1
    return waiting
