"""Where the fields of a manifest stand in its text: line and column.

Asked only for what is told, so a text is looked through a second time when somebody needs a place in it, and only
along the path that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from selection.cluster.documents import parts_of
from selection.cluster.yamltext import LOADER

__all__ = ["Place", "document_text", "find_place", "root_of", "tokens_of"]

TOKEN = re.compile(r'\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.\[\]"]+)')
DEEPEST_MERGE = 10


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of a text, both from 1; columns count characters."""

    line: int
    column: int = 1


def tokens_of(path: str) -> tuple[str | int, ...]:
    """The keys and places in lists that a path goes through.

    >>> tokens_of('spec.engine.annotations["ome.io/deploymentMode"]')
    ('spec', 'engine', 'annotations', 'ome.io/deploymentMode')
    >>> tokens_of("spec.supportedModelFormats[2].modelFormat")
    ('spec', 'supportedModelFormats', 2, 'modelFormat')
    """
    found: list[str | int] = []
    for index, quoted, plain in TOKEN.findall(path):
        if index:
            found.append(int(index))
        else:
            found.append(re.sub(r"\\(.)", r"\1", quoted) if quoted or not plain else plain)
    return tuple(found)


def document_text(text: str, line: int) -> str:
    """The part of a text between its ``---`` that a line stands in, comments before the line included."""
    found = ""
    for part, first in parts_of(text):
        if first > line:
            break
        found = part
    return found


def root_of(text: str, line: int) -> yaml.Node | None:
    """The document that begins at this line of a text, YAML or JSON; None when it can't be looked through."""
    begin = 0
    for _ in range(line - 1):
        begin = text.find("\n", begin) + 1
        if begin == 0:
            return None
    end = _end(text, begin)
    loader = LOADER(text[begin:end])
    try:
        return loader.get_node() if loader.check_node() else None
    except (yaml.YAMLError, RecursionError):
        return None
    finally:
        loader.dispose()


def _end(text: str, begin: int) -> int:
    """Where the document ends that begins here: at the next ``---`` line."""
    separator = re.compile(r"^---(?=\s|\Z)", re.MULTILINE).search(text, text.find("\n", begin) + 1 or len(text))
    return separator.start() if separator else len(text)


def find_place(root: yaml.Node | None, line: int, path: Sequence[str | int], least: int) -> Place | None:
    """Where a path stands, or as much of it as there is.

    Args:
        root: the document.
        line: the line that it begins at.
        path: keys and places in lists.
        least: how many of them must be there; with fewer the answer is None.
    """
    node, mark, found = root, None, 0
    for token in path:
        below = _below(node, token, DEEPEST_MERGE) if node is not None else None
        if below is None:
            break
        mark, node = below
        found += 1
    if mark is None or found < least:
        return None
    return Place(mark.line + line, mark.column + 1)


def _below(node: yaml.Node, token: str | int, merges: int) -> tuple[yaml.Mark, yaml.Node] | None:
    """The mark and the value of a key or an item, a key also where ``<<`` brings it."""
    if isinstance(token, int):
        if isinstance(node, yaml.SequenceNode) and token < len(node.value):
            return node.value[token].start_mark, node.value[token]
        return None
    if not isinstance(node, yaml.MappingNode):
        return None
    brought: list[yaml.Node] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value == token:
                return key.start_mark, value
            if key.value == "<<":
                brought += value.value if isinstance(value, yaml.SequenceNode) else [value]
    if merges:
        for source in brought:
            found = _below(source, token, merges - 1)
            if found is not None:
                return found
    return None
