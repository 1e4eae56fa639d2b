"""``manage.py diff``: what changed for services between two states of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json
from selection.faces.cli.states import comparison_lines, open_state
from selection.rules.comparison import compare_states
from selection.rules.semantics import VERSIONS

__all__ = ["Command"]


class Command(BaseCommand):
    """Compare two states. Each is judged by its own release of OME."""

    help = (
        "Say what changed for services between two states of a cluster: snapshots, manifests, or one in the database."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "states",
            nargs="+",
            metavar="STATE",
            help="a snapshot, or a file or folder of manifests: before, then after",
        )
        parser.add_argument(
            "--cluster", metavar="NAME", help="the second state: this cluster, as it is in the database"
        )
        parser.add_argument("--ome-version", choices=sorted(VERSIONS), help="judge both by this release of OME")
        parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
        parser.add_argument("--exit-code", action="store_true", help="end with 1 when a service differs")

    def handle(self, *args: Any, **options: Any) -> None:
        paths, cluster = options["states"], options["cluster"]
        if len(paths) + (cluster is not None) != 2:
            raise CommandError("two states are needed: BEFORE and AFTER, or BEFORE and --cluster NAME", returncode=2)
        before = open_state(paths[0], None, options["ome_version"])
        after = open_state(None if cluster is not None else paths[1], cluster, options["ome_version"])
        for told in (*before.problems, *after.problems):
            self.stderr.write(f"not used: {told}")
        found = compare_states(before.state, after.state)
        if options["output"] == "json":
            self.stdout.write(as_json({"before": before.name, "after": after.name, **found.to_dict()}))
        else:
            self.stdout.write("\n".join(_framed(before.name, after.name, comparison_lines(found))))
        if options["exit_code"] and found.services:
            self.stdout.flush()
            sys.exit(1)


def _framed(before: str, after: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"before: {before}"
    yield f"after:  {after}"
    yield ""
    yield from lines
