"""Printing: tables as kubectl prints them, JSON, YAML and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

__all__ = ["as_csv", "as_json", "as_yaml", "cell", "table"]


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns with three spaces between them, without trailing blanks.

    >>> print(table(["NAME", "SCORE"], [["a", 6], ["long-name", None]]))
    NAME        SCORE
    a           6
    long-name   -
    """
    lines = [[cell(value) for value in row] for row in ([*headers], *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    padded = ("   ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def cell(value: object) -> str:
    """One cell: ``-`` for nothing, and no line break that would break the table."""
    if value is None or value == "":
        return "-"
    return " ".join(str(value).split()) if isinstance(value, str) and not value.isprintable() else str(value)


def as_json(value: Any) -> str:
    """Indented JSON; text beyond ASCII stays readable."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def as_yaml(value: Any) -> str:
    """Block-style YAML in the order of the value."""
    text = _dumped(value, _Quick)
    # The C library escapes what lies beyond the first 65,536 characters, such as emoji.
    text = _dumped(value, _Plain) if "\\U" in text else text
    # Written as they are, such ends of a line would be folded into a space.
    return _dumped(value, _Plain, readable=False) if any(each in text for each in _BREAKS) else text


_BREAKS = "\x85\u2028\u2029"
"""What YAML takes for the end of a line beside the usual ones."""


def _dumped(value: Any, dumper: type[yaml.SafeDumper | yaml.CSafeDumper], readable: bool = True) -> str:
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=readable, width=120)
    return text.rstrip("\n")


class _Plain(yaml.SafeDumper):
    """Writes a value that occurs twice twice; an anchor would be correct and unreadable."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Quick(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # one of two
    """The same in C, ten times as fast, where PyYAML comes with it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def as_csv(headers: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a header line; lists and objects become JSON, and no cell can be taken for a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(headers)
    for row in rows:
        writer.writerow([_csv_cell(row[name]) for name in headers])
    return buffer.getvalue().rstrip("\n")


def _csv_cell(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        return "'" + value
    return "" if value is None else value
