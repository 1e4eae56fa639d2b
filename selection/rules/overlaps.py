"""Runtimes that get in each other's way: two that only the name tells apart, and one that never comes first.

Follows OME: runtime selection scoring, the ranking order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from .findings import Finding
from .fleet import Fleet
from .objects import ObjectRef
from .selection import Verdict, model_error, only_the_name, question_of

__all__ = ["NAMED_AT_MOST", "overlap_findings"]

NAMED_AT_MOST = 20
"""How many models or runtimes a finding names; the rest are counted."""


@dataclass(slots=True)
class _Tally:
    """What the rankings of all models say of the runtimes.

    ``tied`` says of each pair for which models, and whether the tie is for the first place.
    """

    tied: dict[tuple[ObjectRef, ObjectRef], dict[ObjectRef, bool]] = field(default_factory=dict)
    qualifies: dict[ObjectRef, dict[ObjectRef, None]] = field(default_factory=dict)
    winners: dict[ObjectRef, set[ObjectRef]] = field(default_factory=dict)
    first: set[ObjectRef] = field(default_factory=set)


def overlap_findings(fleet: Fleet) -> Iterator[Finding]:
    """Overlaps and runtimes that are never first, over all models as a service that asks for nothing sees them.

    Each scope is looked at alone: that a namespace has a runtime of its own for a model of the cluster is meant.
    """
    tally = _Tally()
    for model in fleet.models.values():
        if model_error(model) is None:
            question = question_of(None, model, fleet.semantics)
            seen_from = {model.ref.namespace, ""} if model.ref.namespace else None
            for scope in fleet.scopes_with(question.model):
                if seen_from is not None and scope not in seen_from:
                    continue
                verdicts = fleet.shortlist(question, scope)
                _count(tally, model.ref, [verdict for verdict in verdicts if verdict.qualified])
    yield from _overlaps(tally)
    yield from _shadowed(tally)


def _count(tally: _Tally, model: ObjectRef, ranked: list[Verdict]) -> None:
    for verdict in ranked:
        tally.qualifies.setdefault(verdict.runtime.ref, {})[model] = None
        tally.winners.setdefault(verdict.runtime.ref, set()).add(ranked[0].runtime.ref)
    if ranked:
        tally.first.add(ranked[0].runtime.ref)
    for place, (one, other) in enumerate(pairwise(ranked)):
        if only_the_name(one, other):
            models = tally.tied.setdefault((one.runtime.ref, other.runtime.ref), {})
            models[model] = models.get(model, False) or place == 0


def _overlaps(tally: _Tally) -> Iterator[Finding]:
    for (one, other), models in sorted(tally.tied.items()):
        facts = {
            "first": one.to_dict(),
            "models": [model.to_dict() for model in sorted(models)[:NAMED_AT_MOST]],
            "count": len(models),
            "decides": sum(models.values()),
        }
        yield Finding("overlap", other, "", facts)


def _shadowed(tally: _Tally) -> Iterator[Finding]:
    for ref, models in sorted(tally.qualifies.items()):
        if ref not in tally.first:
            winners = sorted(tally.winners[ref] - {ref})
            facts = {
                "models": [model.to_dict() for model in sorted(models)[:NAMED_AT_MOST]],
                "count": len(models),
                "winners": [winner.to_dict() for winner in winners[:NAMED_AT_MOST]],
            }
            yield Finding("shadowed", ref, "", facts)
