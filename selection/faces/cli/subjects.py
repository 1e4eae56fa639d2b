"""What a command is asked about: one service, model or runtime among the sources."""

from __future__ import annotations

from difflib import get_close_matches

from django.core.management.base import CommandError

from selection.faces.cli.sources import Source, near
from selection.rules.explain import explain_model, explain_service
from selection.rules.explanation import Explanation
from selection.rules.objects import Problem, Runtime

__all__ = ["explained", "found_runtime"]


def explained(
    sources: list[Source], isvc: tuple[str, str] | None, model: str | None, namespace: str
) -> tuple[Source, Explanation]:
    """The explanation of a service, or of a model seen from a namespace, and the source that has it.

    Raises:
        CommandError: no source has it, or several have.
    """
    found: list[tuple[Source, Explanation]] = []
    for source in sources:
        try:
            if isvc is not None:
                found.append((source, explain_service(source.fleet, *isvc)))
            else:
                found.append((source, explain_model(source.fleet, namespace, model or "")))
        except LookupError as error:
            missing = str(error)
    if not found:
        hint = _near_services(sources, *isvc) if isvc else near(model or "", _models(sources))
        raise CommandError(missing + hint)
    if len(found) > 1:
        names = ", ".join(source.cluster for source, _ in found)
        raise CommandError(f"it is in several clusters ({names}): say which with --cluster")
    return found[0]


def found_runtime(sources: list[Source], name: str, namespace: str | None) -> tuple[Source, Runtime]:
    """The runtime of that name, a ServingRuntime of the namespace before the cluster's, and the source that has it.

    Raises:
        CommandError: no source has it, several have, or it can't be read.
    """
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
        raise CommandError(f"there is no runtime {name}{_where_runtime(sources, name, namespace)}")
    if len(found) > 1:
        raise CommandError(
            f"it is in several clusters ({', '.join(s.cluster for s, _ in found)}): say which with --cluster"
        )
    return found[0]


def _where_runtime(sources: list[Source], name: str, namespace: str | None) -> str:
    """Where it was looked for, and a hint where else to look."""
    looked = f" in namespace {namespace} or at cluster scope" if namespace else " at cluster scope"
    known = sorted({key for source in sources for key in source.fleet.runtimes})
    elsewhere = [scope for scope, each in known if each == name]
    if elsewhere:
        return f"{looked}; there is one in namespace {', '.join(elsewhere)}: say which with -n"
    return looked + near(name, sorted({each for _, each in known}))


def _models(sources: list[Source]) -> list[str]:
    return sorted({name for source in sources for _, name in source.fleet.models})


def _near_services(sources: list[Source], namespace: str, name: str) -> str:
    """A hint: the same name in other namespaces, else names that look alike in this one, else anywhere."""
    known = sorted({key for source in sources for key in source.fleet.services})
    same = [f"{scope}/{each}" for scope, each in known if each == name]
    if same:
        return f"; did you mean {', '.join(same[:3])}?"
    asked = f"{namespace}/{name}"
    here = get_close_matches(name, [each for scope, each in known if scope == namespace], n=3, cutoff=0.5)
    return near(asked, [f"{namespace}/{each}" for each in here] or ["/".join(key) for key in known])
