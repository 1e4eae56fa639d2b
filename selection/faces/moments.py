"""Moments as people type them: ``24h`` ago, a day, a time of day."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils.dateparse import parse_date, parse_datetime

__all__ = ["MomentField", "moment"]

_AGO = re.compile(r"(\d{1,5})\s*(s|min|m|h|d|w)(?:\s+ago)?")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_DAYS = {"today": 0, "yesterday": 1}


def moment(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment that a text means, in UTC.

    Args:
        text: ``90s``, ``30m``, ``24h``, ``7d`` or ``2w`` ago; ``today``, ``yesterday`` or a date, which mean the whole
            day; a date with a time, in UTC unless it names an offset.
        now: the time to count back from.
        end: whether the end of a day is meant, not its beginning.

    Raises:
        ValueError: it is none of these.

    >>> now = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
    >>> [f"{moment(text, now):%d %H:%M}" for text in ("24h", "30m", "today", "2026-05-01", "2026-05-01 08:15")]
    ['03 12:30', '04 12:00', '04 00:00', '01 00:00', '01 08:15']
    >>> f"{moment('yesterday', now, end=True):%d %H:%M}"
    '04 00:00'
    """
    text = " ".join(text.split()).lower()
    ago = _AGO.fullmatch(text)
    try:
        if ago is not None:
            return now - int(ago.group(1)) * _UNITS[ago.group(2)]
        day = now.date() - timedelta(days=_DAYS[text]) if text in _DAYS else parse_date(text)
        if day is not None:
            return _midnight(day) + timedelta(days=end)
        found = parse_datetime(text.upper())
        if found is not None:
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # such as the 31st of February, or longer ago than there are years
    raise ValueError("not a moment")


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


class MomentField(forms.CharField):
    """A field for a moment; ``end`` says that a day's end is meant. Its value is a datetime in UTC, or None."""

    def __init__(self, *, end: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.end = end

    def clean(self, value: Any) -> Any:
        """The moment, or a form's error that says what can be written."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return moment(text, datetime.now(UTC), end=self.end)
        except ValueError:
            raise forms.ValidationError(
                "Write 24h, 7d, today, a date such as 2026-05-01, or a date with a time (UTC)."
            ) from None
