"""Rows about findings: what follows from the rules and nobody else reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from selection.rules.findings import Finding, describe, model_findings, runtime_findings, service_findings
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.overlaps import overlap_findings
from selection.rules.reach import Reach

from .models import Cluster, FindingRow
from .rows import Written, having, write_rows

__all__ = ["every_finding", "write_findings"]

SERVICE = "InferenceService"


def every_finding(fleet: Fleet) -> Iterator[Finding]:
    """Every finding of a fleet, as the rows have them."""
    yield from _service_findings(fleet, None)
    yield from _other_findings(fleet)


def write_findings(cluster: Cluster, fleet: Fleet, touched: Reach | None) -> Written:
    """Write the cluster's findings.

    Those of services are made anew where they are touched; those of runtimes and models together, when any of
    these is, because each may depend on every other.
    """
    rows = FindingRow.objects.filter(cluster=cluster)
    whole = touched is None or bool(touched.runtimes or touched.models)
    found = list(_service_findings(fleet, touched)) + (list(_other_findings(fleet)) if whole else [])
    if touched is None:
        return write_rows(rows, _rows(cluster, found), FindingRow)
    services = rows.filter(kind=SERVICE)
    existing = [
        row
        for row in having(services, "name", (name for _, name in touched.services))
        if (row.namespace, row.name) in touched.services
    ]
    existing += list(rows.exclude(kind=SERVICE)) if whole else []
    return write_rows(existing, _rows(cluster, found), FindingRow)


def _rows(cluster: Cluster, findings: list[Finding]) -> Iterator[FindingRow]:
    seen: Counter[tuple[ObjectRef, str, str]] = Counter()
    for finding in findings:
        identity = (finding.object, finding.code, finding.path)
        yield FindingRow(
            cluster=cluster,
            kind=finding.object.kind,
            namespace=finding.object.namespace,
            name=finding.object.name,
            code=finding.code,
            path=finding.path,
            ordinal=seen[identity],
            severity=finding.severity,
            facts=dict(finding.facts),
        )
        seen[identity] += 1


def _service_findings(fleet: Fleet, touched: Reach | None) -> Iterator[Finding]:
    for key in fleet.services if touched is None else touched.services:
        service = fleet.services.get(key)
        if service is not None:
            yield from service_findings(fleet, service)


def _other_findings(fleet: Fleet) -> Iterator[Finding]:
    described = describe(fleet)
    for runtime in fleet.runtimes.values():
        yield from runtime_findings(fleet, runtime, described)
    for model in fleet.models.values():
        yield from model_findings(model)
    yield from overlap_findings(fleet)
