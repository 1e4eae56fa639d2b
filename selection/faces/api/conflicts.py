"""Mode conflicts: where what a service asks for, what its runtime declares and what runs don't agree."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet

from selection.faces.api.lists import ListView, More, list_shape
from selection.faces.api.shapes import Shape, mapped, text
from selection.faces.pages.conflicts import CONFLICTS
from selection.faces.plain import plain_sentence
from selection.rules.conflicts import CODES
from selection.store.conflicts import conflict_rows
from selection.store.models import ConflictRow

__all__ = ["ConflictList"]


class ModeConflictRow(Shape):
    """A mode conflict of a service's component, or of a runtime alone."""

    code = text(f"One of {', '.join(CODES)}.")
    cluster = text("The cluster.")
    service = text('The service; `""` for a conflict of a runtime alone.')
    namespace = text("The service's namespace.")
    component = text('The component; `""` for the whole runtime.')
    runtime = text('The runtime, `""` without one.')
    runtime_kind = text("The runtime's kind.")
    runtime_namespace = text('The runtime\'s namespace, `""` for a ClusterServingRuntime.')
    requested = text("The mode that the service asks for.")
    declared = text("The mode that the runtime declares.")
    running = text("The mode that runs.")
    facts = mapped("What the conflict is between.")
    what = text("What happens, for people: the words may change.")
    next = text("What to do, for people: the words may change.")


def _what(row: ConflictRow) -> str:
    return plain_sentence("conflict", row.code, conflict=row, cluster=row.cluster.name)


def _next(row: ConflictRow) -> str:
    return plain_sentence("conflict", row.code, "next", conflict=row, cluster=row.cluster.name)


class ConflictList(ListView):
    """List mode conflicts."""

    operation, tag = "listConflicts", "conflicts"
    row, shape = ModeConflictRow, list_shape(ModeConflictRow)
    listing = CONFLICTS
    more: ClassVar[More] = {"what": _what, "next": _next}
    identity = (
        *("cluster__name", "namespace", "service", "component", "code"),
        *("runtime_kind", "runtime_namespace", "runtime_name", "ordinal"),
    )
    by = "cluster, namespace, service, component, code and runtime"

    def rows(self, **names: str) -> QuerySet[ConflictRow]:
        """Every conflict that is seen."""
        return conflict_rows()
