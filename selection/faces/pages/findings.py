"""Findings: what follows from the rules and nobody else reports, each with what to do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import FindingFilter
from selection.faces.lists import Column, Group, Listing, ListState, show_list
from selection.faces.words import word
from selection.rules.findings import SEVERITIES
from selection.store.findings import code_counts, finding_rows

__all__ = ["FINDINGS", "findings"]

FINDINGS = Listing(
    name="findings",
    noun="finding",
    filters=FindingFilter,
    columns=(
        Column("severity", "Severity", ("urgency", "code"), "severity"),
        Column("code", "Finding", ("code",), "code"),
        Column("cluster", "", value="cluster.name"),
        Column("kind", "", value="kind"),
        Column("namespace", "", value="namespace"),
        Column("name", "Object", ("name", "namespace", "cluster__name"), "name"),
        Column("path", "", value="path"),
        Column("what", "What it is, and what to do"),
        Column("facts", "", value="facts"),
    ),
    row="findings/row.html",
    empty="findings/empty.html",
    sort="severity",
    groups={
        "code": Group("finding", ("code",), ("urgency",), "finding"),
        "namespace": Group("namespace", ("namespace",)),
        "object": Group("object", ("cluster__name", "kind", "namespace", "name")),
    },
    summary="findings/summary.html",
)


@require_GET
def findings(request: HttpRequest) -> HttpResponseBase:
    """The page of findings, ``/findings/``."""
    return show_list(request, FINDINGS, finding_rows(), "findings/page.html", _summary)


def _summary(state: ListState) -> dict[str, Any]:
    """The count of each finding; it counts what the other filters leave."""
    counts = code_counts(state.narrowed_without("code"))
    asked = state.query.get("code", "")
    return {
        "codes": [(code, word("severity", SEVERITIES[code]), count, code == asked) for code, count in counts.items()],
        "all_codes": sum(counts.values()),
    }
