"""``manage.py sync``: reads a cluster, or files that stand for one, into the database; or follows clusters."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from selection.cluster.config import Connection, from_kubeconfig, in_cluster
from selection.cluster.errors import ClusterError, SourceError
from selection.cluster.files import listings, read_paths
from selection.cluster.kinds import KINDS, KindListing
from selection.cluster.listing import read_cluster
from selection.cluster.snapshots import SUFFIX
from selection.faces.cli.alive import alive
from selection.faces.cli.following import own_declarations
from selection.faces.cli.sources import database_in_words, standard_input, version_known
from selection.store.changes import prune_changes
from selection.store.claims import holder_of
from selection.store.declarations import DeclarationError
from selection.store.keeper import Keeper
from selection.store.lines import open_line
from selection.store.models import Cluster
from selection.store.snapshotting import date_as
from selection.store.storing import LostClaim
from selection.store.sync import SyncReport, note_failure, open_cluster, sync_cluster

__all__ = ["Command"]

PRUNE_EVERY = 3600.0
"""Seconds between two looks for changes that are too old to keep."""


class Command(BaseCommand):
    """Read every kind once, or follow what is declared. What can't be read is said; the rest is stored."""

    help = "Read a cluster (a kubeconfig context, in-cluster, or files) into the database and judge it; or follow it."

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--context", help="a context of the kubeconfig; the current one when not given")
        source.add_argument("--in-cluster", action="store_true", help="the cluster that this process runs in")
        source.add_argument(
            "--from", action="append", metavar="PATH", dest="paths",
            help="manifests: a file, a folder, a snapshot or - for standard input; may be given again",
        )  # fmt: skip
        parser.add_argument(
            "--watch", action="store_true",
            help="follow this cluster, and every one that is declared, until the process is told to end",
        )  # fmt: skip
        parser.add_argument(
            "--current-context", action="store_true",
            help="with --watch: the current context of the kubeconfig, beside what is declared",
        )  # fmt: skip
        parser.add_argument(
            "--declared-only", action="store_true",
            help="with --watch: not the current context of the kubeconfig, even when nothing is declared",
        )  # fmt: skip
        parser.add_argument(
            "--alive", metavar="FILE",
            help="with --watch: a file whose time is renewed every few seconds while the process isn't stuck",
        )  # fmt: skip
        parser.add_argument("--kubeconfig", metavar="PATH", help="instead of KUBECONFIG or ~/.kube/config")
        parser.add_argument("--cluster", metavar="NAME", help="the name to keep it under")
        parser.add_argument("--ome-namespace", metavar="NAMESPACE", help="where OME is installed (ome)")
        parser.add_argument("--ome-version", choices=["1.3", "1.2", "auto"], help="OME's release, or auto to detect it")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["kubeconfig"] and (options["paths"] or options["in_cluster"]):
            raise CommandError("--kubeconfig is for a context of it: leave out --from and --in-cluster", returncode=2)
        if options["watch"] and options["paths"]:
            raise CommandError("--watch follows a cluster, and files are none: leave out one of both", returncode=2)
        with database_in_words():
            if options["watch"]:
                self._watch(options)
            elif options["paths"]:
                self._files(options)
            else:
                self._cluster(options)

    def _watch(self, options: dict[str, Any]) -> None:
        try:
            keeper = Keeper(
                open_line,
                own_declarations(options),
                alive=alive(options["alive"]),
                chores=((PRUNE_EVERY, prune_changes),),
            )
        except (ClusterError, DeclarationError) as error:
            raise CommandError(str(error)) from None

        def end(number: int, frame: object) -> None:
            keeper.stopping = True

        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            keeper.run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _cluster(self, options: dict[str, Any]) -> None:
        try:
            connection = (
                in_cluster() if options["in_cluster"] else from_kubeconfig(options["kubeconfig"], options["context"])
            )
        except ClusterError as error:
            # The pages of a cluster that is known by the name show it too.
            note_failure(options["cluster"] or options["context"] or "", str(error))
            raise CommandError(str(error)) from None
        with connection:
            name = _checked_name(options, connection.name)
            holder = holder_of(name)
            if holder:
                self.stdout.write(f"{name}: {holder} follows it: there is nothing to do")
                return
            cluster = _open(options, name, _where(connection))
            listed = read_cluster(connection, ome_namespace=cluster.ome_namespace)
            self._store(cluster, listed, options)

    def _files(self, options: dict[str, Any]) -> None:
        try:
            documents = read_paths(options["paths"], stdin=standard_input())
        except SourceError as error:
            raise CommandError(str(error)) from None
        for problem in documents.problems:
            self.stderr.write(f"not used: {problem}")
        if not documents.objects:
            raise CommandError(
                f"{', '.join(options['paths'])}: no object of a kind that OME knows; nothing was changed"
            )
        first = options["paths"][0]
        path = Path(first).resolve()
        name = (
            "files" if first == "-" else path.name.removesuffix(SUFFIX) if documents.snapshot else path.stem or "files"
        )
        name = _checked_name(options, name)
        holder = holder_of(name)
        if holder:
            raise CommandError(f"{name}: {holder} follows a cluster of this name; give --cluster another one")
        head = documents.snapshot
        if head is None:
            self._store(_open(options, name, f"files: {', '.join(options['paths'])}"), listings(documents), options)
            return
        release = options["ome_version"] or version_known(head.ome_version)
        within = options["ome_namespace"] or head.ome_namespace or None
        source = f"a snapshot of {head.cluster} as of {head.taken_at}"
        cluster = open_cluster(name, source=source, ome_version=release, ome_namespace=within)
        self._store(cluster, listings(documents), options)
        date_as(cluster, head)

    def _store(self, cluster: Cluster, listed: Iterable[KindListing], options: dict[str, Any]) -> None:
        show = options["verbosity"] > 0 and sys.stderr is not None and sys.stderr.isatty()
        # Some terminals don't say how large they are; tqdm would then draw nothing.
        width, height = shutil.get_terminal_size((80, 24))
        with tqdm(total=len(KINDS), unit="kind", disable=not show, leave=False, ncols=width, nrows=height) as bar:

            def step(listing: KindListing) -> None:
                bar.set_description(listing.kind.kind)
                bar.update()

            try:
                report = sync_cluster(cluster, listed, step)
            except ClusterError as error:
                raise CommandError(f"{cluster.name}: {error}") from None
            except (Cluster.DoesNotExist, LostClaim) as error:
                if not Cluster.objects.filter(pk=cluster.pk).exists():
                    raise CommandError(f"{cluster.name}: it was forgotten while it was read") from None
                raise CommandError(f"{error}: what was read here is older than that") from None
        self._tell(cluster, report)

    def _tell(self, cluster: Cluster, report: SyncReport) -> None:
        if report.failure:
            raise CommandError(f"{cluster.name}: {report.failure}; what was stored before stays")
        for kind, reason in report.reasons.items():
            self.stderr.write(f"{cluster.name}: {kind}: {report.outcomes[kind]}: {reason}")
        self.stdout.write(
            f"{cluster.name}: {report.objects} objects read, {report.changed} changed, "
            f"{cluster.services.count()} services judged by OME {cluster.ome_version}"
        )
        failed = [kind for kind, outcome in report.outcomes.items() if outcome == "failed"]
        if failed:
            raise CommandError(f"{cluster.name}: {', '.join(failed)} could not be read; what was stored of them stays")


def _where(connection: Connection) -> str:
    return f"{connection.name} at {connection.server}"


def _checked_name(options: dict[str, Any], name: str) -> str:
    """The name to keep the cluster under; with it the other words of the command line are seen to be storable.

    Raises:
        CommandError: one of them isn't.
    """
    name = options["cluster"] or name
    for option, text, longest in (("cluster", name, 253), ("ome-namespace", options["ome_namespace"] or "", 63)):
        if len(text) > longest or not text.isprintable():
            raise CommandError(f"--{option}: at most {longest} printable characters, please")
    return name


def _open(options: dict[str, Any], name: str, source: str) -> Cluster:
    return open_cluster(name, source=source, ome_version=options["ome_version"], ome_namespace=options["ome_namespace"])
