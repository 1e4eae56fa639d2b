"""A service's plan up to the point where its outcome has to be computed.

Follows OME: move from LeaderWorkerSet to OMENative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .accelerator_choices import chosen_class, with_class
from .accelerator_needs import added, component_pods, merged_component, workload_pods
from .conflicts import WORKLOAD_KINDS
from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet
from .merge_patches import merge_patched
from .migration import STATES
from .modes import COMPONENTS, MULTI_NODE, OME_NATIVE, RAW_DEPLOYMENT
from .move_steps import Course, steps_of
from .objects import ObjectRef
from .plan_notes import Note
from .plan_steps import Leftover, Step
from .references import find_references
from .runtime_copy import RuntimeCopy, declares_multi_node
from .service_patches import Move, back_patch, move_patch, settled
from .service_plan import ComponentMove, ServicePlan

__all__ = ["STARTED", "CopyOf", "Draft", "Manifest", "Manifests"]

Manifest = Mapping[str, Any]
Manifests = Mapping[ObjectRef, Manifest]
CopyOf = Callable[[ObjectRef], RuntimeCopy]
"""Gives the copy of a runtime, the same one to all who ask."""

STARTED = frozenset({"not-started", "waiting-on-pin", "moved-by-upgrade", "at-risk"})
"""The states of a component that still has something to be moved."""

_CONFIGS = frozenset(f"{name}Config" for name in COMPONENTS)


class Draft:
    """A plan up to the point where its outcome has to be computed."""

    def __init__(self, fleet: Fleet, ref: ObjectRef, manifests: Manifests, copy_of: CopyOf) -> None:
        self.fleet, self.ref = fleet, ref
        self.before = explain_service(fleet, ref.namespace, ref.name, brief=True)
        self.service = self.before.service
        self.manifest: Manifest = manifests.get(ref) or {}
        self.runtime = self.before.selected
        self.moving = self._moving() if self.service is not None and self.manifest else ()
        self.staying = tuple(name for name in self.moving if self._stays(name))
        need = self._need() if self.stopping else ""
        self.copy: RuntimeCopy | None = copy_of(self.runtime.ref) if self.runtime is not None and need else None
        spec = self.manifest.get("spec")
        known = spec if isinstance(spec, Mapping) else {}
        self.classes = {name: chosen_class(known, self.runtime, name) for name in self._named()}
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
        started = [name for name in self._named() if modes[name].migration in STARTED]
        return tuple(self._named()) if started else ()

    @property
    def stopping(self) -> tuple[str, ...]:
        """The components that serve nothing from the patch until their new pods are ready."""
        return tuple(name for name in self.moving if name not in self.staying)

    def _stays(self, name: str) -> bool:
        """Whether a component runs OMENative already, on pods that can serve."""
        modes = self.before.modes[name]
        return self.runs_already(name) and modes.running.mode == OME_NATIVE and modes.migration != "at-risk"

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
        left = [name for name in self.stopping if self.before.modes[name].running.mode != RAW_DEPLOYMENT]
        return Move(
            components=self.moving,
            staying=self.staying,
            replacing=left,
            returning=[*left, *self._going_along()] if left else [],
            runtime=self.runtime,
            copy=self.copy.copy if self.copy else None,
            paused=bool(self.moving) and (pinned or drifts),
        )

    def _going_along(self) -> list[str]:
        """The half of a pair that stays and yet has to go back with the other: the webhook wants both to say the same.

        It does so when a half says OMENative itself; one that runs so by its shape may stay beside MultiNode.
        """
        asked = [self.before.modes[name].requested for name in self.staying]
        says = any(each is not None and each.mode == OME_NATIVE for each in asked)
        return list(self.staying) if says else []

    def _component(self, name: str, manifests: Manifests) -> ComponentMove:
        modes = self.before.modes[name]
        config = self.runtime.spec.get(f"{name}Config") if self.runtime is not None else None
        spec = self.manifest.get("spec")
        declared = spec.get(name) if isinstance(spec, Mapping) else None
        merged, chosen = merged_component(config, declared, name), self.classes[name]
        found = manifests.get(ObjectRef("AcceleratorClass", "", chosen.name)) if chosen.name else None
        pods = component_pods(with_class(merged, declared, found) if found is not None else merged)
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
        moves = name in self.moving
        return ComponentMove(name, modes.migration, modes.running, moves, pods, leftovers, chosen.name)

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

    def plan(self, after: Explanation, reasons: Sequence[Note], risks: Sequence[Note]) -> ServicePlan:
        """The plan, its outcome being this explanation; one that is done has no reasons not to be ready."""
        states = [each.state for each in self.components if each.state is not None]
        finished = self.service is not None and all(state == "done" for state in states)
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
            risks=tuple(risks),
            reasons=() if finished else tuple(reasons),
            needs=added(each.pods.accelerators for each in moving if not self.runs_already(each.name)),
            holds=added(each.pods.accelerators for each in self.leftovers()),
        )

    def runs_already(self, name: str) -> bool:
        """Whether the new pods are there now, so that they need nothing further."""
        return any(each.ref.kind == "InferenceReplica" for each in self.before.modes[name].workloads)

    def _steps(self) -> tuple[Step, ...]:
        return steps_of(
            Course(
                service=self.ref,
                copy=self.copy,
                patch=self.patch,
                back=self.back,
                moved=self.moving,
                stopping=self.stopping,
                rolling=self.rolling(),
                fresh=[name for name in self.moving if name in self.stopping or name in self.move.returning],
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
        return "begins" if self.stopping else "rolls" if self.rolling() else "none"

    def rolling(self) -> tuple[str, ...]:
        """The components that stay and whose pods the patch replaces, since what it writes stands in the pods, too."""
        spec = self.patch.get("spec", {})
        named = "runtime" in spec
        return tuple(name for name in self.staying if named or "annotations" in spec.get(name, {}))
