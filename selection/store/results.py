"""One service's stored answer, and the versions of the objects that an answer rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from selection.rules.objects import ObjectRef

from .models import Cluster, ServiceResult, StoredObject

__all__ = ["Version", "resource_versions", "service_result"]


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
