"""The Go types of a runtime's spec: reading a spec into them, and what is left when it is written again.

OME merges specs that went through its Go types. On that way unknown fields are lost, empty values of fields
with ``omitempty`` are unset, missing required fields become ``""`` or 0, and quantities get their canonical
text. ``servingruntime_types.txt`` beside this module has the types.

Follows OME: runtime inheritance (v1.3), its API types (v1beta1), and Go's ``encoding/json`` as Kubernetes uses
it (names of fields are case-sensitive).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from .quantities import QuantityError, canonical_quantity

__all__ = [
    "SPEC",
    "Field",
    "Json",
    "Type",
    "WrongType",
    "extend_path",
    "fields_of",
    "normalised",
    "normalised_spec",
]

Json = Any  # what json.loads returns; checked value by value against the types below

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_BITS = {"int32": 32, "int64": 64}


class WrongType(ValueError):
    """A field holds another type than OME's API says, so OME could not read the object.

    Attributes:
        path: where, such as ``spec.engineConfig.minReplicas``.
        message: what stands there and what is expected.
        member: the place of the spec in its inheritance chain, 0 for the root.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
        self.member = 0


@dataclass(frozen=True, slots=True)
class Type:
    """A Go type as JSON sees it.

    Attributes:
        shape: ``struct``, ``list``, ``map``, ``string``, ``bool``, ``int32``, ``int64``, ``Quantity`` or
            ``IntOrString``.
        struct: the name of the struct, else ``""``.
        element: what a list or map holds.
        pointer: whether it may be absent: a pointer keeps ``""``, 0 and false apart from nothing.
    """

    shape: str
    struct: str = ""
    element: Type | None = None
    pointer: bool = False

    def zero(self) -> Json:
        """What Go writes for a value that was never set."""
        if self.pointer or self.shape in {"list", "map"}:
            return None
        if self.shape == "struct":
            return normalised({}, self, "")
        return {"string": "", "bool": False, "Quantity": "0"}.get(self.shape, 0)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct.

    Attributes:
        name: its name in JSON.
        type: what it holds.
        unset: whether Go leaves it out when it is empty. Objects and quantities that are no pointers are never
            empty to Go, so ``omitempty`` has no say in them.
        merge_key: the key that the items of its list merge by; None for a list that is replaced.
    """

    name: str
    type: Type
    unset: bool
    merge_key: str | None


def _read_type(text: str) -> Type:
    if text.startswith("*"):
        inner = _read_type(text[1:])
        return Type(inner.shape, inner.struct, inner.element, pointer=True)
    if text.startswith(("[]", "{}")):
        return Type("list" if text[0] == "[" else "map", element=_read_type(text[2:]))
    if text in {"string", "bool", "Quantity", "IntOrString", *_BITS}:
        return Type(text)
    return Type("struct", struct=text)


def _read_types(table: str) -> dict[str, dict[str, Field]]:
    """Read ``servingruntime_types.txt``; its head says how it is written."""
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    words: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?! )", "\n".join(lines)):
        name, _, rest = entry.partition(":")
        words[name] = rest.split()

    def fields(name: str) -> dict[str, Field]:
        found: dict[str, Field] = {}
        for word in words[name]:
            if word.startswith("+"):
                found |= fields(word[1:])
                continue
            field, _, rest = word.partition("=")
            rest, _, key = rest.partition("@")
            type_ = _read_type(rest.removesuffix("!"))
            whole = type_.shape in {"struct", "Quantity", "IntOrString"} and not type_.pointer
            found[field] = Field(field, type_, not rest.endswith("!") and not whole, key or None)
        return found

    return {name: fields(name) for name in words}


_TYPES = _read_types(files(__package__).joinpath("servingruntime_types.txt").read_text(encoding="utf-8"))

SPEC = Type("struct", struct="ServingRuntimeSpec")
"""The type of a runtime's ``spec``."""


def fields_of(type_: Type) -> Mapping[str, Field]:
    """The fields of a struct by their names in JSON; none for other types.

    >>> fields_of(Type("struct", struct="EnvVar"))["value"].unset
    True
    """
    return _TYPES[type_.struct] if type_.shape == "struct" else {}


def extend_path(path: str, key: str) -> str:
    """The path of a key below a path.

    >>> extend_path("spec", "engineConfig"), extend_path("spec.labels", "ome.io/x")
    ('spec.engineConfig', 'spec.labels["ome.io/x"]')
    """
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f'{path}["{key}"]'


def normalised_spec(spec: Json) -> dict[str, Json]:
    """A runtime's spec as OME writes it after reading it.

    Raises:
        WrongType: for the first field that holds another type than OME's API says.

    >>> normalised_spec({"disabled": False, "hostNetwork": False, "colour": "red", "modelSizeRange": {"min": ""}})
    {'containers': None, 'disabled': False, 'modelSizeRange': {'min': ''}}
    """
    found: dict[str, Json] = normalised({} if spec is None else spec, SPEC, "spec")
    return found


def normalised(value: Json, type_: Type, path: str) -> Json:
    """One value of a type as Go writes it after reading it; null is what was never set.

    Raises:
        WrongType: see :func:`normalised_spec`.
    """
    if value is None:
        return type_.zero()
    match type_.shape:
        case "struct":
            return _struct(_mapping(value, path), type_, path)
        case "list":
            if not isinstance(value, (list, tuple)):
                raise WrongType(path, f"expected a list, found {_described(value)}")
            element = _element(type_)
            return [normalised(item, element, f"{path}[{index}]") for index, item in enumerate(value)]
        case "map":
            element = _element(type_)
            return {
                key: normalised(item, element, extend_path(path, key)) for key, item in _mapping(value, path).items()
            }
        case "string":
            if not isinstance(value, str):
                raise WrongType(path, f"expected text, found {_described(value)}")
            return value
        case "bool":
            if not isinstance(value, bool):
                raise WrongType(path, f"expected true or false, found {_described(value)}")
            return value
        case "Quantity":
            try:
                return canonical_quantity(value)
            except QuantityError:
                raise WrongType(path, f"expected a quantity, found {_described(value)}") from None
        case "IntOrString":
            return value if isinstance(value, str) else _integer(value, 32, path)
        case _:
            return _integer(value, _BITS[type_.shape], path)


def _struct(value: Mapping[str, Json], type_: Type, path: str) -> dict[str, Json]:
    written: dict[str, Json] = {}
    for name, field in _TYPES[type_.struct].items():
        raw = value.get(name)
        if raw is None and field.unset:
            continue
        found = normalised(raw, field.type, extend_path(path, name))
        if field.unset and (found is None or (not field.type.pointer and not found)):
            continue
        written[name] = found
    if type_.struct == "ObjectMeta":
        written["creationTimestamp"] = None
    return written


def _element(type_: Type) -> Type:
    assert type_.element is not None  # noqa: S101 - every list and map of the table says what it holds
    return type_.element


def _mapping(value: Json, path: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise WrongType(path, f"expected an object, found {_described(value)}")
    for key in value:
        if not isinstance(key, str):
            raise WrongType(path, f"expected text as a key, found {_described(key)}")
    return value


def _integer(value: Json, bits: int, path: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # YAML's 2.0 reaches the API server, and OME, as 2
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType(path, f"expected an integer, found {_described(value)}")
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise WrongType(path, f"expected an integer of {bits} bits, found {_described(value)}")
    return value


def _described(value: Json) -> str:
    if isinstance(value, str):
        return f'text "{value if len(value) <= 40 else value[:39] + "…"}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) < 1e30 else "a huge number"
    return (
        "a list" if isinstance(value, (list, tuple)) else "an object" if isinstance(value, Mapping) else "another type"
    )
