"""Snapshots from the database, and what they say of a cluster that is made from one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from selection.cluster.identities import BY_KIND
from selection.cluster.kinds import Outcome
from selection.cluster.snapshots import OUTCOMES, KindState, SnapshotHead, write_snapshot

from .models import Cluster, KindSync, StoredObject
from .storing import locked

__all__ = ["date_as", "save_snapshot"]


def save_snapshot(cluster: Cluster, file: IO[bytes]) -> int:
    """Write what is stored of a cluster as a snapshot, all of one moment, and say how many objects it holds.

    The cluster's row stays locked meanwhile, so nobody writes to the cluster; readers don't wait.

    Raises:
        LostClaim: it was forgotten.
    """
    with transaction.atomic():
        now = locked(cluster)
        return write_snapshot(file, _head(now), _manifests(now))


def date_as(cluster: Cluster, head: SnapshotHead) -> None:
    """Give a cluster that was just read from a snapshot the age that its objects have.

    A time that can't be read, or is yet to come, changes nothing.
    """
    times = {each.kind.kind: each.confirmed_at for each in head.kinds}
    for status in KindSync.objects.filter(cluster=cluster, listed_at__isnull=False):
        at = _read(times.get(status.kind, "")) or _read(head.taken_at)
        if at is not None and at < timezone.now():
            status.listed_at = status.confirmed_at = at
            status.save(update_fields=["listed_at", "confirmed_at"])


def _head(cluster: Cluster) -> SnapshotHead:
    rows = [row for row in KindSync.objects.filter(cluster=cluster).order_by("kind") if row.kind in BY_KIND]
    kinds = tuple(_state(row) for row in rows)
    taken = max((each.confirmed_at for each in kinds), default="")
    return SnapshotHead(cluster.name, cluster.ome_version, cluster.ome_namespace, taken, kinds)


def _state(row: KindSync) -> KindState:
    outcome: Outcome = next((each for each in OUTCOMES if each == row.outcome), "failed")
    known = row.confirmed_at or row.listed_at
    told = known.astimezone(UTC).isoformat() if known else ""
    reason = " ".join(row.reason.split())
    return KindState(BY_KIND[row.kind], outcome, reason, told, row.resource_version, row.object_count)


def _manifests(cluster: Cluster) -> Iterator[Mapping[str, Any]]:
    rows = StoredObject.objects.filter(cluster=cluster).order_by("kind", "namespace", "name")
    yield from rows.values_list("manifest", flat=True).iterator(chunk_size=2000)


def _read(time: str) -> datetime | None:
    """A time as RFC 3339 has it, None for what is none."""
    try:
        found = parse_datetime(time)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
