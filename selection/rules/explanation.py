"""The explanation value: everything a page, the API or a command says of one service or model.

Faces show it; none of them computes anything beside it, so they can't disagree. ``to_dict`` is the public
contract of ``manage.py explain -o json``, described in ``docs/explain.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .admission import Admission
from .candidates import Candidate
from .conflicts import Conflict
from .modes import Declared
from .named import Named
from .objects import Model, ObjectRef, Problem, Runtime, Service, Workload

__all__ = ["OUTCOMES", "ComponentModes", "Explanation"]

OUTCOMES = ("auto-selected", "named", "named-with-advice", "no-runtime", "not-applicable", "invalid")


NOT_ASKED = Admission()


@dataclass(frozen=True, slots=True)
class ComponentModes:
    """One component: what was asked for, what the runtime declares, what runs, and what doesn't agree.

    Without a runtime nothing is ``rendered``: ``running`` then is what the service alone would come to, and what
    is in the cluster keeps running as it is.
    """

    requested: Declared | None
    runtime: Declared | None
    running: Declared
    rendered: bool
    conflicts: tuple[Conflict, ...]
    workloads: tuple[Workload, ...]
    migration: str | None

    def to_dict(self) -> dict[str, Any]:
        """The component as JSON. ``conflict`` is the one that matters most."""
        return {
            "requested": self.requested.to_dict() if self.requested else None,
            "runtime": self.runtime.to_dict() if self.runtime else None,
            "running": self.running.to_dict(),
            "rendered": self.rendered,
            "conflict": self.conflicts[0].code if self.conflicts else None,
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "workloads": [
                {**workload.ref.to_dict(), "runtime": workload.runtime or None, "ready": workload.ready}
                for workload in self.workloads
            ],
            "migration": self.migration,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer for one service (or model).

    Attributes:
        subject: what was explained.
        outcome: one of :data:`OUTCOMES`.
        selected: the runtime it gets, on the spec that it is rendered from.
        message: OME's text when there is no runtime, or None.
        event: the text of the event that OME records, or None.
        event_reason: that event's reason, or None.
        candidates: the qualified in rank order, then the rest, ServingRuntimes first, by name; empty when brief.
        considered: how many candidates there are.
        qualified: how many of them automatic selection can choose.
        score: the score of the selected runtime in automatic selection, None when it was named or there is none.
        modes: per declared component.
        admission: what the webhook would say now.
        problems: objects that couldn't be read and matter here.
        ome_version: the release line whose rules were applied.
        service: the service, None for a model or an unreadable service.
        model: the model that was matched.
        named: what became of a named runtime.
        revision: the revision that a pinned service follows, or None.
        notes: codes of further facts that a person should know, with their values.
    """

    subject: ObjectRef
    outcome: str
    selected: Runtime | None = None
    message: str | None = None
    event: str | None = None
    event_reason: str | None = None
    candidates: tuple[Candidate, ...] = ()
    considered: int = 0
    qualified: int = 0
    score: int | None = None
    modes: Mapping[str, ComponentModes] = field(default_factory=dict, hash=False)
    admission: Admission = NOT_ASKED
    problems: tuple[Problem, ...] = ()
    ome_version: str = "1.3"
    service: Service | None = None
    model: Model | None = None
    named: Named | None = None
    revision: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Every conflict of every component."""
        return tuple(conflict for component in self.modes.values() for conflict in component.conflicts)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON: the public contract, plus fields that the pages use."""
        return {
            "subject": self.subject.to_dict(),
            "outcome": self.outcome,
            "selected": self.selected.ref.to_dict() if self.selected else None,
            "message": self.message,
            "event": self.event,
            "event_reason": self.event_reason,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "modes": {name: modes.to_dict() for name, modes in self.modes.items()},
            "admission": self.admission.to_dict(),
            "problems": [problem.to_dict() for problem in self.problems],
            "model": self.model.ref.to_dict() if self.model else None,
            "named": self._named_dict(),
            "revision": self.revision,
            "ome_version": self.ome_version,
            "notes": dict(self.notes),
        }

    def _named_dict(self) -> dict[str, Any] | None:
        if self.named is None:
            return None
        return {
            "runtime": self.named.runtime.ref.to_dict() if self.named.runtime else None,
            "reason": self.named.reason or None,
            "error": self.named.error or None,
            "failures": [{"code": failure.code, "reason": failure.reason} for failure in self.named.failures],
        }
