"""``manage.py rebuild``: computes everything derived anew from the stored objects."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.store.evaluate import evaluate
from selection.store.models import Cluster

__all__ = ["Command"]


class Command(BaseCommand):
    """Nothing is lost by it: the same objects give the same rows."""

    help = "Judge the stored objects anew, after an upgrade of the dashboard for example."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", metavar="NAME", help="only this cluster")

    def handle(self, *args: Any, **options: Any) -> None:
        clusters = Cluster.objects.filter(name=options["cluster"]) if options["cluster"] else Cluster.objects.all()
        if options["cluster"] and not clusters:
            raise CommandError(f"there is no cluster {options['cluster']!r}")
        for cluster in clusters:
            done = evaluate(cluster, anew=True)
            self.stdout.write(f"{cluster.name}: {done.services} services judged, {done.changed} rows changed")
