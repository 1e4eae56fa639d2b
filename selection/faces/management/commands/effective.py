"""``manage.py effective``: a runtime's inheritance chain and merged spec."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, as_yaml, table
from selection.faces.cli.sources import Source, add_source_arguments, open_sources
from selection.faces.cli.subjects import found_runtime
from selection.rules.inheritance import effective_spec
from selection.rules.merge import WrongType
from selection.rules.objects import Runtime

__all__ = ["Command"]


class Command(BaseCommand):
    """Show what a runtime is with what it inherits: what a service that names it is rendered from."""

    help = "Show a runtime's inheritance chain and merged spec."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the runtime")
        parser.add_argument("-n", "--namespace", help="look for a ServingRuntime there first")
        parser.add_argument("-o", "--output", choices=["table", "yaml", "json"], default="table")
        add_source_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paths"] and options["cluster"]:
            raise CommandError("-f judges manifests alone: leave out --cluster", returncode=2)
        sources = open_sources(options["paths"], options["cluster"], options["ome_version"])
        source, runtime = found_runtime(sources, options["name"], options["namespace"])
        value = _effective(source, runtime)
        if options["output"] == "json":
            self.stdout.write(as_json(value))
        elif options["output"] == "yaml":
            self.stdout.write(as_yaml(value))
        else:
            self.stdout.write(_table(source, runtime, value))


def _effective(source: Source, runtime: Runtime) -> dict[str, Any]:
    chain = source.fleet.effective(runtime).chain
    problem = {"reason": chain.problem.reason, "message": chain.problem.message} if chain.problem else None
    spec: dict[str, Any] | None = None
    if problem is None:
        members = [source.fleet.runtimes[(member.namespace or "", member.name)] for member in chain.members]
        try:
            spec = effective_spec([member.spec for member in members])
        except WrongType as error:
            problem = {"reason": "Unreadable", "message": str(error)}
    return {"runtime": runtime.ref.to_dict(), "chain": list(chain.names), "problem": problem, "spec": spec}


def _table(source: Source, runtime: Runtime, value: dict[str, Any]) -> str:
    rows = []
    for member in source.fleet.effective(runtime).chain.members:
        other = source.fleet.runtimes[(member.namespace or "", member.name)]
        rows.append([other.ref.name, other.scope, other.ref.namespace, "Yes" if other.disabled else "No"])
    text = table(["CHAIN (ROOT FIRST)", "SCOPE", "NAMESPACE", "DISABLED"], rows)
    if value["problem"]:
        return f"{text}\n\n{value['problem']['reason']}: {value['problem']['message']}"
    return f"{text}\n\n{as_yaml({'spec': value['spec']})}"
