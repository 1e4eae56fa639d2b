"""``manage.py rebuild``: computes everything derived anew from the stored objects."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from selection.faces.cli.sources import cluster_named, database_in_words
from selection.store.evaluate import evaluate
from selection.store.models import Cluster

__all__ = ["Command"]


class Command(BaseCommand):
    """Nothing is lost by it: the same objects give the same rows."""

    help = "Judge the stored objects anew, after an upgrade of the dashboard for example."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", metavar="NAME", help="only this cluster")

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            name = options["cluster"]
            for cluster in [cluster_named(name)] if name is not None else Cluster.objects.all():
                done = evaluate(cluster, anew=True)
                self.stdout.write(f"{cluster.name}: {done.services} services judged, {done.changed} rows changed")
