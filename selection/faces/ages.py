"""How long ago something was, in words that fit a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["age_text", "utc_text"]

_STEPS = (
    (timedelta(days=2), timedelta(days=1), "d"),
    (timedelta(hours=2), timedelta(hours=1), "h"),
    (timedelta(minutes=2), timedelta(minutes=1), "min"),
)


def age_text(then: datetime, now: datetime) -> str:
    """The age as the largest unit of which there are two or more, as kubectl does.

    >>> from datetime import UTC, datetime, timedelta
    >>> now = datetime(2026, 5, 1, 12)
    >>> [age_text(now - timedelta(seconds=seconds), now) for seconds in (0, 50, 130, 3 * 3600, 50 * 3600)]
    ['just now', '50 s ago', '2 min ago', '3 h ago', '2 d ago']
    """
    age = now - then
    for least, unit, name in _STEPS:
        if age >= least:
            return f"{age // unit} {name} ago"
    seconds = int(age.total_seconds())
    return f"{seconds} s ago" if seconds >= 5 else "just now"


def utc_text(moment: datetime) -> str:
    """A moment to the second, with its zone.

    >>> from datetime import datetime, UTC
    >>> utc_text(datetime(2026, 5, 1, 12, 0, 3, tzinfo=UTC))
    '2026-05-01 12:00:03 UTC'
    """
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
