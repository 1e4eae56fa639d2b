"""Reads findings: the rows of their list, how many there are of each severity, those about one object, and one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from selection.rules.codes import CODES as REGISTRY
from selection.rules.codes import OFF, SEVERITIES
from selection.rules.objects import ObjectRef

from .models import Cluster, Finding, FindingEvent
from .overview import rows_of

__all__ = [
    "CODES",
    "FAMILIES",
    "ORDER",
    "STATES",
    "Seen",
    "code_counts",
    "codes_of",
    "find_finding",
    "finding_rows",
    "findings_about",
    "in_state",
    "seen_of",
    "severity_counts",
    "shown",
]

ORDER = SEVERITIES
"""The severities, the one that matters most first."""

CODES = tuple(REGISTRY)
"""The codes, those that matter most by themselves first."""

FAMILIES = tuple(dict.fromkeys(each.family for each in REGISTRY.values()))
"""The families of codes."""

STATES: Mapping[str, Q] = {
    "present": Q(gone_at=None),
    "back": Q(gone_at=None, came_back__gt=0),
    "gone": Q(gone_at__isnull=False),
    "any": Q(),
}
"""What may be asked of a finding's state: it is there; it was gone and is back; it is gone; whichever."""


def finding_rows() -> QuerySet[Finding]:
    """Every finding with its cluster, also those that are gone or hidden."""
    return Finding.objects.select_related("cluster")


def shown(rows: QuerySet[Finding]) -> QuerySet[Finding]:
    """Those that are there and that this installation wants to see."""
    return rows.filter(gone_at=None).exclude(severity=OFF)


def in_state(rows: QuerySet[Finding], state: str, severity: str) -> QuerySet[Finding]:
    """Those that a list has which is asked for a state and a severity; ``""`` is present, and whatever isn't off."""
    rows = rows.filter(STATES.get(state, STATES["present"]))
    return rows if severity == OFF else rows.exclude(severity=OFF)


def codes_of(family: str) -> list[str]:
    """The codes of a family."""
    return [code for code, each in REGISTRY.items() if each.family == family]


def findings_about(cluster: Cluster, ref: ObjectRef) -> list[Finding]:
    """The findings about one object, the worst first. One query."""
    rows = Finding.objects.filter(cluster=cluster, kind=ref.kind, namespace=ref.namespace, name=ref.name)
    return list(shown(rows).order_by("urgency", "-component", "path", "about"))


def severity_counts(cluster: Cluster | None = None) -> dict[str, int]:
    """How many findings there are of each severity, of one cluster or of all; errors first. One query."""
    return _counted(shown(rows_of(Finding, cluster)), "severity", ORDER)


def code_counts(rows: QuerySet[Finding]) -> dict[str, tuple[str, int]]:
    """The severity of each code that these findings have and how many have it, the ones that matter most first."""
    found = rows.order_by("urgency").values_list("code", "severity", "urgency").annotate(Count("pk"))
    return {code: (severity, count) for code, severity, _, count in found}


def _counted(rows: QuerySet[Finding], field: str, order: tuple[str, ...]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(Count("pk")))
    return {value: found[value] for value in order if value in found}


def find_finding(key: str) -> Finding | None:
    """The finding of that key with its cluster, None when none is kept, or none that is seen. One query."""
    return finding_rows().filter(key=key).first()


@dataclass(frozen=True, slots=True)
class Seen:
    """When a finding was seen.

    Attributes:
        first: when it was first seen.
        last: when it was last known to be there.
        events: what became of it since, the newest first.
    """

    first: datetime
    last: datetime
    events: tuple[FindingEvent, ...]


def seen_of(finding: Finding) -> Seen:
    """When a finding was seen, and what became of it. Two queries.

    Nothing is written while it stays: it was last seen when the objects of its kind were last known to be what the
    cluster has, or when it went.
    """
    kinds = finding.cluster.kinds.filter(kind=finding.kind)
    known = [when for pair in kinds.values_list("confirmed_at", "listed_at") for when in pair if when]
    known += [when for when in (finding.first_seen, finding.changed_at, finding.came_back_at) if when]
    last = finding.gone_at or max(known)
    return Seen(finding.first_seen, last, tuple(finding.events.all()))
