"""JSON text to plain values: one value, several one after the other, or one a line.

The items of a top-level ``items`` list are read one by one, so that each is known by its line.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from selection.cluster.scalars import HIGHEST, LONGEST_NUMBER, LOWEST
from selection.cluster.yamltext import DocumentError, Limits, ParsedDocument

__all__ = ["parse_json", "printable"]

SPACE = re.compile(r"[ \t\r\n]*")
UNPRINTABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""The escapes of what can be written in JSON and is no text: NUL, and halves of a surrogate pair."""
NUL_OR_HALF = re.compile("[\0\ud800-\udfff]")


def parse_json(text: str, limits: Limits, first_line: int = 1) -> Iterator[ParsedDocument]:
    """Yield the values of a JSON text. ``first_line`` is the line of the file that the text begins at.

    Raises:
        DocumentError: the text isn't JSON, or goes beyond a limit.
    """
    reader = _Reader(text, limits, first_line)
    try:
        while reader.skip_space() < len(text):
            yield reader.document()
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", error.lineno + first_line - 1, error.colno) from None
    except RecursionError:
        raise reader.fail(f"nested deeper than {limits.depth} levels") from None


def printable(value: Any) -> Any:
    """Return the value with NUL and halves of surrogate pairs replaced by the replacement character.

    No database keeps them as text.

    >>> printable({"a": ["x" + chr(0)]}) == {"a": ["x" + chr(0xFFFD)]}
    True
    """
    if isinstance(value, str):
        return NUL_OR_HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    return value


class _Reader:
    def __init__(self, text: str, limits: Limits, first_line: int) -> None:
        self.text = text
        self.limits = limits
        self.position = 0
        self.suspicious = UNPRINTABLE.search(text) is not None
        self.counted, self.lines = 0, first_line
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=self._refuse,
        )

    def skip_space(self) -> int:
        match = SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self.position

    def line(self) -> int:
        """The line of the position; counts on from where it last counted."""
        self.lines += self.text.count("\n", self.counted, self.position)
        self.counted = self.position
        return self.lines

    def fail(self, message: str) -> DocumentError:
        return DocumentError(message, self.line())

    def document(self) -> ParsedDocument:
        line = self.line()
        item_lines: list[int] = []
        value = self._pairs(item_lines) if self._at("{") else self._value()
        self._check(value, line)
        return ParsedDocument(value, line, tuple(item_lines))

    def _at(self, character: str) -> bool:
        return self.text.startswith(character, self.position)

    def _value(self) -> Any:
        value, self.position = self.decoder.raw_decode(self.text, self.position)
        return value

    def _expect(self, character: str, message: str) -> None:
        self.skip_space()
        if not self._at(character):
            raise json.JSONDecodeError(message, self.text, self.position)
        self.position += 1
        self.skip_space()

    def _pairs(self, item_lines: list[int]) -> dict[str, Any]:
        """Read an object key by key, its ``items`` one by one."""
        self._expect("{", "Expecting an object")
        pairs: list[tuple[str, Any]] = []
        while not self._at("}"):
            if pairs:
                self._expect(",", "Expecting ',' delimiter")
            if not self._at('"'):
                raise json.JSONDecodeError("Expecting property name in double quotes", self.text, self.position)
            key = self._value()
            self._expect(":", "Expecting ':' delimiter")
            pairs.append((key, self._list(item_lines) if key == "items" and self._at("[") else self._value()))
            self.skip_space()
        self.position += 1
        return self._object(pairs)

    def _list(self, item_lines: list[int]) -> list[Any]:
        self._expect("[", "Expecting a list")
        items: list[Any] = []
        while not self._at("]"):
            if items:
                self._expect(",", "Expecting ',' delimiter")
            item_lines.append(self.line())
            items.append(self._value())
            self.skip_space()
        self.position += 1
        return items

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
            raise self.fail(f'the key "{twice[:60]}" is given twice in one object')
        return value

    def _integer(self, text: str) -> int | float:
        """Read a whole number; beyond 64 bits it becomes a float, as in Go."""
        if len(text) > LONGEST_NUMBER:
            return self._float(text)
        number = int(text)
        return number if LOWEST <= number <= HIGHEST else self._float(text)

    def _float(self, text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise self.fail(f"{text[:60]} is beyond any number that is kept")
        return number

    def _refuse(self, text: str) -> float:
        raise self.fail(f"{text} is not a number that JSON can hold")

    def _check(self, value: Any, line: int) -> None:
        """Hold the limits on a value; level by level, so that nothing here can run out of stack."""
        level: list[Any] = [value]
        count = depth = 0
        while level:
            count += len(level)
            containers = [each for each in level if isinstance(each, dict | list)]
            depth += bool(containers)
            if count > self.limits.values:
                raise DocumentError(f"more than {self.limits.values:,} values in one document", line)
            if depth > self.limits.depth:
                raise DocumentError(f"nested deeper than {self.limits.depth} levels", line)
            level = [child for each in containers for child in (each.values() if isinstance(each, dict) else each)]
        if self.suspicious and printable(value) != value:
            raise DocumentError("a string holds a NUL character or half of a surrogate pair", line)
