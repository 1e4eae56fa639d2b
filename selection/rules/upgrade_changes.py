"""What differs between v1.2's and v1.3's answer for one service, each difference with its code.

Follows OME: the upgrade notes from v1.2 to v1.3, deployment modes, reference a runtime explicitly, admission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .explanation import ComponentModes, Explanation
from .merge import normalised_spec
from .modes import MULTI_NODE, OME_NATIVE, VIRTUAL_DEPLOYMENT
from .semantics import V1_2
from .upgrade import Change, urgency

__all__ = ["MODE_CODES", "UsesLws", "changes_of"]

MODE_CODES = frozenset(
    {"breaks-lws", "impossible-mode", "moves-by-shape", "ray-becomes", "mode-starts-to-count", "mode-changes"}
)
"""The codes that are about the mode a component runs in."""

UsesLws = Callable[[str], bool]
"""Whether a component, as v1.3 renders it, refers to LeaderWorkerSet's variables or labels."""

_RAY = "MultiNodeRayVLLM"
_CHOICE = " will be auto-selected for model "
_PAIRING = "InvalidLeaderWorkerPairing: "


def changes_of(before: Explanation, after: Explanation, uses_lws: UsesLws) -> tuple[Change, ...]:
    """Every change, the worst first; none when both releases give the same answer.

    Args:
        before: what v1.2 makes of the service.
        after: what v1.3 makes of it.
        uses_lws: asked for a component that leaves LeaderWorkerSet.
    """
    found = [
        *_recovery(before, after),
        *_selection(before, after),
        *_modes(before, after, uses_lws),
        *_admission(before, after),
    ]
    return tuple(sorted(found, key=lambda change: urgency(change.code)))


def _recovery(before: Explanation, after: Explanation) -> Iterator[Change]:
    """What v1.2's selector breaks down over, so that it gives no answer at all and what runs is from before."""
    ranges = before.notes.get("openRange")
    if ranges and after.selected is not None:
        yield Change("selection-recovers", "", {"to": after.selected.ref.to_dict(), "over": ranges})


def _selection(before: Explanation, after: Explanation) -> Iterator[Change]:
    was, becomes = before.selected, after.selected
    if was is None or becomes is None:
        if was is not None:
            yield Change("loses-runtime", "", {"from": was.ref.to_dict(), "message": _why(after)})
        elif becomes is not None:
            yield Change("gets-runtime", "", {"to": becomes.ref.to_dict(), "message": _why(before)})
        elif before.outcome != after.outcome:
            yield Change("outcome-differs", "", {"from": before.outcome, "to": after.outcome, "message": _why(after)})
        return
    service = after.service
    if was.ref != becomes.ref:
        facts = {"from": was.ref.to_dict(), "to": becomes.ref.to_dict()}
        if service is None or not service.named_runtime:
            yield Change("selection-differs", "", facts)
        elif service.runtime is not None and service.runtime.pinned:
            yield Change("another-runtime-when-unpinned", "", facts)
        else:
            yield Change("another-runtime", "", facts)
        return
    if before.outcome != after.outcome:
        told = after.named.error if after.named else ""
        yield Change("advice-differs", "", {"from": before.outcome, "to": after.outcome, "message": told or None})
    pinned = service is not None and service.runtime is not None and service.runtime.pinned
    if not pinned and was.spec != becomes.spec and normalised_spec(was.spec) != normalised_spec(becomes.spec):
        yield Change("inherits-now", "", {"runtime": becomes.ref.to_dict()})


def _why(explanation: Explanation) -> str | None:
    """OME's words for why there is no runtime, or what can't be read."""
    return explanation.message or next((problem.message for problem in explanation.problems), None)


def _modes(before: Explanation, after: Explanation, uses_lws: UsesLws) -> Iterator[Change]:
    for name, becomes in after.modes.items():
        was = before.modes[name]
        if was.rendered and becomes.rendered and was.running.mode != becomes.running.mode:
            code = _mode_code(name, was, becomes)
            facts = {"from": was.running.mode, "to": becomes.running.mode, "source": becomes.running.source}
            if any(conflict.code == "no-workers" for conflict in becomes.conflicts):
                facts["workers"] = "lost"
            leaves = was.running.mode in {MULTI_NODE, _RAY} and becomes.running.mode == OME_NATIVE
            if leaves and uses_lws(name):
                yield Change("breaks-lws", name, {**facts, "change": code})
            else:
                yield Change(code, name, facts)


def _mode_code(name: str, was: ComponentModes, becomes: ComponentModes) -> str:
    running, source = becomes.running.mode, becomes.running.source
    if (name == "router" and running == MULTI_NODE) or running == VIRTUAL_DEPLOYMENT:
        return "impossible-mode"
    if was.running.mode == _RAY:
        return "ray-becomes"
    if (was.running.source, source) == ("LeaderWorkerShape", "LeaderWorkerShape"):
        return "moves-by-shape"
    counted = name in V1_2.annotated and running in V1_2.modes
    if source == "ServiceSpec" or (source == "ComponentAnnotation" and not counted):
        return "mode-starts-to-count"
    return "mode-changes"


def _admission(before: Explanation, after: Explanation) -> Iterator[Change]:
    old, new = before.admission, after.admission
    warnings = [_without_choice(each.warnings) for each in (old, new)]
    if old.errors == new.errors and warnings[0] == warnings[1]:
        return
    added = [error for error in new.errors if error not in old.errors]
    found = []
    for name in ("engine", "decoder"):
        own = [error for error in added if error.startswith(f"{_PAIRING}{name}.")]
        if own:
            found.append(Change("leader-without-worker", name, {"errors": own}))
    rest = [error for error in added if not error.startswith(_PAIRING)]
    if rest and old.allowed:
        found.append(Change("refused-now", "", {"errors": rest}))
    if new.allowed and not old.allowed:
        found.append(Change("admitted-now", "", {"errors": list(old.errors)}))
    warned = [warning for warning in warnings[1] if warning not in warnings[0]]
    if warned:
        found.append(Change("warns-now", "", {"warnings": warned}))
    if not found:
        facts = {"errors": list(new.errors), "warnings": warnings[1]}
        found.append(Change("admission-words", "", facts))
    yield from found


def _without_choice(warnings: Iterable[str]) -> list[str]:
    """The warnings but for the one that tells what is selected: another runtime has a code of its own."""
    return [warning for warning in warnings if _CHOICE not in warning]
