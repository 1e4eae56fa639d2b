"""Edits of a manifest made in its source text, so that comments, quotes and order stay as they are.

Only the characters that an edit speaks of are touched: the places come from the YAML parser, and the result is read
again and compared with what the edits make of the values. Where that can't be had (flow style, merge keys, an anchor
that would go) there is no text, and whoever asks writes the values anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import yaml

from selection.cluster.documents import SEPARATOR
from selection.cluster.yamltext import DocumentError, Limits, parse_yaml
from selection.rules.edits import Edit, edited

__all__ = ["document_value", "edited_text", "find_document"]

_LONGEST = 1_000_000
"""A runtime is a few thousand characters; finding the places of a text takes far longer than reading it."""

_MANY = 5_000
"""Pieces of one text that are compared one by one; the time grows with their square."""

_PIECES = re.compile(r"\s+|[\w./-]+|[^\w\s]")
_Span = tuple[int, int, str]


class _Elsewhere(Exception):
    """The text is written in a way in which the edit can't be made."""


def find_document(text: str, wanted: Callable[[Any], bool]) -> str | None:
    """The text of the first document whose value is wanted, with the comments above it; None when there is none."""
    begin = 0
    for separator in [*SEPARATOR.finditer(text), None]:
        part = text[begin : separator.start() if separator else len(text)]
        if wanted(document_value(part)):
            return part.lstrip("\r\n")
        begin = separator.end() if separator else 0
    return None


def edited_text(text: str, edits: Sequence[Edit]) -> str | None:
    """The text of one document after the edits; None where they can't be made without touching more.

    >>> text = "spec:  # all of it\\n  args: ['$(LWS_GROUP_SIZE)', two]\\n"
    >>> edit = Edit("replace", ("spec", "args", 0), "$(LWS_GROUP_SIZE)", "$(OME_INSTANCE_POD_COUNT)", ("renamed",))
    >>> print(edited_text(text, [edit]))
    spec:  # all of it
      args: ['$(OME_INSTANCE_POD_COUNT)', two]
    <BLANKLINE>
    """
    value = document_value(text)
    if len(text) > _LONGEST or not isinstance(value, dict):
        return None
    try:
        expected = edited(value, edits)
    except LookupError:
        return None
    for quoted in (False, True):  # as it is written; if that reads otherwise, in quotes
        try:
            spans = list(_Document(text).spans(edits, quoted=quoted))
            result = _written(text, spans)
        except (_Elsewhere, LookupError, yaml.YAMLError):
            continue
        if document_value(result) == expected:
            return result
    return None


def document_value(text: str) -> Any:
    """What a text of one document says, None for what isn't one."""
    try:
        found = list(parse_yaml(text, Limits()))
    except DocumentError:
        return None
    return found[0].value if len(found) == 1 else None


def _written(text: str, spans: list[_Span]) -> str:
    parts, taken = [], 0
    for start, end, new in sorted(set(spans)):  # two aliases of one place give it twice
        if start < taken:
            raise _Elsewhere
        parts += [text[taken:start], new]
        taken = end
    return "".join([*parts, text[taken:]])


class _Document:
    """The nodes of one document with their places in its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise _Elsewhere
        self.root = root

    def spans(self, edits: Sequence[Edit], *, quoted: bool) -> Iterator[_Span]:
        """The characters that each edit changes, and what to write there."""
        removed: dict[tuple[Any, ...], list[Any]] = {}
        for edit in edits:
            *above, last = edit.path
            if edit.op == "remove":
                removed.setdefault(tuple(above), []).append(last)
            elif edit.op == "add":
                yield self._addition(self._node(above), str(last), edit.after)
            elif edit.op == "rename":
                yield self._scalar(self._entry(self._node(above), last)[0], edit.before, edit.after, quoted=quoted)
            else:
                yield self._scalar(self._node(edit.path), edit.before, edit.after, quoted=quoted)
        for path, names in removed.items():
            yield from self._removals(path, names)

    def _node(self, path: Sequence[Any]) -> yaml.Node:
        node = self.root
        for token in path:
            node = self._entry(node, token)[1]
        return node

    def _entry(self, node: yaml.Node, token: Any) -> tuple[yaml.Node, yaml.Node]:
        """An entry's key and value; an item of a list is its own key."""
        if isinstance(node, yaml.SequenceNode):
            return node.value[token], node.value[token]
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value == token:
                return key, value
        raise _Elsewhere

    def _scalar(self, node: yaml.Node, before: Any, after: Any, *, quoted: bool) -> _Span:
        start, end = node.start_mark.index, node.end_mark.index
        if not isinstance(node, yaml.ScalarNode):
            raise _Elsewhere
        raw = self.text[start:end]
        if not isinstance(after, str):
            return start, end, json.dumps(after) if raw else f" {json.dumps(after)}"
        if not quoted and isinstance(before, str):
            return start, end, _rewritten(raw, before, after)
        return start, end, json.dumps(after, ensure_ascii=False) + raw[len(raw.rstrip()) :]

    def _addition(self, node: yaml.Node, key: str, value: Any) -> _Span:
        """A new field after the last one of an object."""
        entry = f"{key}: {json.dumps(value)}"
        if not isinstance(node, yaml.MappingNode):
            raise _Elsewhere
        if node.flow_style:
            at = node.end_mark.index - 1
            return at, at, f", {entry}" if node.value else entry
        column = node.value[0][0].start_mark.column
        at = self._line_end(self._last(node))
        return at, at, f"\n{' ' * column}{entry}"

    def _removals(self, path: Sequence[Any], names: Sequence[Any]) -> Iterator[_Span]:
        """The lines of entries that go; an object or a list that keeps none is written as empty."""
        node = self._node(path)
        if not _in_block(node) or (node is self.root and len(set(names)) == len(node.value)):
            raise _Elsewhere
        if len(set(names)) == len(node.value):
            key = self._entry(self._node(path[:-1]), path[-1])[0]
            colon = self.text.index(":", key.end_mark.index) + 1
            if key is node:  # an item of a list
                raise _Elsewhere
            yield colon, self._last(node), " {}" if isinstance(node, yaml.MappingNode) else " []"
            return
        for name in set(names):
            key, value = self._entry(node, name)
            yield self._lines(node, key, value)

    def _lines(self, parent: yaml.Node, key: yaml.Node, value: yaml.Node) -> _Span:
        start = key.start_mark.index
        if key is value:
            start = self.text.rindex("-", 0, start)
        begin = self.text.rfind("\n", 0, start) + 1
        end = self._line_end(self._last(value))
        if self.text[begin:start].strip():  # the first field of an item stands behind its dash
            later = [each[0].start_mark.index for each in parent.value if each[0].start_mark.index > start]
            if key is value or not later:
                raise _Elsewhere
            return start, min(later), ""
        return begin, min(end + 1, len(self.text)), ""

    def _last(self, node: yaml.Node) -> int:
        """Where the last character of a value stands; what follows a collection belongs to nobody."""
        if not _in_block(node) or not node.value:
            raw = self.text[node.start_mark.index : node.end_mark.index]
            return node.start_mark.index + len(raw.rstrip())
        last = node.value[-1]
        return max(self._last(each) for each in (last if isinstance(last, tuple) else (last,)))

    def _line_end(self, at: int) -> int:
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found


def _in_block(node: yaml.Node) -> bool:
    """Whether a node is an object or a list with a line for each entry."""
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _rewritten(raw: str, before: str, after: str) -> str:
    """A scalar as it is written, with the pieces changed in which two values differ.

    Spaces and line breaks are passed over, because a folded text has them elsewhere than its value.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    if len(old) > _MANY:
        raise _Elsewhere
    at, spans = 0, []
    for _, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        start = at
        for place, piece in enumerate(old[low:high]):
            if piece.isspace():
                continue
            found = raw.find(piece, at)
            if found < 0:
                raise _Elsewhere
            if place == 0:
                start = found
            at = found + len(piece)
        if old[low:high] != new[first:last]:
            spans.append((start, at, "".join(new[first:last])))
    return _written(raw, spans)
