"""The documents of one text: YAML with ``---`` between them, JSON, or a mix, as ``kubectl`` takes them.

The text is cut at its ``---`` lines first and each part is read alone, so that a broken document (a Helm
template, say) doesn't take the others with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selection.cluster.jsontext import parse_json
from selection.cluster.yamltext import DocumentError, Limits, ParsedDocument, parse_yaml

__all__ = ["decode", "parts_of", "read_documents"]

SEPARATOR = re.compile(r"^---(?=\s|\Z)[ \t\r]*", re.MULTILINE)
CONTENT = re.compile(r"^[ \t\r]*[^ \t\r\n#%]", re.MULTILINE)
"""A line with more on it than a comment or a directive."""


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 with its mark in front (PowerShell's ``>`` writes that).

    Raises:
        DocumentError: it isn't text, or holds a NUL byte.
    """
    try:
        text = data.decode("utf-16") if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError("not text: a byte that isn't UTF-8", line) from None
    nul = text.find("\0")
    if nul >= 0:
        raise DocumentError("not text: it holds a NUL byte", text.count("\n", 0, nul) + 1)
    return text


def read_documents(text: str, limits: Limits, *, json_only: bool = False) -> Iterator[ParsedDocument | DocumentError]:
    """Yield every document of a text in order, and for each that can't be read the reason in its place.

    A part that begins like JSON is read as JSON; if it isn't, and ``json_only`` is false, as YAML in flow style.
    """
    for count, document in enumerate(_documents(text, limits, json_only=json_only), 1):
        if count > limits.documents:
            yield DocumentError(f"more than {limits.documents:,} documents: the rest of it is not read")
            return
        if document is not None:
            yield document


def _documents(text: str, limits: Limits, *, json_only: bool) -> Iterator[ParsedDocument | DocumentError | None]:
    """Yield what ``read_documents`` does, and None for each empty part."""
    for part, line in parts_of(text):
        if not CONTENT.search(part):
            yield None
            continue
        try:
            yield from _read_part(part, line, limits, json_only=json_only)
        except DocumentError as error:
            hint = " (a template: render it first, say with helm template)" if "{{" in part else ""
            yield DocumentError(f"{error}{hint}", error.line, error.column)


def parts_of(text: str) -> Iterator[tuple[str, int]]:
    """The parts of a text between its ``---`` lines, each with the line that it begins at, from 1."""
    begin, line = 0, 1
    for separator in SEPARATOR.finditer(text):
        yield text[begin : separator.start()], line
        line += text.count("\n", begin, separator.end())
        begin = separator.end()
    yield text[begin:], line


def _read_part(part: str, line: int, limits: Limits, *, json_only: bool) -> Iterator[ParsedDocument]:
    if not (json_only or part.lstrip()[:1] in {"{", "["}):
        yield from parse_yaml(part, limits, line)
        return
    found = False
    try:
        for document in parse_json(part, limits, line):
            found = True
            yield document
        return
    except DocumentError as error:
        if found or json_only or not str(error).startswith("not JSON"):
            raise
    yield from parse_yaml(part, limits, line)
