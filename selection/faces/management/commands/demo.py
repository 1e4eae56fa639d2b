"""``manage.py demo``: loads the demo fleet, two made-up clusters that show everything the dashboard knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

import selection.faces
from selection.cluster.files import listings, read_paths
from selection.store.sync import open_cluster, sync_cluster

__all__ = ["FLEET", "Command"]

FLEET = Path(selection.faces.__file__).parent / "demo_fleet"


class Command(BaseCommand):
    """Each folder of the fleet is a cluster. Running it again changes nothing."""

    help = "Load the demo fleet: two made-up clusters."

    def handle(self, *args: Any, **options: Any) -> None:
        for folder in sorted(
            path for path in FLEET.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
        ):
            documents = read_paths([folder])
            for problem in documents.problems:
                self.stderr.write(f"not used: {problem}")
            cluster = open_cluster(folder.name, source="the demo fleet that comes with ome-dashboard")
            report = sync_cluster(cluster, listings(documents))
            self.stdout.write(f"{cluster.name}: {report.objects} objects, {cluster.services.count()} services judged")
