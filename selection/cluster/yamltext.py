"""YAML text to plain values, safe against hostile input.

The text is read event by event, so that every limit holds before anything grows: how deep, how many values,
and how many of them come from aliases (a "billion laughs" is refused at the alias that goes too far). The
values are what JSON can hold and nothing else. See ``scalars`` for what an unquoted word means.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from selection.cluster.scalars import key_text, resolve

__all__ = ["DocumentError", "Limits", "ParsedDocument", "parse_yaml"]

# libyaml when PyYAML has it: some ten times faster, the same events.
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

STANDARD = "tag:yaml.org,2002:"
MERGE = object()
"""Stands for the key ``<<`` until its value is there."""
NO_KEY = object()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one source of manifests may ask for.

    ``file_bytes`` is the size of one file; ``documents`` how many there are in it, empty ones too; ``depth`` how
    deep values are nested; ``values`` how many there are in one document; ``alias_values`` how many of those
    aliases may stand for.
    """

    file_bytes: int = 64 * 1024 * 1024
    documents: int = 200_000
    depth: int = 100
    values: int = 5_000_000
    alias_values: int = 100_000


class DocumentError(ValueError):
    """A document can't be read; ``str()`` is why. Line and column count from 1; None when unknown."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The value of one document, the line it starts at, and those of the items of its ``items`` list."""

    value: Any
    line: int
    item_lines: tuple[int, ...] = ()


def parse_yaml(text: str, limits: Limits, first_line: int = 1) -> Iterator[ParsedDocument]:
    """Yield the documents of a YAML text. ``first_line`` is the line of the file that the text begins at.

    Raises:
        DocumentError: the text isn't YAML, holds what JSON can't, or goes beyond a limit.
    """
    builder: _Builder | None = None
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.DocumentStartEvent):
                builder = _Builder(limits, first_line)
            elif isinstance(event, yaml.DocumentEndEvent):
                if builder is not None:
                    yield builder.document()
                builder = None
            elif builder is not None and isinstance(event, yaml.NodeEvent):
                builder.node(event)
            elif builder is not None and isinstance(event, yaml.CollectionEndEvent):
                builder.end()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(part for part in (error.context, error.problem) if part)
        line, column = (mark.line + first_line, mark.column + 1) if mark else (None, None)
        raise DocumentError(f"not YAML: {words}", line, column) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line = before.count("\n") + first_line
        raise DocumentError(f"not YAML: {error.reason}", line, len(before) - before.rfind("\n")) from None
    except yaml.YAMLError:
        raise DocumentError("not YAML", first_line) from None


class _Frame:
    """A mapping or sequence that isn't complete yet."""

    __slots__ = ("anchor", "height", "key", "merged", "start", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, start: int) -> None:
        self.value = value
        self.anchor = anchor
        self.start = start
        self.key: Any = NO_KEY
        self.height = 1
        self.merged: set[str] = set()


@dataclass(slots=True)
class _Anchor:
    """A value that aliases may stand for; ``size`` counts the values in it, None while it is being built."""

    value: Any = None
    size: int | None = None
    height: int = 0


class _Builder:
    """Makes the value of one document out of events."""

    def __init__(self, limits: Limits, first_line: int) -> None:
        self.limits = limits
        self.first_line = first_line
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Anchor] = {}
        self.count = 0
        self.from_aliases = 0
        self.root: Any = None
        self.line = first_line
        self.item_lines: list[int] = []
        self.at = first_line
        self.column = 1

    def document(self) -> ParsedDocument:
        return ParsedDocument(self.root, self.line, tuple(self.item_lines))

    def fail(self, message: str) -> DocumentError:
        return DocumentError(message, self.at, self.column)

    def node(self, event: yaml.NodeEvent) -> None:
        if event.start_mark is not None:
            self.at, self.column = event.start_mark.line + self.first_line, event.start_mark.column + 1
        if not self.stack:
            self.line = self.at
        elif len(self.stack) == 2 and isinstance(self.stack[1].value, list) and self.stack[0].key == "items":
            self.item_lines.append(self.at)
        if isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "")
            return
        self._grow(1)
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        else:
            self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor)

    def end(self) -> None:
        frame = self.stack.pop()
        if frame.anchor is not None:
            self.anchors[frame.anchor] = _Anchor(frame.value, self.count - frame.start, frame.height)
        self._place(frame.value, frame.height)

    def _grow(self, values: int) -> None:
        self.count += values
        if self.count > self.limits.values:
            raise self.fail(f"more than {self.limits.values:,} values in one document")

    def _begin(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        if self._wants_key():
            raise self.fail("a mapping or a list is used as a key")
        if len(self.stack) >= self.limits.depth:
            raise self.fail(f"nested deeper than {self.limits.depth} levels")
        if anchor is not None:
            self.anchors[anchor] = _Anchor()
        self.stack.append(_Frame(value, anchor, self.count - 1))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        value = self._value(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, 1, 0)
        if self._wants_key() and event.value == "<<" and event.implicit[0] and event.tag is None:
            self.stack[-1].key = MERGE
        else:
            self._place(value, 0)

    def _value(self, event: yaml.ScalarEvent) -> Any:
        text, tag = event.value, event.tag
        if "\0" in text:
            raise self.fail("a string holds a NUL character")
        if tag is None:
            value = resolve(text) if event.implicit[0] else text
        elif tag.startswith(STANDARD):
            value = self._tagged(tag.removeprefix(STANDARD), text)
        else:
            return text
        if isinstance(value, float) and not math.isfinite(value) and not self._wants_key():
            raise self.fail(f"{text} is not a number that JSON can hold")
        return text if isinstance(value, float) and not math.isfinite(value) else value

    def _tagged(self, tag: str, text: str) -> Any:
        if tag in {"str", "timestamp"}:
            return text
        value = resolve(text)
        fits = {
            "null": value is None,
            "bool": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "float": isinstance(value, int | float) and not isinstance(value, bool),
        }
        if tag not in fits:
            raise self.fail(f"the tag !!{_short(tag)} has no meaning in a manifest")
        if not fits[tag]:
            raise self.fail(f"this value is not a !!{tag}")
        return value

    def _alias(self, name: str) -> None:
        anchor = self.anchors.get(name)
        if anchor is None:
            raise self.fail(f"the alias *{_short(name)} has no anchor before it")
        if anchor.size is None:
            raise self.fail(f"the anchor &{_short(name)} contains itself")
        self.from_aliases += anchor.size
        if self.from_aliases > self.limits.alias_values:
            raise self.fail(f"aliases stand for more than {self.limits.alias_values:,} values")
        self._grow(anchor.size)
        if len(self.stack) + anchor.height > self.limits.depth:
            raise self.fail(f"nested deeper than {self.limits.depth} levels")
        # A copy, so that no two places of a manifest are the same object.
        self._place(copy.deepcopy(anchor.value), anchor.height)

    def _wants_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is NO_KEY

    def _place(self, value: Any, height: int) -> None:
        """Put a complete value where it belongs: in the root, a list, or a mapping as key or value."""
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.height = max(frame.height, height + 1)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is NO_KEY:
            frame.key = self._key(frame, value)
        elif frame.key is MERGE:
            self._merge(frame, value)
            frame.key = NO_KEY
        else:
            frame.value[frame.key] = value
            frame.merged.discard(frame.key)
            frame.key = NO_KEY

    def _key(self, frame: _Frame, value: Any) -> str:
        key = None if isinstance(value, dict | list) else key_text(value)
        if key is None:
            raise self.fail("null, a mapping or a list is used as a key")
        if key in frame.value and key not in frame.merged:
            raise self.fail(f'the key "{_short(key)}" is given twice')
        return key

    def _merge(self, frame: _Frame, value: Any) -> None:
        """Merge as Kubernetes' YAML library does: in place, over what stands before; in a list the first wins."""
        assert isinstance(frame.value, dict)  # noqa: S101 - only a mapping has keys
        sources = value if isinstance(value, list) else [value]
        for source in reversed(sources):
            if not isinstance(source, dict):
                raise self.fail("the merge key << needs a mapping or a list of mappings")
            frame.merged |= source.keys()
            frame.value.update(source)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
