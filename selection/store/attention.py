"""What needs a person, worst first: a few findings of each code that waits for somebody, and how many there are in all.

The order is that in which an engineer on call would ask: what can't run, what will break, what surprises.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from selection.rules.codes import CODES

from .findings import shown
from .models import Cluster, Finding
from .overview import rows_of

__all__ = ["EXAMPLES", "Concern", "concerns"]

EXAMPLES = 2
"""How many rows of one kind are shown; the rest is a link away."""

_WAITING = frozenset({"error", "warning"})


@dataclass(frozen=True, slots=True)
class Concern:
    """A kind of thing that needs a person, with its first findings.

    ``family`` and ``code`` name its badge and its sentences.
    """

    family: str
    code: str
    count: int
    rows: tuple[Finding, ...]


def concerns(cluster: Cluster | None = None, *, most: int = EXAMPLES) -> list[Concern]:
    """Every kind that there is, worst first, each with its first rows. One query, and one for each of them.

    Args:
        cluster: the only one that is looked at, None for all.
        most: how many rows of each kind.
    """
    rows = shown(rows_of(Finding, cluster))
    found = rows.order_by("urgency").values_list("code", "severity", "urgency").annotate(Count("pk"))
    return [
        Concern(CODES[code].family, code, count, tuple(_first(rows.filter(code=code), most)))
        for code, severity, _, count in found
        if _waits(code, severity)
    ]


def _waits(code: str, severity: str) -> bool:
    """Whether somebody has to look: by itself, or because this installation graded it up."""
    known = CODES.get(code)
    return known is not None and severity in _WAITING and (known.waits or severity != known.severity)


def _first(rows: QuerySet[Finding], most: int) -> list[Finding]:
    """The first rows. Engine and decoder often share a finding: an object is shown once for each kind."""
    ordered = rows.select_related("cluster").order_by(
        "cluster__name", "kind", "namespace", "name", "-component", "about"
    )
    found: dict[tuple[int, str, str, str], Finding] = {}
    for row in ordered[: most * 4]:
        found.setdefault((row.cluster_id, row.kind, row.namespace, row.name), row)
    return list(found.values())[:most]
