"""What differs between two answers for one service under the same rules, each difference with its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from .explanation import Explanation
from .objects import Runtime
from .what_if_answer import CODES, Change, Standing

__all__ = ["changes_between", "standing_of", "urgency"]

Differ = Callable[[Runtime, Runtime], bool]
"""Whether the specs of two runtimes differ in what OME's types hold."""

_ORDER = {code: place for place, code in enumerate(CODES)}
_CHOICE = " will be auto-selected for model "


def urgency(code: str) -> int:
    """The place of a code among all, 0 for what matters most."""
    return _ORDER[code]


def standing_of(explanation: Explanation) -> Standing:
    """What of an explanation is compared."""
    return Standing(
        outcome=explanation.outcome,
        runtime=explanation.selected.ref if explanation.selected else None,
        model=explanation.model.ref if explanation.model else None,
        modes={name: each.running.mode if each.rendered else None for name, each in explanation.modes.items()},
        conflicts={
            name: tuple(dict.fromkeys(conflict.code for conflict in each.conflicts))
            for name, each in explanation.modes.items()
            if each.conflicts
        },
        admission=explanation.admission,
    )


def changes_between(before: Explanation | None, after: Explanation | None, differ: Differ) -> tuple[Change, ...]:
    """Every change, what matters most first; none when both give the same answer. None stands for no such service."""
    if before is None or after is None:
        found = [*_came(after)] if after is not None else [Change("deleted")] if before is not None else []
    else:
        was, becomes = standing_of(before), standing_of(after)
        found = [*_selection(before, after, differ)]
        found += [*_modes(was.modes, becomes.modes), *_conflicts(was.conflicts, becomes.conflicts)]
        found += _admission(was, becomes)
    return tuple(sorted(found, key=lambda change: (urgency(change.code), change.component)))


def _came(after: Explanation) -> Iterator[Change]:
    """A new service: that it is refused, and the conflicts that it brings, are told as they are of one that changes."""
    yield Change("added")
    becomes = standing_of(after)
    yield from _conflicts({}, becomes.conflicts)
    if not becomes.admission.allowed:
        yield Change("refused-now", "", {"errors": list(becomes.admission.errors)})


def _selection(before: Explanation, after: Explanation, differ: Differ) -> Iterator[Change]:
    was, becomes = before.selected, after.selected
    if was is None or becomes is None:
        if was is not None:
            yield Change("loses-runtime", "", {"from": was.ref.to_dict(), "message": _why(after)})
        elif becomes is not None:
            yield Change("gets-runtime", "", {"to": becomes.ref.to_dict(), "message": _why(before)})
        elif (before.outcome, _why(before)) != (after.outcome, _why(after)):
            yield Change("outcome-differs", "", {"from": before.outcome, "to": after.outcome, "message": _why(after)})
    else:
        if was.ref != becomes.ref:
            yield Change("another-runtime", "", {"from": was.ref.to_dict(), "to": becomes.ref.to_dict()})
        elif not _pinned(after) and differ(was, becomes):
            yield Change("spec-differs", "", {"runtime": becomes.ref.to_dict()})
        if before.outcome != after.outcome:
            told = (after.named.error if after.named else "") or None
            yield Change("outcome-differs", "", {"from": before.outcome, "to": after.outcome, "message": told})
    models = [each.model.ref if each.model else None for each in (before, after)]
    if models[0] != models[1]:
        facts = {key: ref.to_dict() if ref else None for key, ref in zip(("from", "to"), models, strict=True)}
        yield Change("model-differs", "", facts)


def _pinned(explanation: Explanation) -> bool:
    """Whether the pods are rendered from a revision, whatever becomes of the runtime."""
    service = explanation.service
    return service is not None and service.runtime is not None and service.runtime.pinned


def _why(explanation: Explanation) -> str | None:
    """OME's words for why there is no runtime, or what can't be read of the service or its model."""
    if explanation.message:
        return explanation.message
    own = (problem for problem in explanation.problems if not problem.object.kind.endswith("ServingRuntime"))
    return next((problem.message for problem in own), None)


def _modes(was: Mapping[str, str | None], becomes: Mapping[str, str | None]) -> Iterator[Change]:
    for name in was.keys() - becomes.keys():
        yield Change("component-gone", name, {"from": was[name]})
    for name in becomes.keys() - was.keys():
        yield Change("component-added", name, {"to": becomes[name]})
    for name in was.keys() & becomes.keys():
        old, new = was[name], becomes[name]
        if old is not None and new is not None and old != new:
            yield Change("mode-changes", name, {"from": old, "to": new})


def _conflicts(was: Mapping[str, tuple[str, ...]], becomes: Mapping[str, tuple[str, ...]]) -> Iterator[Change]:
    for name in was.keys() | becomes.keys():
        old, new = was.get(name, ()), becomes.get(name, ())
        yield from (Change("conflict-appears", name, {"conflict": code}) for code in new if code not in old)
        yield from (Change("conflict-goes", name, {"conflict": code}) for code in old if code not in new)


def _admission(was: Standing, becomes: Standing) -> Iterator[Change]:
    old, new = was.admission, becomes.admission
    if old.allowed and not new.allowed:
        yield Change("refused-now", "", {"errors": list(new.errors)})
    elif new.allowed and not old.allowed:
        yield Change("admitted-now", "", {"errors": list(old.errors)})
    elif old.errors != new.errors or _without_choice(old.warnings) != _without_choice(new.warnings):
        facts = {"errors": list(new.errors), "warnings": list(new.warnings)}
        yield Change("admission-differs", "", facts)


def _without_choice(warnings: Iterable[str]) -> list[str]:
    """The warnings but for the one that tells what is selected: another runtime has a code of its own."""
    return [warning for warning in warnings if _CHOICE not in warning]
