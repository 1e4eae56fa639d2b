"""Keeps what changed: each object's change as it is stored, until it is too old to be asked for.

What follows from them is kept by ``recording``, when the cluster is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from selection.rules.differences import Difference, differences

from .holding import hold_clusters
from .models import Change, Finding, FindingEvent, ObjectChange, StoredObject
from .rows import Delta

__all__ = ["MOST_DIFFERENCES", "note_objects", "prune_changes"]

MOST_DIFFERENCES = 20
"""So many differences of one object are kept; the others are counted."""

_BATCH = 500
_LONGEST_PATH = 500

Act = ObjectChange.Act


def note_objects(delta: Delta[StoredObject], generation: int) -> int:
    """Keep what changes about objects that are about to be written, and return how many changes were kept.

    Call it in the transaction that writes them and before they are written: what is stored is what was before. An
    object that differs only in fields that decide nothing leaves no trace.

    Args:
        delta: what is about to be written; the manifests of the rows as they were need not be loaded.
        generation: the cluster's generation that brings it.
    """
    now = timezone.now()
    pairs: list[tuple[StoredObject | None, StoredObject | None]] = [
        *((None, row) for row in delta.created),
        *delta.updated,
        *((row, None) for row in delta.deleted),
    ]
    kept = 0
    for start in range(0, len(pairs), _BATCH):
        rows = list(_noted(pairs[start : start + _BATCH], generation, now))
        ObjectChange.objects.bulk_create(rows)
        kept += len(rows)
    return kept


def _noted(
    pairs: list[tuple[StoredObject | None, StoredObject | None]], generation: int, now: datetime
) -> Iterator[ObjectChange]:
    stored = StoredObject.objects.filter(pk__in=[old.pk for old, _ in pairs if old is not None])
    manifests = dict(stored.values_list("pk", "manifest"))
    for old, new in pairs:
        row = new or old
        assert row is not None  # noqa: S101 - a pair has a side
        act = _act(old, new)
        found = differences(manifests.get(old.pk) if old else None, new.manifest if new else None)
        if not found and not (act == Act.RECREATED and new is not None and differences(None, new.manifest)):
            continue
        yield ObjectChange(
            cluster_id=row.cluster_id,
            generation=generation,
            at=now,
            kind=row.kind,
            namespace=row.namespace,
            name=row.name,
            act=act,
            old_version=old.resource_version if old else "",
            new_version=new.resource_version if new else "",
            differences=[_told(each) for each in found[:MOST_DIFFERENCES]],
            more_differences=max(0, len(found) - MOST_DIFFERENCES),
        )


def _act(old: StoredObject | None, new: StoredObject | None) -> str:
    if old is None:
        return Act.CREATED
    if new is None:
        return Act.DELETED
    return Act.RECREATED if old.uid and new.uid and old.uid != new.uid else Act.CHANGED


def _told(difference: Difference) -> dict[str, str | None]:
    return {**difference.to_dict(), "path": difference.path[:_LONGEST_PATH]}


def prune_changes(now: datetime | None = None) -> int:
    """Delete changes that are older than ``OME_DASHBOARD_KEEP_CHANGES_DAYS``, and return how many there were.

    An object's change stays as long as something that it caused. Findings that are gone for so long go, too, and what
    became of others so long ago; one that is there stays, whenever it was first seen.
    """
    oldest = (now or timezone.now()) - timedelta(days=settings.KEEP_CHANGES_DAYS)
    gone = _delete(Change.objects.filter(at__lt=oldest))
    gone += _delete(ObjectChange.objects.filter(at__lt=oldest, effects__isnull=True))
    gone += _delete(FindingEvent.objects.filter(at__lt=oldest))
    return gone + _delete_findings(Finding.objects.filter(gone_at__lt=oldest))


def _delete_findings(rows: QuerySet[Finding]) -> int:
    """The same, so that none comes back meanwhile."""
    gone = 0
    while rows.exists():
        with transaction.atomic():
            hold_clusters()
            pks = list(rows.order_by().values_list("pk", flat=True)[:_BATCH])
            Finding.objects.filter(pk__in=pks).delete()
            gone += len(pks)
    return gone


def _delete(rows: QuerySet[Any]) -> int:
    """Delete in batches, each a short transaction of its own."""
    gone = 0
    while pks := list(rows.order_by().values_list("pk", flat=True)[:_BATCH]):
        rows.model._default_manager.filter(pk__in=pks).delete()
        gone += len(pks)
    return gone
