"""What runs in the cluster for a component beside what today's answer asks for, and what OME does about it.

Follows OME: deployment modes (the workload of each mode, and what becomes of the old one), reconciliation.
"""

from __future__ import annotations

from dataclasses import dataclass

from .conflicts import WORKLOAD_KINDS
from .explanation import ComponentModes, Explanation
from .modes import MULTI_NODE
from .objects import ObjectRef, Workload

__all__ = ["Standing", "expected_kind", "expected_workload", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A workload, seen or expected, and how the two compare.

    Codes: ``agrees``; ``other-runtime`` (the right kind, made from another runtime); ``left-over`` (another kind,
    beside the expected one); ``other-kind`` (another kind, and the expected one isn't there); ``missing`` (nothing of
    it is there); ``unasked`` (the mode makes no workload, and here is one); ``not-compared`` (there is no answer).

    Attributes:
        code: which of these.
        workload: what was read, None when it is missing.
        other_runtime: whether it was made from another runtime than today's answer.
    """

    code: str
    workload: Workload | None = None
    other_runtime: bool = False


def expected_kind(modes: ComponentModes) -> str | None:
    """The kind of workload that OME makes for the running mode; None for a mode without one."""
    return WORKLOAD_KINDS.get(modes.running.mode)


def expected_workload(explanation: Explanation, component: str) -> ObjectRef | None:
    """The workload that today's answer comes to; None when nothing is made, or nothing would be."""
    modes = explanation.modes[component]
    kind = expected_kind(modes)
    if kind is None or not modes.rendered or explanation.selected is None:
        return None
    prefix = "lws-" if modes.running.mode == MULTI_NODE else ""
    return ObjectRef(kind, explanation.subject.namespace, f"{prefix}{explanation.subject.name}-{component}")


def standings(explanation: Explanation, component: str) -> list[Standing]:
    """Each workload of the component beside today's answer, and the expected one when it isn't there."""
    modes = explanation.modes[component]
    expected = expected_workload(explanation, component)
    runtime = explanation.selected.ref.name if explanation.selected else ""
    there = expected is not None and any(each.ref.kind == expected.kind for each in modes.workloads)
    found = []
    for each in modes.workloads:
        other = bool(each.runtime and runtime and each.runtime != runtime)
        found.append(Standing(_code(each, modes, expected, there=there, other=other), each, other))
    if expected is not None and not modes.workloads:
        found.append(Standing("missing"))
    return found


def _code(workload: Workload, modes: ComponentModes, expected: ObjectRef | None, *, there: bool, other: bool) -> str:
    if expected is None:
        return "unasked" if modes.rendered and expected_kind(modes) is None else "not-compared"
    if workload.ref.kind != expected.kind:
        return "left-over" if there else "other-kind"
    return "other-runtime" if other else "agrees"
