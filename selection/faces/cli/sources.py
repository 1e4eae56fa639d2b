"""Where a command's objects come from: manifests on the command line, or a cluster in the database."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from selection.cluster.errors import SourceError
from selection.cluster.files import SourceProblem, read_paths
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.semantics import VERSIONS, semantics_of
from selection.store.fleets import fleet_of, load_fleet
from selection.store.models import Cluster
from selection.store.redaction import redact

__all__ = ["Source", "add_source_arguments", "near", "open_sources", "service_name"]


@dataclass(frozen=True, slots=True)
class Source:
    """A fleet to judge. ``cluster`` is ``""`` for manifests; ``problems`` are documents that couldn't be read."""

    cluster: str
    fleet: Fleet
    problems: tuple[SourceProblem, ...] = ()


def add_source_arguments(parser: CommandParser) -> None:
    """Add ``-f``, ``--cluster`` and ``--ome-version``."""
    parser.add_argument(
        "-f", "--filename", action="append", metavar="PATH", dest="paths",
        help="manifests to judge alone: a file, a folder or - for standard input; may be given again",
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
    try:
        clusters = list(Cluster.objects.all())
        if cluster is not None:
            chosen = [each for each in clusters if each.name == cluster]
            if not chosen:
                raise CommandError(f"there is no cluster {cluster!r}{near(cluster, [each.name for each in clusters])}")
            clusters = chosen
        if not clusters:
            raise CommandError("the database has no cluster yet: run sync or demo first, or give manifests with -f")
        return [Source(each.name, _fleet(each, ome_version)) for each in clusters]
    except DatabaseError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CommandError(f"the database can't be read ({reason}): has `manage.py migrate` been run?") from None


def _fleet(cluster: Cluster, ome_version: str | None) -> Fleet:
    if ome_version is None or ome_version == cluster.ome_version:
        return fleet_of(cluster)
    cluster.ome_version = ome_version
    return load_fleet(cluster)


def _from_files(paths: Sequence[str], ome_version: str | None) -> Source:
    try:
        documents = read_paths(paths, stdin=sys.stdin.buffer)
    except SourceError as error:
        raise CommandError(str(error)) from None
    named = {path for path in paths if path == "-" or Path(path).is_file()}
    for problem in documents.problems:
        # A folder may hold templates and notes; a file that someone names has to be readable.
        if problem.path in named and not any(each.path == problem.path for each in documents.objects):
            raise CommandError(str(problem))
    semantics = semantics_of(ome_version or "1.3")
    manifests = (redact(each.manifest) for each in documents.objects)
    return Source("", read_fleet(manifests, semantics), documents.problems)


def near(name: str, known: Sequence[str]) -> str:
    """A hint that names what is there and looks alike."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""
