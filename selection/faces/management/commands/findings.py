"""``manage.py findings``: what follows from the rules and nobody else reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, table
from selection.faces.cli.sources import Source, add_source_arguments, chosen_clusters, database_in_words, open_sources
from selection.faces.plain import plain_sentence
from selection.rules.findings import SEVERITIES, Finding
from selection.rules.objects import ObjectRef
from selection.store.derive_findings import every_finding
from selection.store.findings import ORDER, finding_rows

__all__ = ["Command"]

Found = tuple[str, Finding]


class Command(BaseCommand):
    """List the findings of clusters in the database, or of manifests alone."""

    help = "List findings: what never matches, what only a name decides, what means something else than it seems."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--severity", action="append", choices=ORDER, help="only findings of this severity; may be given again"
        )
        parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        found = self._found(options["paths"], options["cluster"], options["ome_version"])
        wanted = set(options["severity"] or ORDER)
        shown = [(cluster, finding) for cluster, finding in found if finding.severity in wanted]
        if options["output"] == "json":
            self.stdout.write(as_json([_value(cluster, finding) for cluster, finding in shown]))
        else:
            self.stdout.write(_table(shown))

    def _found(self, paths: list[str] | None, cluster: str | None, ome_version: str | None) -> list[Found]:
        if not paths and ome_version is None:
            with database_in_words():
                return list(_stored(cluster))
        sources = open_sources(paths, cluster, ome_version)
        for problem in (problem for source in sources for problem in source.problems):
            self.stderr.write(f"not used: {problem}")
        return [each for source in sources for each in _judged(source)]


def _stored(name: str | None) -> Iterator[Found]:
    clusters = chosen_clusters(name)
    rows = finding_rows().filter(cluster__in=clusters, code__in=SEVERITIES)
    order = ("cluster__name", "urgency", "code", "kind", "namespace", "name", "path", "ordinal")
    for row in rows.order_by(*order).iterator(chunk_size=1000):
        subject = ObjectRef(row.kind, row.namespace, row.name)
        yield row.cluster.name, Finding(row.code, subject, row.path, row.facts)


def _judged(source: Source) -> list[Found]:
    found = sorted(
        every_finding(source.fleet), key=lambda each: (ORDER.index(each.severity), each.code, each.object, each.path)
    )
    return [(source.cluster, each) for each in found]


def _value(cluster: str, finding: Finding) -> dict[str, Any]:
    """A finding as JSON; ``what`` and ``next`` are for people and may change."""
    return {
        "cluster": cluster or None,
        **finding.to_dict(),
        "what": plain_sentence("finding", finding.code, finding=finding),
        "next": plain_sentence("finding", finding.code, "next", finding=finding),
    }


def _table(found: Iterable[Found]) -> str:
    headers = ["SEVERITY", "CODE", "CLUSTER", "OBJECT", "PATH", "WHAT"]
    rows = [
        [
            finding.severity,
            finding.code,
            cluster,
            str(finding.object),
            finding.path,
            plain_sentence("finding", finding.code, finding=finding),
        ]
        for cluster, finding in found
    ]
    return table(headers, rows) if rows else "no findings"
