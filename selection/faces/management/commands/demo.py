"""``manage.py demo``: loads the demo fleet, two made-up clusters that show everything the dashboard knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

import selection.faces
from selection.cluster.files import listings, read_paths
from selection.faces.cli.demo_past import past_of
from selection.faces.cli.sources import database_in_words
from selection.store.models import Cluster
from selection.store.sync import open_cluster, sync_cluster

__all__ = ["FLEET", "SOURCE", "Command"]

FLEET = Path(selection.faces.__file__).parent / "demo_fleet"
SOURCE = "the demo fleet that comes with ome-dashboard"


class Command(BaseCommand):
    """Each folder of the fleet is a cluster. Running it again changes nothing."""

    help = "Load the demo fleet: two made-up clusters."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--with-past",
            action="store_true",
            help="first as it was before its last edits, for changes to look at; only when it is new here",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folders = sorted(path for path in FLEET.iterdir() if path.is_dir() and path.name[0] not in "._")
        with database_in_words():
            taken = Cluster.objects.filter(name__in=[folder.name for folder in folders]).exclude(source=SOURCE).first()
            if taken is not None:
                raise CommandError(
                    f"there is a cluster {taken.name} already, and it isn't the demo's; it stays as it is"
                )
            for folder in folders:
                self._load(folder, with_past=options["with_past"])

    def _load(self, folder: Path, *, with_past: bool) -> None:
        documents = read_paths([folder])
        for problem in documents.problems:
            self.stderr.write(f"not used: {problem}")
        known = Cluster.objects.filter(name=folder.name).exists()
        cluster = open_cluster(folder.name, source=SOURCE)
        for past in past_of(folder, documents) if with_past and not known else ():
            sync_cluster(cluster, listings(past))
        report = sync_cluster(cluster, listings(documents))
        self.stdout.write(f"{cluster.name}: {report.objects} objects, {cluster.services.count()} services judged")
