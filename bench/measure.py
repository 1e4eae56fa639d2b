"""A measurement, the limit it is held to, and how it is shown."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Measurement", "Stopwatch", "peak_memory", "stopwatch", "table"]


@dataclass(frozen=True)
class Measurement:
    """What was measured, its value and unit, and the most it may be; None when it only informs."""

    what: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def kept(self) -> bool:
        """Whether it is within its limit."""
        return self.limit is None or self.value <= self.limit


@dataclass
class Stopwatch:
    """Seconds that a block took."""

    seconds: float = 0.0


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Time a block."""
    watch = Stopwatch()
    began = time.perf_counter()
    try:
        yield watch
    finally:
        watch.seconds = time.perf_counter() - began


def peak_memory() -> float:
    """The most memory this process ever had, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(measurements: list[Measurement]) -> str:
    """Aligned lines: what, value, limit, and a word where the limit isn't kept.

    >>> print(table([Measurement("evaluate", 2.5, "s", 10), Measurement("pages", 120, "ms", 100)]))
    evaluate  2.50 s   (limit 10 s)
    pages     120 ms   (limit 100 ms)  OVER
    """
    width = max((len(each.what) for each in measurements), default=0)
    lines = []
    for each in measurements:
        number = f"{each.value:.2f}" if each.value < 10 else f"{each.value:,.0f}"
        line = f"{each.what:<{width}}  {number} {each.unit:<3}"
        if each.limit is not None:
            line += f"  (limit {each.limit:g} {each.unit})" + ("" if each.kept else "  OVER")
        lines.append(line.rstrip())
    return "\n".join(lines)
