"""JSON merge patches (RFC 7386), as ``kubectl patch --type merge`` sends them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

__all__ = ["merge_patched", "turned_back"]


def merge_patched(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The object after the patch: null deletes, objects merge, all else replaces. Neither input is changed.

    Follows RFC 7386, section 2, for a patch that is an object.

    >>> merge_patched({"a": "b", "c": {"d": "e", "f": "g"}}, {"a": "z", "c": {"f": None}})
    {'a': 'z', 'c': {'d': 'e'}}
    """
    changed = dict(target)
    for key, value in patch.items():
        if value is None:
            changed.pop(key, None)
        elif isinstance(value, Mapping):
            before = changed.get(key)
            changed[key] = merge_patched(before if isinstance(before, Mapping) else {}, value)
        else:
            changed[key] = copy.deepcopy(value)
    return changed


def turned_back(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that undoes a patch of this object, as far as a merge patch can.

    An object that the patch made goes as a whole. A null of the object stays deleted: a merge patch can't write one.

    >>> turned_back({"a": "b"}, {"a": "z", "c": {"f": 1}})
    {'a': 'b', 'c': None}
    """
    back: dict[str, Any] = {}
    for key, value in patch.items():
        before = target.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            below = turned_back(before, value)
            if below:
                back[key] = below
        elif before is not None:
            back[key] = copy.deepcopy(before)
        elif value is not None:
            back[key] = None
    return back
