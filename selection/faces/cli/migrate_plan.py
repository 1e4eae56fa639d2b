"""The command ``migrate-plan``. Its module under ``management/commands`` has a name that nobody could import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json
from selection.faces.cli.plan_text import copy_lines, order_lines, service_lines
from selection.faces.cli.sources import Source, add_source_arguments, database_in_words, open_sources, service_name
from selection.faces.cli.subjects import explained, found_runtime
from selection.faces.migrating import copy_diff, copy_text, fleet_order, runtime_copy, service_plans, source_text
from selection.faces.plan_markdown import copy_markdown, order_markdown, service_markdown
from selection.rules.objects import ObjectRef
from selection.rules.runtime_copy import RuntimeCopy
from selection.rules.service_plan import ServicePlan

__all__ = ["Command"]


class Command(BaseCommand):
    """Plan the way off MultiNode. Nothing is written to a cluster: what it prints is for people to apply."""

    help = (
        "Plan the move from MultiNode (LeaderWorkerSet) to OMENative: a runtime's copy, a service's steps, the order."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument("--isvc", type=service_name, metavar="NAMESPACE/NAME", help="the InferenceService to move")
        subject.add_argument("--runtime", metavar="NAME", help="the runtime to copy")
        subject.add_argument("--all", action="store_true", help="every service that is on the way, in order")
        parser.add_argument("-n", "--namespace", help="look for a ServingRuntime there first")
        parser.add_argument(
            "-o", "--output", choices=["text", "json", "yaml", "diff", "markdown"], default="text",
            help="yaml and diff print the copies of runtimes; markdown the whole plan, for a change request",
        )  # fmt: skip
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        sources = open_sources(options["paths"], options["cluster"], options["ome_version"])
        view = _View(options["output"], options["paths"] or [])
        with database_in_words():
            if options["isvc"] is not None:
                text = view.service(sources, options["isvc"])
            elif options["runtime"] is not None:
                text = view.runtime(sources, options["runtime"], options["namespace"])
            else:
                text = view.fleet(sources)
        if text:
            self.stdout.write(text)


class _View:
    """What to print, in one form."""

    def __init__(self, form: str, paths: list[str]) -> None:
        self.form, self.paths = form, paths

    def service(self, sources: list[Source], name: tuple[str, str]) -> str:
        source, explanation = explained(sources, name, None, "")
        (plan,) = service_plans(source.fleet, source.manifests, [explanation.subject])
        copies = [plan.copy] if plan.copy else []
        if self.form == "json":
            return as_json({**_head(source), **plan.to_dict(), **_copies(copies)})
        if self.form == "markdown":
            return service_markdown(plan, self._texts(copies), source.cluster)
        return self._runtimes(copies) if self.form in {"yaml", "diff"} else "\n".join(service_lines(plan))

    def runtime(self, sources: list[Source], name: str, namespace: str | None) -> str:
        source, runtime = found_runtime(sources, name, namespace)
        copy, parent = runtime_copy(source.fleet, source.manifests, runtime)
        if self.form == "json":
            return as_json({**_head(source), **copy.to_dict(), "parent_copy": parent.to_dict() if parent else None})
        if self.form == "markdown":
            return copy_markdown(copy, self._texts([copy]), source.cluster)
        if self.form in {"yaml", "diff"}:
            return self._runtimes([copy])
        return "\n".join(copy_lines(copy, parent))

    def fleet(self, sources: list[Source]) -> str:
        if len(sources) > 1:
            names = ", ".join(source.cluster for source in sources)
            raise CommandError(f"there are several clusters ({names}): say which with --cluster")
        (source,) = sources
        order = fleet_order(source.fleet, source.manifests)
        copies = list(_used(order.plans))
        if self.form == "json":
            return as_json({**_head(source), **order.to_dict(), **_copies(copies)})
        if self.form == "markdown":
            return order_markdown(order, self._texts(copies), source.cluster)
        if self.form in {"yaml", "diff"}:
            return self._runtimes([copy for copy in copies if not copy.exists])
        return "\n".join(order_lines(order))

    def _source(self, copy: RuntimeCopy) -> str | None:
        return source_text(self.paths, copy.runtime) if self.paths else None

    def _runtimes(self, copies: list[RuntimeCopy]) -> str:
        """The copies themselves, to apply or to read what differs."""
        if self.form == "diff":
            return "\n".join(copy_diff(copy, self._source(copy)) for copy in copies)
        return "\n---\n".join(copy_text(copy, self._source(copy)) for copy in copies)

    def _texts(self, copies: list[RuntimeCopy]) -> dict[ObjectRef, tuple[str, str]]:
        """Without the source's text, which may hold secrets: a change request is read by many."""
        return {copy.runtime: (copy_text(copy), copy_diff(copy)) for copy in copies}


def _used(plans: Iterable[ServicePlan]) -> dict[RuntimeCopy, None]:
    """The copies that plans use, each once, in their order."""
    return {plan.copy: None for plan in plans if plan.copy is not None}


def _head(source: Source) -> dict[str, Any]:
    return {"cluster": source.cluster or None, "ome_version": source.fleet.semantics.version}


def _copies(copies: list[RuntimeCopy]) -> dict[str, Any]:
    return {"copies": [copy.to_dict() for copy in copies]}
