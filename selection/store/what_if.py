"""What-if on a stored cluster or on nothing: what was given is held against what may be seen, and judged by the rules.

Nothing of it is stored or logged. Values that look secret are replaced before the rules see them, as they are in what
is stored, so that both are alike and no answer can tell one.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from selection.cluster.kinds import OME_MANAGER, OME_NAMESPACE
from selection.cluster.pasted import Pasted, PastedObject, Refusal, Told
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.semantics import V1_3, semantics_of
from selection.rules.what_if import what_if
from selection.rules.what_if_answer import WhatIf

from .fleets import fleet_of
from .models import Cluster
from .redaction import redact
from .sight import current_sight
from .uncollected import uncollected
from .versions import detect_version

__all__ = ["Supposed", "suppose"]

_NAMED = 10
_judging = threading.BoundedSemaphore(2)
"""So many are judged at a time: each may hold a second set of answers of a whole fleet."""
_REPORTS = frozenset({"InferenceService", "InferenceReplica", "LeaderWorkerSet", "Deployment"})
"""Kinds of whose status something is read."""


@dataclass(frozen=True, slots=True)
class Supposed:
    """The answer, or why the input is refused; what should be known of it; and the manifests as they were judged."""

    answer: WhatIf | None
    refusals: tuple[Refusal, ...] = ()
    told: tuple[Told, ...] = ()
    manifests: tuple[dict[str, Any], ...] = ()


def suppose(
    cluster: Cluster | None,
    pasted: Pasted,
    deletions: Collection[ObjectRef] = (),
    *,
    version: str | None = None,
    told: Sequence[Told] = (),
) -> Supposed:
    """Judge what would be.

    Args:
        cluster: on top of which cluster as it stands; None for nothing.
        pasted: the objects to add or change.
        deletions: the objects to delete.
        version: the release line by which nothing is judged; None for the one of OME's own Deployment among the
            objects, else v1.3. A cluster is judged by its own.
        told: what is already known of the input.
    """
    refusals = [*pasted.refusals, *_unseen(cluster, pasted.objects, deletions), *_both(pasted.objects, deletions)]
    told = [*pasted.told, *told]
    if refusals:
        return Supposed(None, tuple(refusals), tuple(told))
    manager, others = _without_manager(cluster, pasted.objects)
    if manager is not None and cluster is not None:
        told.append(Told("ome-manager", 1, (manager.name,)))
    if cluster is not None:
        told += _passed_over(others)
    manifests = tuple(redact(each.manifest) for each in others)
    with _judging, uncollected():
        if cluster is not None:
            fleet = fleet_of(cluster)
        else:
            detected = detect_version(manager.manifest) if manager is not None else None
            fleet = Fleet(semantics_of(version or detected or V1_3.version))
        answer = what_if(fleet, manifests, deletions, live=cluster is not None)
    missing = [str(each.object) for each in answer.given if each.act == "not-there"]
    if missing:
        told.append(Told("not-there", len(missing), tuple(missing[:_NAMED])))
    return Supposed(answer, (), tuple(told), manifests)


def _unseen(
    cluster: Cluster | None, objects: Collection[PastedObject], deletions: Collection[ObjectRef]
) -> list[Refusal]:
    """Objects in namespaces that whoever asks may not see: what differs there may not be told, so nothing is judged."""
    if cluster is None:
        return []
    sight = current_sight()
    hidden = [each for each in objects if not sight.sees(cluster.pk, each.identity[1])]
    found = [
        Refusal("unseen", _not_yours(each.identity[1]), each.document, each.line, None, each.item) for each in hidden
    ]
    return found + [
        Refusal("unseen", f"{_not_yours(ref.namespace)}: {ref} can't be deleted here")
        for ref in deletions
        if not sight.sees(cluster.pk, ref.namespace)
    ]


def _not_yours(namespace: str) -> str:
    return f"you don't see the namespace {namespace} of this cluster"


def _both(objects: Collection[PastedObject], deletions: Collection[ObjectRef]) -> list[Refusal]:
    """Objects that are given and deleted: nobody could say which is meant."""
    gone = set(deletions)
    return [
        Refusal("twice", f"{each.name} is given and deleted", each.document, each.line, None, each.item)
        for each in objects
        if ObjectRef(*each.identity) in gone
    ]


def _without_manager(
    cluster: Cluster | None, objects: Sequence[PastedObject]
) -> tuple[PastedObject | None, list[PastedObject]]:
    """OME's own Deployment, which says by whose rules to judge, and the others, but for what no sync reads."""
    namespace = cluster.ome_namespace if cluster is not None else OME_NAMESPACE
    manager, others = None, []
    for each in objects:
        if each.kind.kind == "Deployment" and each.identity[2] == OME_MANAGER:
            manager = each
        elif each.kind.namespace_scope == "all" or each.identity[1] == namespace:
            others.append(each)
    return manager, others


def _passed_over(objects: Collection[PastedObject]) -> list[Told]:
    """That a status which was given doesn't count."""
    names = [each.name for each in objects if each.kind.kind in _REPORTS and each.manifest.get("status")]
    return [Told("status", len(names), tuple(names[:_NAMED]))] if names else []
