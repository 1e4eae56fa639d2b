"""Finding one object by its identity, and names like it when there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from django.db.models import Q

from selection.rules.objects import ObjectRef

from .models import Cluster, StoredObject

__all__ = ["Near", "elsewhere", "find_cluster", "find_object", "manifests_of", "named_like", "names_near", "objects_of"]

#: More names than this aren't compared letter by letter; those that contain the name are found all the same.
_COMPARED = 5000

#: Characters; no name in Kubernetes has more. Databases refuse to look for what is far longer.
_LONGEST = 253

#: PostgreSQL has no text with it, and refuses to look for one; SQLite finds nothing.
_NUL = "\0"

SIBLINGS = {
    "ServingRuntime": ("ServingRuntime", "ClusterServingRuntime"),
    "ClusterServingRuntime": ("ServingRuntime", "ClusterServingRuntime"),
    "BaseModel": ("BaseModel", "ClusterBaseModel"),
    "ClusterBaseModel": ("BaseModel", "ClusterBaseModel"),
}
"""Kinds that are looked through together: one is often asked for where the other is meant."""


@dataclass(frozen=True, slots=True)
class Near:
    """An object that may have been meant."""

    cluster: str
    ref: ObjectRef


def find_cluster(name: str) -> Cluster | None:
    """The cluster of that name."""
    if _NUL in name:
        return None
    return Cluster.objects.filter(name=name).first()


def find_object(cluster: str, kind: str, namespace: str, name: str) -> StoredObject | None:
    """The object as it was read, with its cluster; ``namespace`` is ``""`` for a cluster-scoped one."""
    if any(_NUL in part for part in (cluster, kind, namespace, name)):
        return None
    rows = StoredObject.objects.select_related("cluster")
    return rows.filter(cluster__name=cluster, kind=kind, namespace=namespace, name=name).first()


def names_near(cluster: str, kind: str, name: str, limit: int = 5) -> list[Near]:
    """Objects of that kind (or its sibling of the other scope) with the same or a similar name, best first.

    The same name elsewhere comes first, then names that differ by a few letters, then names that contain it.
    Two queries at most.
    """
    if len(name) > _LONGEST or _NUL in cluster + kind + name:
        return []
    rows = StoredObject.objects.filter(kind__in=SIBLINGS.get(kind, (kind,))).exclude(name="")
    fields = ("cluster__name", "kind", "namespace", "name")
    same = rows.filter(Q(name=name) | Q(name__icontains=name)).order_by("cluster__name", "namespace", "name")
    found = [_near(values) for values in same.values_list(*fields)[:50]]
    here = [_near(values) for values in rows.filter(cluster__name=cluster).values_list(*fields)[:_COMPARED]]
    close = get_close_matches(name, sorted({each.ref.name for each in here}), n=limit, cutoff=0.6)
    ranked = [each for each in found if each.ref.name == name]
    ranked += [each for like in close for each in here if each.ref.name == like]
    ranked += found
    return list(dict.fromkeys(ranked))[:limit]


def _near(values: tuple[str, str, str, str]) -> Near:
    cluster, kind, namespace, name = values
    return Near(cluster, ObjectRef(kind, namespace, name))


def objects_of(cluster: Cluster, refs: Iterable[ObjectRef]) -> dict[ObjectRef, StoredObject]:
    """These objects as they were read, without those that aren't there. One query."""
    any_of = Q(pk__in=())
    for ref in refs:
        if _NUL not in ref.kind + ref.namespace + ref.name:  # PostgreSQL would refuse the whole question
            any_of |= Q(kind=ref.kind, namespace=ref.namespace, name=ref.name)
    rows = StoredObject.objects.filter(any_of, cluster=cluster)
    return {ObjectRef(row.kind, row.namespace, row.name): row for row in rows}


def manifests_of(cluster: Cluster, refs: Iterable[ObjectRef]) -> dict[ObjectRef, Mapping[str, Any]]:
    """The manifests of these objects, of a few hundred at most, without those that aren't there. One query a kind.

    Names are asked for and namespaces compared here: hundreds of conditions on both take a database seconds.
    """
    wanted = set(refs)
    kinds: dict[str, set[str]] = {}
    for ref in wanted:
        kinds.setdefault(ref.kind, set()).add(ref.name)
    found: dict[ObjectRef, Mapping[str, Any]] = {}
    for kind, names in kinds.items():
        scopes = {ref.namespace for ref in wanted if ref.kind == kind}
        rows = StoredObject.objects.filter(cluster=cluster, kind=kind, namespace__in=scopes, name__in=names)
        for namespace, name, manifest in rows.values_list("namespace", "name", "manifest"):
            found[ObjectRef(kind, namespace, name)] = manifest
    return {ref: manifest for ref, manifest in found.items() if ref in wanted}


def elsewhere(stored: StoredObject, limit: int = 20) -> list[Near]:
    """Objects of the same name and kind (or its sibling of the other scope): those of other clusters first."""
    rows = StoredObject.objects.filter(kind__in=SIBLINGS.get(stored.kind, (stored.kind,)), name=stored.name)
    values = rows.exclude(pk=stored.pk).values_list("cluster__name", "kind", "namespace", "name")
    found = sorted(values, key=lambda each: (each[0] == stored.cluster.name, each[2] != stored.namespace, each))
    return [_near(each) for each in found[:limit]]


def named_like(kinds: Iterable[str], text: str, limit: int = 30) -> list[Near]:
    """Objects of these kinds that have every word of the text in their cluster's, namespace's or own name."""
    words = text.replace(_NUL, "").split()[:8]
    if any(len(word) > _LONGEST for word in words):
        return []
    rows = StoredObject.objects.filter(kind__in=list(kinds))
    for word in words:
        rows = rows.filter(Q(name__icontains=word) | Q(namespace__icontains=word) | Q(cluster__name__icontains=word))
    values = rows.order_by("name", "cluster__name", "namespace").values_list(
        "cluster__name", "kind", "namespace", "name"
    )
    return [_near(each) for each in values[:limit]]
