"""Lists as CSV and JSON, sent while they are read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponseBase, JsonResponse, StreamingHttpResponse

__all__ = ["EXPORTS", "cell", "export", "refused"]

#: What ``?format=`` may say, and the media type of the answer.
EXPORTS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Line:
    """A file for the csv module that hands each line back."""

    def write(self, line: str) -> str:
        """Return what would be written."""
        return line


def cell(value: object) -> object:
    """A value as one CSV cell. Text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> cell("=1+1"), cell("-safe"), cell(-1), cell(None), cell(True), cell(["a", "b"]), cell([{"a": 1}])
    ("'=1+1", "'-safe", -1, '', 'true', 'a; b', '[{"a": 1}]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, dict) or (isinstance(value, (list, tuple)) and any(isinstance(each, dict) for each in value)):
        value = json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
    elif isinstance(value, (list, tuple)):
        value = "; ".join(str(each) for each in value)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def export(form: str, name: str, keys: Sequence[str], rows: Iterable[dict[str, object]]) -> HttpResponseBase:
    """Send rows as a download.

    Args:
        form: a key of :data:`EXPORTS`.
        name: the file's name, without its ending.
        keys: the columns, in order.
        rows: one mapping for each row, with these keys.
    """
    lines = _csv_lines(keys, rows) if form == "csv" else _json_lines(rows)
    return StreamingHttpResponse(
        lines, content_type=EXPORTS[form], headers={"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    )


def refused(errors: Any) -> HttpResponseBase:
    """Say which filters can't be read, as JSON with status 400."""
    return JsonResponse({"errors": {name: list(texts) for name, texts in errors.items()}}, status=400)


def _csv_lines(keys: Sequence[str], rows: Iterable[dict[str, object]]) -> Iterator[str]:
    writer: Any = csv.writer(_Line())  # its writerow returns what the file's write does
    yield writer.writerow(keys)
    for row in rows:
        yield writer.writerow([cell(row[key]) for key in keys])


def _json_lines(rows: Iterable[dict[str, object]]) -> Iterator[str]:
    before = "[\n"
    for row in rows:
        yield before + json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
