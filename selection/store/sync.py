"""Brings what was read of a cluster into the database: one kind at a time, each whole or not at all.

A kind that couldn't be read changes nothing but its own status: what is stored stays, with its age. A kind
that the cluster doesn't serve has no objects, so what was stored of it is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from selection.cluster.kinds import KindListing

from .changes import prune_changes
from .evaluate import evaluate
from .models import Cluster, KindSync, StoredObject
from .rows import Written
from .secrettext import storable
from .storing import LostClaim, locked, note_listing, rows_of, write_objects
from .versions import set_version, update_version

__all__ = ["SyncReport", "note_failure", "open_cluster", "store_kind", "sync_cluster"]


@dataclass(slots=True)
class SyncReport:
    """What a sync did: per kind its outcome, and how many rows changed."""

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    objects: int = 0
    changed: int = 0

    @property
    def complete(self) -> bool:
        """Whether nothing failed or was refused; a kind that isn't served is no failure."""
        return not any(outcome in {"failed", "forbidden"} for outcome in self.outcomes.values())

    @property
    def failure(self) -> str:
        """Why nothing at all could be read, or ``""`` when something could."""
        if not self.outcomes or set(self.outcomes.values()) - {"failed", "forbidden"}:
            return ""
        return next(iter(self.reasons.values()), "nothing could be read")


def open_cluster(
    name: str, *, source: str = "", ome_version: str | None = None, ome_namespace: str | None = None
) -> Cluster:
    """The cluster of that name, made when it isn't there; what is given is kept on it.

    Args:
        name: what people call it.
        source: where it is read from, in words.
        ome_version: ``1.3`` or ``1.2`` to set it; ``auto`` to detect it from now on; None to leave it.
        ome_namespace: where OME's own objects live; None to leave it.
    """
    cluster, _ = Cluster.objects.get_or_create(name=name)
    if source:
        cluster.source = source[:500]
    if ome_namespace:
        cluster.ome_namespace = ome_namespace
    # Only these: another process may count the generation up at this very moment.
    cluster.save(update_fields=["source", "ome_namespace"])
    if ome_version == "auto":
        set_version(cluster, cluster.ome_version, Cluster.VersionSource.DEFAULT)
    elif ome_version is not None:
        set_version(cluster, ome_version, Cluster.VersionSource.SET)
    return cluster


def note_failure(name: str, reason: str) -> None:
    """Record on a known cluster why it couldn't be reached; nothing else changes, and an unknown one is no cluster."""
    Cluster.objects.filter(name=name).update(sync_error=reason, sync_finished_at=timezone.now())


def sync_cluster(
    cluster: Cluster, listings: Iterable[KindListing], on_kind: Callable[[KindListing], None] | None = None
) -> SyncReport:
    """Store every listing, then evaluate the cluster.

    ``listings`` may be read lazily. An exception while reading (a cluster that can't be reached at all) is
    recorded on the cluster and raised again; the kinds stored before it stay, and they are evaluated.

    Raises:
        LostClaim: a process began to follow the cluster, or it was forgotten; what this one reads is old by then.
    """
    report = SyncReport()
    claim = cluster.claim
    cluster.sync_started_at = timezone.now()
    cluster.save(update_fields=["sync_started_at"])
    try:
        for listing in listings:
            written = store_kind(cluster, listing, claim)
            report.outcomes[listing.kind.kind] = listing.outcome
            if listing.reason:
                report.reasons[listing.kind.kind] = listing.reason
            report.objects += len(listing.objects or ())
            report.changed += written.total
            if on_kind is not None:
                on_kind(listing)
    except LostClaim:
        raise
    except Exception as failure:
        _finish(cluster, str(failure) or type(failure).__name__)
        raise
    except BaseException:  # somebody wants to stop: no time to judge, but it mustn't look as if all went well
        Cluster.objects.filter(pk=cluster.pk).update(sync_finished_at=timezone.now(), sync_error="interrupted")
        raise
    _finish(cluster, report.failure)
    return report


def _finish(cluster: Cluster, error: str) -> None:
    cluster.refresh_from_db()
    update_version(cluster)
    evaluate(cluster)
    prune_changes()
    cluster.sync_finished_at = timezone.now()
    cluster.sync_error = storable(error)
    cluster.save(update_fields=["sync_finished_at", "sync_error"])


def store_kind(cluster: Cluster, listing: KindListing, claim: int | None = None) -> Written:
    """Store one kind in one transaction: readers see the old objects or the new ones, never half.

    Raises:
        LostClaim: ``claim`` was given, and somebody else has claimed the cluster since.
    """
    now = timezone.now()
    kind = listing.kind.kind
    rows = rows_of(cluster, kind, listing.objects or ())
    with transaction.atomic():
        generation = locked(cluster, claim).generation + 1
        status = KindSync.objects.filter(cluster=cluster, kind=kind).first() or KindSync(cluster=cluster, kind=kind)
        written = Written()
        if listing.outcome in {"complete", "not-served"}:
            existing = StoredObject.objects.filter(cluster=cluster, kind=kind).defer("manifest")
            kept = (row for row in existing if (row.namespace, row.name) not in rows.bad)
            written = write_objects(kept, rows.good.values(), generation, first=status.listed_at is None)
            if written.total:
                Cluster.objects.filter(pk=cluster.pk).update(generation=generation)
        note_listing(status, listing, rows, now)
        status.save()
    return written
