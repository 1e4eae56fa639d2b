"""What the OMENative copy of a runtime is called.

A runtime's name is also the label ``serving-runtime`` of its workloads, which holds 63 characters; Kubernetes takes
253 for the name itself.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .fleet import Fleet
from .merge import WrongType, normalised_spec
from .objects import ObjectRef, Runtime
from .plan_notes import Note
from .references import find_references
from .typed_fields import extend_path

__all__ = ["SUFFIX", "copy_name", "same_spec"]

SUFFIX = "-omenative"
_LABEL, _NAME = 63, 253

_REWORKED = re.compile(
    r".*?\.(?:initContainers|env|args|command|volumes|affinity|topologySpreadConstraints)(?![^.\[])",
)
"""What a person changes as a whole to rework something in it."""


def copy_name(
    fleet: Fleet, runtime: ObjectRef, spec: Mapping[str, Any], rework: Sequence[str] = ()
) -> tuple[str, tuple[Note, ...]]:
    """The name of a copy with this spec, and what is worth saying of it.

    ``<name>-omenative``, cut where that is too long. When a runtime of that name and scope has the spec already, the
    copy is there (``copy-exists``), also when it differs at the places that a person must rework and needs nothing of
    LeaderWorkerSet any more (``copy-by-hand``); when another has the name, the next free one is taken (``name-taken``).
    A name is free when no runtime has it that a service of the namespace could mean: ``spec.runtime.kind`` isn't
    always written.
    """
    longest = _LABEL if len(runtime.name) <= _LABEL else _NAME
    taken = _names(fleet, runtime.namespace)
    notes: list[Note] = []
    for number in range(1, len(taken) + 3):
        ending = SUFFIX if number == 1 else f"{SUFFIX}-{number}"
        name = runtime.name[: longest - len(ending)].rstrip("-.") + ending
        if number == 1 and name != runtime.name + ending:
            notes.append(Note("name-shortened", {"name": name, "longest": longest}))
        there = fleet.runtimes.get((runtime.namespace, name))
        if there is not None and same_spec(there.spec, spec):
            return name, (*notes, Note("copy-exists", {"name": name}))
        if there is not None and rework and _by_hand(there, spec, rework):
            return name, (*notes, Note("copy-by-hand", {"name": name}))
        if name not in taken:
            return name, tuple(notes)
        notes.append(Note("name-taken", {"name": name}))
    raise AssertionError("more names are taken than there are")  # pragma: no cover


def _names(fleet: Fleet, namespace: str) -> set[str]:
    """The names of the runtimes that a copy could be mistaken for: for a cluster's, those of every namespace."""
    refs = [runtime.ref for runtime in fleet.runtimes.values()]
    refs += [ref for ref in fleet.problems if ref.kind in {"ServingRuntime", "ClusterServingRuntime"}]
    return {ref.name for ref in refs if not namespace or ref.namespace in {namespace, ""}}


def _by_hand(there: Runtime, spec: Mapping[str, Any], rework: Sequence[str]) -> bool:
    """Whether a runtime is the copy with what a person had to rework, and finished."""
    if find_references(there.spec):
        return False
    try:
        places = list(_differences(_defaulted(normalised_spec(there.spec)), _defaulted(normalised_spec(spec)), "spec"))
    except WrongType:
        return False
    allowed = {found[0] if (found := _REWORKED.match(place)) else place for place in rework}
    return all(any(one == each or one.startswith((f"{each}.", f"{each}[")) for each in allowed) for one in places)


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    """The places that differ, down to where two lists have another length."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(one.get(key), other.get(key), extend_path(path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, f"{path}[{index}]")
    elif one != other:
        yield path


def same_spec(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two specs of runtimes are the same to OME: quantities by value, the API server's defaults written.

    >>> same_spec({"disabled": True}, {"disabled": True, "hostNetwork": False}), same_spec({}, {"disabled": True})
    (True, False)
    """
    try:
        return _defaulted(normalised_spec(one)) == _defaulted(normalised_spec(other))
    except WrongType:
        return False


def _defaulted(spec: dict[str, Any]) -> dict[str, Any]:
    written = copy.deepcopy(spec)
    for entry in written.get("supportedModelFormats") or ():
        for name in ("modelFormat", "modelFramework"):
            if entry.get(name) is not None:
                entry[name] = {"weight": 1, "operator": "Equal", **entry[name]}
    return written
