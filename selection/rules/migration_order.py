"""In which order a fleet leaves MultiNode: runtimes by who waits on them, services by risk, and what can go together.

Follows OME: move from LeaderWorkerSet to OMENative. OME knows no order; this one is ours: first what serves nothing
now, then what frees accelerators, then one service of each runtime, which shows whether its copy works, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .accelerator_needs import Accelerators, added
from .fleet import Fleet
from .modes import COMPONENTS
from .objects import ObjectRef, Runtime
from .reference_origins import located_references
from .runtime_copy import RuntimeCopy, declares_multi_node
from .service_plan import RISKS, ServicePlan

__all__ = ["WAVES", "FleetOrder", "RuntimeTurn", "Wave", "order_fleet"]

WAVES = ("urgent", "cleanup", "first", "together", "alone", "not-ready")
"""Every kind of wave, in their order.

``urgent``: serve nothing now. ``cleanup``: only something to delete. ``first``: one of each runtime, to see that its
copy works. ``together``: the rest, which wait on nothing. ``alone``: one after the other, each being looked at.
``not-ready``: something has to be put right before.
"""

_ALONE = frozenset({"pinned-revision", "raw-partner", "auto-inherits"})
_WEIGHTS = {code: 2 ** (len(RISKS) - place) for place, code in enumerate(RISKS)}


@dataclass(frozen=True, slots=True)
class RuntimeTurn:
    """A runtime that says MultiNode or refers to LeaderWorkerSet.

    Attributes:
        runtime: the runtime.
        need: what its copy is for, see :class:`RuntimeCopy`.
        references: how many references it renders.
        services: those that wait on it, in the order in which they should go.
        copy: its copy, None when no service needs one.
    """

    runtime: ObjectRef
    need: str
    references: int
    services: tuple[ObjectRef, ...]
    copy: RuntimeCopy | None

    def to_dict(self) -> dict[str, Any]:
        """The runtime's turn as JSON."""
        return {
            "runtime": self.runtime.to_dict(),
            "need": self.need or None,
            "references": self.references,
            "waiting": len(self.services),
            "services": [ref.to_dict() for ref in self.services],
            "copy": self.copy.copy.to_dict() if self.copy else None,
            "ready": self.copy.ready if self.copy else None,
        }


@dataclass(frozen=True, slots=True)
class Wave:
    """Services that can go at one time, those that need most accelerators first, and what this takes."""

    kind: str
    services: tuple[ObjectRef, ...]
    needs: Accelerators
    holds: Accelerators

    def to_dict(self) -> dict[str, Any]:
        """The wave as JSON."""
        return {
            "kind": self.kind,
            "services": [ref.to_dict() for ref in self.services],
            "accelerators": {"needs": dict(self.needs), "holds": dict(self.holds)},
        }


@dataclass(frozen=True, slots=True)
class FleetOrder:
    """The order of a fleet.

    Attributes:
        runtimes: those that hold services back, the one that most wait on first.
        plans: the services' plans, in the order in which they should go.
        waves: what can go together; a kind without services has none.
        needs: the accelerators that all moves at one time would need.
        holds: the accelerators that old workloads hold.
    """

    runtimes: tuple[RuntimeTurn, ...]
    plans: tuple[ServicePlan, ...]
    waves: tuple[Wave, ...]
    needs: Accelerators
    holds: Accelerators

    def to_dict(self) -> dict[str, Any]:
        """The order as JSON; each plan stands in it once."""
        return {
            "runtimes": [turn.to_dict() for turn in self.runtimes],
            "waves": [wave.to_dict() for wave in self.waves],
            "accelerators": {"needs": dict(self.needs), "holds": dict(self.holds)},
            "services": [plan.to_dict() for plan in self.plans],
        }


def order_fleet(fleet: Fleet, plans: Iterable[ServicePlan]) -> FleetOrder:
    """The order for these plans, made for services of this fleet. The order of the plans given doesn't matter."""
    waiting = [plan for plan in plans if plan.state not in {None, "done"}]
    waiting.sort(key=_difficulty)
    waves = tuple(_waves(waiting))
    places = {ref: place for place, ref in enumerate(ref for wave in waves for ref in wave.services)}
    waiting.sort(key=lambda plan: places[plan.service])
    return FleetOrder(
        runtimes=tuple(_runtimes(fleet, waiting)),
        plans=tuple(waiting),
        waves=waves,
        needs=added(plan.needs for plan in waiting),
        holds=added(plan.holds for plan in waiting),
    )


def _difficulty(plan: ServicePlan) -> tuple[int, int, ObjectRef]:
    """Services by risk; of the same risk the one first that takes least."""
    weight = sum(_WEIGHTS[note.code] for note in plan.risks)
    return weight, _asked(plan), plan.service


def _asked(plan: ServicePlan) -> int:
    """How many accelerators its new pods need."""
    return sum(number for _, number in plan.needs)


def _waves(plans: Sequence[ServicePlan]) -> Iterable[Wave]:
    found: dict[str, list[ServicePlan]] = {kind: [] for kind in WAVES}
    shown: set[ObjectRef | None] = set()
    for plan in plans:
        kind = _kind(plan)
        if kind == "together" and plan.copy is not None and plan.copy.copy not in shown and _starts_pods(plan):
            kind = "first"
            shown.add(plan.copy.copy)
        found[kind].append(plan)
    for kind, members in found.items():
        members.sort(key=lambda plan: -_asked(plan))  # stable: among the same the easiest stays first
        if members:
            yield Wave(
                kind,
                tuple(plan.service for plan in members),
                added(plan.needs for plan in members),
                added(plan.holds for plan in members),
            )


def _starts_pods(plan: ServicePlan) -> bool:
    """Whether its move shows that a copy works: one scaled to nothing starts nothing on it."""
    return all(each.pods.replicas for each in plan.components if each.moves)


def _kind(plan: ServicePlan) -> str:
    if not plan.ready:
        return "not-ready"
    if plan.state == "at-risk":
        return "urgent"
    if not plan.patch:
        return "cleanup"
    return "alone" if any(note.code in _ALONE for note in plan.risks) else "together"


def _runtimes(fleet: Fleet, plans: Sequence[ServicePlan]) -> list[RuntimeTurn]:
    followers: dict[ObjectRef, list[ServicePlan]] = {}
    for plan in plans:
        if plan.copy is not None:
            followers.setdefault(plan.copy.runtime, []).append(plan)
    turns = []
    for runtime in fleet.runtimes.values():
        waiting = followers.get(runtime.ref, [])
        need, references = _need(fleet, runtime)
        if need or waiting:
            copy = waiting[0].copy if waiting else None
            services = tuple(plan.service for plan in waiting)
            turns.append(RuntimeTurn(runtime.ref, need, references, services, copy))
    return sorted(turns, key=lambda turn: (-len(turn.services), turn.runtime))


def _need(fleet: Fleet, runtime: Runtime) -> tuple[str, int]:
    merged = fleet.effective(runtime).runtime or runtime
    uses = any(fleet.uses_leader_worker_set(merged, component) for component in COMPONENTS)
    references = len(located_references(fleet, runtime)) if uses else 0
    if references:
        return "references", references
    return "mode" if declares_multi_node(merged) else "", 0
