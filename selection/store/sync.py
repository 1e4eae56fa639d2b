"""Brings what was read of a cluster into the database: one kind at a time, each whole or not at all.

A kind that couldn't be read changes nothing but its own status: what is stored stays, with its age. A kind
that the cluster doesn't serve has no objects, so what was stored of it is removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from selection.cluster.kinds import KindListing
from selection.rules.parsing import ref_of

from .evaluate import evaluate
from .models import Cluster, KindSync, StoredObject
from .redaction import redact
from .rows import Written, write_rows
from .secrettext import storable
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
    """
    report = SyncReport()
    cluster.sync_started_at = timezone.now()
    cluster.save(update_fields=["sync_started_at"])
    try:
        for listing in listings:
            written = store_kind(cluster, listing)
            report.outcomes[listing.kind.kind] = listing.outcome
            if listing.reason:
                report.reasons[listing.kind.kind] = listing.reason
            report.objects += len(listing.objects or ())
            report.changed += written.total
            if on_kind is not None:
                on_kind(listing)
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
    cluster.sync_finished_at = timezone.now()
    cluster.sync_error = storable(error)
    cluster.save(update_fields=["sync_finished_at", "sync_error"])


def store_kind(cluster: Cluster, listing: KindListing) -> Written:
    """Store one kind in one transaction: readers see the old objects or the new ones, never half."""
    now = timezone.now()
    kind = listing.kind.kind
    with transaction.atomic():
        generation = Cluster.objects.select_for_update().values_list("generation", flat=True).get(pk=cluster.pk) + 1
        written = Written()
        listed = listing.outcome in {"complete", "not-served"}
        if listed:
            wanted = {
                (row.namespace, row.name): row
                for row in (_row(cluster, kind, each, generation) for each in listing.objects or ())
            }
            existing = StoredObject.objects.filter(cluster=cluster, kind=kind).defer("manifest")
            # The digest stands for the manifest; what can't be judged is said by the evaluation.
            uncompared = ["manifest", "generation", "problem_path", "problem_message"]
            written = write_rows(existing, wanted.values(), StoredObject, stamps=uncompared)
            if written.total:
                Cluster.objects.filter(pk=cluster.pk).update(generation=generation)
        status, _ = KindSync.objects.get_or_create(cluster=cluster, kind=kind, defaults={"attempted_at": now})
        status.outcome, status.reason, status.attempted_at = listing.outcome, storable(listing.reason or ""), now
        if listed:
            status.listed_at = now
            status.object_count = len(listing.objects or ())
            status.resource_version = _text(listing.resource_version, 64)
        status.save()
    return written


def _row(cluster: Cluster, kind: str, manifest: Mapping[str, Any], generation: int) -> StoredObject:
    clean = {**redact(manifest), "kind": kind}
    ref = ref_of(clean)
    metadata = clean.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    canonical = json.dumps(clean, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return StoredObject(
        cluster=cluster,
        kind=kind,
        namespace=ref.namespace,
        name=ref.name,
        uid=_text(metadata.get("uid"), 64),
        resource_version=_text(metadata.get("resourceVersion"), 64),
        manifest=clean,
        digest=hashlib.sha256(canonical).hexdigest(),
        generation=generation,
    )


def _text(value: object, length: int) -> str:
    return value[:length] if isinstance(value, str) else ""
