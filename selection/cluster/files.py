"""Manifests from files, folders and standard input, as ``kubectl apply -f`` takes them, and from snapshots.

Objects of kinds that aren't read are passed over and counted. What looks like an OME object and can't be used
is a problem that names its place; it never hides the others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from selection.cluster.documents import decode, read_documents
from selection.cluster.errors import SourceError
from selection.cluster.identities import Unusable, is_list, kind_of, settle
from selection.cluster.kinds import KINDS, Kind, KindListing
from selection.cluster.objects import strip_noise
from selection.cluster.snapshots import SnapshotHead, is_snapshot, read_snapshot
from selection.cluster.yamltext import DocumentError, Limits, ParsedDocument

__all__ = ["Documents", "SourceObject", "SourceProblem", "listings", "read_paths"]

STDIN = "-"
SUFFIXES = {".yaml", ".yml", ".json"}
MOST_PROBLEMS = 1000
"""In one file; a list of more helps nobody."""


@dataclass(frozen=True, slots=True)
class SourceObject:
    """One object and where it stands: path (``-`` for standard input), document counted from 1, line from 1.

    ``item`` is its place in a ``List``, counted from 1; None outside of lists. ``start`` is the line of the document.
    """

    manifest: dict[str, Any]
    kind: Kind
    path: str
    document: int
    line: int
    item: int | None = None
    start: int = 1

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind, namespace ("" for cluster-scoped kinds) and name."""
        metadata = self.manifest["metadata"]
        return self.kind.kind, metadata.get("namespace", ""), metadata["name"]


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that can't be used, and where; ``str()`` is one line in the form that editors understand.

    ``what`` it is: a ``file``, a ``document`` in it, an ``object`` that isn't one of its kind, or one that is there
    ``twice``.
    """

    path: str
    message: str
    document: int | None = None
    line: int | None = None
    column: int | None = None
    what: Literal["file", "document", "object", "twice"] = "file"

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Documents:
    """What was found: the objects in order, each identity once; the problems; and how much was looked at.

    ``ignored`` counts the documents (and items of lists) of kinds that aren't read, ``files`` the sources read;
    ``passed`` are those of them that hold nothing of a kind that is read, in the order of reading. ``snapshots`` are
    the heads of the snapshots among them.
    """

    objects: tuple[SourceObject, ...] = ()
    problems: tuple[SourceProblem, ...] = ()
    ignored: int = 0
    files: int = 0
    passed: tuple[str, ...] = field(default=(), compare=False)
    snapshots: tuple[SnapshotHead, ...] = ()

    @property
    def snapshot(self) -> SnapshotHead | None:
        """The head of the snapshot that all of it comes from, None when there are other files too."""
        return self.snapshots[0] if len(self.snapshots) == 1 == self.files else None


def read_paths(
    paths: Sequence[str | Path],
    stdin: IO[bytes] | None = None,
    *,
    namespace: str = "default",
    limits: Limits | None = None,
) -> Documents:
    """Read manifests from files, folders (with all below them) and ``-`` for ``stdin``.

    In folders the files ``*.yaml``, ``*.yml`` and ``*.json`` are read, sorted; hidden ones are passed over. A file
    that is named may be a snapshot (:mod:`selection.cluster.snapshots`), whole or not at all. A
    namespaced object without a namespace gets ``namespace``, as ``kubectl apply --namespace`` gives it. Of two
    objects of one identity the first is kept.

    Raises:
        SourceError: a path that was named isn't there or can't be read at all, or is a snapshot that isn't whole.
    """
    reader = _Reader(namespace, limits or Limits())
    for path in paths:
        try:
            if str(path) != STDIN:
                reader.read_named(Path(path))
            elif stdin is None:
                raise SourceError("- was given, but there is no standard input to read")
            else:
                reader.read(STDIN, stdin)
        except OSError as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{_shown(path)}: {_why(error)}") from None
        except ValueError:  # a NUL in the path
            raise SourceError(f"{_shown(path)!r} is not a path") from None
    used = {each.path for each in reader.objects} | {each.path for each in reader.problems}
    passed = tuple(path for path in reader.paths if path not in used)
    heads = tuple(reader.snapshots)
    return Documents(tuple(reader.objects), tuple(reader.problems), reader.ignored, reader.files, passed, heads)


def listings(documents: Documents) -> list[KindListing]:
    """Return the objects as a cluster would have listed them: every kind complete, also the ones without objects.

    A kind that a snapshot's cluster never told is none here either, for the same reason.
    """
    found: dict[Kind, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for each in documents.objects:
        found[each.kind].append(each.manifest)
    untold = {each.kind: each for each in (documents.snapshot.kinds if documents.snapshot else ()) if not each.known}
    return [
        KindListing(kind, untold[kind].outcome, untold[kind].reason or None)
        if kind in untold and not objects
        else KindListing(kind, "complete", objects=objects)
        for kind, objects in found.items()
    ]


@dataclass(slots=True)
class _Reader:
    namespace: str
    limits: Limits
    objects: list[SourceObject] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    places: dict[tuple[str, str, str], SourceObject] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)
    ignored: int = 0
    files: int = 0
    paths: list[str] = field(default_factory=list)
    snapshots: list[SnapshotHead] = field(default_factory=list)

    def read_named(self, path: Path) -> None:
        """Read what a person named: a file of any name, or a folder.

        Raises:
            OSError: it can't be read.
        """
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode):
            if not self._is_new(status):
                return
            if stat.S_ISREG(status.st_mode) and is_snapshot(path):
                self.read_snapshot(path)
                return
            with path.open("rb") as file:
                self.read(_shown(path), file)
            return
        os.scandir(path).close()
        for found in self._walk(path):
            try:
                status = found.stat()
                if not stat.S_ISREG(status.st_mode):
                    self.problems.append(SourceProblem(_shown(found), "not a regular file"))
                elif self._is_new(status):
                    with found.open("rb") as file:
                        self.read(_shown(found), file)
            except OSError as error:
                self.problems.append(SourceProblem(_shown(found), _why(error)))

    def _is_new(self, status: os.stat_result) -> bool:
        """Tell whether a file or folder is met for the first time: links may lead to one twice, or in a circle."""
        identity = (status.st_dev, status.st_ino)
        new = identity not in self.seen
        self.seen.add(identity)
        return new

    def _walk(self, folder: Path) -> Iterator[Path]:
        """Yield the files below a folder that may hold manifests, sorted."""
        try:
            entries = sorted(folder.iterdir()) if self._is_new(folder.stat()) else []
        except OSError as error:
            self.problems.append(SourceProblem(_shown(folder), _why(error)))
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if os.path.isdir(entry):  # noqa: PTH112 - Path.is_dir() raises where a link leads to a closed folder
                yield from self._walk(entry)
            elif entry.suffix.lower() in SUFFIXES:
                yield entry

    def read_snapshot(self, path: Path) -> None:
        """Read a snapshot.

        Raises:
            SourceError: it isn't whole.
        """
        self.files += 1
        shown = _shown(path)
        self.paths.append(shown)
        snapshot = read_snapshot(path, self.limits)
        self.snapshots.append(snapshot.head)
        for each in snapshot.objects:
            place = _Place(shown, each.line, each.line, None, each.line)
            self._keep(SourceObject(each.manifest, each.kind, shown, each.line, each.line, None, each.line), place)

    def read(self, path: str, file: IO[bytes]) -> None:
        """Read one source to its end."""
        self.files += 1
        self.paths.append(path)
        data = file.read(self.limits.file_bytes + 1)
        if len(data) > self.limits.file_bytes:
            size = f"{self.limits.file_bytes:,} bytes"
            self.problems.append(SourceProblem(path, f"larger than {size}: not read"))
            return
        number, most = 0, len(self.problems) + MOST_PROBLEMS
        try:
            for document in read_documents(decode(data), self.limits, json_only=path.lower().endswith(".json")):
                number += 1
                if isinstance(document, DocumentError):
                    self._problem(path, number, document)
                else:
                    self._document(path, number, document)
                if len(self.problems) > most:
                    message = f"more than {MOST_PROBLEMS} problems: the rest of it is not read"
                    self.problems.append(SourceProblem(path, message))
                    return
        except DocumentError as error:
            self._problem(path, None, error)

    def _problem(self, path: str, document: int | None, error: DocumentError) -> None:
        self.problems.append(SourceProblem(path, str(error), document, error.line, error.column, "document"))

    def _document(self, path: str, number: int, document: ParsedDocument) -> None:
        value = document.value
        if value is None:
            return
        place = _Place(path, number, document.line, None, document.line)
        if not is_list(value):
            self._object(value, place)
            return
        items = value["items"]
        if not isinstance(items, list):
            if items is not None:
                self.problems.append(place.problem("items is not a list"))
            return
        of = str(value["kind"]).removesuffix("List")
        for index, item in enumerate(items, 1):
            line = document.item_lines[index - 1] if index <= len(document.item_lines) else document.line
            if of and isinstance(item, dict):
                item.setdefault("apiVersion", value.get("apiVersion"))
                item.setdefault("kind", of)
            self._object(item, _Place(path, number, line, index, document.line))

    def _object(self, manifest: Any, place: _Place) -> None:
        if is_list(manifest) and isinstance(manifest["items"], list):
            for item in manifest["items"]:
                self._object(item, place)
            return
        try:
            kind = kind_of(manifest)
            if kind is None or not kind.wants(manifest):
                self.ignored += 1
                return
            settle(manifest, kind, self.namespace)
        except Unusable as unusable:
            self.problems.append(place.problem(str(unusable)))
            return
        self._keep(
            SourceObject(strip_noise(manifest), kind, place.path, place.document, place.line, place.item, place.start),
            place,
        )

    def _keep(self, found: SourceObject, place: _Place) -> None:
        """Keep an object, or tell that it was there before."""
        first = self.places.setdefault(found.identity, found)
        if first is not found:
            _, within, name = found.identity
            shown = f"{found.kind.kind} {within}/{name}" if within else f"{found.kind.kind} {name}"
            told = f"{shown} is already in {first.path}:{first.line}; that one is kept"
            self.problems.append(place.problem(told, "twice"))
            return
        self.objects.append(found)


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    document: int
    line: int
    item: int | None
    start: int

    def problem(self, message: str, what: Literal["object", "twice"] = "object") -> SourceProblem:
        return SourceProblem(self.path, message, self.document, self.line, None, what)


def _shown(path: str | Path) -> str:
    """A path that can be printed, whatever bytes the file system holds."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
