"""``manage.py services``: every service with what it gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from selection.faces.cli.output import as_csv, as_json, table
from selection.faces.cli.sources import cluster_named, database_in_words
from selection.store.models import ServiceResult

__all__ = ["Command"]

FIELDS = ["cluster", "namespace", "name", "outcome", "selected", "score", "modes", "conflicts"]


class Command(BaseCommand):
    """List every service of every cluster, or of one."""

    help = "List every service with its outcome, selected runtime, score and running modes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", metavar="NAME", help="only this cluster")
        parser.add_argument("-n", "--namespace", help="only this namespace")
        parser.add_argument("-o", "--output", choices=["table", "json", "csv"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            if options["cluster"] is not None:
                cluster_named(options["cluster"])
            rows = list(_rows(options["cluster"], options["namespace"]))
        if options["output"] == "json":
            self.stdout.write(as_json(rows))
        elif options["output"] == "csv":
            self.stdout.write(as_csv(FIELDS, (_flat(row) for row in rows)))
        else:
            headers = [name.upper() for name in FIELDS]
            flat = (_flat(row) for row in rows)
            self.stdout.write(table(headers, ([row[name] for name in FIELDS] for row in flat)))


def _rows(cluster: str | None, namespace: str | None) -> Iterator[dict[str, Any]]:
    results = ServiceResult.objects.select_related("cluster").order_by("cluster__name", "namespace", "name")
    if cluster:
        results = results.filter(cluster__name=cluster)
    if namespace:
        results = results.filter(namespace=namespace)
    for result in results.iterator(chunk_size=1000):
        selected = {
            "kind": result.selected_kind,
            "namespace": result.selected_namespace or None,
            "name": result.selected_name,
        }
        yield {
            "cluster": result.cluster.name,
            "namespace": result.namespace,
            "name": result.name,
            "outcome": result.outcome,
            "selected": selected if result.selected_name else None,
            "score": result.score,
            "modes": result.modes,
            "conflicts": result.conflicts,
        }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people: the runtime's name, ``engine=OMENative`` for the modes, conflicts as a list of codes.

    A component that nothing is made for, because there is no runtime, has ``-`` as its mode.
    """
    selected = row["selected"]
    return {
        **row,
        "selected": f"{selected['kind']}/{selected['name']}" if selected else "",
        "modes": " ".join(
            f"{name}={modes['running']['mode'] if modes['rendered'] else '-'}" for name, modes in row["modes"].items()
        ),
        "conflicts": " ".join(row["conflicts"]),
    }
