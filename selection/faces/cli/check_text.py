"""A judgement as lines: for people, for GitHub's annotations."""

from __future__ import annotations

from collections.abc import Iterator

from selection.faces.cli.check_judging import Judgement, Report
from selection.faces.cli.check_rules import LEVELS

__all__ = ["github", "place", "plain", "shown_path", "summary", "text"]

_COLOURS = {"error": "31", "warning": "33", "info": "36"}
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def place(report: Report) -> str:
    """``path:line:column`` as far as it is known; ``cluster`` for what stands in no file.

    >>> place(Report("a", "error", None, "x.yaml", 3, None, "", "", ""))
    'x.yaml:3'
    """
    if not report.path:
        return "cluster"
    parts = (shown_path(report.path), report.line, report.column)
    return ":".join(str(part) for part in parts if part is not None)


def shown_path(path: str) -> str:
    """A path on one line, whatever characters are in it; ``<stdin>`` for standard input."""
    return "<stdin>" if path == "-" else plain(path)


def plain(words: str) -> str:
    """Words on one line, without anything that a terminal would obey.

    >>> plain("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    if words.isprintable():
        return words
    lines = " ".join(words.split())
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in lines)


def text(judgement: Judgement, *, colour: bool = False) -> str:
    """Lines for people, those of one file together: ``path:line:column: level code message``, and a summary.

    What to do next stands below, set in.
    """
    lines = [f"{shown_path(note.path)}: not judged: {plain(note.text)}" for note in judgement.notes]
    before = None
    for report in judgement.reports:
        if report.path != before and lines:
            lines.append("")
        before = report.path
        lines += _lines(report, colour=colour)
    return "\n".join([*lines, *([""] if lines else []), summary(judgement)])


def _lines(report: Report, *, colour: bool) -> Iterator[str]:
    level = f"\x1b[{_COLOURS[report.level]}m{report.level}\x1b[0m" if colour else report.level
    yield f"{place(report)}: {level} {report.code} {plain(report.short)}"
    if report.next:
        yield f"    {plain(report.next)}"


def summary(judgement: Judgement) -> str:
    """How many problems of each level, in how much, judged by what."""
    counts = judgement.counts()
    total = sum(counts.values())
    words = ", ".join(f"{count} {_noun(level, count)}" for level, count in counts.items() if count)
    told = f"{_many(total, 'problem')}: {words}" if total else "no problems"
    if judgement.silenced:
        told += f" ({len(judgement.silenced)} silenced)"
    where = f" on top of {judgement.base}" if judgement.base else ""
    looked = f"{_many(len(judgement.objects), 'object')} in {_many(judgement.files, 'file')}"
    return f"{told}; {looked}{plain(where)}, by OME {judgement.version}"


def _noun(level: str, count: int) -> str:
    return level if level == LEVELS[-1] or count == 1 else f"{level}s"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def github(judgement: Judgement) -> str:
    """GitHub's workflow commands: an annotation for each problem, at its place."""
    return "\n".join(_annotation(report) for report in judgement.reports)


def _annotation(report: Report) -> str:
    known = {"line": report.line, "col": report.column, "title": report.code}
    if report.path and report.path != "-":
        known = {"file": report.path, **known}
    told = ",".join(f"{key}={_property(str(value))}" for key, value in known.items() if value is not None)
    message = plain(report.short) + (f"\n{plain(report.next)}" if report.next else "")
    return f"::{_COMMANDS[report.level]} {told}::{_data(message)}"


def _data(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(words: str) -> str:
    return _data(words).replace(":", "%3A").replace(",", "%2C")
