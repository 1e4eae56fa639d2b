"""Small changes of a manifest as JSON Patch operations (RFC 6902) that an API server can apply.

An operation is made for one manifest: parents that are missing there come with it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Operation", "applied", "removing", "setting"]

Token = str | int


@dataclass(frozen=True, slots=True)
class Operation:
    """``add``, ``replace`` or ``remove`` at a path."""

    op: str
    path: tuple[Token, ...]
    value: Any = None

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901).

        >>> Operation("remove", ("metadata", "annotations", "ome.io/deploymentMode")).pointer
        '/metadata/annotations/ome.io~1deploymentMode'
        """
        return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in self.path)

    def to_dict(self) -> dict[str, Any]:
        """The operation as JSON."""
        shown: dict[str, Any] = {"op": self.op, "path": self.pointer}
        return shown if self.op == "remove" else {**shown, "value": self.value}


def setting(manifest: Mapping[str, Any], path: Sequence[Token], value: Any) -> Operation:
    """The operation that sets a value. ``-`` as the last token appends to a list.

    >>> setting({"spec": {}}, ("spec", "engineConfig", "annotations"), {"a": "b"}).to_dict()
    {'op': 'add', 'path': '/spec/engineConfig', 'value': {'annotations': {'a': 'b'}}}
    """
    here: Any = manifest
    for depth, token in enumerate(path):
        found = _child(here, token)
        if found is None:
            for later in reversed(path[depth + 1 :]):
                value = [value] if later == "-" else {later: value}
            # To add to a list is to insert: a null item of one is replaced.
            op = "replace" if _has(here, token) and isinstance(here, list) else "add"
            return Operation(op, tuple(path[: depth + 1]), value)
        here = found
    return Operation("replace", tuple(path), value)


def removing(manifest: Mapping[str, Any], path: Sequence[Token]) -> Operation | None:
    """The operation that removes a value, also a null; None when there is none."""
    here: Any = manifest
    for token in path:
        if not _has(here, token):
            return None
        here = _child(here, token)
    return Operation("remove", tuple(path))


def _has(here: Any, token: Token) -> bool:
    if isinstance(here, Mapping):
        return token in here
    return isinstance(here, list) and isinstance(token, int) and token < len(here)


def _child(here: Any, token: Token) -> Any:
    """What stands there, None when nothing or a null does."""
    if not _has(here, token):
        return None
    return here[token]


def applied(manifest: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """The manifest after the operations; the given one is not changed.

    Raises:
        LookupError: an operation was made for another manifest.
    """
    changed: dict[str, Any] = copy.deepcopy(dict(manifest))
    for operation in operations:
        *parents, last = operation.path
        here: Any = changed
        for token in parents:
            here = here[token]
        if operation.op == "remove":
            del here[last]
        elif isinstance(here, list):
            if last == "-":
                here.append(copy.deepcopy(operation.value))
            elif operation.op == "add":
                here.insert(int(last), copy.deepcopy(operation.value))
            else:
                here[int(last)] = copy.deepcopy(operation.value)
        else:
            here[last] = copy.deepcopy(operation.value)
    return changed
