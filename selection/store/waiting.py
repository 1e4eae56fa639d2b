"""Reads who waits for what on the way off MultiNode."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Q

from selection.rules.objects import ObjectRef

from .models import Cluster, ComponentResult, ModelResult, ServiceResult
from .sight import seen_through

__all__ = [
    "NEEDING",
    "clusters_on_the_way",
    "on_the_way",
    "services_of_model_left",
    "waiting_counts",
    "waiting_services",
]

NEEDING = ("not-started", "waiting-on-pin", "moved-by-upgrade", "at-risk")
"""The states in which a component still has to be moved; the others need no runtime any more."""


def waiting_services(cluster: Cluster, runtime: ObjectRef) -> list[ServiceResult]:
    """The services that get a runtime and still have to be moved, by namespace and name. One query."""
    rows = ServiceResult.objects.filter(
        cluster=cluster,
        selected_kind=runtime.kind,
        selected_namespace=runtime.namespace,
        selected_name=runtime.name,
        components__migration__in=NEEDING,
    )
    return list(rows.distinct().order_by("namespace", "name"))


def waiting_counts(cluster: Cluster, runtimes: Sequence[ObjectRef]) -> dict[ObjectRef, int]:
    """How many services still have to leave each of these runtimes; none that nobody has to. One query."""
    wanted = Q(pk__in=())
    for ref in runtimes:
        wanted |= Q(selected_kind=ref.kind, selected_namespace=ref.namespace, selected_name=ref.name)
    names = ("selected_kind", "selected_namespace", "selected_name")
    rows = ServiceResult.objects.filter(wanted, cluster=cluster, components__migration__in=NEEDING)
    counted = rows.order_by().values_list(*names).annotate(Count("pk", distinct=True))
    return {ObjectRef(kind, namespace, name): count for kind, namespace, name, count in counted}


def on_the_way(cluster: Cluster) -> int:
    """How many services have something left to do. One query."""
    rows = ComponentResult.objects.filter(result__cluster=cluster).exclude(migration__in=("", "done"))
    return rows.values("result").distinct().count()


def clusters_on_the_way() -> list[Cluster]:
    """Every cluster, those first that have most services with something left to do (``waiting``). One query."""
    left = Q(services__components__migration__gt="") & ~Q(services__components__migration="done")
    left &= seen_through(ServiceResult, "services__")
    rows = Cluster.objects.annotate(waiting=Count("services", filter=left, distinct=True))
    return list(rows.order_by("-waiting", "name"))


def services_of_model_left(model: ModelResult) -> int:
    """How many services of a model have something left to do. One query."""
    rows = ComponentResult.objects.filter(
        result__cluster=model.cluster_id,
        result__model_kind=model.kind,
        result__model_namespace=model.namespace,
        result__model_name=model.name,
    ).exclude(migration__in=("", "done"))
    return rows.values("result").distinct().count()
