"""Rows about services: what each gets, how its components run, and where modes don't agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from selection.rules.conflicts import Conflict, runtime_conflicts
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.reach import Reach

from .models import Cluster, ComponentResult, ConflictRow, ServiceResult, StoredObject
from .rows import Delta, Written, compare_rows, having, write_delta, write_rows

__all__ = ["write_conflicts", "write_services"]

_STAMPS = ["computed_at", "generation"]
_NOWHERE = ObjectRef("", "", "")


def write_services(
    cluster: Cluster, explanations: Sequence[Explanation], touched: Reach | None, generation: int
) -> tuple[Written, Delta[ServiceResult]]:
    """Write one row for each service and one for each of its components; only those touched, unless None.

    Rows that differ get the generation. Returned is also what differed about services.
    """
    now = timezone.now()
    versions = _versions(cluster, explanations if touched else None)
    wanted = [_service_row(cluster, explanation, versions, now) for explanation in explanations]
    results = ServiceResult.objects.filter(cluster=cluster)
    for row in wanted:
        row.generation = generation
    delta = compare_rows(_touched_rows(results, touched), wanted, ServiceResult, stamps=_STAMPS)
    written = write_delta(delta, ServiceResult)
    keys = _keys(results, touched)
    parts = ComponentResult.objects.filter(result__cluster=cluster)
    existing = parts if touched is None else having(parts, "result_id", keys.values())
    components = [row for explanation in explanations for row in _component_rows(explanation, keys)]
    return written + write_rows(existing, components, ComponentResult), delta


def _touched_rows(results: QuerySet[ServiceResult], touched: Reach | None) -> Iterable[ServiceResult]:
    if touched is None:
        return results
    named = having(results, "name", (name for _, name in touched.services))
    return (row for row in named if (row.namespace, row.name) in touched.services)


def _keys(results: QuerySet[ServiceResult], touched: Reach | None) -> dict[tuple[str, str], int]:
    """The primary keys of the services' rows."""
    if touched is None:
        return {(namespace, name): pk for pk, namespace, name in results.values_list("pk", "namespace", "name")}
    return {(row.namespace, row.name): row.pk for row in _touched_rows(results.only("namespace", "name"), touched)}


def _versions(cluster: Cluster, explanations: Sequence[Explanation] | None) -> dict[tuple[str, str, str], str]:
    """The resourceVersions of the cluster's objects, or of those that decide these explanations."""
    rows = StoredObject.objects.filter(cluster=cluster)
    if explanations is None:
        told = rows.values_list("kind", "namespace", "name", "resource_version")
        return {(kind, namespace, name): version for kind, namespace, name, version in told}
    names = {ref.name for explanation in explanations for ref in _deciding(explanation)}
    found = having(rows.only("kind", "namespace", "name", "resource_version"), "name", names)
    return {(row.kind, row.namespace, row.name): row.resource_version for row in found}


def _deciding(explanation: Explanation) -> list[ObjectRef]:
    refs = [explanation.subject]
    refs += [explanation.model.ref] if explanation.model else []
    refs += [explanation.selected.ref] if explanation.selected else []
    return refs


def _service_row(
    cluster: Cluster, explanation: Explanation, versions: dict[tuple[str, str, str], str], now: datetime
) -> ServiceResult:
    selected = explanation.selected.ref if explanation.selected else _NOWHERE
    model = explanation.model.ref if explanation.model else _NOWHERE
    written_model = explanation.service.model_name if explanation.service else None
    return ServiceResult(
        cluster=cluster,
        namespace=explanation.subject.namespace,
        name=explanation.subject.name,
        outcome=explanation.outcome,
        selected_kind=selected.kind,
        selected_namespace=selected.namespace,
        selected_name=selected.name,
        score=explanation.score,
        named=bool(explanation.service and explanation.service.named_runtime),
        model_kind=model.kind,
        model_namespace=model.namespace,
        model_name=model.name or written_model or "",
        message=explanation.message or "",
        admitted=explanation.admission.allowed,
        qualified=explanation.qualified,
        modes={name: modes.to_dict() for name, modes in explanation.modes.items()},
        conflicts=sorted({conflict.code for conflict in explanation.conflicts}),
        computed_from=[
            {**ref.to_dict(), "resourceVersion": versions.get((ref.kind, ref.namespace, ref.name)) or None}
            for ref in _deciding(explanation)
        ],
        computed_at=now,
    )


def _component_rows(explanation: Explanation, keys: dict[tuple[str, str], int]) -> Iterator[ComponentResult]:
    for name, modes in explanation.modes.items():
        yield ComponentResult(
            result_id=keys[(explanation.subject.namespace, explanation.subject.name)],
            component=name,
            requested=modes.requested.mode if modes.requested else "",
            requested_source=modes.requested.source if modes.requested else "",
            declared=modes.runtime.mode if modes.runtime else "",
            running=modes.running.mode if modes.rendered else "",
            running_source=modes.running.source if modes.rendered else "",
            conflict=modes.conflicts[0].code if modes.conflicts else "",
            migration=modes.migration or "",
            workloads=", ".join(sorted({workload.ref.kind for workload in modes.workloads})),
        )


def write_conflicts(
    cluster: Cluster, fleet: Fleet, explanations: Sequence[Explanation], touched: Reach | None
) -> Written:
    """Write one row for each conflict of a service's component and for each of a runtime's own."""
    wanted = [row for explanation in explanations for row in _service_conflicts(cluster, explanation)]
    for runtime in fleet.runtimes.values():
        if touched is None or runtime.ref in touched.runtimes:
            wanted += [
                _conflict_row(cluster, conflict, runtime.ref, _NOWHERE, "", "")
                for conflict in runtime_conflicts(runtime, fleet.semantics)
            ]
    seen: Counter[tuple[Any, ...]] = Counter()
    for row in wanted:
        identity = (row.namespace, row.service, row.component, row.code, row.runtime_kind, row.runtime_namespace)
        row.ordinal = seen[(*identity, row.runtime_name)]
        seen[(*identity, row.runtime_name)] += 1
    rows = ConflictRow.objects.filter(cluster=cluster)
    return write_rows(rows if touched is None else _touched_conflicts(rows, touched), wanted, ConflictRow)


def _touched_conflicts(rows: QuerySet[ConflictRow], touched: Reach) -> Iterator[ConflictRow]:
    for row in having(rows, "service", (name for _, name in touched.services)):
        if (row.namespace, row.service) in touched.services:
            yield row
    own = rows.filter(service="")
    for row in having(own, "runtime_name", (ref.name for ref in touched.runtimes)):
        if ObjectRef(row.runtime_kind, row.runtime_namespace, row.runtime_name) in touched.runtimes:
            yield row


def _service_conflicts(cluster: Cluster, explanation: Explanation) -> Iterator[ConflictRow]:
    runtime = explanation.selected.ref if explanation.selected else _NOWHERE
    for _name, modes in explanation.modes.items():
        requested = modes.requested.mode if modes.requested else ""
        for conflict in modes.conflicts:
            # A rejection is about the runtime that was kept away, not about the one that was selected.
            kept = conflict.facts.get("runtimes")
            about = ObjectRef(kept[0]["kind"], kept[0]["namespace"] or "", kept[0]["name"]) if kept else runtime
            row = _conflict_row(
                cluster, conflict, about, explanation.subject, requested, modes.running.mode if modes.rendered else ""
            )
            row.declared = row.declared or (modes.runtime.mode if modes.runtime else "")
            yield row


def _conflict_row(
    cluster: Cluster, conflict: Conflict, runtime: ObjectRef, service: ObjectRef, requested: str, running: str
) -> ConflictRow:
    declared = conflict.facts.get("declared", conflict.facts.get("mode", ""))
    return ConflictRow(
        cluster=cluster,
        namespace=service.namespace,
        service=service.name,
        component=conflict.component,
        code=conflict.code,
        runtime_kind=runtime.kind,
        runtime_namespace=runtime.namespace,
        runtime_name=runtime.name,
        requested=requested,
        declared=declared or "",
        running=running,
        facts=dict(conflict.facts),
    )
