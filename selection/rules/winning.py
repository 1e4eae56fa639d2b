"""What would make a qualified candidate the first: a priority, a weight, a name, or a namespace.

Computed, then judged by the rules on the changed runtime. Follows OME: runtime selection scoring.
"""

from __future__ import annotations

from collections.abc import Iterator

from .go import wrap64
from .parsing import parse_runtime, ref_of
from .patches import Operation, applied, setting
from .remedies import Case, Remedy, would_win
from .scoring import EntryScore
from .selection import Question, Verdict, judge

__all__ = ["ways_to_win"]

_INT32, _INT64 = 2**31 - 1, 2**63 - 1


def ways_to_win(case: Case) -> tuple[Remedy, ...]:
    """For a candidate that qualifies and isn't first, the smallest changes of it that make it first.

    Empty when it is first already or doesn't qualify. A runtime of the cluster can't outrank a namespace's by any
    change of its own: it would have to stand in the namespace (kind ``namespace``, without a patch).
    """
    question = case.question()
    verdict = judge(question, parse_runtime(case.runtime))
    ranked = case.fleet.judged(question, case.namespace, brief=True).ranked
    if not verdict.qualified or not ranked or ranked[0].runtime.ref == ref_of(case.runtime):
        return ()
    winner = ranked[0]
    if verdict.runtime.cluster_scoped and not winner.runtime.cluster_scoped:
        return (Remedy(ref_of(case.runtime), (), True, "namespace"),)
    found = []
    for kind, patch in _tries(case, verdict, winner):
        if _accepted(case, question, patch):
            found.append(Remedy(ref_of(case.runtime), patch, True, kind))
    if _tied(verdict, winner):
        # A name can't be changed: the runtime is made again under a name that sorts before the winner's.
        found.append(Remedy(ref_of(case.runtime), (), True, "name"))
    return tuple(found)


def _tied(verdict: Verdict, winner: Verdict) -> bool:
    if _score(verdict) != _score(winner):
        return False
    if verdict.distance is None or winner.distance is None:
        return True
    return abs(verdict.distance - winner.distance) < 1


def _score(verdict: Verdict) -> int:
    return verdict.score.score if verdict.score else 0


def _accepted(case: Case, question: Question, patch: tuple[Operation, ...]) -> bool:
    changed = judge(question, parse_runtime(applied(case.runtime, patch)))
    return changed.qualified and would_win(case.fleet, case.namespace, question, changed)


def _tries(case: Case, verdict: Verdict, winner: Verdict) -> Iterator[tuple[str, tuple[Operation, ...]]]:
    """The smallest priority and the smallest format weight of the scoring entry; one of equal score first."""
    scored = verdict.score
    if scored is None:
        return
    path = ("spec", "supportedModelFormats", scored.index)
    question = case.question()
    for kind, value, field in _values(scored, _score(winner)):
        patch = (setting(case.runtime, (*path, *field), value),)
        if _accepted(case, question, patch):
            yield kind, patch
            continue
        again = (setting(case.runtime, (*path, *field), value + 1),)
        yield kind, again


def _values(scored: EntryScore, goal: int) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Per kind the smallest number that reaches the winner's score; one more passes it."""
    weights = (scored.format_weight or 0) + (scored.framework_weight or 0)
    if weights > 0:
        priority = -(-goal // weights)
        if scored.priority <= priority < _INT32:
            yield "priority", priority, ("priority",)
    if scored.priority > 0 and scored.format_weight is not None:
        weight = -(-goal // scored.priority) - (scored.framework_weight or 0)
        if scored.format_weight <= weight < _INT64 and wrap64(weight * scored.priority) == weight * scored.priority:
            yield "weight", weight, ("modelFormat", "weight")
