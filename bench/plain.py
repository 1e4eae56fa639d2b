"""The plain way to the same answers: every service against every runtime, nothing shared and nothing skipped.

It stands beside the fast one twice: as the yardstick of its speed, and as the judge of its answers.
"""

from __future__ import annotations

from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.objects import Model, ObjectRef
from selection.rules.selection import judge, model_error, question_of, rank

__all__ = ["compare", "plainly"]


def plainly(fleet: Fleet, namespace: str, name: str) -> list[ObjectRef]:
    """The runtimes that qualify for a service, best first: what automatic selection chooses from."""
    service = fleet.services[(namespace, name)]
    model = fleet.find_model(namespace, service.model_name) if service.model_name else None
    if not isinstance(model, Model) or model_error(model) is not None:
        return []
    question = question_of(service, model, fleet.semantics)
    candidates = [runtime for (scope, _), runtime in fleet.runtimes.items() if scope in {namespace, ""}]
    return [verdict.runtime.ref for verdict in rank(judge(question, runtime) for runtime in candidates)]


def compare(plain: list[ObjectRef], fast: Explanation) -> None:
    """Hold the fast answer to the plain one.

    Raises:
        AssertionError: they differ.
    """
    if len(plain) != fast.qualified:
        raise AssertionError(f"{fast.subject}: {fast.qualified} runtimes qualify, not {len(plain)}")
    if fast.outcome == "auto-selected" and (fast.selected is None or plain[0] != fast.selected.ref):
        raise AssertionError(f"{fast.subject} gets {fast.selected}, not {plain[0]}")
