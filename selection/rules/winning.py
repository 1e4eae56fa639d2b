"""What would make a qualified candidate the first: a priority, a weight, a name, or a namespace.

Computed, then judged by the rules on the changed runtime. Follows OME: runtime selection scoring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .objects import ObjectRef
from .parsing import parse_runtime, ref_of
from .patches import Operation, applied, setting
from .remedies import Case, Remedy, admitted, would_win
from .scoring import EntryScore
from .selection import Question, Verdict, judge, only_the_name

__all__ = ["ways_to_win"]

_INT32, _INT64 = 2**31 - 1, 2**63 - 1


def ways_to_win(case: Case) -> tuple[Remedy, ...]:
    """For a candidate that qualifies and isn't first, the smallest changes of it that make it first.

    Empty when it is first already or doesn't qualify. A runtime of the cluster can't outrank a namespace's by any
    change of its own: it would have to stand in the namespace (kind ``namespace``, without a patch), and even then
    needn't be ``selected``.
    """
    question = case.question()
    verdict = judge(question, parse_runtime(case.runtime))
    ranked = case.fleet.judged(question, case.namespace, brief=True).ranked
    if not verdict.qualified or not ranked or ranked[0].runtime.ref == ref_of(case.runtime):
        return ()
    winner = ranked[0]
    if verdict.runtime.cluster_scoped and not winner.runtime.cluster_scoped:
        return (Remedy(ref_of(case.runtime), (), _wins_in_namespace(case, question, verdict), "namespace"),)
    found = [
        Remedy(ref_of(case.runtime), patch, True, kind)
        for kind, patches in _tries(case, verdict, winner)
        if (patch := next((patch for patch in patches if _accepted(case, question, patch)), None))
    ]
    if only_the_name(verdict, winner):
        # A name can't be changed: the runtime is made again under a name that sorts before the winner's.
        found.append(Remedy(ref_of(case.runtime), (), True, "name"))
    return tuple(found)


def _wins_in_namespace(case: Case, question: Question, verdict: Verdict) -> bool:
    ref = ObjectRef("ServingRuntime", case.namespace, verdict.runtime.ref.name)
    return would_win(case.fleet, case.namespace, question, judge(question, replace(verdict.runtime, ref=ref)))


def _accepted(case: Case, question: Question, patch: tuple[Operation, ...]) -> bool:
    changed = judge(question, parse_runtime(applied(case.runtime, patch)))
    return changed.qualified and would_win(case.fleet, case.namespace, question, changed) and admitted(case, patch)


def _tries(case: Case, verdict: Verdict, winner: Verdict) -> Iterator[tuple[str, list[tuple[Operation, ...]]]]:
    """The priority and the format weight of the scoring entry that reach the winner's score, then one that pass it."""
    scored = verdict.score
    if scored is None:
        return
    path = ("spec", "supportedModelFormats", scored.index)
    for kind, value, most, field in _values(scored, winner.score.score if winner.score else 0):
        numbers = [number for number in (value, value + 1) if number <= most]
        yield kind, [(setting(case.runtime, (*path, *field), number),) for number in numbers]


def _values(scored: EntryScore, goal: int) -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    """Per kind the smallest number that reaches the winner's score, and the largest that its field holds."""
    weights = (scored.format_weight or 0) + (scored.framework_weight or 0)
    if weights > 0:
        priority = -(-goal // weights)
        if scored.priority <= priority:
            yield "priority", priority, _INT32, ("priority",)
    if scored.priority > 0 and scored.format_weight is not None:
        weight = -(-goal // scored.priority) - (scored.framework_weight or 0)
        if scored.format_weight <= weight:
            yield "weight", weight, _INT64, ("modelFormat", "weight")
