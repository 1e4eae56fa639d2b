"""The small tables of a service's page, as exports have them: the checks, the rules of each mode, and what runs."""

from __future__ import annotations

from collections.abc import Iterator

from selection.faces.explaining import funnel, ladder
from selection.rules.explanation import Explanation
from selection.rules.workloads import expected_workload, standings

__all__ = ["CHECKS", "RULES", "WORKLOADS", "check_rows", "rule_rows", "workload_rows"]

CHECKS = ("check", "arrive", "removes", "leaves")
RULES = ("component", "rule", "state", "whose", "says", "path")
WORKLOADS = ("component", "state", "expected_kind", "expected", "kind", "name", "ready", "runtime")

Row = dict[str, object]


def check_rows(explanation: Explanation) -> Iterator[Row]:
    """The checks in OME's order: how many candidates come to each, how many it removes, and how many it leaves."""
    for step in funnel(explanation.candidates):
        yield {"check": step.code, "arrive": step.arrived, "removes": step.removed, "leaves": step.left}


def rule_rows(explanation: Explanation) -> Iterator[Row]:
    """The rules of each component's mode in order, a row for each thing that one finds, or for finding nothing."""
    for component in explanation.modes:
        for rung in ladder(explanation, component):
            told: Row = {"component": component, "rule": rung.rule, "state": rung.state}
            for said in rung.says:
                yield {**told, "whose": said.whose, "says": said.value, "path": said.path}
            if not rung.says:
                yield {**told, "whose": "", "says": None, "path": ""}


def workload_rows(explanation: Explanation) -> Iterator[Row]:
    """What runs for each component beside what today's answer comes to; ``state`` is a code of ``Standing``."""
    for component in explanation.modes:
        expected = expected_workload(explanation, component)
        for each in standings(explanation, component):
            found = each.workload
            yield {
                "component": component,
                "state": each.code,
                "expected_kind": expected.kind if expected else None,
                "expected": expected.name if expected else None,
                "kind": found.ref.kind if found else None,
                "name": found.ref.name if found else None,
                "ready": found.ready if found else None,
                "runtime": found.runtime if found else None,
            }
