"""Rows about findings: what follows from the rules and nobody else reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from selection.rules.findings import Finding, describe, model_findings, runtime_findings, service_findings
from selection.rules.fleet import Fleet
from selection.rules.overlaps import overlap_findings

from .models import Cluster, FindingRow
from .rows import Written, write_rows

__all__ = ["write_findings"]


def write_findings(cluster: Cluster, fleet: Fleet) -> Written:
    """Write every finding of the cluster. All are made anew: each may depend on every runtime and model."""
    seen: Counter[tuple[str, str, str, str, str]] = Counter()
    wanted = []
    for finding in _findings(fleet):
        ref = finding.object
        identity = (ref.kind, ref.namespace, ref.name, finding.code, finding.path)
        wanted.append(
            FindingRow(
                cluster=cluster,
                kind=ref.kind,
                namespace=ref.namespace,
                name=ref.name,
                code=finding.code,
                path=finding.path,
                ordinal=seen[identity],
                severity=finding.severity,
                facts=dict(finding.facts),
            )
        )
        seen[identity] += 1
    return write_rows(FindingRow.objects.filter(cluster=cluster), wanted, FindingRow)


def _findings(fleet: Fleet) -> Iterator[Finding]:
    described = describe(fleet)
    for runtime in fleet.runtimes.values():
        yield from runtime_findings(fleet, runtime, described)
    for model in fleet.models.values():
        yield from model_findings(model)
    for service in fleet.services.values():
        yield from service_findings(fleet, service)
    yield from overlap_findings(fleet)
