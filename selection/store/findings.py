"""Reads findings: the rows of their list, how many there are of each severity, and those about one object."""

from __future__ import annotations

from django.db.models import Case, Count, IntegerField, QuerySet, Value, When

from selection.rules.findings import SEVERITIES
from selection.rules.objects import ObjectRef

from .models import Cluster, FindingRow
from .overview import rows_of

__all__ = ["CODES", "ORDER", "code_counts", "finding_rows", "findings_about", "severity_counts"]

ORDER = ("error", "warning", "info")
"""The severities, the one that matters most first."""

CODES = tuple(sorted(SEVERITIES, key=lambda code: ORDER.index(SEVERITIES[code])))
"""The codes, those of errors first."""


def finding_rows() -> QuerySet[FindingRow]:
    """Every finding with its cluster. ``urgency`` sorts them: 0 is an error."""
    urgency = Case(
        *(When(severity=severity, then=Value(place)) for place, severity in enumerate(ORDER)),
        default=Value(len(ORDER)),
        output_field=IntegerField(),
    )
    return FindingRow.objects.select_related("cluster").annotate(urgency=urgency)


def findings_about(cluster: Cluster, ref: ObjectRef) -> list[FindingRow]:
    """The findings about one object, errors first. One query."""
    rows = FindingRow.objects.filter(cluster=cluster, kind=ref.kind, namespace=ref.namespace, name=ref.name)
    return sorted(rows, key=lambda row: (ORDER.index(row.severity), row.code, row.path, row.ordinal))


def severity_counts(cluster: Cluster | None = None) -> dict[str, int]:
    """How many findings there are of each severity, of one cluster or of all; errors first. One query."""
    return _counted(rows_of(FindingRow, cluster), "severity", ORDER)


def code_counts(rows: QuerySet[FindingRow]) -> dict[str, int]:
    """How many of these findings have each code; the codes that matter most first."""
    return _counted(rows, "code", CODES)


def _counted(rows: QuerySet[FindingRow], field: str, order: tuple[str, ...]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(Count("pk")))
    return {value: found[value] for value in order if value in found}
