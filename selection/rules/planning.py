"""Planning the move of services: drafts, and their outcome by the same rules that explain any service.

Follows OME: move from LeaderWorkerSet to OMENative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .accelerator_needs import added, component_pods, merged_component, workload_pods
from .conflicts import WORKLOAD_KINDS
from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet, evolved
from .index import serves
from .merge_patches import merge_patched
from .migration import STATES
from .modes import COMPONENTS, MULTI_NODE, OME_NATIVE, RAW_DEPLOYMENT
from .move_steps import Course, steps_of
from .objects import ObjectRef
from .parent_copies import bare_manifest
from .plan_notes import Note
from .plan_steps import Leftover, Step
from .references import find_references
from .runtime_copy import RuntimeCopy, declares_multi_node, plan_copy
from .service_patches import Move, back_patch, move_patch, settled
from .service_plan import ComponentMove, ServicePlan

__all__ = ["plan_services", "services_on_the_way"]

Manifest = Mapping[str, Any]
Manifests = Mapping[ObjectRef, Manifest]
Waiting = Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, int]]

_HARMLESS = frozenset({"ignored"})
"""Conflicts that stop nothing: v1.2's webhook, and some builds of v1.3, write a mode where nobody reads it."""

_CONFIGS = frozenset(f"{name}Config" for name in COMPONENTS)
_STARTED = frozenset({"not-started", "waiting-on-pin", "moved-by-upgrade", "at-risk"})


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

    Args:
        fleet: the cluster.
        services: the services.
        manifests: those of the services; of their runtimes and workloads, where there are any, for what a fleet
            doesn't keep.
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

    drafts = [_Draft(fleet, ref, manifests, copy_of) for ref in services]
    left = sorted({draft.runtime.ref for draft in drafts if draft.runtime is not None and draft.moving})
    counted = _waiting(fleet, drafts) if waiting is None else waiting(left)
    put = [each.manifest for each in copies.values() if not each.exists]
    put += [manifest for draft in drafts for manifest in draft.put()]
    dropped = [each.ref for draft in drafts for each in draft.leftovers()]
    changed = evolved(fleet, put, dropped)
    return tuple(draft.plan(changed, counted) for draft in drafts)


def _waiting(fleet: Fleet, drafts: Sequence[_Draft]) -> Counter[ObjectRef]:
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
        started = any(each.migration in _STARTED for each in found.modes.values())
        if started and found.selected is not None and found.selected.ref in waiting:
            waiting[found.selected.ref] += 1
    return waiting


_CopyOf = Callable[[ObjectRef], RuntimeCopy]


class _Draft:
    """A plan up to the point where its outcome has to be computed."""

    def __init__(self, fleet: Fleet, ref: ObjectRef, manifests: Manifests, copy_of: _CopyOf) -> None:
        self.fleet, self.ref = fleet, ref
        self.before = explain_service(fleet, ref.namespace, ref.name, brief=True)
        self.service = self.before.service
        self.manifest: Manifest = manifests.get(ref) or {}
        self.runtime = self.before.selected
        self.moving = self._moving() if self.service is not None and self.manifest else ()
        need = self._need() if self.moving else ""
        self.copy: RuntimeCopy | None = copy_of(self.runtime.ref) if self.runtime is not None and need else None
        self.components = tuple(self._component(name, manifests) for name in self._named())
        self.move = self._move()
        self.patch: Mapping[str, Any] = {}
        self.back: Mapping[str, Any] = {}
        if self.service is not None and self.moving:
            self.patch = move_patch(self.manifest, self.service, self.move)
            self.back = back_patch(self.manifest, self.service, self.patch, self.move) if self.patch else {}
        self.patched = merge_patched(self.manifest, self.patch)

    def _named(self) -> list[str]:
        return [name for name in ("engine", "decoder") if name in self.before.modes]

    def _moving(self) -> tuple[str, ...]:
        """The components that the patch changes: a pair as a whole."""
        if self.before.selected is None:
            return ()
        modes = self.before.modes
        started = [name for name in self._named() if modes[name].migration in _STARTED]
        return tuple(self._named()) if started else ()

    def _need(self) -> str:
        """What the service needs a copy for, as :class:`RuntimeCopy` has it; a selected runtime has no parents."""
        runtime = self.runtime
        if runtime is None:
            return ""
        elsewhere = {key: value for key, value in runtime.spec.items() if key not in _CONFIGS}
        if any(self.fleet.uses_leader_worker_set(runtime, name) for name in COMPONENTS) or find_references(elsewhere):
            return "references"
        return "mode" if declares_multi_node(runtime, self.moving) else ""

    def _move(self) -> Move:
        service = self.service
        drifts = service is not None and service.conditions.get("RuntimeDrifted", ("", ""))[0] == "True"
        pinned = service is not None and service.runtime is not None and service.runtime.pinned
        return Move(
            components=self.moving,
            returning=[name for name in self.moving if self.before.modes[name].running.mode != RAW_DEPLOYMENT],
            runtime=self.runtime,
            copy=self.copy.copy if self.copy else None,
            paused=bool(self.moving) and (pinned or drifts),
        )

    def _component(self, name: str, manifests: Manifests) -> ComponentMove:
        modes = self.before.modes[name]
        config = self.runtime.spec.get(f"{name}Config") if self.runtime is not None else None
        spec = self.manifest.get("spec")
        declared = spec.get(name) if isinstance(spec, Mapping) else None
        pods = component_pods(merged_component(config, declared, name))
        leftovers = tuple(
            Leftover(
                workload.ref,
                workload_pods(manifests[workload.ref], pods) if workload.ref in manifests else pods,
                there=True,
            )
            for workload in modes.workloads
            if self._is_left(name, workload.ref.kind)
        )
        if name in self.moving and not leftovers and modes.running.mode in {MULTI_NODE, RAW_DEPLOYMENT}:
            kind = WORKLOAD_KINDS[modes.running.mode]
            prefix = "lws-" if kind == "LeaderWorkerSet" else ""
            ref = ObjectRef(kind, self.ref.namespace, f"{prefix}{self.ref.name}-{name}")
            leftovers = (Leftover(ref, pods, there=False),)
        return ComponentMove(name, modes.migration, modes.running, name in self.moving, pods, leftovers)

    def _is_left(self, name: str, kind: str) -> bool:
        """Whether a workload of this kind is of no use once the plan is done."""
        modes = self.before.modes[name]
        if name in self.moving:
            return kind != WORKLOAD_KINDS[OME_NATIVE]
        return modes.migration not in {None, "done", "not-started"} and kind == "LeaderWorkerSet"

    def leftovers(self) -> list[Leftover]:
        """The workloads that the plan deletes and that are there now."""
        return [each for component in self.components for each in component.leftovers if each.there]

    def put(self) -> list[Manifest]:
        """The service as it will be, and the workloads that OME makes of it."""
        named = self.copy.copy if self.copy else self.runtime.ref if self.runtime else None
        if not self.moving or named is None:
            return []
        made = [self._workload("InferenceReplica", name, f"{self.ref.name}-{name}", named) for name in self.moving]
        rest = [modes.workloads for name, modes in self.before.modes.items() if name not in self.moving]
        made += [
            self._workload(each.ref.kind, each.component, each.ref.name, named) for found in rest for each in found
        ]
        return [settled(self.patched) if self.move.paused else self.patched, *made]

    def _workload(self, kind: str, component: str, name: str, runtime: ObjectRef) -> Manifest:
        labels = {"ome.io/inferenceservice": self.ref.name, "component": component, "serving-runtime": runtime.name}
        return {"kind": kind, "metadata": {"name": name, "namespace": self.ref.namespace, "labels": labels}}

    def plan(self, changed: Fleet, waiting: Mapping[ObjectRef, int]) -> ServicePlan:
        """The plan, its outcome being what the changed fleet says."""
        after = explain_service(changed, self.ref.namespace, self.ref.name, brief=True)
        states = [each.state for each in self.components if each.state is not None]
        finished = self.service is not None and all(state == "done" for state in states)
        reasons = () if finished else tuple(self._reasons(after))
        moving = [each for each in self.components if each.moves]
        return ServicePlan(
            service=self.ref,
            state=min(states, key=STATES.index) if states else None,
            components=self.components,
            runtime=self.runtime.ref if self.runtime else None,
            copy=self.copy,
            steps=self._steps() if self.service is not None else (),
            patch=self.patch,
            back=self.back,
            patched=self.patched,
            before=self.before,
            after=after,
            risks=tuple(self._risks(waiting)),
            reasons=reasons,
            needs=added(each.pods.accelerators for each in moving if not self._runs_already(each.name)),
            holds=added(each.pods.accelerators for each in self.leftovers()),
        )

    def _runs_already(self, name: str) -> bool:
        """Whether the new pods are there now, so that they need nothing further."""
        return any(each.ref.kind == "InferenceReplica" for each in self.before.modes[name].workloads)

    def _steps(self) -> tuple[Step, ...]:
        return steps_of(
            Course(
                service=self.ref,
                copy=self.copy,
                patch=self.patch,
                back=self.back,
                moved=tuple(each.name for each in self.components if each.moves),
                native=tuple(each.name for each in self.components if each.moves or each.running.mode == OME_NATIVE),
                pods={each.name: each.pods for each in self.components},
                leftovers={each.name: each.leftovers for each in self.components if each.leftovers},
                returning=self.move.returning,
                outage=self._outage(),
                unpinned=self._unpinned(),
            )
        )

    def _unpinned(self) -> Mapping[str, Any] | None:
        """What the way back can't bring back: a revision that was followed without being named."""
        named, service = self.service.runtime if self.service is not None else None, self.service
        if service is None or self.runtime is None or not self.move.paused or (named is not None and named.revision):
            return None
        return {"runtime": self.runtime.ref.to_dict(), "revision": service.pinned_revision or None}

    def _outage(self) -> str:
        if any(each.state == "at-risk" for each in self.components):
            return "lasts-already"
        stays = self.copy is None and all(self._runs_already(name) for name in self.moving)
        return "none" if stays else "begins"

    def _reasons(self, after: Explanation) -> Iterator[Note]:
        """Why the plan can't be carried out as it is."""
        if OME_NATIVE not in self.fleet.semantics.modes:
            yield Note("needs-v1.3", {"version": self.fleet.semantics.version})
        for problem in self.before.problems if self.service is None else ():
            yield Note("unreadable", {"path": problem.path, "message": problem.message})
        if self.service is not None and not self.manifest:
            yield Note("unreadable", {"path": "", "message": "its manifest isn't there"})
        if self.service is None or not self.manifest:
            return
        if self.before.selected is None:
            yield Note("no-runtime", {"message": self.before.message or ""})
            return
        if self.copy is not None:
            yield from self.copy.reasons
        if places := self._own_references():
            yield Note("own-references", {"places": places})
        yield from (Note("service-refused", {"message": message}) for message in after.admission.errors)
        if self.copy is not None and (after.selected is None or after.selected.ref != self.copy.copy):
            yield Note("other-runtime", {"runtime": str(after.selected.ref) if after.selected else None})
        for name in self.moving:
            modes = after.modes[name]
            if modes.running.mode != OME_NATIVE or not modes.rendered:
                yield Note("not-omenative", {"component": name, **modes.running.to_dict()})
        for name, modes in after.modes.items():
            known = {conflict.code for conflict in self.before.modes[name].conflicts}
            told = [
                conflict.code
                for conflict in modes.conflicts
                if conflict.code not in _HARMLESS and (name in self.moving or conflict.code not in {*known, "drift"})
            ]
            if told:
                yield Note("conflict", {"component": name, "conflicts": list(dict.fromkeys(told))})

    def _own_references(self) -> list[str]:
        """Where the service's own fields name LeaderWorkerSet: they win over the copy's, and no patch mends them."""
        spec = self.manifest.get("spec")
        if not self.moving or not isinstance(spec, Mapping):
            return []
        own = {name: spec.get(name) for name in (*self.moving, "router")}
        return list(dict.fromkeys(each.path for each in find_references(own)))

    def _unexpanded(self) -> list[Mapping[str, Any]]:
        """The variables of the copy that stay unexpanded in what moves."""
        notes = self.copy.notes if self.copy is not None else ()
        told = [each for note in notes if note.code == "env-value-order" for each in note.facts["variables"]]
        return [each for each in told if each["component"] in self.moving]

    def _risks(self, waiting: Mapping[ObjectRef, int]) -> Iterator[Note]:
        service, runtime = self.service, self.runtime
        if service is None or runtime is None or not self.moving:
            return
        still = [each.name for each in self.components if each.state == "not-started"]
        if still := [name for name in still if self.before.modes[name].running.mode == OME_NATIVE]:
            yield Note("not-acted", {"components": still})
        named = service.runtime
        if named is not None and named.pinned:
            revision = named.revision or service.pinned_revision
            yield Note("pinned-revision" if named.revision else "pinned", {"revision": revision or None})
        if len(self.moving) > 1:
            yield Note("pair")
        if self.copy is not None and self.copy.rework and not self.copy.exists:
            yield Note("rework", {"count": len(self.copy.rework)})
        if unexpanded := self._unexpanded():
            yield Note("env-value-order", {"variables": unexpanded})
        if (others := waiting.get(runtime.ref, 0)) > 1:
            yield Note("shared-runtime", {"services": others})
        single = [each.name for each in self.components if each.moves and each.pods.replicas == 1]
        if single:
            yield Note("one-replica", {"components": single})
        if self.copy is not None and not service.named_runtime:
            yield Note("auto-selected", {"copy": self.copy.copy.to_dict()})
            if self.copy.inherits:
                yield Note("auto-inherits", {"runtime": runtime.ref.to_dict()})
        if "router" in service.components and self.copy is not None:
            yield Note("router")
        raw = [each.name for each in self.components if each.moves and each.running.mode == RAW_DEPLOYMENT]
        if raw:
            yield Note("raw-partner", {"components": raw})
