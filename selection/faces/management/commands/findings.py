"""``manage.py findings``: everything that is to be said of the objects, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, table
from selection.faces.cli.sources import Source, add_source_arguments, chosen_clusters, database_in_words, open_sources
from selection.faces.telling import plainly_told
from selection.rules.codes import CODES, OFF, SETTABLE, urgency_of
from selection.rules.explain import explain_services
from selection.rules.objects import ObjectRef
from selection.rules.stream import Told
from selection.store.derive_stream import every_told
from selection.store.findings import ORDER, STATES, finding_rows, in_state
from selection.store.models import Finding

__all__ = ["Command"]

Found = tuple[str, str, Told, Finding | None]
"""The cluster's name, the severity, what is told, and the row that is kept of it."""


class Command(BaseCommand):
    """List the findings of clusters in the database, or of manifests alone."""

    help = "List findings: what doesn't work, what disagrees, and what means something else than it seems."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--severity", action="append", choices=SETTABLE, help="only findings of this severity; may be given again"
        )
        parser.add_argument("--code", action="append", choices=list(CODES), metavar="CODE", help="only these codes")
        parser.add_argument("--state", choices=list(STATES), help="of the database: those that are gone, too; or back")
        parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        wanted = set(options["severity"] or ORDER)
        codes = set(options["code"] or CODES)
        found = self._found(options["paths"], options["cluster"], options["ome_version"], options["state"], wanted)
        shown = [each for each in found if each[1] in wanted and each[2].code in codes]
        if options["output"] == "json":
            self.stdout.write(as_json([_value(*each) for each in shown]))
        else:
            self.stdout.write(_table(shown))

    def _found(
        self, paths: list[str] | None, cluster: str | None, version: str | None, state: str | None, wanted: set[str]
    ) -> list[Found]:
        if not paths and version is None:
            with database_in_words():
                return list(_stored(cluster, state or "", OFF if OFF in wanted else ""))
        if state:
            raise CommandError("--state asks for what the database remembers: leave out -f and --ome-version")
        sources = open_sources(paths, cluster, version)
        for problem in (problem for source in sources for problem in source.problems):
            self.stderr.write(f"not used: {problem}")
        return [each for source in sources for each in _judged(source)]


def _stored(name: str | None, state: str, severity: str) -> Iterator[Found]:
    rows = in_state(finding_rows(), state, severity).filter(cluster__in=chosen_clusters(name), code__in=CODES)
    order = ("cluster__name", "urgency", "kind", "namespace", "name", "component", "path", "about")
    for row in rows.order_by(*order).iterator(chunk_size=1000):
        subject = ObjectRef(row.kind, row.namespace, row.name)
        yield (
            row.cluster.name,
            row.severity,
            Told(row.code, subject, row.component, row.about, row.path, row.facts),
            row,
        )


def _judged(source: Source) -> list[Found]:
    fleet = source.fleet
    explanations = explain_services(fleet, brief=True)
    manifests = source.manifests(each.subject for each in explanations) if fleet.semantics.version == "1.2" else {}
    found = sorted(
        every_told(fleet, explanations, manifests),
        key=lambda each: (
            urgency_of(each.code, each.severity),
            *(each.object, each.component, each.path, each.about),
        ),
    )
    return [(source.cluster, each.severity, each, None) for each in found]


def _value(cluster: str, severity: str, told: Told, row: Finding | None) -> dict[str, Any]:
    """A finding as JSON; ``what`` and ``next`` are for people and may change."""
    return {
        "cluster": cluster or None,
        "code": told.code,
        "severity": severity,
        "object": told.object.to_dict(),
        "component": told.component or None,
        "path": told.path,
        "about": told.about,
        "facts": dict(told.facts),
        "key": row.key if row else None,
        "state": row.state if row else None,
        "first_seen": row.first_seen.isoformat() if row else None,
        "gone_at": row.gone_at.isoformat() if row and row.gone_at else None,
        "what": plainly_told(told, cluster),
        "next": plainly_told(told, cluster, "next"),
    }


def _table(found: Iterable[Found]) -> str:
    headers = ["SEVERITY", "CODE", "CLUSTER", "OBJECT", "PATH", "WHAT"]
    rows = [
        [severity, told.code, cluster, str(told.object), told.path, plainly_told(told, cluster)]
        for cluster, severity, told, _ in found
    ]
    return table(headers, rows) if rows else "no findings"
