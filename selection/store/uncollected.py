"""Pauses Python's garbage collector where a great many objects are made that all stay.

Reading and judging a fleet makes hundreds of thousands of objects and no cycles. The collector would look through all
of them again and again, for a quarter of the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]

_lock = threading.Lock()
_running = 0
_was_on = True


@contextmanager
def uncollected() -> Iterator[None]:
    """Run a block without the collector; blocks may overlap, also in several threads."""
    global _running, _was_on
    with _lock:
        if not _running:
            _was_on = gc.isenabled()
            gc.disable()
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if not _running and _was_on:
                gc.enable()
