"""The candidates of one question in the order that ``kubectl ome runtime explain`` lists them.

Follows OME: troubleshoot runtime selection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .selection import Failure, Verdict

__all__ = ["Candidate", "listed"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate's verdict with its place in the ranking (1 is selected), None when it doesn't qualify."""

    verdict: Verdict
    rank: int | None

    @property
    def reason(self) -> Failure | None:
        """OME's reason: the first check it fails."""
        return self.verdict.failures[0] if self.verdict.failures else None

    @property
    def also(self) -> tuple[Failure, ...]:
        """Every further check it fails, judged as if the earlier ones had passed."""
        return self.verdict.failures[1:]

    def to_dict(self) -> dict[str, Any]:
        """The candidate as JSON. ``arithmetic`` is the entry that set the score.

        Priority and weight are null for a candidate that selection can't choose, as ``kubectl ome`` prints ``-``.
        """
        verdict, reason = self.verdict, self.reason
        scored = verdict.compatible
        return {
            **verdict.runtime.ref.to_dict(),
            "scope": verdict.runtime.scope,
            "compatible": verdict.qualified,
            "rank": self.rank,
            "priority": verdict.priority if verdict.qualified else None,
            "weight": verdict.weight if verdict.qualified else None,
            "score": (verdict.score.score if verdict.score else 0) if scored else None,
            "size_distance": _finite(verdict.distance) if scored else None,
            "code": reason.code if reason else None,
            "reason": reason.reason if reason else None,
            "also": [{"code": failure.code, "reason": failure.reason} for failure in self.also],
            "arithmetic": verdict.score.to_dict() if verdict.score and scored else None,
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def listed(verdicts: Sequence[Verdict], ranked: Sequence[Verdict]) -> tuple[Candidate, ...]:
    """The qualified in rank order, then the rest, ServingRuntimes first, by name."""
    first = [Candidate(verdict, place) for place, verdict in enumerate(ranked, start=1)]
    rest = [Candidate(verdict, None) for verdict in verdicts if not verdict.qualified]
    return tuple(first + sorted(rest, key=_listing_order))


def _listing_order(candidate: Candidate) -> tuple[bool, str]:
    runtime = candidate.verdict.runtime
    return runtime.cluster_scoped, runtime.ref.name
