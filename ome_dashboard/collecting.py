"""How often Python's garbage collector runs in a process that serves pages."""

from __future__ import annotations

import gc

__all__ = ["collect_seldom"]

#: New objects that are still there before the collector looks for cycles among them.
NEW = 5_000


def collect_seldom() -> None:
    """Let the collector run seldom, for the fleet stays in memory and each full run walks through all of it.

    What a request makes is freed without the collector, which only looks for cycles. With Python's own
    thresholds a page with a thousand verdicts brings a full run every few requests, and that takes longer
    than the page.
    """
    gc.set_threshold(NEW, 5, 400)
