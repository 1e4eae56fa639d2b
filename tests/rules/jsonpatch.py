"""A strict little applier of JSON Patch (RFC 6902), written from the RFC and from nothing of ours.

It knows ``add``, ``replace`` and ``remove``, all that a patch of ours consists of. As an API server does, it refuses an
operation whose target's parent isn't there, and a ``replace`` or ``remove`` of what isn't there.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Refused", "patched"]

_POINTER = re.compile(r"(/([^~/]|~[01])*)+\Z")
_INDEX = re.compile(r"(0|[1-9][0-9]*)\Z")


class Refused(ValueError):
    """An API server would refuse this patch of this document."""


def patched(document: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The document after the operations, one after the other; the given one stays as it is.

    Raises:
        Refused: an operation isn't of the RFC's form, or can't be applied.
    """
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    for operation in patch:
        _apply(changed, operation)
    return changed


def _apply(document: dict[str, Any], operation: Mapping[str, Any]) -> None:
    op, path = operation.get("op"), operation.get("path")
    if op not in {"add", "replace", "remove"} or not isinstance(path, str) or not _POINTER.match(path):
        raise Refused(f"no operation: {operation}")
    if set(operation) != {"op", "path"} | ({"value"} if op != "remove" else set()):
        raise Refused(f"missing or surplus members: {operation}")
    *parents, last = (token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:])
    here: Any = document
    for token in parents:
        here = here[_place(here, token, path)]
    value = copy.deepcopy(operation.get("value"))
    if isinstance(here, list) and op == "add":
        here.insert(len(here) if last == "-" else _index(last, len(here), path), value)
    elif isinstance(here, dict) and op == "add":
        here[last] = value
    elif op == "replace":
        here[_place(here, last, path)] = value
    else:
        del here[_place(here, last, path)]


def _place(here: Any, token: str, path: str) -> str | int:
    """Where an existing member is."""
    if isinstance(here, dict) and token in here:
        return token
    if isinstance(here, list):
        return _index(token, len(here) - 1, path)
    raise Refused(f"{path}: there is no {token!r}")


def _index(token: str, most: int, path: str) -> int:
    if not _INDEX.match(token) or int(token) > most:
        raise Refused(f"{path}: no index of this list: {token!r}")
    return int(token)
