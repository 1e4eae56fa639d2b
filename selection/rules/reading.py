"""Reading fields of manifests by type, with the path of what is wrong.

A field that is missing or null is not set, as in Go's JSON decoding. A value of another type than the
field's makes the whole object unreadable, as it would for OME's typed client. Numbers with no fraction
are integers (YAML's ``2.0`` reaches the API server as ``2``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Node", "Unreadable"]

_NAMES = {dict: "an object", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}


class Unreadable(ValueError):
    """A field holds another type than OME's API says.

    Attributes:
        path: where, such as ``spec.supportedModelFormats[0].priority``.
        message: what stands there and what is expected.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class Node:
    """A mapping at a path. Each reader returns None (or empty) for a field that is not set."""

    __slots__ = ("path", "value")

    def __init__(self, value: Mapping[str, Any], path: str = "") -> None:
        self.value = value
        self.path = path

    def at(self, key: str) -> str:
        """The path of a field of this mapping."""
        return f"{self.path}.{key}" if self.path else key

    def node(self, key: str) -> Node | None:
        """A nested object."""
        found = self.value.get(key)
        if found is None:
            return None
        if not isinstance(found, Mapping):
            raise Unreadable(self.at(key), f"expected an object, found {_described(found)}")
        return Node(found, self.at(key))

    def nodes(self, key: str) -> Iterator[Node]:
        """The items of a list of objects; a null item is an empty object."""
        for index, item in enumerate(self._list(key)):
            path = f"{self.at(key)}[{index}]"
            if item is not None and not isinstance(item, Mapping):
                raise Unreadable(path, f"expected an object, found {_described(item)}")
            yield Node(item or {}, path)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of text; a null item is ``""``."""
        values = []
        for index, item in enumerate(self._list(key)):
            if item is not None and not isinstance(item, str):
                raise Unreadable(f"{self.at(key)}[{index}]", f"expected text, found {_described(item)}")
            values.append(item or "")
        return tuple(values)

    def text(self, key: str) -> str | None:
        """A text field."""
        found = self.value.get(key)
        if found is not None and not isinstance(found, str):
            raise Unreadable(self.at(key), f"expected text, found {_described(found)}")
        return found

    def boolean(self, key: str) -> bool | None:
        """A boolean field."""
        found = self.value.get(key)
        if found is not None and not isinstance(found, bool):
            raise Unreadable(self.at(key), f"expected true or false, found {_described(found)}")
        return found

    def integer(self, key: str, bits: int) -> int | None:
        """A signed integer field of so many bits."""
        found = self.value.get(key)
        if found is None:
            return None
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int):
            raise Unreadable(self.at(key), f"expected an integer, found {_described(found)}")
        if not -(2 ** (bits - 1)) <= found < 2 ** (bits - 1):
            raise Unreadable(self.at(key), f"{_number(found)} does not fit in a {bits}-bit integer")
        return found

    def text_map(self, key: str) -> dict[str, str]:
        """A map of text to text, such as annotations; a null value is ``""``."""
        found = self.node(key)
        if found is None:
            return {}
        values = {}
        for name, item in found.value.items():
            if item is not None and not isinstance(item, str):
                raise Unreadable(f'{self.at(key)}["{name}"]', f"expected text, found {_described(item)}")
            values[str(name)] = item or ""
        return values

    def _list(self, key: str) -> list[Any]:
        found = self.value.get(key)
        if found is None:
            return []
        if not isinstance(found, list):
            raise Unreadable(self.at(key), f"expected a list, found {_described(found)}")
        return found


def _described(value: object) -> str:
    """What stands there, in words short enough for a table cell.

    >>> _described("2"), _described(["a"]), _described(True), _described(1.5)
    ('text "2"', 'a list', 'a boolean', 'the number 1.5')
    """
    if isinstance(value, str):
        return f'text "{value if len(value) <= 40 else value[:39] + "…"}"'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {_number(value)}"
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "another type")


def _number(value: float) -> str:
    """A number in a few characters; Python refuses to print an integer of more than 4300 digits.

    >>> _number(12), _number(-1.5), _number(10**30), _number(-(10**5000))
    ('12', '-1.5', '1e+30', 'about -1e+4999')
    """
    if not isinstance(value, int) or abs(value) < 10**20:
        return str(value)
    try:
        return f"{float(value):g}"
    except OverflowError:
        return f"about {'-' if value < 0 else ''}1e+{int((abs(value).bit_length() - 1) * math.log10(2))}"
