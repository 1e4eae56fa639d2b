"""What the overview counts, with a number of queries that doesn't grow with the fleet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Count, Model, QuerySet

from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES
from selection.rules.migration import STATES
from selection.rules.modes import COMPONENTS

from .models import Cluster, ComponentResult, ConflictRow, RuntimeResult, ServiceResult, StoredObject

__all__ = ["OFF_MULTI_NODE", "ModeCount", "Overview", "count_by_outcome", "overview", "rows_of", "unreadable_objects"]

Row = TypeVar("Row", bound=Model)

OFF_MULTI_NODE = ("done", "cleanup-due", "moved-by-upgrade", "at-risk")
"""The states in which a component runs in OMENative already, whatever is left to do."""


@dataclass(frozen=True, slots=True)
class ModeCount:
    """How many components run in a mode: all of them, by component, and by cluster (its name)."""

    mode: str
    count: int
    components: Mapping[str, int]
    clusters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of the clusters, as counts. Mappings have only what there is, in the order of the rules.

    Attributes:
        services: how many there are.
        outcomes: services by outcome.
        modes: components by running mode, the most frequent first.
        not_rendered: components that have no runtime to run from, and so no mode.
        conflicts: conflicts of services by code, the one that matters most first.
        migration: engines and decoders by their state on the way off MultiNode, the worst first.
        unreadable: objects other than services that can't be judged; such a service has the outcome ``invalid``.
        refused: services with a runtime that the webhook would refuse now all the same.
        broken_chains: runtimes whose inheritance can't be followed.
    """

    services: int
    outcomes: Mapping[str, int]
    modes: tuple[ModeCount, ...]
    not_rendered: int
    conflicts: Mapping[str, int]
    migration: Mapping[str, int]
    unreadable: int
    refused: int
    broken_chains: int

    @property
    def components(self) -> int:
        """How many components there are."""
        return sum(each.count for each in self.modes)

    @property
    def without_runtime(self) -> int:
        """Services that get no runtime and should: none suits, or they can't be judged."""
        return self.outcomes.get("no-runtime", 0) + self.outcomes.get("invalid", 0)

    @property
    def multi_node(self) -> int:
        """Components that are, or were, on a LeaderWorkerSet."""
        return sum(self.migration.values())

    @property
    def off_multi_node(self) -> int:
        """Those of them that run in OMENative by now."""
        return sum(self.migration.get(state, 0) for state in OFF_MULTI_NODE)

    @property
    def on_multi_node(self) -> int:
        """Those of them that don't yet."""
        return self.multi_node - self.off_multi_node


def overview(cluster: Cluster | None = None) -> Overview:
    """Count everything, of one cluster or of all. Nine queries."""
    services, components = rows_of(ServiceResult, cluster), rows_of(ComponentResult, cluster)
    outcomes = count_by_outcome(services)
    return Overview(
        services=sum(outcomes.values()),
        outcomes=_in_order(outcomes, OUTCOMES),
        modes=_modes(components.exclude(running=""), dict(Cluster.objects.values_list("pk", "name"))),
        not_rendered=components.filter(running="").count(),
        conflicts=_in_order(_counted(rows_of(ConflictRow, cluster).exclude(service=""), "code"), CODES),
        migration=_in_order(_counted(components.exclude(migration=""), "migration"), STATES),
        unreadable=unreadable_objects(cluster).count(),
        refused=services.filter(admitted=False).exclude(outcome__in=["no-runtime", "invalid"]).count(),
        broken_chains=rows_of(RuntimeResult, cluster).exclude(chain_problem="").count(),
    )


def rows_of(model: type[Row], cluster: Cluster | None) -> QuerySet[Row]:
    """The rows of one cluster, or of all."""
    rows: QuerySet[Row] = model._default_manager.all()
    if cluster is None:
        return rows
    return rows.filter(**{"result__cluster" if model is ComponentResult else "cluster": cluster})


def unreadable_objects(cluster: Cluster | None) -> QuerySet[StoredObject]:
    """The objects other than services that can't be judged."""
    return rows_of(StoredObject, cluster).exclude(problem_message="").exclude(kind="InferenceService")


def count_by_outcome(rows: QuerySet[ServiceResult]) -> dict[str, int]:
    """How many services there are of each outcome. One query."""
    return _counted(rows, "outcome")


def _counted(rows: QuerySet[Any], field: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(field).annotate(rows=Count("pk")))


def _in_order(counts: Mapping[str, int], order: tuple[str, ...]) -> dict[str, int]:
    return {code: counts[code] for code in order if counts.get(code)}


def _modes(rows: QuerySet[ComponentResult], names: Mapping[int, str]) -> tuple[ModeCount, ...]:
    components: dict[str, Counter[str]] = {}
    clusters: dict[str, Counter[str]] = {}
    grouped = rows.order_by().values_list("running", "component", "result__cluster_id").annotate(rows=Count("pk"))
    for mode, component, cluster, count in grouped:
        components.setdefault(mode, Counter())[component] += count
        clusters.setdefault(mode, Counter())[names[cluster]] += count
    counts = [
        ModeCount(mode, parts.total(), {name: parts[name] for name in COMPONENTS if name in parts}, clusters[mode])
        for mode, parts in components.items()
    ]
    return tuple(sorted(counts, key=lambda each: (-each.count, each.mode)))
