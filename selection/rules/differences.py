"""What differs between two states of one object, in the fields that can decide something.

Deciding is what :mod:`.parsing` and the rules behind it read: the spec of services, runtimes and models, OME's own
annotations, what OME says of pins and drift in a service's status, the labels that tie a workload to its service and
whether it is ready, a revision's data, the image of OME's manager. What the API server counts up, who manages which
field, and the rest of a status decide nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .fleet import read_fleet
from .objects import Problem
from .typed_fields import extend_path

__all__ = ["LONGEST", "Difference", "deciding_digest", "differences"]

LONGEST = 200
"""Characters of a value that are told; the rest is cut."""

_SPECS = frozenset(
    {"InferenceService", "ServingRuntime", "ClusterServingRuntime", "BaseModel", "ClusterBaseModel"},
)
_ANNOTATED = frozenset({"InferenceService", "ServingRuntime", "ClusterServingRuntime"})
_WORKLOADS = frozenset({"Deployment", "InferenceReplica", "LeaderWorkerSet"})
_LABELS = ("ome.io/inferenceservice", "component", "serving-runtime")
_OURS = "ome.io/"
_DRIFT = frozenset({"RuntimeDrifted"})
_READINESS = frozenset({"Available", "Ready"})
_TOKEN = re.compile(r'\[(\d+)\]|\["(.*?)"\](?=$|[.\[])|([^.\[]+)')


class _Missing:
    """Stands for a field that isn't there."""


_MISSING = _Missing()
Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs.

    Attributes:
        path: where, such as ``spec.supportedModelFormats[0].priority``; places in a list are those of the new state,
            of something that was taken out those of the old one.
        before: the value as JSON text, at most :data:`LONGEST` characters; None when the field wasn't there.
        after: likewise.
    """

    path: str
    before: str | None
    after: str | None

    def to_dict(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {"path": self.path, "before": self.before, "after": self.after}


def differences(before: Manifest | None, after: Manifest | None) -> tuple[Difference, ...]:
    """The deciding fields that differ, in the order of their paths within each part of the object.

    An object that comes or goes differs in its name and in each field of its spec; one that decides nothing, such as a
    Deployment of nobody, in nothing. When no difference is told, no answer of the rules can differ.

    Args:
        before: the object as it was, None when it wasn't there.
        after: the object as it is, None when it is gone.

    >>> old = {"kind": "ServingRuntime", "metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"disabled": True}}
    >>> differences(old, {**old, "metadata": {"name": "a", "resourceVersion": "2"}})
    ()
    >>> differences(old, {**old, "spec": {"disabled": False}})
    (Difference(path='spec.disabled', before='true', after='false'),)
    """
    found: list[Difference] = []
    old = {} if before is None else dict(_deciding(before))
    new = {} if after is None else dict(_deciding(after))
    both = before is not None and after is not None
    for path in sorted(old.keys() | new.keys(), key=_order):
        one, other = old.get(path, _MISSING), new.get(path, _MISSING)
        if not both and path in {"spec", "data"}:  # field by field, rather than all of it at once
            one, other = ({} if isinstance(each, _Missing) else each for each in (one, other))
        found += _compared(path, one, other)
    if before is not None and after is not None:
        found += _unreadable(before, after, {each.path for each in found})
    return tuple(found)


def deciding_digest(manifest: Manifest) -> str:
    """A digest of an object's deciding fields: of two states that give the same one no answer of the rules differs.

    >>> old = {"kind": "ServingRuntime", "metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"disabled": True}}
    >>> deciding_digest(old) == deciding_digest({**old, "metadata": {"name": "a", "resourceVersion": "2"}})
    True
    >>> deciding_digest(old) == deciding_digest({**old, "spec": {}})
    False
    """
    text = json.dumps(dict(_deciding(manifest)), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_PARTS = ("metadata", "spec", "data", "status")


def _order(path: str) -> tuple[int, str]:
    part = re.split(r"[.\[]", path, maxsplit=1)[0]
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS)), path


def _deciding(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    """The deciding parts of one state, by path."""
    kind = manifest.get("kind")
    metadata = _mapping(manifest.get("metadata"))
    if kind in _WORKLOADS:
        yield from _workload(manifest, metadata)
        return
    yield "metadata.name", metadata.get("name")
    if kind in _SPECS and "spec" in manifest:
        yield "spec", manifest["spec"]
    if kind in _ANNOTATED:
        for key, value in _mapping(metadata.get("annotations")).items():
            if str(key).startswith(_OURS):
                yield extend_path("metadata.annotations", str(key)), value
    if kind == "InferenceService":
        status = _mapping(manifest.get("status"))
        if "pinnedRevisionName" in status:
            yield "status.pinnedRevisionName", status["pinnedRevisionName"]
        yield from _drift(status)
    if kind == "ControllerRevision" and "data" in manifest:
        yield "data", manifest["data"]


def _workload(manifest: Manifest, metadata: Manifest) -> Iterator[tuple[str, Any]]:
    """What ties a workload to a service; without a service it may be OME's own manager."""
    labels = _mapping(metadata.get("labels"))
    if labels.get(_LABELS[0]) and labels.get(_LABELS[1]):
        yield "metadata.name", metadata.get("name")
        for key in _LABELS:
            if key in labels:
                yield extend_path("metadata.labels", key), labels[key]
        yield from _readiness(_mapping(manifest.get("status")))
        return
    spec: Any = manifest
    for key in ("spec", "template", "spec"):
        spec = _mapping(spec).get(key)
    containers = _mapping(spec).get("containers")
    for index, container in enumerate(containers if isinstance(containers, list) else ()):
        for key in ("image", "name"):
            if key in _mapping(container):
                yield f"spec.template.spec.containers[{index}].{key}", container[key]


def _conditions(status: Manifest, types: frozenset[str]) -> Iterator[tuple[str, Manifest]]:
    """The conditions of these types, with a path that names the type: mostly the place in the list means nothing."""
    conditions = status.get("conditions")
    for condition in map(_mapping, conditions if isinstance(conditions, list) else ()):
        type_ = condition.get("type")
        if isinstance(type_, str) and type_ in types:
            yield extend_path("status.conditions", type_), condition


def _drift(status: Manifest) -> Iterator[tuple[str, Any]]:
    """Of two conditions of one type the last one counts."""
    for path, condition in _conditions(status, _DRIFT):
        for key in ("status", "reason"):
            yield f"{path}.{key}", condition.get(key)


def _readiness(status: Manifest) -> Iterator[tuple[str, Any]]:
    """Of both types the first one counts."""
    for path, condition in _conditions(status, _READINESS):
        yield f"{path}.status", condition.get("status")
        return


def _mapping(value: Any) -> Manifest:
    return value if isinstance(value, Mapping) else {}


def _compared(path: str, before: Any, after: Any) -> Iterator[Difference]:
    """The smallest parts that differ."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}, key=str):
            yield from _compared(extend_path(path, str(key)), before.get(key, _MISSING), after.get(key, _MISSING))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compared_lists(path, before, after)
    elif not _same(before, after):
        yield Difference(path, _text(before), _text(after))


def _compared_lists(path: str, before: list[Any], after: list[Any]) -> Iterator[Difference]:
    """Item by item, but what is equal at the head and at the tail, so that an item put in is one difference."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and _equal(before[head], after[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _equal(before[-1 - tail], after[-1 - tail]):
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    for index in range(max(len(old), len(new))):
        one = old[index] if index < len(old) else _MISSING
        other = new[index] if index < len(new) else _MISSING
        yield from _compared(f"{path}[{head + index}]", one, other)


def _equal(before: Any, after: Any) -> bool:
    return before is after or next(_compared("", before, after), None) is None


def _same(before: Any, after: Any) -> bool:
    """Whether two values are one for the rules: 2.0 is 2, but true isn't 1, and null isn't nothing."""
    if type(before) is not type(after):
        numbers = (int, float)
        if not (type(before) in numbers and type(after) in numbers):
            return False
    return bool(before == after) or (before != before and after != after)  # NaN


def _unreadable(before: Manifest, after: Manifest, told: set[str]) -> Iterator[Difference]:
    """Fields that decide nothing but that the object can't be read any more, or can be read again."""
    problems = [_problem(before), _problem(after)]
    if _words(problems[0]) == _words(problems[1]):
        return
    for path in dict.fromkeys(problem.path for problem in problems if problem is not None):
        one, other = _at(before, path), _at(after, path)
        if path not in told and _text(one) != _text(other):
            yield Difference(path or "metadata", _text(one), _text(other))


def _problem(manifest: Manifest) -> Problem | None:
    return next(iter(read_fleet([manifest]).problems.values()), None)


def _words(problem: Problem | None) -> tuple[str, str] | None:
    return None if problem is None else (problem.path, problem.message)


def _at(manifest: Manifest, path: str) -> Any:
    """The value at a path of a problem."""
    value: Any = manifest
    for index, quoted, plain in _TOKEN.findall(path):
        if index:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else _MISSING
        else:
            value = _mapping(value).get(quoted or plain, _MISSING)
    return value


def _text(value: Any) -> str | None:
    """A value as JSON, cut to a length that a table can hold.

    >>> _text({"name": "x"}), _text("7B"), _text(True), _text(_MISSING)
    ('{"name": "x"}', '"7B"', 'true', None)
    """
    if isinstance(value, _Missing):
        return None
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # a number of thousands of digits, an object nested beyond reason
        return "…"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
