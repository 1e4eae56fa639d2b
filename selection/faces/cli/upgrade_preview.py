"""The command ``upgrade-preview``. Its module under ``management/commands`` has a name that nobody could import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_csv, as_json, table
from selection.faces.cli.sources import Source, add_source_arguments, cluster_named, open_sources
from selection.faces.plain import plain_sentence
from selection.faces.upgrading import KEYS, lines, markdown, side_text, verdict_text
from selection.faces.words import word
from selection.rules.objects import ObjectRef
from selection.rules.upgrade import UPGRADES, UpgradePreview
from selection.rules.upgrade_preview import upgrade_preview
from selection.store.upgrades import manifests_beside

__all__ = ["Command"]


class Command(BaseCommand):
    """Preview an upgrade. Nothing is written to a cluster: pins are printed for people to apply."""

    help = "Preview the upgrade from OME v1.2 to v1.3: what changes for each service, and the pins that hold it back."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("-o", "--output", choices=["text", "json", "markdown", "csv"], default="text")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        sources = open_sources(options["paths"], options["cluster"], options["ome_version"])
        found = [(source, _preview(source)) for source in sources]
        for problem in (problem for source in sources for problem in source.problems):
            self.stderr.write(f"not used: {problem}")
        form = options["output"]
        if form == "json":
            self.stdout.write(as_json([{"cluster": each.cluster or None, **value.to_dict()} for each, value in found]))
        elif form == "csv":
            rows = (line for each, value in found for line in lines(each.cluster, value))
            self.stdout.write(as_csv(KEYS, rows))
        elif form == "markdown":
            self.stdout.write("\n".join(markdown(each.cluster, value) for each, value in found))
        else:
            self.stdout.write("\n\n".join("\n".join(_text(each.cluster, value)) for each, value in found))


def _preview(source: Source) -> UpgradePreview:
    if source.cluster:
        return upgrade_preview(source.fleet, manifests_beside(cluster_named(source.cluster)))
    refs = (ObjectRef("InferenceService", namespace, name) for namespace, name in source.fleet.services)
    return upgrade_preview(source.fleet, source.manifests(refs))


def _text(cluster: str, preview: UpgradePreview) -> Iterator[str]:
    yield (f"{cluster}: " if cluster else "") + verdict_text(preview)
    if preview.runs != "1.2":
        yield f"The cluster already runs v{preview.runs}: this is what the upgrade would have changed."
    for check in preview.checks:
        yield f"Check: {plain_sentence('upgrade', f'check-{check.code}', check=check)}"
        if "command" in check.facts:
            yield f"  {check.facts['command']}"
    if preview.counts:
        rows = [
            [UPGRADES[code], code, count, held, word("upgrade", code).title]
            for code, (count, held) in preview.counts.items()
        ]
        yield "\n" + table(["SEVERITY", "CODE", "CHANGES", "HELD", "WHAT"], rows)
    if preview.services:
        told = [
            [
                f"{row.service.namespace}/{row.service.name}",
                ", ".join(f"{each.code} {each.component}".strip() for each in row.changes),
                side_text(row.before),
                side_text(row.after),
                row.command,
            ]
            for row in preview.services
        ]
        yield "\n" + table(["SERVICE", "CODES", "V1.2", "V1.3", "PIN"], told)
    if preview.objects:
        fields = [[str(each.object), each.path, each.change.code, each.services] for each in preview.objects]
        yield "\n" + table(["OBJECT", "PATH", "CODE", "SERVICES"], fields)
    if preview.runtimes:
        moved = [
            [str(each.runtime), each.moves, each.breaks, each.pin.holds if each.pin else None, each.command]
            for each in preview.runtimes
        ]
        yield "\n" + table(["RUNTIME", "MOVES", "BREAKS", "PIN HOLDS", "PIN"], moved)
