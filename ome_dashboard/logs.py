"""Logs: one line an event on standard error, as JSON for machines or as text for a terminal.

Anything passed as ``extra=`` becomes a field. What looks like a credential is struck out in every
line, so that an exception that quotes a URL or a header doesn't carry it into the logs.
"""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

__all__ = ["JsonFormatter", "TextFormatter", "logging_settings", "without_credentials"]

STRUCK = "***"
CREDENTIALS = (
    # user:password@ in a URL
    (re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]+@"), rf"\1:{STRUCK}@"),
    # Authorization headers
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {STRUCK}"),
    # our own tokens, but what they begin with, and links to set a password
    (re.compile(r"(omedash_[A-Za-z0-9]{8})_[A-Za-z0-9]{8,}"), rf"\1_{STRUCK}"),
    (re.compile(r"(/set-password/[^/\s]+/)[^/\s]+"), rf"\1{STRUCK}"),
    # token=..., "password": "...", api_key: ...
    (
        re.compile(
            r"""(?i)\b((?:[\w-]*(?:token|password|passwd|secret|api[_-]?key))["']?\s*[=:]\s*["']?)[^\s"',;&]{4,}"""
        ),
        rf"\1{STRUCK}",
    ),
)

#: What every record has of its own accord; the rest came with ``extra=``. Django's ``request`` and
#: ``server_time`` are objects for its own handlers, not facts for a log.
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "request", "server_time"}


def without_credentials(text: str) -> str:
    """Return ``text`` with what looks like a credential struck out.

    >>> without_credentials("postgres://ann:hunter2@db/ome and Authorization: Bearer abcdefgh12")
    'postgres://ann:***@db/ome and Authorization: Bearer ***'
    """
    for pattern, replacement in CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in STANDARD}


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _has_traceback(record: logging.LogRecord) -> bool:
    """Whether the record has a traceback that helps. A request that was refused broke nothing: its line says it all."""
    return bool(record.exc_info) and not 400 <= getattr(record, "status_code", 0) < 500


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, the extra fields, the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        event: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname,
            "logger": record.name,
            "message": without_credentials(record.getMessage()),
        }
        for name, value in _fields(record).items():
            event[name] = value if isinstance(value, int | float | None) else without_credentials(str(value))
        if record.exc_info and _has_traceback(record):
            event["traceback"] = without_credentials(self.formatException(record.exc_info))
        return json.dumps(event, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """Time, level, logger and message, then the extra fields as ``key=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, and its traceback below when it has one."""
        line = f"{_moment(record)} {record.levelname} {record.name}: {record.getMessage()}"
        line += "".join(f" {name}={value}" for name, value in _fields(record).items())
        if record.exc_info and _has_traceback(record):
            line += "\n" + self.formatException(record.exc_info)
        return without_credentials(line)


def logging_settings(*, level: str, form: str) -> dict[str, Any]:
    """Django's ``LOGGING``: ``form`` is ``json`` or ``text``, ``level`` the least that is shown."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "ome_dashboard.logs.JsonFormatter"},
            "text": {"()": "ome_dashboard.logs.TextFormatter"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "ome_dashboard": {"level": level},
            "selection": {"level": level},
            # Django adds handlers of its own here; everything goes through ours.
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        },
    }
