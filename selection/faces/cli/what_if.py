"""The command ``what-if``. Its module under ``management/commands`` has a name that nobody could import."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.cluster.errors import SourceError
from selection.cluster.files import read_paths
from selection.cluster.pasted import Pasted, PastedObject, Told
from selection.faces.cli.output import as_json, table
from selection.faces.cli.sources import chosen_clusters, cluster_named, database_in_words, standard_input
from selection.faces.plain import plain_sentence
from selection.faces.supposing import deletions_of
from selection.faces.what_if_results import side_text, verdict_text
from selection.rules.semantics import VERSIONS
from selection.rules.what_if_answer import Given, WhatIf
from selection.store.models import Cluster
from selection.store.what_if import Supposed, suppose

__all__ = ["Command"]

WORSE, REFUSED = 1, 2


class Command(BaseCommand):
    """Judge what would be. Nothing is stored, and nothing is written to a cluster."""

    help = (
        "Judge what would be if manifests were applied or objects deleted, on top of a cluster or on nothing. "
        "Exit code: 0 when nothing is worse off, 1 when something is, 2 when the input is refused."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="*", metavar="PATH", help="manifests: files, folders, - for standard input")
        base = parser.add_mutually_exclusive_group()
        base.add_argument("--cluster", metavar="NAME", help="on top of which cluster of the database")
        base.add_argument("--on-nothing", action="store_true", help="judge the manifests alone, without a database")
        parser.add_argument("--ome-version", choices=sorted(VERSIONS), help="the release of OME, with --on-nothing")
        parser.add_argument(
            "-d", "--delete", action="append", default=[], metavar="KIND/NAMESPACE/NAME",
            help="an object to delete, KIND/NAME when it is cluster-scoped; may be given again",
        )  # fmt: skip
        parser.add_argument("-n", "--namespace", default="default", help="the namespace of objects that say none")
        parser.add_argument("-o", "--output", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["ome_version"] and not options["on_nothing"]:
            raise CommandError(
                "a cluster is judged by its own release: --ome-version is for --on-nothing", returncode=2
            )
        if not options["paths"] and not options["delete"]:
            raise CommandError("nothing is given: name manifests, or what to --delete", returncode=2)
        pasted, refusals = _read(options["paths"], options["namespace"])
        gone = deletions_of([name] for name in options["delete"])
        refusals += map(str, gone.refusals)
        if refusals:
            self._refuse(refusals)
        cluster = None if options["on_nothing"] else _cluster(options["cluster"])
        with database_in_words():
            supposed = suppose(cluster, pasted, gone.refs, version=options["ome_version"], told=gone.told)
        if supposed.answer is None:
            self._refuse([str(each) for each in supposed.refusals])
        name = cluster.name if cluster is not None else None
        if options["output"] == "json":
            told = [each.to_dict() for each in supposed.told]
            self.stdout.write(as_json({"cluster": name, "told": told, **supposed.answer.to_dict()}))
        else:
            self.stdout.write("\n".join(_text(name, supposed, supposed.answer)))
        if supposed.answer.worse:
            sys.exit(WORSE)

    def _refuse(self, refusals: Sequence[str]) -> NoReturn:
        """Say what is wrong, each on a line.

        Raises:
            CommandError: always.
        """
        for each in refusals[:-1]:
            self.stderr.write(each)
        raise CommandError(refusals[-1], returncode=REFUSED)


def _read(paths: Sequence[str], namespace: str) -> tuple[Pasted, list[str]]:
    """The objects of the paths, and what is wrong with them, each in a line that names file and place."""
    try:
        documents = read_paths(paths, stdin=standard_input(), namespace=namespace)
    except SourceError as error:
        return Pasted(), [str(error)]
    objects = [PastedObject(each.manifest, each.kind, each.document, each.line) for each in documents.objects]
    told = (Told("ignored", documents.ignored),) if documents.ignored else ()
    return Pasted(tuple(objects), (), told), [str(problem) for problem in documents.problems]


def _cluster(name: str | None) -> Cluster:
    """The cluster of that name, or the only one.

    Raises:
        CommandError: there is none, or it must be named.
    """
    try:
        with database_in_words():
            if name is not None:
                return cluster_named(name)
            found = chosen_clusters(None)
    except CommandError as error:
        raise CommandError(str(error), returncode=REFUSED) from None
    if len(found) > 1:
        names = ", ".join(sorted(each.name for each in found)[:10])
        raise CommandError(f"name one of the clusters with --cluster ({names}), or judge --on-nothing", returncode=2)
    return found[0]


def _text(cluster: str | None, supposed: Supposed, answer: WhatIf) -> Iterator[str]:
    where = f"on top of {cluster}" if cluster else "on nothing"
    yield f"{verdict_text(answer)} Judged {where} by OME v{answer.version}."
    for each in supposed.told:
        yield f"Note: {plain_sentence('what-if', f'told-{each.code}', told=each)}"
    if answer.given:
        yield "\n" + table(["OBJECT", "ACT", "ADMITTED", "SERVICES", "WHY NOT"], map(_given_row, answer.given))
    if answer.services:
        rows = [
            [
                f"{row.service.namespace}/{row.service.name}",
                row.tendency,
                ", ".join(dict.fromkeys(f"{each.code} {each.component}".strip() for each in row.changes)),
                side_text(row.before),
                side_text(row.after),
                ", ".join(str(ref) for ref in row.reached_by[:3]),
            ]
            for row in answer.services
        ]
        yield "\n" + table(["SERVICE", "IS", "CODES", "BEFORE", "AFTER", "REACHED BY"], rows)


def _given_row(each: Given) -> list[object]:
    admitted = "" if each.admission is None else "Yes" if each.admission.allowed else "No"
    why = each.admission.errors[0] if each.admission is not None and each.admission.errors else ""
    if each.problem is not None:
        admitted, why = "No", f"{each.problem.path}: {each.problem.message}"
    return [str(each.object), each.act, admitted, each.changed, why]
