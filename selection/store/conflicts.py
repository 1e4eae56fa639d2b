"""Reads mode conflicts: the rows, how many there are of each kind, and which modes meet which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, QuerySet, Value, When

from selection.rules.conflicts import CODES

from .models import ConflictRow

__all__ = ["Matrix", "conflict_counts", "conflict_rows", "mode_matrix"]


@dataclass(frozen=True, slots=True)
class Cell:
    """How many conflicts there are of services that ask for one mode under runtimes that declare another."""

    requested: str
    declared: str
    count: int

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.requested == self.declared


@dataclass(frozen=True, slots=True)
class Matrix:
    """Conflicts of services by asked-for mode (rows) and declared mode (columns); ``""`` is none."""

    declared: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def conflict_rows() -> QuerySet[ConflictRow]:
    """Every conflict with its cluster. ``severity`` sorts them: 0 is the kind that matters most."""
    severity = Case(
        *(When(code=code, then=Value(place)) for place, code in enumerate(CODES)),
        default=Value(len(CODES)),
        output_field=IntegerField(),
    )
    return ConflictRow.objects.select_related("cluster").annotate(severity=severity)


def conflict_counts(rows: QuerySet[ConflictRow]) -> list[tuple[str, int]]:
    """How many of each kind there are, the kind that matters most first; those without any are left out."""
    found = dict(rows.order_by().values_list("code").annotate(Count("pk")))
    return [(code, found[code]) for code in CODES if code in found]


def mode_matrix(rows: QuerySet[ConflictRow], modes: Sequence[str]) -> Matrix:
    """Which asked-for modes meet which declared ones, in the order of ``modes``, with none last.

    Rows of runtimes alone are left out: nobody asked. Modes that nobody asks for or declares are, too.
    """
    found = {
        (requested, declared): count
        for requested, declared, count in rows.exclude(service="")
        .order_by()
        .values_list("requested", "declared")
        .annotate(Count("pk"))
    }
    order = {mode: place for place, mode in enumerate([*modes, ""])}

    def place(mode: str) -> tuple[int, str]:
        return order.get(mode, len(modes) - 1), mode

    columns = tuple(sorted({declared for _, declared in found}, key=place))
    lines = sorted({requested for requested, _ in found}, key=place)
    return Matrix(
        columns,
        tuple(
            (asked, tuple(Cell(asked, column, found.get((asked, column), 0)) for column in columns)) for asked in lines
        ),
    )
