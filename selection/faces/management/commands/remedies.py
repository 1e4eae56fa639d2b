"""``manage.py remedies``: what it would take to have a runtime selected for a service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, cell
from selection.faces.cli.sources import (
    Source,
    add_source_arguments,
    database_in_words,
    near,
    open_sources,
    service_name,
)
from selection.faces.cli.subjects import explained
from selection.faces.remedying import Change, Outlook, Reached, Step, as_value, needed, outlook, reached
from selection.rules.candidates import Candidate
from selection.rules.explanation import Explanation
from selection.rules.objects import ObjectRef
from selection.rules.reading import Unreadable

__all__ = ["Command"]

_EFFECTS = {
    "priority": "the smallest priority with which it comes first",
    "weight": "the smallest weight with which it comes first",
    "name": "make it again under a name that sorts before the first's",
    "namespace": "no change of it comes before a ServingRuntime of the namespace: make one there with its spec",
}


class Command(BaseCommand):
    """Tell what a candidate fails, and the changes that the rules accept, as commands for kubectl."""

    help = "Tell what it would take for OME to select a runtime for a service, as patches."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--isvc", type=service_name, metavar="NAMESPACE/NAME", required=True, help="the InferenceService"
        )
        parser.add_argument("--runtime", metavar="NAME", required=True, help="the runtime that should be selected")
        parser.add_argument(
            "--runtime-namespace", metavar="NAMESPACE",
            help="it is a ServingRuntime there; without this the cluster's goes before the namespace's of that name",
        )  # fmt: skip
        parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        sources = open_sources(options["paths"], options["cluster"], options["ome_version"])
        source, explanation = explained(sources, options["isvc"], None, "")
        candidate = _candidate(source, explanation, options["runtime"], options["runtime_namespace"])
        runtime, namespace = candidate.verdict.runtime.ref, explanation.subject.namespace
        with database_in_words():
            manifests = source.manifests(needed(explanation, runtime))
            try:
                told = outlook(source.fleet, explanation, candidate, namespace, manifests)
            except (LookupError, Unreadable):
                raise CommandError("it changed while it was read: please run this again") from None
            reaches = reached(source.fleet, told.changes, manifests, source.stored)
        if options["output"] == "json":
            self.stdout.write(as_json(as_value(told, reaches, source.cluster, explanation.ome_version)))
        else:
            self.stdout.write("\n".join(_text(explanation, told, reaches)))


def _candidate(source: Source, explanation: Explanation, name: str, namespace: str | None) -> Candidate:
    """The candidate of that name.

    Raises:
        CommandError: the service has no such candidate, or none at all.
    """
    if not explanation.considered:
        why = f": {explanation.message}" if explanation.message else ""
        raise CommandError(f"nothing can be selected for {explanation.subject} as it stands{why}")
    found = [each for each in explanation.candidates if each.verdict.runtime.ref.name == name]
    found = [each for each in found if namespace is None or each.verdict.runtime.ref.namespace == namespace]
    if found:
        return min(found, key=lambda each: each.verdict.runtime.ref.namespace)
    kind = "ClusterServingRuntime" if namespace is None else "ServingRuntime"
    problem = source.fleet.problems.get(ObjectRef(kind, namespace or "", name))
    if problem is not None:
        raise CommandError(f"{problem.object} can't be read: {problem.path}: {problem.message}")
    where = f" in namespace {namespace}" if namespace is not None else ""
    known = [each.verdict.runtime.ref.name for each in explanation.candidates]
    raise CommandError(f"{explanation.subject} has no candidate {name}{where}{near(name, known)}")


def _text(explanation: Explanation, told: Outlook, reaches: list[Reached | None]) -> Iterator[str]:
    runtime, rank = told.candidate.verdict.runtime.ref, told.candidate.rank
    by = f"by OME {explanation.ome_version}"
    if rank is None:
        yield f"{runtime} doesn't qualify for {told.subject}, {by}:"
    elif rank == 1:
        yield f"{runtime} is the first of {explanation.qualified} for {told.subject}, {by}: nothing is needed."
    else:
        first = told.first.verdict.runtime.ref if told.first else ""
        yield f"{runtime} is number {rank} of {explanation.qualified} for {told.subject}, {by}; the first is {first}."
    for failure in told.candidate.verdict.failures:
        yield f"  {failure.code}: {cell(failure.reason)}"
    if explanation.service is not None and explanation.service.named_runtime:
        yield f"The service names {explanation.service.named_runtime}: if it named none, selection would say this."
    for change, reach in zip(told.changes, reaches, strict=True):
        yield from _change(change, reach)
    if not told.changes and rank != 1:
        yield "\nNo small change of the runtime, the service or the model alone is enough."
    if told.named is not None:
        yield from _change(told.named, None)


def _change(change: Change, reach: Reached | None) -> Iterator[str]:
    yield f"\n{_heading(change)}{':' if change.steps else ''}"
    for step in change.steps:
        yield f"  {_step(step)}"
    if reach is not None:
        followers = reach.followers
        heirs = f", and those of {_counted(followers.heirs, 'heir')}" if followers.heirs else ""
        yield f"  reaches {_counted(followers.services, 'service')}{heirs}"
    if reach is not None and reach.lost:
        yield f"  would be lost by {', '.join('/'.join(key) for key in reach.lost)}"
    if change.command:
        yield f"  {change.command}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _heading(change: Change) -> str:
    if change.kind == "named":
        advice = " with a warning" if change.outcome == "named-with-advice" else ""
        return f"Or let {change.target} name it; OME then uses it{advice}"
    if change.kind in _EFFECTS:
        return f"{change.target}: {_EFFECTS[change.kind]}"
    return f"{change.target}: then it " + ("is selected" if change.selected else "qualifies, and another comes first")


def _step(step: Step) -> str:
    if step.op == "remove":
        return f"remove {step.path}: {cell(step.before)}"
    if step.op == "replace":
        return f"change {step.path}: {cell(step.before)} -> {cell(step.after)}"
    return f"add {step.path}: {cell(step.after)}"
