"""What a fleet answers, once for all who ask: a runtime with what it inherits, and the answer to one question."""

from __future__ import annotations

from dataclasses import dataclass

from .candidates import Candidate
from .inheritance import Chain
from .objects import Problem, Runtime
from .selection import Verdict

__all__ = ["Effective", "Judged"]


@dataclass(frozen=True, slots=True)
class Effective:
    """A runtime with what it inherits. ``runtime`` is judged and rendered when a service names it.

    ``runtime`` is None when the chain is broken (``chain.problem``) or a member can't be merged (``problem``).
    """

    chain: Chain
    runtime: Runtime | None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer to one question in one namespace.

    Attributes:
        ranked: the verdicts on the qualified candidates, best first.
        verdicts: the verdicts on every candidate; when ``brief``, on those alone that serve the model.
        candidates: every candidate in listing order; empty when ``brief``.
        namespaced: how many candidates are ServingRuntimes.
        clustered: how many are ClusterServingRuntimes.
        brief: whether reasons were left out; the ranking is the same.
    """

    ranked: tuple[Verdict, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    namespaced: int = 0
    clustered: int = 0
    brief: bool = False

    @property
    def total(self) -> int:
        """How many candidates there are."""
        return self.namespaced + self.clustered
