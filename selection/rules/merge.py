"""What a runtime inherits: Kubernetes' strategic merge of typed specs, root first.

Follows OME: runtime inheritance (v1.3), and Kubernetes: strategic merge patch (apimachinery v0.33). Each child
is read into Go types and written again, loses its nulls, is laid over what came before, and the result is read
into Go types once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .typed_fields import SPEC, Json, Type, WrongType, extend_path, fields_of, normalised_spec

__all__ = [
    "KindChange",
    "MergeError",
    "SpecNode",
    "WrongType",
    "kind_changes",
    "merge_specs",
    "normalised_spec",
    "walk_merged",
]

_EXACT = 2**53  # OME takes a child's numbers through floating point on the way; beyond this they lose digits

#: Types of which Kubernetes takes one kind at a time, with the fields that are kinds; None: all its fields.
_KINDS: Mapping[str, frozenset[str] | None] = {
    "EnvVar": frozenset({"value", "valueFrom"}),
    "EnvVarSource": None,
    "LifecycleHandler": None,
    "Probe": frozenset({"exec", "grpc", "httpGet", "tcpSocket"}),
    "Volume": None,
}


class MergeError(WrongType):
    """Specs that are each readable but can't be merged. ``message`` is OME's text."""


def merge_specs(root_first: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """Merge the specs of a chain, each child over what came before; one spec alone is normalised.

    The result is what OME's Go types write: required fields that nobody set stand as ``""``, 0 or null
    (``containers: null``), objects that are no pointers as ``{}``. The inputs are not changed.

    Raises:
        ValueError: for an empty chain.
        WrongType: for a field of another type than OME's API says; ``member`` tells in which spec.
        MergeError: when Kubernetes can't merge a list, because an item lacks its merge key.

    >>> merge_specs([{"disabled": True, "hostNetwork": True}, {"disabled": False, "hostNetwork": False}])
    {'containers': None, 'hostNetwork': True, 'disabled': False}
    >>> merge_specs([{"labels": {"a": "1", "b": "1"}}, {"labels": {"b": ""}}])["labels"]
    {'a': '1', 'b': ''}
    """
    if not root_first:
        raise ValueError("a chain has at least one spec")
    merged: dict[str, Any] = {}
    for member, spec in enumerate(root_first):
        try:
            found = normalised_spec(spec)
            merged = found if member == 0 else normalised_spec(_merge_struct(merged, _written(found), SPEC, "spec"))
        except WrongType as error:
            error.member = member
            raise
    return merged


def _written(value: Json) -> Json:
    """A child as OME lays it over its parent: without nulls, which would delete what the parent has."""
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return int(Decimal(repr(float(value))))
    return value


def _merge_struct(parent: dict[str, Json], child: dict[str, Json], type_: Type, path: str) -> dict[str, Json]:
    merged = dict(parent)
    for name, value in child.items():
        field = fields_of(type_)[name]
        merged[name] = _merge_value(merged.get(name), value, field.type, field.merge_key, extend_path(path, name))
    return merged


def _merge_value(parent: Json, child: Json, type_: Type, merge_key: str | None, path: str) -> Json:
    if parent is None:
        return _without_directives(child)
    match type_.shape:
        case "struct":
            return _merge_struct(parent, child, type_, path)
        case "map":
            return _merge_map(parent, child, path)
        case "list" if merge_key and type_.element:
            return _merge_list(parent, child, type_.element, merge_key, path)
        case _:
            return child


def _merge_map(parent: dict[str, Json], child: dict[str, Json], path: str) -> dict[str, Json]:
    """Merge by key. Maps such as labels are the one place where a child can write the merge's own words."""
    if "$patch" in child:
        if child["$patch"] == "replace":
            return {key: value for key, value in child.items() if key != "$patch"}
        if child["$patch"] == "delete":
            return {}
        raise MergeError(path, f"unknown patch type: {child['$patch']}")
    merged = dict(parent)
    for key, value in child.items():
        directive, slash, listed = key.partition("/")
        if directive == "$deleteFromPrimitiveList" and slash:
            merged |= {listed: value} if listed in parent else {}
        elif key == "$retainKeys" or key.startswith(("$setElementOrder", "$deleteFromPrimitiveList")):
            raise MergeError(path, f"invalid use of {key}")
        else:
            merged[key] = value
    return merged


def _without_directives(value: Json) -> Json:
    """What a child adds where its parent has nothing: all but the maps that hold an order to the merge."""
    if isinstance(value, dict):
        return None if "$patch" in value else {key: _without_directives(item) for key, item in value.items()}
    return [_without_directives(item) for item in value] if isinstance(value, list) else value


def _merge_list(parent: list[Json], child: list[Json], item: Type, key: str, path: str) -> list[Json]:
    """Merge objects by a key, then order them: see :func:`_interleaved`."""
    if not all(key in value for value in parent + child):
        raise MergeError(path, f"map: map[] does not contain declared merge key: {key}")
    merged = list(parent)
    places = _places([value[key] for value in parent])
    for value in child:
        place = places.setdefault(value[key], len(merged))
        if place == len(merged):
            merged.append(value)
        else:
            merged[place] = _merge_struct(merged[place], value, item, path)
    return _interleaved(merged, [value[key] for value in parent], [value[key] for value in child], key)


def _interleaved(merged: list[Json], parent: list[Json], child: list[Json], key: str) -> list[Json]:
    """Kubernetes' order of a merged list: what only the parent has, between the child's items.

    Of two queues, the parent's own items and the child's, each in its own order, the parent's head goes first
    only when both heads stand in the parent's list and it stands before the other there.
    """
    in_parent = _places(parent)
    in_child = _places(child)
    own = sorted((item for item in merged if item[key] not in in_child), key=lambda item: in_parent[item[key]])
    theirs = sorted((item for item in merged if item[key] in in_child), key=lambda item: in_child[item[key]])
    ordered = []
    taken = 0
    for item in theirs:
        place = in_parent.get(item[key], -1)
        while taken < len(own) and in_parent[own[taken][key]] < place:
            ordered.append(own[taken])
            taken += 1
        ordered.append(item)
    return ordered + own[taken:]


def _places(keys: list[Json]) -> dict[Json, int]:
    """Where each key stands first."""
    return {key: len(keys) - 1 - back for back, key in enumerate(reversed(keys))}


@dataclass(frozen=True, slots=True)
class SpecNode:
    """One place of a merged spec, and who set it.

    Attributes:
        path: such as ``spec.engineConfig.runner.env[3].value``.
        value: what stands there.
        type: its Go type.
        setters: the members of the chain that wrote it or something below it, 0 for the root; the last decides.
    """

    path: str
    value: Json
    type: Type
    setters: tuple[int, ...]


def walk_merged(merged: Mapping[str, Any], root_first: Sequence[Mapping[str, Any] | None]) -> Iterator[SpecNode]:
    """Every place of a merged spec with the members that set it, parents before what is in them.

    A list without a merge key, and all that is in it, belongs to the last member that wrote it.

    Raises:
        WrongType: see :func:`merge_specs`.
    """
    specs = [normalised_spec(spec) for spec in root_first]
    written = [(member, spec if member == 0 else _written(spec)) for member, spec in enumerate(specs)]
    return _walk(dict(merged), SPEC, None, "spec", written)


def _walk(
    value: Json, type_: Type, merge_key: str | None, path: str, written: list[tuple[int, Json]]
) -> Iterator[SpecNode]:
    told = [(member, found) for member, found in written if found not in ({}, [])] or written
    yield SpecNode(path, value, type_, tuple(member for member, _ in told))
    if isinstance(value, dict):
        fields = fields_of(type_)
        for key, inner in value.items():
            if inner is None:
                continue
            below = [(member, found[key]) for member, found in written if found.get(key) is not None]
            at = extend_path(path, key)
            if key in fields:
                yield from _walk(inner, fields[key].type, fields[key].merge_key, at, below)
            elif type_.element is not None:
                yield from _walk(inner, type_.element, None, at, below)
    elif isinstance(value, list) and type_.element is not None:
        by_key: dict[Json, list[tuple[int, Json]]] = {}
        for member, found in written[-1:] if merge_key is None else written:
            for index, item in enumerate(found):
                by_key.setdefault(item.get(merge_key) if merge_key else index, []).append((member, item))
        for index, inner in enumerate(value):
            below = by_key.get(inner.get(merge_key) if merge_key else index, [])
            yield from _walk(inner, type_.element, None, f"{path}[{index}]", below)


@dataclass(frozen=True, slots=True)
class KindChange:
    """An object that ended with two kinds because a child chose another than its parent; Kubernetes refuses it.

    Attributes:
        path: such as ``spec.engineConfig.volumes[1]``.
        name: the item's name, or ``""``.
        kinds: the fields that stand there together, such as ``emptyDir`` and ``hostPath``.
        members: for each kind the member of the chain that set it last, 0 for the root.
    """

    path: str
    name: str
    kinds: tuple[str, ...]
    members: tuple[int, ...]


def kind_changes(root_first: Sequence[Mapping[str, Any] | None]) -> tuple[KindChange, ...]:
    """Volumes, variables, probes and hooks of the merged spec that have two kinds, which no member wrote so itself.

    Raises:
        WrongType: see :func:`merge_specs`.

    >>> child = {"volumes": [{"name": "dshm", "hostPath": {"path": "/dev/shm"}}]}
    >>> [(each.path, each.kinds) for each in kind_changes([{"volumes": [{"name": "dshm", "emptyDir": {}}]}, child])]
    [('spec.volumes[0]', ('emptyDir', 'hostPath'))]
    """
    nodes = list(walk_merged(merge_specs(root_first), root_first))
    setters = {node.path: node.setters for node in nodes}
    changes = []
    for node in nodes:
        if node.type.struct not in _KINDS:
            continue
        kinds = sorted(key for key in node.value if key in (_KINDS[node.type.struct] or node.value) and key != "name")
        writers = [setters[extend_path(node.path, kind)] for kind in kinds if node.value[kind] is not None]
        if len(writers) > 1 and not set.intersection(*(set(members) for members in writers)):
            name = node.value.get("name", "")
            changes.append(KindChange(node.path, name, tuple(kinds), tuple(members[-1] for members in writers)))
    return tuple(changes)
