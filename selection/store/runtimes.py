"""Reads runtimes: the rows of their list, one runtime, and the services that get it."""

from __future__ import annotations

from django.db.models import F, QuerySet

from selection.rules.fleet import Fleet
from selection.rules.named import judge_named
from selection.rules.objects import ObjectRef

from .models import RuntimeResult, ServiceResult

__all__ = ["find_runtime_row", "refused_services", "runtime_rows", "services_of_runtime"]


def runtime_rows() -> QuerySet[RuntimeResult]:
    """Every runtime with its cluster. ``services`` is how many get it, by selection or by name."""
    return RuntimeResult.objects.select_related("cluster").annotate(services=F("selected_by") + F("named_by"))


def find_runtime_row(cluster: str, namespace: str, name: str) -> RuntimeResult:
    """The runtime of that name; ``namespace`` is ``""`` for a ClusterServingRuntime.

    Raises:
        RuntimeResult.DoesNotExist: there is none.
    """
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    return runtime_rows().get(cluster__name=cluster, kind=kind, namespace=namespace, name=name)


def services_of_runtime(runtime: RuntimeResult) -> QuerySet[ServiceResult]:
    """The services that get it, selected or named."""
    return ServiceResult.objects.select_related("cluster").filter(
        cluster=runtime.cluster_id,
        selected_kind=runtime.kind,
        selected_namespace=runtime.namespace,
        selected_name=runtime.name,
    )


def refused_services(fleet: Fleet, runtime: RuntimeResult) -> list[ServiceResult]:
    """The services that name it and don't get it, whatever the reason, by namespace and name."""
    ref = ObjectRef(runtime.kind, runtime.namespace, runtime.name)
    without = ServiceResult.objects.filter(cluster=runtime.cluster_id, named=True, selected_name="")
    return [row for row in without.order_by("namespace", "name") if _named_by(fleet, row) == ref]


def _named_by(fleet: Fleet, row: ServiceResult) -> ObjectRef | None:
    """The runtime that the service's name leads to, whether it fits or not."""
    service = fleet.services.get((row.namespace, row.name))
    if service is None or not service.named_runtime:
        return None
    found = judge_named(fleet, service, None, None).runtime
    return found.ref if found is not None else None
