"""Changes of a manifest that are explained one by one, and the manifest after them.

An edit's path is the place in the manifest as it was. They are applied from the last to the first, so that a
removed item moves no place that is still to come; what keeps comments applies the same edits the same way.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .typed_fields import extend_path

__all__ = ["Edit", "Op", "Token", "edited", "place_text"]

Token = str | int
Op = Literal["replace", "add", "remove", "rename"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change and why.

    Attributes:
        op: ``replace`` a value, ``add`` a field, ``remove`` a field or an item, or ``rename`` a field in its place.
        path: the place in the manifest as it was.
        before: what stands there, for ``rename`` the old name; None for ``add``.
        after: what will stand there, for ``rename`` the new name; None for ``remove``.
        why: codes, in the order in which they stand in the text.
    """

    op: Op
    path: tuple[Token, ...]
    before: Any
    after: Any
    why: tuple[str, ...]

    @property
    def place(self) -> str:
        """The path as OME's messages write it.

        >>> Edit("remove", ("spec", "engineConfig", "annotations", "a/b"), "c", None, ()).place
        'spec.engineConfig.annotations["a/b"]'
        """
        return place_text(self.path)

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {
            "op": self.op,
            "path": self.place,
            "before": self.before,
            "after": self.after,
            "why": list(self.why),
        }


def place_text(path: Iterable[Token]) -> str:
    """A path as text.

    >>> place_text(("spec", "engineConfig", "runner", "args", 0))
    'spec.engineConfig.runner.args[0]'
    """
    text = ""
    for token in path:
        if isinstance(token, int):
            text += f"[{token}]"
        else:
            text = extend_path(text, token) if text else token
    return text


def edited(manifest: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """The manifest after the edits, which stand in its order; the given one is not changed.

    Raises:
        LookupError: an edit was made for another manifest.

    >>> edited({"a": [1, 2, 3], "b": 4}, [Edit("remove", ("a", 0), 1, None, ()), Edit("add", ("c",), None, 5, ())])
    {'a': [2, 3], 'b': 4, 'c': 5}
    """
    changed: dict[str, Any] = copy.deepcopy(dict(manifest))
    for edit in reversed(list(edits)):
        *parents, last = edit.path
        here: Any = changed
        for token in parents:
            here = here[token]
        if edit.op == "remove":
            del here[last]
        elif edit.op == "rename":
            items = [(edit.after if key == last else key, value) for key, value in here.items()]
            here.clear()
            here.update(items)
        else:
            here[last] = copy.deepcopy(edit.after)
    return changed
