"""Reads runtimes: the rows of their list, one runtime, and the services that get it."""

from __future__ import annotations

from django.db.models import F, QuerySet

from selection.rules.fleet import Fleet
from selection.rules.named import judge_named
from selection.rules.objects import ObjectRef

from .models import RuntimeResult, ServiceResult
from .rows import having

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
    # A large fleet has many of them, so whole rows are read of those alone that are shown.
    without = ServiceResult.objects.filter(cluster=runtime.cluster_id, named=True, selected_name="")
    places = without.values_list("pk", "namespace", "name")
    naming = [pk for pk, *key in places if _named_by(fleet, key[0], key[1], runtime.name) == ref]
    rows = having(ServiceResult.objects.all(), "pk", naming)
    return sorted(rows, key=lambda row: (row.namespace, row.name))


def _named_by(fleet: Fleet, namespace: str, name: str, runtime: str) -> ObjectRef | None:
    """The runtime that the service's name leads to, whether it fits or not, when it names one of this name."""
    service = fleet.services.get((namespace, name))
    if service is None or service.named_runtime != runtime:
        return None
    found = judge_named(fleet, service, None, None).runtime
    return found.ref if found is not None else None
