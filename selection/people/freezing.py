"""Freezes a part of the clusters for a review: its findings as they are, and the objects that they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from selection.rules.codes import CODES, SEVERITIES
from selection.rules.differences import deciding_digest
from selection.rules.objects import ObjectRef
from selection.rules.stream import digest_of
from selection.store.findings import shown
from selection.store.models import Cluster, Finding, ServiceResult, StoredObject

from .models import ReviewInput, ReviewItem
from .writing import Refused

__all__ = ["MOST_ITEMS", "Frozen", "Scope", "findings_in", "freeze", "freeze_items"]

MOST_ITEMS = 5_000
"""More than these nobody goes through; a narrower scope is better."""

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a review is about.

    Attributes:
        places: clusters and namespaces by name; ``""`` for all namespaces of a cluster, with what is in none.
        codes: only these, none for all.
        severities: only these, none for all.
    """

    places: tuple[Place, ...]
    codes: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()

    def check(self) -> None:
        """See that it can be.

        Raises:
            Refused: it names nothing, or what isn't known.
        """
        if not self.places:
            raise Refused("a review needs a cluster at least", "places")
        known = set(Cluster.objects.values_list("name", flat=True))
        for cluster, _ in self.places:
            if cluster not in known:
                raise Refused(f"there is no cluster {cluster[:80]!r}", "places")
        for code in self.codes:
            if code not in CODES:
                raise Refused(f"there is no code {code[:80]!r}", "codes")
        for severity in self.severities:
            if severity not in SEVERITIES:
                raise Refused(f"there is no severity {severity[:80]!r}", "severities")


@dataclass(frozen=True, slots=True)
class Frozen:
    """Findings and their objects at one moment; ``digest`` stands for all of it."""

    items: tuple[ReviewItem, ...]
    inputs: tuple[ReviewInput, ...]
    digest: str


def findings_in(scope: Scope) -> QuerySet[Finding]:
    """The findings of a scope that are there now and that the installation wants to see."""
    within = Q(pk__in=[])
    for cluster, namespace in scope.places:
        within |= Q(cluster__name=cluster, namespace=namespace) if namespace else Q(cluster__name=cluster)
    rows = shown(Finding.objects.select_related("cluster").filter(within))
    if scope.codes:
        rows = rows.filter(code__in=scope.codes)
    return rows.filter(severity__in=scope.severities) if scope.severities else rows


def freeze(scope: Scope) -> Frozen:
    """The scope as it is now. Its rows aren't saved and have no review yet.

    Raises:
        Refused: there are more findings in it than anybody goes through.
    """
    found = _findings(scope)
    items = tuple(_item(place, finding) for place, finding in enumerate(found, 1))
    inputs = tuple(_inputs(found))
    told = [[item.key, item.evidence, item.severity] for item in sorted(items, key=lambda item: item.key)]
    rests = [[each.cluster, each.kind, each.namespace, each.name, each.deciding] for each in inputs]
    return Frozen(items, inputs, digest_of([told, rests]))


def freeze_items(scope: Scope) -> list[ReviewItem]:
    """The items alone that :func:`freeze` would make. They aren't saved.

    Raises:
        Refused: there are more findings in it than anybody goes through.
    """
    return [_item(place, finding) for place, finding in enumerate(_findings(scope), 1)]


def _findings(scope: Scope) -> list[Finding]:
    ordered = findings_in(scope).order_by("urgency", "code", "cluster__name", "namespace", "name", "key")
    found = list(ordered[: MOST_ITEMS + 1])
    if len(found) > MOST_ITEMS:
        raise Refused(f"more than {MOST_ITEMS:,} findings are in this scope: narrow it", "places")
    return found


def _item(place: int, finding: Finding) -> ReviewItem:
    return ReviewItem(
        place=place,
        cluster=finding.cluster.name,
        namespace=finding.namespace,
        key=finding.key,
        kind=finding.kind,
        name=finding.name,
        component=finding.component,
        code=finding.code,
        about=finding.about,
        path=finding.path,
        severity=finding.severity,
        evidence=finding.evidence,
        facts=finding.facts,
    )


def _inputs(findings: Sequence[Finding]) -> Iterator[ReviewInput]:
    """The objects of the findings; of a service those that its answer was computed from, too."""
    clusters = {finding.cluster_id: finding.cluster for finding in findings}
    for pk, cluster in sorted(clusters.items(), key=lambda each: each[1].name):
        mine = [finding for finding in findings if finding.cluster_id == pk]
        refs = {ObjectRef(each.kind, each.namespace, each.name) for each in mine}
        refs |= _deciding(cluster, {ref for ref in refs if ref.kind == "InferenceService"})
        for row in sorted(_stored(cluster, refs), key=lambda row: (row.kind, row.namespace, row.name)):
            yield ReviewInput(
                cluster=cluster.name,
                namespace=row.namespace,
                kind=row.kind,
                name=row.name,
                resource_version=row.resource_version,
                digest=row.digest,
                deciding=deciding_digest(row.manifest),
            )


def _deciding(cluster: Cluster, services: Iterable[ObjectRef]) -> set[ObjectRef]:
    wanted = {(ref.namespace, ref.name) for ref in services}
    found: set[ObjectRef] = set()
    for names in _some(sorted({name for _, name in wanted})):
        rows = ServiceResult.objects.filter(cluster=cluster, name__in=names)
        for namespace, name, told in rows.values_list("namespace", "name", "computed_from"):
            if (namespace, name) in wanted:
                found |= {_ref(each) for each in told}
    return found


def _ref(told: Mapping[str, Any]) -> ObjectRef:
    return ObjectRef(str(told.get("kind", "")), str(told.get("namespace") or ""), str(told.get("name", "")))


def _stored(cluster: Cluster, refs: set[ObjectRef]) -> Iterator[StoredObject]:
    for names in _some(sorted({ref.name for ref in refs})):
        for row in StoredObject.objects.filter(cluster=cluster, name__in=names):
            if ObjectRef(row.kind, row.namespace, row.name) in refs:
                yield row


def _some(names: list[str], size: int = 500) -> Iterator[list[str]]:
    """In pieces that every database takes."""
    for start in range(0, len(names), size):
        yield names[start : start + size]
