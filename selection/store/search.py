"""Finds objects of any kind by pieces of their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from selection.rules.objects import ObjectRef

from .models import Cluster, StoredObject

__all__ = ["GROUPS", "Asked", "Found", "Hits", "find_clusters", "find_namespaces", "find_objects", "parse"]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "services": ("InferenceService",),
    "runtimes": ("ServingRuntime", "ClusterServingRuntime"),
    "models": ("BaseModel", "ClusterBaseModel"),
    "accelerators": ("AcceleratorClass",),
    "workloads": ("InferenceReplica", "LeaderWorkerSet", "Deployment"),
    "others": (),
}
"""What is found is told in these groups; ``others`` are the kinds that none of them names."""

NAMED = frozenset(kind for kinds in GROUPS.values() for kind in kinds)

KIND_WORDS = {
    "service": "services",
    "isvc": "services",
    "inferenceservice": "services",
    "runtime": "runtimes",
    "servingruntime": "runtimes",
    "clusterservingruntime": "runtimes",
    "model": "models",
    "basemodel": "models",
    "clusterbasemodel": "models",
    "accelerator": "accelerators",
    "acceleratorclass": "accelerators",
    "workload": "workloads",
    "cluster": "clusters",
    "namespace": "namespaces",
    "page": "words",
}
"""What ``kind:`` may say, in the singular; a plural with ``s`` is read too."""

_PREFIX = re.compile(r"(kind|ns|namespace|cluster):(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for.

    Attributes:
        words: pieces that a name (or ``namespace/name``) must hold, every one of them, whatever the case.
        group: the only group that is asked for, ``""`` for all; ``none`` for a kind that nobody knows.
        namespace: the beginning of the namespace's name.
        cluster: the beginning of the cluster's name.
    """

    words: tuple[str, ...] = ()
    group: str = ""
    namespace: str = ""
    cluster: str = ""

    @property
    def nothing(self) -> bool:
        """Whether nothing is asked for."""
        return self == Asked()

    def wants(self, group: str) -> bool:
        """Whether things of this group are asked for."""
        return self.group in ("", group)


@dataclass(frozen=True, slots=True)
class Found:
    """An object that was found."""

    cluster: str
    ref: ObjectRef


@dataclass(frozen=True, slots=True)
class Hits:
    """The best of a group, and how many there are in all."""

    rows: list[Found] = field(default_factory=list)
    count: int = 0


def parse(text: str) -> Asked:
    """Read what somebody typed: words, and ``kind:``, ``ns:`` (or ``namespace:``) and ``cluster:`` anywhere among them.

    >>> parse("kind:runtimes llama ns:team-a")
    Asked(words=('llama',), group='runtimes', namespace='team-a', cluster='')
    >>> parse("kind:banana").group
    'none'
    """
    words: list[str] = []
    told = {"kind": "", "ns": "", "cluster": ""}
    for word in text[:200].replace("\0", "").split():
        prefix = _PREFIX.fullmatch(word)
        if prefix is None:
            words.append(word)
        else:
            name = prefix.group(1).lower()
            told["ns" if name == "namespace" else name] = prefix.group(2)
    kind = told["kind"].lower()
    group = KIND_WORDS.get(kind, KIND_WORDS.get(kind.removesuffix("s"), "none")) if kind else ""
    return Asked(tuple(words[:8]), group, told["ns"], told["cluster"])


def find_objects(asked: Asked, limit: int) -> dict[str, Hits]:
    """The best ``limit`` objects of each group, by group. One query counts, and one more reads each group's best.

    The exact name comes first, then names that begin with the first word, then those in which it begins a part
    (``my-chat`` for ``chat``), then the others by name.
    """
    if asked.nothing or (asked.group and asked.group not in GROUPS):
        return {}
    # With the clusters named, a kind's part of the index of names answers; no manifest is looked at.
    clusters = Cluster.objects.filter(name__istartswith=asked.cluster).values_list("pk", flat=True)
    rows = _narrowed(StoredObject.objects.filter(cluster__in=list(clusters)), asked)
    counts = dict(rows.order_by().values_list("kind").annotate(Count("pk")))
    hits: dict[str, Hits] = {}
    for group, named in GROUPS.items():
        kinds = [kind for kind in named or counts.keys() - NAMED if kind in counts]
        if kinds and asked.wants(group):
            best = rows.filter(kind__in=kinds).order_by(_rank(asked), "name", "namespace", "cluster", "kind")
            found = best.values_list("cluster__name", "kind", "namespace", "name")[:limit]
            hits[group] = Hits(
                [Found(cluster, ObjectRef(*ref)) for cluster, *ref in found], sum(counts[kind] for kind in kinds)
            )
    return hits


def find_namespaces(asked: Asked, limit: int) -> list[tuple[str, str, int]]:
    """Namespaces with services, as (cluster, namespace, how many services), the exact name first. One query."""
    if asked.nothing or not asked.wants("namespaces"):
        return []
    rows = StoredObject.objects.filter(kind="InferenceService", cluster__name__istartswith=asked.cluster)
    rows = rows.filter(namespace__istartswith=asked.namespace)
    for word in asked.words:
        rows = rows.filter(namespace__icontains=word)
    counted = rows.order_by().values_list("cluster__name", "namespace").annotate(services=Count("pk"))
    first = asked.words[0].lower() if asked.words else ""
    return sorted(counted, key=lambda row: (row[1].lower() != first, row[1], row[0]))[:limit]


def find_clusters(asked: Asked, limit: int) -> list[str]:
    """Clusters by name, the exact name first. One query."""
    if asked.nothing or asked.namespace or not asked.wants("clusters"):
        return []
    rows = Cluster.objects.filter(name__istartswith=asked.cluster)
    for word in asked.words:
        rows = rows.filter(name__icontains=word)
    first = asked.words[0].lower() if asked.words else ""
    return sorted(rows.values_list("name", flat=True), key=lambda name: (name.lower() != first, name))[:limit]


def _narrowed(rows: QuerySet[StoredObject], asked: Asked) -> QuerySet[StoredObject]:
    if asked.namespace:
        rows = rows.filter(namespace__istartswith=asked.namespace)
    for word in asked.words:
        namespace, slash, name = word.partition("/")
        if slash:
            rows = rows.filter(namespace__icontains=namespace, name__icontains=name)
        else:
            rows = rows.filter(Q(name__icontains=word) | Q(namespace__icontains=word))
    return rows


def _rank(asked: Asked) -> Case:
    first = asked.words[0].rpartition("/")[2] if asked.words else ""
    if not first:
        return Case(default=Value(0), output_field=IntegerField())
    return Case(
        When(name__iexact=first, then=Value(0)),
        When(name__istartswith=first, then=Value(1)),
        When(name__icontains=f"-{first}", then=Value(2)),
        When(name__icontains=first, then=Value(3)),
        default=Value(4),
        output_field=IntegerField(),
    )
