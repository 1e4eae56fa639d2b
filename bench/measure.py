"""How time and memory are measured, and how several runs become one number."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Stopwatch", "median", "peak_memory", "percentile", "stopwatch"]


@dataclass
class Stopwatch:
    """Seconds that a block took: by the clock, and of this process's processor time.

    On a quiet machine both are the same, but for waiting on a disk or a database server. On a busy one the clock
    also counts the others.
    """

    seconds: float = 0.0
    cpu: float = 0.0


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Time a block."""
    watch = Stopwatch()
    began, spent = time.perf_counter(), time.process_time()
    try:
        yield watch
    finally:
        watch.seconds = time.perf_counter() - began
        watch.cpu = time.process_time() - spent


def peak_memory() -> float:
    """The most memory this process ever had, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def median(values: Sequence[float]) -> float:
    """The middle one, so that neither a slow run nor a lucky one moves it.

    >>> median([3.0, 1.0, 9.0])
    3.0
    """
    return statistics.median(values)


def percentile(values: Sequence[float], share: int) -> float:
    """The smallest value that so many percent of all are not above (the nearest rank).

    >>> [percentile(list(range(1, 41)), share) for share in (50, 95, 100)]
    [20, 38, 40]
    """
    ranked = sorted(values)
    return ranked[max(0, -(-len(ranked) * share // 100) - 1)]
