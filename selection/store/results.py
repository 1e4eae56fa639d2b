"""One service's stored answer, and the versions of the objects that an answer rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from selection.rules.objects import ObjectRef

from .models import Cluster, ServiceResult, StoredObject
from .sight import seen_through

__all__ = ["Version", "namespaces_of", "resource_versions", "service_clusters", "service_result", "sharing_model"]


@dataclass(frozen=True, slots=True)
class Version:
    """An object with the version that was read; ``""`` where it has none, as from files."""

    ref: ObjectRef
    resource_version: str


def service_result(cluster: Cluster, namespace: str, name: str) -> ServiceResult | None:
    """The service's row in the lists, None before the first evaluation."""
    return ServiceResult.objects.filter(cluster=cluster, namespace=namespace, name=name).first()


def resource_versions(cluster: Cluster, refs: Iterable[ObjectRef]) -> list[Version]:
    """The versions of these objects, in their order. One query."""
    wanted = list(dict.fromkeys(refs))
    if not wanted:
        return []
    any_of = Q()
    for ref in wanted:
        any_of |= Q(kind=ref.kind, namespace=ref.namespace, name=ref.name)
    rows = StoredObject.objects.filter(any_of, cluster=cluster)
    known = {
        (kind, namespace, name): version
        for kind, namespace, name, version in rows.values_list("kind", "namespace", "name", "resource_version")
    }
    return [Version(ref, known.get((ref.kind, ref.namespace, ref.name), "")) for ref in wanted]


def sharing_model(cluster: Cluster, namespace: str, name: str, limit: int = 10) -> list[ObjectRef]:
    """Other services of the cluster that use the model of this one, those of its namespace first. Two queries."""
    row = service_result(cluster, namespace, name)
    if row is None or not row.model_name:
        return []
    rows = ServiceResult.objects.filter(cluster=cluster, model_name=row.model_name, model_kind=row.model_kind)
    found = rows.filter(model_namespace=row.model_namespace).exclude(pk=row.pk).values_list("namespace", "name")
    ordered = sorted(found, key=lambda each: (each[0] != namespace, each))
    return [ObjectRef("InferenceService", *each) for each in ordered[:limit]]


def service_clusters() -> list[str]:
    """The names of the clusters that have services, sorted."""
    rows = Cluster.objects.filter(seen_through(ServiceResult, "services__"), services__isnull=False)
    return list(rows.order_by("name").values_list("name", flat=True).distinct())


def namespaces_of(cluster: Cluster) -> list[tuple[str, int]]:
    """The cluster's namespaces that have services, with how many, sorted."""
    rows = ServiceResult.objects.filter(cluster=cluster).order_by("namespace")
    return list(rows.values_list("namespace").annotate(count=Count("pk")))
