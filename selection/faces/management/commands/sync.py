"""``manage.py sync``: reads a cluster, or files that stand for one, into the database."""

from __future__ import annotations

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
from selection.store.models import Cluster
from selection.store.sync import SyncReport, open_cluster, sync_cluster

__all__ = ["Command"]


class Command(BaseCommand):
    """Read every kind once. What can't be read is said; the rest is stored."""

    help = "Read a cluster (a kubeconfig context, in-cluster, or files) into the database and judge it."

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--context", help="a context of the kubeconfig; the current one when not given")
        source.add_argument("--in-cluster", action="store_true", help="the cluster that this process runs in")
        source.add_argument(
            "--from", action="append", metavar="PATH", dest="paths",
            help="manifests: a file, a folder or - for standard input; may be given again",
        )  # fmt: skip
        parser.add_argument("--kubeconfig", metavar="PATH", help="instead of KUBECONFIG or ~/.kube/config")
        parser.add_argument("--cluster", metavar="NAME", help="the name to keep it under")
        parser.add_argument("--ome-namespace", metavar="NAMESPACE", help="where OME is installed (ome)")
        parser.add_argument("--ome-version", choices=["1.3", "1.2", "auto"], help="OME's release, or auto to detect it")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"]:
            cluster, read = self._files(options)
            self._store(cluster, read, options["verbosity"])
            return
        try:
            connection = (
                in_cluster() if options["in_cluster"] else from_kubeconfig(options["kubeconfig"], options["context"])
            )
        except ClusterError as error:
            raise CommandError(str(error)) from None
        with connection:
            cluster = self._open(options, connection.name, _where(connection))
            listed = read_cluster(connection, ome_namespace=cluster.ome_namespace)
            self._store(cluster, listed, options["verbosity"])

    def _open(self, options: dict[str, Any], name: str, source: str) -> Cluster:
        return open_cluster(
            options["cluster"] or name,
            source=source,
            ome_version=options["ome_version"],
            ome_namespace=options["ome_namespace"],
        )

    def _files(self, options: dict[str, Any]) -> tuple[Cluster, list[KindListing]]:
        try:
            documents = read_paths(options["paths"], stdin=sys.stdin.buffer)
        except SourceError as error:
            raise CommandError(str(error)) from None
        for problem in documents.problems:
            self.stderr.write(f"not used: {problem}")
        if not documents.objects:
            raise CommandError(
                f"{', '.join(options['paths'])}: no object of a kind that OME knows; nothing was changed"
            )
        first = options["paths"][0]
        name = "files" if first == "-" else Path(first).resolve().stem
        return self._open(options, name, f"files: {', '.join(options['paths'])}"), listings(documents)

    def _store(self, cluster: Cluster, listed: Iterable[KindListing], verbosity: int) -> None:
        show = verbosity > 0 and sys.stderr.isatty()
        with tqdm(total=len(KINDS), unit="kind", disable=not show, leave=False) as bar:

            def step(listing: KindListing) -> None:
                bar.set_description(listing.kind.kind)
                bar.update()

            try:
                report = sync_cluster(cluster, listed, step)
            except ClusterError as error:
                raise CommandError(f"{cluster.name}: {error}") from None
        self._tell(cluster, report)

    def _tell(self, cluster: Cluster, report: SyncReport) -> None:
        for kind, reason in report.reasons.items():
            self.stderr.write(f"{cluster.name}: {kind}: {report.outcomes[kind]}: {reason}")
        if report.outcomes and all(outcome == "failed" for outcome in report.outcomes.values()):
            raise CommandError(f"{cluster.name}: nothing could be read; what was stored before stays")
        self.stdout.write(
            f"{cluster.name}: {report.objects} objects read, {report.changed} changed, "
            f"{cluster.services.count()} services judged by OME {cluster.ome_version}"
        )


def _where(connection: Connection) -> str:
    return f"{connection.name} at {connection.server}"
