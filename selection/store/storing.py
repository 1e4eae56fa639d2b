"""Objects as rows, their secrets replaced: the same code for a list, an event and a file.

Whoever writes objects of a cluster holds its row locked, so that generations grow one after the other, and
names the claim it writes under, so that a process that lost the cluster to another one can't undo its work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from selection.cluster.kinds import KindListing
from selection.rules.parsing import ref_of

from .changes import note_objects
from .models import Cluster, KindSync, StoredObject
from .redaction import redact
from .rows import Written, compare_rows, write_delta
from .secrettext import storable

__all__ = ["LostClaim", "Rows", "locked", "note_listing", "row_of", "rows_of", "text", "write_objects"]

# The digest stands for the manifest; what can't be judged is said by the evaluation.
_UNCOMPARED = ("manifest", "generation", "problem_path", "problem_message")


class LostClaim(RuntimeError):
    """The cluster was forgotten, or another process began to follow it: nothing may be written any more."""


@dataclass(slots=True)
class Rows:
    """Unsaved rows by namespace and name, and the objects that can't be kept, with the reason of each."""

    good: dict[tuple[str, str], StoredObject] = field(default_factory=dict)
    bad: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The objects that can't be kept in one line, ``""`` when there are none."""
        some = [f"{namespace}/{name} ({why})".lstrip("/") for (namespace, name), why in sorted(self.bad.items())[:3]]
        more = f" and {len(self.bad) - 3} more" if len(self.bad) > 3 else ""
        return f"could not be kept: {', '.join(some)}{more}" if some else ""


def locked(cluster: Cluster, claim: int | None = None) -> Cluster:
    """The cluster's row, locked until the transaction ends, as it stands now.

    Args:
        cluster: the cluster.
        claim: the claim that the caller writes under; None for one who needs none.

    Raises:
        LostClaim: it is gone, or is claimed by another one.
    """
    now = Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
    if now is None:
        raise LostClaim(f"{cluster.name}: it was forgotten")
    if claim is not None and now.claim != claim:
        raise LostClaim(f"{cluster.name}: {now.holder or 'another process'} follows it now")
    return now


def rows_of(cluster: Cluster, kind: str, manifests: Iterable[Mapping[str, Any]]) -> Rows:
    """The rows of these objects; one that can't be kept is told and doesn't stop the others."""
    rows = Rows()
    for manifest in manifests:
        try:
            row = row_of(cluster, kind, manifest)
        except Exception as error:  # whatever it holds that nobody thought of
            metadata = manifest.get("metadata")
            metadata = metadata if isinstance(metadata, Mapping) else {}
            rows.bad[(text(metadata.get("namespace"), 253), text(metadata.get("name"), 253))] = type(error).__name__
        else:
            rows.good[(row.namespace, row.name)] = row
    return rows


def row_of(cluster: Cluster, kind: str, manifest: Mapping[str, Any]) -> StoredObject:
    """One object as an unsaved row without a generation; its secrets are replaced, its digest is of what is kept."""
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
        uid=text(metadata.get("uid"), 64),
        resource_version=text(metadata.get("resourceVersion"), 64),
        manifest=clean,
        digest=hashlib.sha256(canonical).hexdigest(),
    )


def write_objects(
    existing: Iterable[StoredObject], wanted: Iterable[StoredObject], generation: int, *, first: bool
) -> Written:
    """Make the existing rows equal to those wanted; one that differs gets the generation, the others stay untouched.

    What changed about them is kept, unless this is the ``first`` time that their kind is read: what is there then
    didn't come just now. Call it in the transaction that holds the cluster's row locked.
    """
    rows = list(wanted)
    for row in rows:
        row.generation = generation
    delta = compare_rows(existing, rows, StoredObject, stamps=_UNCOMPARED)
    if not first:
        note_objects(delta, generation)
    return write_delta(delta, StoredObject)


def note_listing(status: KindSync, listing: KindListing, rows: Rows, at: datetime) -> None:
    """Put on a kind's row how a list went; the caller saves it."""
    status.outcome, status.attempted_at = listing.outcome, at
    status.reason = storable(listing.reason or rows.told)
    if listing.outcome in {"complete", "not-served"}:
        status.listed_at = status.confirmed_at = at
        status.object_count = len(listing.objects or ())
        status.resource_version = text(listing.resource_version, 64)


def text(value: object, length: int) -> str:
    """A text cut to a column's length; ``""`` for what is none."""
    return value[:length] if isinstance(value, str) else ""
