"""A snapshot: what was read of a cluster at one moment, as one compressed file that can be kept, mailed and compared.

The file is gzip. In it stands one JSON value a line: the head (:class:`SnapshotHead`), each object, and last how many
objects there are, so that a file that was cut off isn't taken for a smaller cluster. The same state gives the same
bytes. docs/snapshots.md describes the format.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from selection.cluster.errors import SourceError
from selection.cluster.identities import BY_KIND, Unusable, kind_of, settle
from selection.cluster.jsontext import parse_json
from selection.cluster.kinds import Kind, Outcome
from selection.cluster.objects import strip_noise
from selection.cluster.yamltext import DocumentError, Limits

__all__ = [
    "FORMAT",
    "MOST_BYTES",
    "OUTCOMES",
    "SUFFIX",
    "VERSION",
    "KindState",
    "Snapshot",
    "SnapshotHead",
    "SnapshotObject",
    "is_snapshot",
    "read_snapshot",
    "write_snapshot",
]

FORMAT = "ome-dashboard-snapshot"
VERSION = 1
SUFFIX = ".ome-snapshot.gz"
MOST_BYTES = 4 * 1024**3
"""So much text a snapshot may hold: a small file can stand for a great deal of it."""

_GZIP = b"\x1f\x8b"
OUTCOMES: tuple[Outcome, ...] = ("complete", "not-served", "forbidden", "failed")


@dataclass(frozen=True, slots=True)
class KindState:
    """How the last read of one kind had gone.

    ``confirmed_at`` is when the objects were last known to be what the cluster has, ``""`` for never.
    """

    kind: Kind
    outcome: Outcome
    reason: str = ""
    confirmed_at: str = ""
    resource_version: str = ""
    objects: int = 0

    @property
    def known(self) -> bool:
        """Whether the objects in the snapshot are all that there were."""
        return bool(self.confirmed_at) or self.outcome == "complete"


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """What a snapshot is of: the cluster, the release of OME that it is judged by, and when it was taken (RFC 3339)."""

    cluster: str
    ome_version: str
    ome_namespace: str
    taken_at: str
    kinds: tuple[KindState, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotObject:
    """One object, its kind, and its line in the file, counted from 1."""

    manifest: dict[str, Any]
    kind: Kind
    line: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that was read whole."""

    head: SnapshotHead
    objects: tuple[SnapshotObject, ...]


def is_snapshot(path: Path) -> bool:
    """Whether a file begins as a snapshot does. No manifest does.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def write_snapshot(file: IO[bytes], head: SnapshotHead, objects: Iterable[Mapping[str, Any]]) -> int:
    """Write a snapshot, and say how many objects it holds. Secrets are to be replaced before.

    Args:
        file: open for writing; it stays open.
        head: what it is of.
        objects: manifests of kinds that are read, in an order that doesn't change.
    """
    count = 0
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
        packed.write(_line(_head_value(head)))
        for manifest in objects:
            packed.write(_line(manifest))
            count += 1
        packed.write(_line({"end": count}))
    return count


def read_snapshot(path: Path, limits: Limits | None = None, *, most_bytes: int = MOST_BYTES) -> Snapshot:
    """Read a snapshot.

    Args:
        path: the file.
        limits: of one object; ``file_bytes`` is the longest line.
        most_bytes: how much text there may be in all.

    Raises:
        SourceError: it isn't a whole snapshot of a format that is known; the message names the place.
        OSError: it can't be read.
    """
    shown = str(path)
    try:
        with gzip.open(path, "rb") as packed:
            return _Reader(shown, packed, limits or Limits(), most_bytes).whole()
    except EOFError:
        raise SourceError(f"{shown}: cut off: a part of the snapshot is missing") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{shown}: damaged, or not a snapshot ({str(error).lower()})") from None


@dataclass(slots=True)
class _Reader:
    shown: str
    file: IO[bytes] | gzip.GzipFile
    limits: Limits
    left: int
    line: int = 0

    def whole(self) -> Snapshot:
        """Everything, from the head to the end."""
        head = self._head(self._next())
        found: dict[tuple[str, str, str], SnapshotObject] = {}
        while True:
            value = self._next()
            if "end" in value and "kind" not in value:
                break
            self._add(value, found)
        if value["end"] != len(found):
            raise self._wrong(f"{len(found)} objects are there, and it says {str(value['end'])[:20]}")
        if self.file.read(1):
            raise self._wrong("something follows its end")
        return Snapshot(head, tuple(found.values()))

    def _next(self) -> dict[str, Any]:
        self.line += 1
        most = min(self.limits.file_bytes, self.left)
        text = self.file.readline(most + 1)
        self.left -= len(text)
        if len(text) > most:
            raise self._wrong(f"larger than {most:,} bytes")
        if not text:
            raise SourceError(f"{self.shown}: cut off after line {self.line - 1}: a part of the snapshot is missing")
        try:
            values = [each.value for each in parse_json(text.decode("utf-8"), self.limits)]
        except UnicodeDecodeError:
            raise self._wrong("not UTF-8") from None
        except DocumentError as error:
            raise self._wrong(str(error)) from None
        if len(values) != 1 or not isinstance(values[0], dict):
            raise self._wrong("not one object of JSON")
        return values[0]

    def _wrong(self, message: str) -> SourceError:
        return SourceError(f"{self.shown}:{self.line}: {message}")

    def _head(self, value: dict[str, Any]) -> SnapshotHead:
        if value.get("format") != FORMAT:
            raise SourceError(f"{self.shown}: not a snapshot: its first line doesn't say {FORMAT!r}")
        version = value.get("version")
        if version != VERSION:
            told = str(version)[:20]
            raise SourceError(f"{self.shown}: a snapshot of format {told}, and this release reads format {VERSION}")
        kinds = value.get("kinds", [])
        if not isinstance(kinds, list):
            raise self._wrong("kinds is not a list")
        words = [self._word(value, key) for key in ("cluster", "ome_version", "ome_namespace", "taken_at")]
        states = [state for each in kinds if (state := self._state(each)) is not None]
        return SnapshotHead(words[0], words[1], words[2], words[3], tuple(states))

    def _state(self, value: Any) -> KindState | None:
        if not isinstance(value, dict):
            raise self._wrong("kinds has something that is no object")
        kind = BY_KIND.get(self._word(value, "kind"))
        if kind is None:  # one that another release reads
            return None
        outcome = next((each for each in OUTCOMES if each == value.get("outcome")), None)
        if outcome is None:
            raise self._wrong(f"the outcome of {kind.kind} is none of {', '.join(OUTCOMES)}")
        objects = value.get("objects", 0)
        words = [self._word(value, key) for key in ("reason", "confirmed_at", "resource_version")]
        return KindState(kind, outcome, words[0], words[1], words[2], objects if isinstance(objects, int) else 0)

    def _word(self, value: Mapping[str, Any], key: str) -> str:
        found = value.get(key, "")
        if not isinstance(found, str) or not found.isprintable() or len(found) > 2000:
            raise self._wrong(f"{key} is not a line of text")
        return found

    def _add(self, value: dict[str, Any], found: dict[tuple[str, str, str], SnapshotObject]) -> None:
        try:
            kind = kind_of(value)
            if kind is None:
                raise Unusable("an object of a kind that isn't read")
            if settle(value, kind, "default"):
                raise Unusable(f"{kind.kind} without metadata.namespace")
        except Unusable as error:
            raise self._wrong(str(error)) from None
        metadata = value["metadata"]
        identity = (kind.kind, metadata.get("namespace", ""), metadata["name"])
        first = found.setdefault(identity, SnapshotObject(strip_noise(value), kind, self.line))
        if first.line != self.line:
            raise self._wrong(f"{' '.join(filter(None, identity))} is already in line {first.line}")


def _head_value(head: SnapshotHead) -> dict[str, Any]:
    kinds = [
        {
            "kind": each.kind.kind,
            "outcome": each.outcome,
            "reason": each.reason,
            "confirmed_at": each.confirmed_at,
            "resource_version": each.resource_version,
            "objects": each.objects,
        }
        for each in head.kinds
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "cluster": head.cluster,
        "ome_version": head.ome_version,
        "ome_namespace": head.ome_namespace,
        "taken_at": head.taken_at,
        "kinds": kinds,
    }


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"
