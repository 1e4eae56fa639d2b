"""The small tables of the plans' pages, as exports have them: a copy's changes, and what a move comes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from selection.faces.comparing import Fact, Part
from selection.faces.tables import fact_rows
from selection.rules.accelerator_needs import Accelerators
from selection.rules.runtime_copy import RuntimeCopy
from selection.rules.service_plan import ComponentMove

__all__ = ["EDITS", "NEEDS", "OUTCOME", "edit_rows", "need_rows", "outcome_rows"]

EDITS = ("op", "path", "before", "after", "why")
NEEDS = ("component", "state", "pods", "replicas", "leaders", "workers", "accelerators", "old_workloads")
OUTCOME = ("what", "now", "after", "differs")

Row = dict[str, object]


def edit_rows(copy: RuntimeCopy) -> Iterator[Row]:
    """Each change between a runtime and its copy, with the codes of its reasons."""
    for edit in copy.edits:
        yield edit.to_dict()


def outcome_rows(facts: Iterable[Fact]) -> Iterator[Row]:
    """What the rules say now and after the last step, in the words of the page."""
    for row in fact_rows([Part("outcome", "", tuple(facts))]):
        yield {"what": row["what"], "now": row["a"], "after": row["b"], "differs": row["differs"]}


def need_rows(components: Iterable[ComponentMove]) -> Iterator[Row]:
    """What each component comes to on OMENative, and the old workloads with what they hold until they are gone."""
    for each in components:
        pods = each.pods
        yield {
            "component": each.name,
            "state": each.state,
            "pods": pods.total,
            "replicas": pods.replicas,
            "leaders": pods.leaders,
            "workers": pods.workers,
            "accelerators": _counted(pods.accelerators),
            "old_workloads": [
                " ".join((left.ref.kind, left.ref.name, *_counted(left.pods.accelerators))) for left in each.leftovers
            ],
        }


def _counted(accelerators: Accelerators) -> list[str]:
    return [f"{name}={count}" for name, count in accelerators]
