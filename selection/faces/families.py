"""A runtime's relatives as a tree, and what hangs on it, arranged for its page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from selection.faces.explaining import Place, why_first
from selection.rules.candidates import Candidate
from selection.rules.fleet import Fleet, parent_of
from selection.rules.inheritance import PROFILE, RuntimeKey
from selection.rules.objects import ObjectRef, Runtime
from selection.rules.prospects import Loss, Overlap, Win, losses, overlaps, served_models, wins

__all__ = ["Member", "Outranked", "Stakes", "family", "shown_stakes", "stakes"]

QUESTIONS = 100
"""How many different questions are judged for what hangs on a runtime; the services of the others are counted."""

SHOWN = 10
"""How many groups, and how many overlaps, a page names."""

RELATIVES = 60
"""How many runtimes a tree draws; the others are counted."""


@dataclass(slots=True)
class Member:
    """One runtime of a tree.

    Attributes:
        ref: which one.
        here: whether it is the one that the page is about.
        profile: whether it is only there to inherit from.
        disabled: whether its own spec, or what it inherits, disables it.
        broken: why its chain can't be followed, or ``""``.
        children: the runtimes that inherit from it.
    """

    ref: ObjectRef
    here: bool
    profile: bool
    disabled: bool
    broken: str
    children: list[Member] = field(default_factory=list)


def family(fleet: Fleet, runtime: Runtime) -> dict[str, Any]:
    """The tree that a runtime stands in, from its root, how many are left out of it, and who inherits directly."""
    below: dict[ObjectRef, list[Runtime]] = {}
    for other in sorted(fleet.runtimes.values(), key=lambda each: each.ref):
        members = fleet.effective(other).chain.members if parent_of(other) else ()
        if len(members) > 1:
            below.setdefault(_ref(members[-2]), []).append(other)
    start = _ref(fleet.effective(runtime).chain.members[0])
    ahead = [runtime.ref, *(_ref(key) for key in fleet.effective(runtime).chain.members)]
    root = _member(fleet, fleet.runtimes[(start.namespace, start.name)], runtime)
    seen, todo, left = {start}, [root], 0
    while todo:
        parent = todo.pop(0)
        # What leads to the runtime itself is always drawn.
        for child in sorted(below.get(parent.ref, ()), key=lambda each: (each.ref not in ahead, each.ref)):
            if child.ref in seen:  # a cycle
                continue
            if len(seen) >= RELATIVES and child.ref not in ahead:
                left += 1
                continue
            seen.add(child.ref)
            member = _member(fleet, child, runtime)
            parent.children.append(member)
            todo.append(member)
    return {"family": root, "family_left": left, "children": [each.ref for each in below.get(runtime.ref, ())]}


def _ref(key: RuntimeKey) -> ObjectRef:
    return ObjectRef(key.kind, key.namespace or "", key.name)


def _member(fleet: Fleet, runtime: Runtime, about: Runtime) -> Member:
    effective = fleet.effective(runtime)
    merged = effective.runtime or runtime
    problem = effective.chain.problem
    broken = problem.reason if problem else "can't be merged" if effective.problem else ""
    profile = runtime.annotations.get(PROFILE) == "true"
    return Member(runtime.ref, runtime.ref == about.ref, profile, runtime.disabled or merged.disabled, broken)


@dataclass(frozen=True, slots=True)
class Outranked:
    """Services that another runtime goes before it for: ``place`` says why."""

    win: Win
    place: Place | None


@dataclass(frozen=True, slots=True)
class Stakes:
    """What hangs on a runtime, all that was judged of it.

    Attributes:
        losses: what would become of the services that have it, were it gone.
        losses_left: how many services weren't judged for that.
        wins: the services that it could win.
        wins_left: how many services weren't judged for that.
        overlaps: the runtimes that qualify for the same models.
        served: how many models it serves.
    """

    losses: list[Loss]
    losses_left: int
    wins: list[Outranked]
    wins_left: int
    overlaps: list[Overlap]
    served: int


def stakes(fleet: Fleet, runtime: Runtime, having: Iterable[tuple[str, str]]) -> Stakes:
    """What hangs on a runtime. ``having`` are the services that get it today, by namespace and name."""
    models = served_models(fleet, runtime)
    lost, lost_left = losses(fleet, runtime, having, QUESTIONS)
    won, won_left = wins(fleet, runtime, models, QUESTIONS)
    told = [Outranked(each, _place(each)) for each in won]
    return Stakes(lost, lost_left, told, won_left, overlaps(fleet, runtime, models), len(models))


def shown_stakes(told: Stakes) -> dict[str, Any]:
    """What a page shows of it: losses, wins, overlaps, each with how many more there are."""
    return {
        "losses": told.losses[:SHOWN],
        "losses_left": told.losses_left + sum(len(each.services) for each in told.losses[SHOWN:]),
        "lost": sum(len(each.services) for each in told.losses),
        "wins": told.wins[:SHOWN],
        "wins_left": told.wins_left + sum(len(each.win.services) for each in told.wins[SHOWN:]),
        "won": sum(len(each.win.services) for each in told.wins),
        "served": told.served,
        "overlaps": told.overlaps[:SHOWN],
        "overlaps_left": max(0, len(told.overlaps) - SHOWN),
    }


def _place(win: Win) -> Place | None:
    return why_first([Candidate(win.winner, 1), Candidate(win.verdict, win.rank)])
