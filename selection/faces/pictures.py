"""The geometry of the overview's small pictures: numbers in, places out. Templates draw them as SVG.

Each picture stands beside its numbers in words, and says in its title what it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from selection.store.daily import Stand
from selection.store.timeline import DayCount

__all__ = ["HEIGHT", "WIDTH", "Column", "Part", "Steps", "columns", "parts", "steps"]

WIDTH, HEIGHT = 320, 72
"""The size of a picture with days along it, in its own units."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: from where on and how wide, in percent."""

    code: str
    count: int
    start: str
    width: str


@dataclass(frozen=True, slots=True)
class Column:
    """A day with a count, and its place in a picture."""

    day: date
    count: int
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Steps:
    """Progress as two areas, one within the other: all components, and those that are off MultiNode."""

    first: Stand
    last: Stand
    all: str
    off: str


def parts(counts: Iterable[tuple[str, int]], total: int) -> list[Part]:
    """Counts as parts of one bar of which ``total`` is the whole; those without a count are left out.

    >>> [(each.code, each.start, each.width) for each in parts([("a", 1), ("b", 0), ("c", 3)], 4)]
    [('a', '0.00', '25.00'), ('c', '25.00', '75.00')]
    """
    found: list[Part] = []
    before = 0
    for code, count in counts:
        if count:
            found.append(Part(code, count, f"{100 * before / total:.2f}", f"{100 * count / total:.2f}"))
        before += count
    return found


def columns(counted: Iterable[DayCount], days: int, today: date, cluster: int | None = None) -> list[Column]:
    """The last ``days`` days as columns, those without a count as well; of one cluster (its key) or of all."""
    totals: dict[date, int] = {}
    for each in counted:
        if cluster in (None, each.cluster):
            totals[each.day] = totals.get(each.day, 0) + each.count
    most = max(totals.values(), default=0)
    step = WIDTH / days
    found = []
    for place in range(days):
        day = today - timedelta(days=days - 1 - place)
        count = totals.get(day, 0)
        # One among many is still to be seen.
        height = max(2.0, HEIGHT * count / most) if count else 0.0
        x, y = f"{place * step:.1f}", f"{HEIGHT - height:.1f}"
        found.append(Column(day, count, x, y, f"{step - 3:.1f}", f"{height:.1f}"))
    return found


def steps(stands: Sequence[Stand]) -> Steps | None:
    """Progress day by day; None before a second day is known, or when there is nothing to move.

    >>> one = [Stand(date(2026, 5, day), 4, off) for day, off in ((1, 0), (2, 1))]
    >>> steps(one).off
    'M0 72V72.0H160.0V54.0H320.0V72Z'
    >>> steps(one[:1])
    """
    most = max((each.multi_node for each in stands), default=0)
    if len(stands) < 2 or not most:
        return None
    return Steps(
        stands[0],
        stands[-1],
        _area([each.multi_node / most for each in stands]),
        _area([each.off / most for each in stands]),
    )


def _area(shares: Sequence[float]) -> str:
    """An area under steps: each day is as wide as the others."""
    width = WIDTH / len(shares)
    corners = "".join(f"V{HEIGHT * (1 - share):.1f}H{(place + 1) * width:.1f}" for place, share in enumerate(shares))
    return f"M0 {HEIGHT}{corners}V{HEIGHT}Z"
