"""The answer to a what-if as a value: what is there before and after, service by service, and of each object given.

``to_dict`` is what ``POST /api/v1/what-if`` and ``manage.py what-if -o json`` send.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .admission import Admission
from .explain import explain_model, explain_service
from .explanation import Explanation
from .fleet import Fleet
from .objects import ObjectRef, Problem

__all__ = ["ACTS", "CODES", "EXPLAINED", "TENDENCIES", "Change", "Given", "ServiceChange", "Standing", "WhatIf"]

TENDENCIES = ("worse", "different", "better")
"""``worse``: something doesn't serve or can't be changed any more, or sides begin to disagree. ``better``: the
opposite. ``different``: it serves as well, and otherwise."""

CODES = {
    "loses-runtime": "worse",
    "refused-now": "worse",
    "conflict-appears": "worse",
    "another-runtime": "different",
    "mode-changes": "different",
    "spec-differs": "different",
    "component-gone": "different",
    "component-added": "different",
    "deleted": "different",
    "added": "different",
    "outcome-differs": "different",
    "model-differs": "different",
    "admission-differs": "different",
    "gets-runtime": "better",
    "admitted-now": "better",
    "conflict-goes": "better",
}
"""Every code of a change with its tendency, what matters most first."""

ACTS = ("added", "changed", "unchanged", "deleted", "not-there")
"""What became of an object given: ``unchanged`` says the same to the rules, ``not-there`` was to be deleted."""

EXPLAINED = 25
"""So many objects of an answer are explained whole in its JSON: each holds a verdict on every candidate."""

_ALL = slice(None)
_EXPLAINED_KINDS = frozenset({"InferenceService", "BaseModel", "ClusterBaseModel"})
_ORDER = {code: place for place, code in enumerate(CODES)}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs for a service: its code, the component (``""`` for all of it), and its facts."""

    code: str
    component: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def tendency(self) -> str:
        """One of :data:`TENDENCIES`."""
        return CODES[self.code]

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {
            "code": self.code,
            "tendency": self.tendency,
            "component": self.component or None,
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, slots=True)
class Standing:
    """The answer for one service, as far as a what-if compares it.

    Attributes:
        outcome: as in an explanation.
        runtime: the runtime it gets.
        model: the model that is matched.
        modes: the mode that each component runs in, None where nothing is rendered.
        conflicts: of each component that has any, their codes.
        admission: what the webhook would say of its next change. Where no runtime qualifies its error names the model
            and leaves out what is wrong with each candidate; an explanation has that.
    """

    outcome: str
    runtime: ObjectRef | None
    model: ObjectRef | None
    modes: Mapping[str, str | None] = field(hash=False)
    conflicts: Mapping[str, tuple[str, ...]] = field(hash=False)
    admission: Admission

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON."""
        return {
            "outcome": self.outcome,
            "runtime": self.runtime.to_dict() if self.runtime else None,
            "model": self.model.to_dict() if self.model else None,
            "modes": dict(self.modes),
            "conflicts": {component: list(codes) for component, codes in self.conflicts.items()},
            "admission": self.admission.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """One service whose answer differs.

    Attributes:
        service: which one.
        before: None when it isn't there before.
        after: None when it isn't there after.
        changes: what differs, what matters most first.
        reached_by: objects given that can have done it, itself among them; at most ten.
        reaching: how many there are of them.
        given: whether it was itself among the objects given.
    """

    service: ObjectRef
    before: Standing | None
    after: Standing | None
    changes: tuple[Change, ...]
    reached_by: tuple[ObjectRef, ...] = ()
    reaching: int = 0
    given: bool = False

    @property
    def tendency(self) -> str:
        """The worst among its changes'."""
        found = {change.tendency for change in self.changes}
        return next(each for each in TENDENCIES if each in found)

    def to_dict(self) -> dict[str, Any]:
        """The service as JSON."""
        return {
            "service": self.service.to_dict(),
            "tendency": self.tendency,
            "given": self.given,
            "changes": [change.to_dict() for change in self.changes],
            "before": self.before.to_dict() if self.before else None,
            "after": self.after.to_dict() if self.after else None,
            "reached_by": [ref.to_dict() for ref in self.reached_by],
            "reached_by_total": self.reaching,
        }


@dataclass(frozen=True, slots=True)
class Given:
    """One object of the input.

    Attributes:
        object: which one.
        act: one of :data:`ACTS`.
        problem: why it can't be judged: OME couldn't read it either.
        admission: what the webhook says of it; None where no webhook looks, or there is nothing to look at.
        changed: how many services differ that it reaches, itself among them.
        effects: of those, by code of the change, how many.
    """

    object: ObjectRef
    act: str
    problem: Problem | None = None
    admission: Admission | None = None
    changed: int = 0
    effects: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def explained(self) -> bool:
        """Whether there is an explanation of it."""
        return self.object.kind in _EXPLAINED_KINDS and self.act in {"added", "changed", "unchanged"}

    @property
    def refused(self) -> bool:
        """Whether it wouldn't get into the cluster."""
        return self.problem is not None or (self.admission is not None and not self.admission.allowed)

    def to_dict(self) -> dict[str, Any]:
        """The object as JSON, without its explanation."""
        return {
            "object": self.object.to_dict(),
            "act": self.act,
            "problem": self.problem.to_dict() if self.problem else None,
            "admission": self.admission.to_dict() if self.admission else None,
            "services_changed": self.changed,
            "effects": _counted(self.effects),
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What would be otherwise.

    Attributes:
        version: the release line by whose rules both sides are judged.
        total: how many services there are before and after.
        judged: how many were judged on both sides; no other one can differ.
        given: the objects of the input, in its order, then what is deleted.
        services: those whose answer differs, what matters most first.
        before: the fleet as it stands.
        after: the fleet as it would stand.
    """

    version: str
    total: tuple[int, int]
    judged: int
    given: tuple[Given, ...]
    services: tuple[ServiceChange, ...]
    before: Fleet = field(compare=False, repr=False)
    after: Fleet = field(compare=False, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """By code, what matters most first: for how many services there is such a change."""
        found = Counter(code for row in self.services for code in {change.code for change in row.changes})
        return {code: found[code] for code in sorted(found, key=_ORDER.__getitem__)}

    @property
    def tendencies(self) -> dict[str, int]:
        """By tendency, every one named: how many services."""
        found = Counter(row.tendency for row in self.services)
        return {each: found[each] for each in TENDENCIES}

    @property
    def refused(self) -> tuple[Given, ...]:
        """The objects that wouldn't get into the cluster."""
        return tuple(each for each in self.given if each.refused)

    @property
    def worse(self) -> bool:
        """Whether a service is worse off, or an object of the input wouldn't get into the cluster."""
        return bool(self.refused) or self.tendencies["worse"] > 0

    def explain(self, ref: ObjectRef) -> Explanation | None:
        """The whole explanation of a service or model as it would stand, None when it isn't there."""
        explain = explain_service if ref.kind == "InferenceService" else explain_model
        try:
            return explain(self.after, ref.namespace, ref.name)
        except LookupError:
            return None

    def to_dict(self, explained: int = EXPLAINED, rows: slice = _ALL) -> dict[str, Any]:
        """The answer as JSON.

        The first ``explained`` services and models given come with their whole explanation; of the services that
        differ those of ``rows`` are listed.
        """
        wanted = [each.object for each in self.given if each.explained][:explained]
        told = {ref: explanation.to_dict() for ref in wanted if (explanation := self.explain(ref)) is not None}
        return {
            "ome_version": self.version,
            "worse": self.worse,
            "services_before": self.total[0],
            "services_after": self.total[1],
            "services_judged": self.judged,
            "services_changed": len(self.services),
            "tendencies": self.tendencies,
            "counts": _counted(self.counts),
            "objects": [{**each.to_dict(), "explanation": told.get(each.object)} for each in self.given],
            "services": [row.to_dict() for row in self.services[rows]],
        }


def _counted(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {"code": code, "tendency": CODES[code], "count": counts[code]}
        for code in sorted(counts, key=_ORDER.__getitem__)
    ]
