"""A sign of life of a process that serves no requests: the time of a file, which a probe looks at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from django.core.management.base import CommandError

__all__ = ["EVERY", "alive"]

EVERY = 5.0
"""Seconds between two signs."""


def alive(path: str | None, clock: Callable[[], float] = time.monotonic) -> Callable[[], object]:
    """What gives the sign whenever it is due; nothing without a path.

    Raises:
        CommandError: the file can't be made.
    """
    if not path:
        return bool
    file, given = Path(path), clock()
    try:
        file.touch()
    except OSError as error:
        raise CommandError(f"--alive {path}: {error.strerror}") from None

    def sign() -> None:
        nonlocal given
        now = clock()
        if now - given >= EVERY:
            given = now
            file.touch()

    return sign
