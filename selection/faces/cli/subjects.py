"""What a command is asked about: one service or one model among the sources."""

from __future__ import annotations

from difflib import get_close_matches

from django.core.management.base import CommandError

from selection.faces.cli.sources import Source, near
from selection.rules.explain import explain_model, explain_service
from selection.rules.explanation import Explanation

__all__ = ["explained"]


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
