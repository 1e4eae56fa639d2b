"""What needs a person, worst first: a few rows of each kind, and how many there are in all.

Follows the order in which an engineer on call would ask: what can't run, what will break, what surprises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from selection.rules.objects import ObjectRef

from .models import Cluster, ComponentResult, ConflictRow, RuntimeResult, ServiceResult
from .overview import Overview, rows_of, unreadable_objects

__all__ = ["EXAMPLES", "Attention", "Concern", "concerns"]

EXAMPLES = 2
"""How many rows of one kind are shown; the rest is a link away."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs a person: the object, and what its sentence needs.

    ``conflict`` is the row of a mode conflict, ``message`` the text that OME or the reader of manifests gives.
    """

    cluster: str
    subject: ObjectRef
    component: str = ""
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    conflict: ConflictRow | None = None


@dataclass(frozen=True, slots=True)
class Concern:
    """A kind of thing that needs a person, with its first rows.

    ``family`` and ``code`` name its badge and its sentences.
    """

    family: str
    code: str
    count: int
    rows: tuple[Attention, ...]


def concerns(counts: Overview, cluster: Cluster | None = None, *, most: int = EXAMPLES) -> list[Concern]:
    """Every kind that there is, worst first, each with its first rows. One query for each of them, at most sixteen.

    Args:
        counts: the overview of the same cluster.
        cluster: the only one that is looked at, None for all.
        most: how many rows of each kind.
    """
    found = []
    for family, code, count, fetch in _sources(counts):
        if count:
            found.append(Concern(family, code, count, tuple(fetch(cluster, code, most))))
    return found


_Fetch = Callable[[Cluster | None, str, int], Iterator[Attention]]


def _sources(counts: Overview) -> Iterator[tuple[str, str, int, _Fetch]]:
    for code in ("no-runtime", "invalid"):
        yield "outcome", code, counts.outcomes.get(code, 0), _services
    for code in ("impossible", "pair"):
        yield "conflict", code, counts.conflicts.get(code, 0), _conflicts
    for code in ("at-risk", "waiting-on-pin", "moved-by-upgrade"):
        yield "migration", code, counts.migration.get(code, 0), _components
    yield "admission", "refused", counts.refused, _refused
    yield "object", "unreadable", counts.unreadable, _unreadable
    yield "object", "broken-chain", counts.broken_chains, _broken_chains
    for code in ("rejected", "overridden", "hidden", "silent-takeover", "no-workers", "drift"):
        yield "conflict", code, counts.conflicts.get(code, 0), _conflicts
    yield "migration", "cleanup-due", counts.migration.get("cleanup-due", 0), _components


def _service(namespace: str, name: str) -> ObjectRef:
    return ObjectRef("InferenceService", namespace, name)


def _first(rows: QuerySet[Any], most: int, *order: str) -> QuerySet[Any]:
    return rows.order_by(*order)[:most]


def _service_rows(rows: QuerySet[ServiceResult], most: int) -> Iterator[Attention]:
    for row in _first(rows.select_related("cluster"), most, "cluster__name", "namespace", "name"):
        yield Attention(row.cluster.name, _service(row.namespace, row.name), message=row.message)


def _services(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    return _service_rows(rows_of(ServiceResult, cluster).filter(outcome=code), most)


def _refused(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    rows = rows_of(ServiceResult, cluster).filter(admitted=False).exclude(outcome__in=["no-runtime", "invalid"])
    return _service_rows(rows, most)


def _conflicts(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    rows = rows_of(ConflictRow, cluster).filter(code=code).exclude(service="").select_related("cluster")
    seen: set[tuple[int, str, str]] = set()
    # Engine and decoder often share one: a service is shown once for each kind.
    for row in rows.order_by("cluster__name", "namespace", "service", "-component", "ordinal")[: most * 4]:
        key = (row.cluster_id, row.namespace, row.service)
        if key not in seen and len(seen) < most:
            seen.add(key)
            subject = _service(row.namespace, row.service)
            yield Attention(row.cluster.name, subject, row.component, conflict=row)


def _components(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    rows = rows_of(ComponentResult, cluster).filter(migration=code).select_related("result__cluster")
    for row in _first(rows, most, "result__cluster__name", "result__namespace", "result__name", "component"):
        subject = _service(row.result.namespace, row.result.name)
        yield Attention(row.result.cluster.name, subject, row.component)


def _unreadable(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    rows = unreadable_objects(cluster).defer("manifest").select_related("cluster")
    for row in _first(rows, most, "cluster__name", "kind", "namespace", "name"):
        where = f"{row.problem_path}: " if row.problem_path else ""
        subject = ObjectRef(row.kind, row.namespace, row.name)
        yield Attention(row.cluster.name, subject, message=f"{where}{row.problem_message}")


def _broken_chains(cluster: Cluster | None, code: str, most: int) -> Iterator[Attention]:
    rows = rows_of(RuntimeResult, cluster).exclude(chain_problem="").select_related("cluster")
    for row in _first(rows, most, "cluster__name", "namespace", "name"):
        subject = ObjectRef(row.kind, row.namespace, row.name)
        facts = {"parent": row.parent, "problem": row.chain_problem}
        yield Attention(row.cluster.name, subject, facts=facts)
