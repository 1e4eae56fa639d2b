"""``manage.py snapshot``: what was read of a cluster, as one file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.cluster.snapshots import SUFFIX
from selection.faces.cli.sources import chosen_clusters, database_in_words
from selection.store.models import Cluster
from selection.store.snapshotting import save_snapshot
from selection.store.storing import LostClaim

__all__ = ["Command"]


class Command(BaseCommand):
    """Write a snapshot. The file appears whole or not at all."""

    help = "Write what was read of a cluster, its secrets replaced, as one compressed file: for sync --from and -f."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", metavar="NAME", help="the cluster in the database; needed when it has several")
        parser.add_argument(
            "-o", "--output", metavar="FILE",
            help=f"where to; - for standard output; the cluster's name with {SUFFIX} when not given",
        )  # fmt: skip
        parser.add_argument("--force", action="store_true", help="replace the file when it is there")

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            clusters = chosen_clusters(options["cluster"])
            if len(clusters) > 1:
                known = ", ".join(each.name for each in clusters)
                raise CommandError(f"the database has several clusters: say --cluster and one of {known}", returncode=2)
            self._write(clusters[0], options["output"], force=options["force"])

    def _write(self, cluster: Cluster, output: str | None, *, force: bool) -> None:
        try:
            if output == "-":
                save_snapshot(cluster, sys.stdout.buffer)
                sys.stdout.buffer.flush()
                return
            path = Path(output or f"{_file_name(cluster.name)}{SUFFIX}")
            if path.exists() and not force:
                raise CommandError(f"{path}: it is there already; give --force to replace it")
            count = _whole(cluster, path)
        except OSError as error:
            raise CommandError(f"{error.filename or output}: {(error.strerror or str(error)).lower()}") from None
        except LostClaim as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{path}: {count} objects of {cluster.name}, {path.stat().st_size:,} bytes")


def _whole(cluster: Cluster, path: Path) -> int:
    """Write beside the place, then put it there at once."""
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            count = save_snapshot(cluster, file)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return count


def _file_name(cluster: str) -> str:
    """A cluster's name as a file's: contexts of a kubeconfig have slashes and colons."""
    return "".join(char if char.isalnum() or char in "-_.@" else "-" for char in cluster).lstrip(".-") or "cluster"
