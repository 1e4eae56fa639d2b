"""``manage.py forget``: removes a cluster and everything that was read of it from the database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from selection.faces.cli.sources import cluster_named, database_in_words
from selection.people.clusters import forget_cluster
from selection.people.persons import local_person
from selection.people.writing import Writer

__all__ = ["Command"]


class Command(BaseCommand):
    """For a cluster that is no more, or the demo fleet beside a real one. The cluster itself isn't touched."""

    help = "Forget a cluster: remove everything that was read of it. The next sync brings it back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", metavar="NAME", help="the cluster to forget")

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            cluster = cluster_named(options["cluster"])
            objects = cluster.objects_read.count()
            forget_cluster(Writer(local_person(), "command"), cluster)
            self.stdout.write(f"{options['cluster']}: forgotten, with {objects} objects")
