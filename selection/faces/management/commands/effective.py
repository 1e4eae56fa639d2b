"""``manage.py effective``: a runtime's inheritance chain and merged spec."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, as_yaml, table
from selection.faces.cli.sources import Source, add_source_arguments, near, open_sources
from selection.rules.inheritance import effective_spec
from selection.rules.merge import WrongType
from selection.rules.objects import Problem, Runtime

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
        source, runtime = _found(sources, options["name"], options["namespace"])
        value = _effective(source, runtime)
        if options["output"] == "json":
            self.stdout.write(as_json(value))
        elif options["output"] == "yaml":
            self.stdout.write(as_yaml(value))
        else:
            self.stdout.write(_table(source, runtime, value))


def _found(sources: list[Source], name: str, namespace: str | None) -> tuple[Source, Runtime]:
    scopes = [namespace, ""] if namespace else [""]
    found: list[tuple[Source, Runtime]] = []
    for source in sources:
        runtime = next(
            (source.fleet.find_runtime(scope, name) for scope in scopes if source.fleet.find_runtime(scope, name)), None
        )
        if isinstance(runtime, Problem):
            raise CommandError(f"{runtime.object} can't be read: {runtime.path}: {runtime.message}")
        if runtime is not None:
            found.append((source, runtime))
    if not found:
        raise CommandError(f"there is no runtime {name}{_where(sources, name, namespace)}")
    if len(found) > 1:
        raise CommandError(
            f"it is in several clusters ({', '.join(s.cluster for s, _ in found)}): say which with --cluster"
        )
    return found[0]


def _where(sources: list[Source], name: str, namespace: str | None) -> str:
    """Where it was looked for, and a hint where else to look."""
    looked = f" in namespace {namespace} or at cluster scope" if namespace else " at cluster scope"
    known = sorted({key for source in sources for key in source.fleet.runtimes})
    elsewhere = [scope for scope, each in known if each == name]
    if elsewhere:
        return f"{looked}; there is one in namespace {', '.join(elsewhere)}: say which with -n"
    return looked + near(name, sorted({each for _, each in known}))


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
