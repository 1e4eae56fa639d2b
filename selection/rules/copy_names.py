"""What the OMENative copy of a runtime is called.

A runtime's name is also the label ``serving-runtime`` of its workloads, which holds 63 characters; Kubernetes takes
253 for the name itself.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from .fleet import Fleet
from .merge import WrongType, normalised_spec
from .objects import ObjectRef
from .plan_notes import Note

__all__ = ["SUFFIX", "copy_name", "same_spec"]

SUFFIX = "-omenative"
_LABEL, _NAME = 63, 253


def copy_name(fleet: Fleet, runtime: ObjectRef, spec: Mapping[str, Any]) -> tuple[str, tuple[Note, ...]]:
    """The name of a copy with this spec, and what is worth saying of it.

    ``<name>-omenative``, cut where that is too long. When a runtime of that name and scope has the spec already, the
    copy is there (``copy-exists``); when another has the name, the next free one is taken (``name-taken``). A name is
    free when no runtime has it that a service of the namespace could mean: ``spec.runtime.kind`` isn't always written.
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
        if name not in taken:
            return name, tuple(notes)
        notes.append(Note("name-taken", {"name": name}))
    raise AssertionError("more names are taken than there are")  # pragma: no cover


def _names(fleet: Fleet, namespace: str) -> set[str]:
    """The names of the runtimes that a copy could be mistaken for: for a cluster's, those of every namespace."""
    refs = [runtime.ref for runtime in fleet.runtimes.values()]
    refs += [ref for ref in fleet.problems if ref.kind in {"ServingRuntime", "ClusterServingRuntime"}]
    return {ref.name for ref in refs if not namespace or ref.namespace in {namespace, ""}}


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
