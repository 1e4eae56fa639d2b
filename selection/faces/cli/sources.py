"""Where a command's objects come from: manifests on the command line, or a cluster in the database."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError

from selection.cluster.errors import SourceError
from selection.cluster.files import SourceProblem, read_paths
from selection.cluster.kinds import OME_MANAGER
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_3, VERSIONS, semantics_of
from selection.store.fleets import fleet_of, load_fleet
from selection.store.lookup import objects_of
from selection.store.models import Cluster
from selection.store.redaction import redact
from selection.store.versions import detect_version

__all__ = [
    "Source",
    "add_source_arguments",
    "chosen_clusters",
    "cluster_named",
    "database_in_words",
    "near",
    "open_sources",
    "service_name",
    "standard_input",
    "version_in",
    "version_known",
]


@dataclass(frozen=True, slots=True)
class Source:
    """A fleet to judge.

    Attributes:
        cluster: the cluster's name, ``""`` for manifests.
        fleet: its objects.
        problems: documents that couldn't be read.
        stored: the cluster in the database when its rows were made by the same rules, else None.
    """

    cluster: str
    fleet: Fleet
    problems: tuple[SourceProblem, ...] = ()
    stored: Cluster | None = None
    _manifests: Mapping[ObjectRef, Mapping[str, Any]] = field(default_factory=dict)

    def manifests(self, refs: Iterable[ObjectRef]) -> dict[ObjectRef, Mapping[str, Any]]:
        """The manifests of these objects, secrets replaced, without those that aren't there."""
        if not self.cluster:
            return {ref: self._manifests[ref] for ref in refs if ref in self._manifests}
        return {ref: row.manifest for ref, row in objects_of(cluster_named(self.cluster), refs).items()}


def add_source_arguments(parser: CommandParser) -> None:
    """Add ``-f``, ``--cluster`` and ``--ome-version``."""
    parser.add_argument(
        "-f", "--filename", action="append", metavar="PATH", dest="paths",
        help="manifests to judge alone: a file, a folder, a snapshot or - for standard input; may be given again",
    )  # fmt: skip
    parser.add_argument("--cluster", metavar="NAME", help="the cluster in the database to look at")
    parser.add_argument("--ome-version", choices=sorted(VERSIONS), help="judge by this release of OME")


def service_name(text: str) -> tuple[str, str]:
    """Parse ``NAMESPACE/NAME`` for argparse."""
    namespace, slash, name = text.partition("/")
    if not (slash and namespace and name) or "/" in name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAMESPACE/NAME")
    return namespace, name


def open_sources(paths: Sequence[str] | None, cluster: str | None, ome_version: str | None) -> list[Source]:
    """The fleets to look in: the manifests alone, the named cluster, or every cluster of the database.

    Raises:
        CommandError: a path or cluster isn't there, a named file isn't YAML, or the database can't be read.
    """
    if paths:
        return [_from_files(paths, ome_version)]
    with database_in_words():
        return [_from_database(each, ome_version) for each in chosen_clusters(cluster)]


def chosen_clusters(name: str | None) -> list[Cluster]:
    """The cluster of that name, or every cluster of the database.

    Raises:
        CommandError: it isn't there, or there is none at all.
    """
    clusters = [cluster_named(name)] if name is not None else list(Cluster.objects.all())
    if not clusters:
        raise CommandError("the database has no cluster yet: run sync or demo first, or give manifests with -f")
    return clusters


def cluster_named(name: str) -> Cluster:
    """The cluster of that name.

    Raises:
        CommandError: there is none; names that look alike are named.
    """
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        known = Cluster.objects.values_list("name", flat=True)
        raise CommandError(f"there is no cluster {name!r}{near(name, list(known))}")
    return found


@contextmanager
def database_in_words() -> Iterator[None]:
    """Turn a failure of the database into one line that says what to do.

    Raises:
        CommandError: the database isn't there, isn't migrated, or refuses.
    """
    try:
        yield
    except DatabaseError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        unmigrated = "no such table" in reason or "does not exist" in reason
        hint = ": run `manage.py migrate` first" if unmigrated else ""
        raise CommandError(f"the database can't be used ({reason}){hint}") from None


def standard_input() -> IO[bytes] | None:
    """Standard input, or None when whoever started us closed it."""
    return None if sys.stdin is None else sys.stdin.buffer


def _from_database(cluster: Cluster, ome_version: str | None) -> Source:
    if ome_version is None or ome_version == cluster.ome_version:
        return Source(cluster.name, fleet_of(cluster), stored=cluster)
    cluster.ome_version = ome_version
    return Source(cluster.name, load_fleet(cluster))


def _from_files(paths: Sequence[str], ome_version: str | None) -> Source:
    try:
        documents = read_paths(paths, stdin=standard_input())
    except SourceError as error:
        raise CommandError(str(error)) from None
    named = {path for path in paths if path == "-" or Path(path).is_file()}
    for problem in documents.problems:
        # A folder may hold templates and notes; a file that someone names has to be readable.
        if problem.path in named and not any(each.path == problem.path for each in documents.objects):
            raise CommandError(str(problem))
    manifests = [redact(each.manifest) for each in documents.objects]
    of_snapshot = documents.snapshot.ome_version if documents.snapshot else ""
    semantics = semantics_of(ome_version or version_known(of_snapshot) or version_in(manifests) or V1_3.version)
    by_ref = {ref_of(manifest): manifest for manifest in manifests}
    return Source("", read_fleet(manifests, semantics), documents.problems, None, by_ref)


def version_known(version: str) -> str | None:
    """The release that a snapshot names, None when it isn't one that is known here."""
    return version if version in VERSIONS else None


def version_in(manifests: Sequence[Mapping[str, Any]]) -> str | None:
    """The release of OME whose own Deployment is among the manifests."""
    managers = (each for each in manifests if each["kind"] == "Deployment" and each["metadata"]["name"] == OME_MANAGER)
    return next((version for each in managers if (version := detect_version(each)) is not None), None)


def near(name: str, known: Sequence[str]) -> str:
    """A hint that names what is there and looks alike."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""
