"""``manage.py explain``: which runtime a service gets, and why not the others."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, as_yaml, cell, table
from selection.faces.cli.sources import Source, add_source_arguments, open_sources, service_name
from selection.faces.cli.subjects import explained
from selection.rules.candidates import Candidate
from selection.rules.explanation import Explanation
from selection.rules.objects import ObjectRef, Problem

__all__ = ["Command"]

HEADERS = ["RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY", "WEIGHT", "REASON"]
WIDE = ["RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY", "WEIGHT", "SCORE", "DISTANCE", "CODE", "REASON", "ALSO"]


class Command(BaseCommand):
    """Explain a service or a model. The JSON is a public contract: see ``docs/explain.md``."""

    help = "Explain which runtime OME gives a service (or a model) and why not the others."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument("--isvc", type=service_name, metavar="NAMESPACE/NAME", help="the InferenceService")
        subject.add_argument("--model", metavar="NAME", help="a model, for a service that asks for nothing else")
        parser.add_argument("-n", "--namespace", default="default", help="the namespace to look at the model from")
        parser.add_argument("-o", "--output", choices=["table", "wide", "json", "yaml"], default="table")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        sources = open_sources(options["paths"], options["cluster"], options["ome_version"])
        source, explanation = explained(sources, options["isvc"], options["model"], options["namespace"])
        if options["output"] in {"json", "yaml"}:
            value = explanation.to_dict()
            value["problems"] = [problem.to_dict() for problem in _problems(source, explanation)]
            self.stdout.write(as_json(value) if options["output"] == "json" else as_yaml(value))
            return
        wide = options["output"] == "wide"
        rows = [_row(candidate, wide=wide) for candidate in explanation.candidates]
        self.stdout.write(table(WIDE if wide else HEADERS, rows))
        self.stdout.write("\n" + "\n".join(_summary(source, explanation)))


def _problems(source: Source, explanation: Explanation) -> list[Problem]:
    """The problems that matter here; for manifests given alone, every problem in them."""
    problems = list(explanation.problems)
    if not source.cluster:
        problems += [problem for problem in source.fleet.problems.values() if problem not in problems]
        problems += [
            Problem(ObjectRef("File", "", each.path), f"line {each.line}" if each.line else "", each.message)
            for each in source.problems
        ]
    return problems


def _row(candidate: Candidate, *, wide: bool) -> list[object]:
    value = candidate.to_dict()
    compatible = "Yes" if value["compatible"] else "No"
    row: list[object] = [value["name"], value["scope"], compatible, value["priority"], value["weight"]]
    if wide:
        distance = value["size_distance"]
        row += [value["score"], None if distance is None else f"{distance:.15g}", value["code"]]
    row.append(value["reason"])
    if wide:
        row.append("; ".join(failure["reason"] for failure in value["also"]))
    return row


def _summary(source: Source, explanation: Explanation) -> list[str]:
    """What the table doesn't say: the outcome, OME's text, the modes, what admission would say."""
    selected = explanation.selected.ref if explanation.selected else None
    where = f" in cluster {source.cluster}" if source.cluster else ""
    lines = [f"{explanation.subject}{where}: {explanation.outcome}" + (f", {selected}" if selected else "")]
    lines += [
        f"{label}: {cell(text)}"
        for label, text in (("Message", explanation.message), ("Event", explanation.event))
        if text
    ]
    for name, modes in explanation.modes.items():
        runs = f"runs {modes.running.mode} ({modes.running.source})" if modes.rendered else "has no runtime to run by"
        conflicts = ", ".join(conflict.code for conflict in modes.conflicts)
        lines.append(f"{name} {runs}" + (f"; {conflicts}" if conflicts else ""))
    lines += [f"Admission error: {cell(error)}" for error in explanation.admission.errors]
    lines += [f"Admission warning: {cell(warning)}" for warning in explanation.admission.warnings]
    lines += [f"Unreadable: {each.object}: {each.path}: {each.message}" for each in _problems(source, explanation)]
    return lines
