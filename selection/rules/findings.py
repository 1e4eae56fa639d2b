"""What follows from the rules and nobody else reports: what never matches, what only a name decides, what means
something else than its author thought.

Each finding has a stable code, a severity, the object and the path, and the facts that a sentence needs.
Follows OME: runtime selection and scoring, model version matching, model size range matching, runtime inheritance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .conflicts import runtime_conflicts
from .fleet import Fleet, parent_of
from .go import parse_float
from .objects import Entry, Format, Model, ObjectRef, Problem, Runtime, Service
from .sizes import parse_size
from .versions import parse_version

__all__ = [
    "ALL",
    "SEVERITIES",
    "Described",
    "Finding",
    "describe",
    "model_findings",
    "runtime_findings",
    "service_findings",
]

SEVERITIES = {
    "empty-range": "error",
    "open-range": "error",
    "version-unparsable": "error",
    "size-unparsable": "error",
    "entry-without-format": "error",
    "entry-architecture-missing": "warning",
    "operator-unknown": "warning",
    "size-not-finite": "warning",
    "auto-select-inherits": "warning",
    "mode-ignored": "warning",
    "model-kind-elsewhere": "error",
    "runtime-kind-elsewhere": "warning",
    "overlap": "warning",
    "shadowed": "warning",
    "zero-weight": "info",
}
"""Every code with its severity: ``error`` can't work, ``warning`` may not be meant, ``info`` is worth knowing."""

ALL = "*"
"""Stands for all scopes together; no namespace can have this name."""

Described = dict[str, dict[str, tuple[int, int]]]
"""By scope and format name: how many models there are, and how many of them have an architecture."""

_OPERATORS = frozenset({"Equal", "GreaterThan", "GreaterThanOrEqual"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one object. ``path`` is the field, ``""`` for the object as a whole."""

    code: str
    object: ObjectRef
    path: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``info``."""
        return SEVERITIES[self.code]

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "object": self.object.to_dict(),
            "path": self.path,
            "facts": dict(self.facts),
        }


def runtime_findings(fleet: Fleet, runtime: Runtime, described: Described | None = None) -> Iterator[Finding]:
    """What is to be said of one runtime by itself and beside the cluster's models.

    ``described`` may be given (:func:`describe`) when many runtimes are looked at.
    """
    known = described or describe(fleet)
    yield from _range_findings(runtime)
    bounds = runtime.size_range
    if fleet.semantics.needs_both_bounds and bounds is not None and None in bounds:
        # The selector reads both bounds of every range, and fails on one that isn't there.
        yield Finding("open-range", runtime.ref, "spec.modelSizeRange", {"min": bounds[0], "max": bounds[1]})
    for index, entry in enumerate(runtime.entries):
        yield from _entry_findings(known, runtime, entry, f"spec.supportedModelFormats[{index}]")
    if fleet.semantics.inherits and parent_of(runtime) and any(entry.auto_select for entry in runtime.entries):
        yield Finding("auto-select-inherits", runtime.ref, "spec.supportedModelFormats", {"parent": parent_of(runtime)})
    for conflict in runtime_conflicts(runtime, fleet.semantics):
        if conflict.code == "ignored":
            yield Finding("mode-ignored", runtime.ref, conflict.facts["path"], {"value": conflict.facts["value"]})


def describe(fleet: Fleet) -> Described:
    """How many models of each format every scope has, and how many of them have an architecture."""
    found: Described = {}
    for (namespace, _), model in fleet.models.items():
        for scope in {namespace, ALL}:
            total, with_architecture = found.setdefault(scope, {}).get(model.format.name, (0, 0))
            counts = (total + 1, with_architecture + (model.architecture is not None))
            found[scope][model.format.name] = counts
    return found


def _range_findings(runtime: Runtime) -> Iterator[Finding]:
    if runtime.size_range is None:
        return
    for name, bound in zip(("min", "max"), runtime.size_range, strict=True):
        if bound is not None:
            yield from _size_findings(runtime.ref, f"spec.modelSizeRange.{name}", bound)
    low, high = runtime.size_range
    if low is not None and high is not None and parse_size(low) > parse_size(high):
        yield Finding("empty-range", runtime.ref, "spec.modelSizeRange", {"min": low, "max": high})


def _size_findings(ref: ObjectRef, path: str, size: str) -> Iterator[Finding]:
    number = parse_float(size[:-1] if size[-1:] in {"T", "B", "M"} else size)
    if number is None:
        yield Finding("size-unparsable", ref, path, {"value": size})
    elif not math.isfinite(number) or not math.isfinite(parse_size(size)):
        yield Finding("size-not-finite", ref, path, {"value": size})


def _entry_findings(described: Described, runtime: Runtime, entry: Entry, path: str) -> Iterator[Finding]:
    if entry.format is None:
        yield Finding("entry-without-format", runtime.ref, path)
    else:
        yield from _format_findings(runtime.ref, entry.format, f"{path}.modelFormat", zero_is=10)
        # A namespace's runtime is asked about its own and the cluster's models, a cluster's about all.
        scopes = (ALL,) if runtime.cluster_scoped else (runtime.ref.namespace, "")
        counts = [described.get(scope, {}).get(entry.format.name, (0, 0)) for scope in scopes]
        total, with_architecture = (sum(each) for each in zip(*counts, strict=True))
        if entry.architecture is None and total and total == with_architecture:
            facts = {"format": entry.format.name, "models": total}
            yield Finding("entry-architecture-missing", runtime.ref, path, facts)
    if entry.framework is not None:
        yield from _format_findings(runtime.ref, entry.framework, f"{path}.modelFramework", zero_is=5)


def _format_findings(ref: ObjectRef, found: Format, path: str, *, zero_is: int) -> Iterator[Finding]:
    if found.version is not None and parse_version(found.version) is None:
        yield Finding("version-unparsable", ref, f"{path}.version", {"value": found.version})
    if found.operator is not None and found.operator not in _OPERATORS:
        yield Finding("operator-unknown", ref, f"{path}.operator", {"value": found.operator})
    if found.weight == 0:
        yield Finding("zero-weight", ref, f"{path}.weight", {"counts": zero_is})


def model_findings(model: Model) -> Iterator[Finding]:
    """What is to be said of one model: values that OME can't read."""
    for name, found in (("modelFormat", model.format), ("modelFramework", model.framework)):
        if found is not None and found.version is not None and parse_version(found.version) is None:
            yield Finding("version-unparsable", model.ref, f"spec.{name}.version", {"value": found.version})
    if model.size is not None:
        yield from _size_findings(model.ref, "spec.modelParameterSize", model.size)


def service_findings(fleet: Fleet, service: Service) -> Iterator[Finding]:
    """Where a service's model or runtime is found elsewhere than its kind says."""
    namespace = service.ref.namespace
    model = fleet.find_model(namespace, service.model_name) if service.model_name else None
    if isinstance(model, Model) and service.model_kind not in {None, model.ref.kind}:
        found: dict[str, Any] = {"written": service.model_kind, "found": model.ref.to_dict()}
        yield Finding("model-kind-elsewhere", service.ref, "spec.model.kind", found)
    name = service.named_runtime
    if not name or service.runtime is None or not fleet.semantics.reads_runtime_kind:
        return
    scopes = {"ServingRuntime": namespace, "ClusterServingRuntime": ""}
    written = service.runtime.kind or ""
    own, clusters = fleet.find_runtime(namespace, name), fleet.find_runtime("", name)
    if written == "ClusterServingRuntime" and own is not None:
        # Both a default that nobody wrote and a wish: the namespace's runtime of that name isn't used, or only it is.
        facts: dict[str, Any] = {"written": written, "both": clusters is not None, "other": _ref_of(own).to_dict()}
        yield Finding("runtime-kind-elsewhere", service.ref, "spec.runtime.kind", facts)
    elif written not in scopes and own is not None and clusters is not None:
        facts = {"written": written, "both": True, "other": _ref_of(clusters).to_dict()}
        yield Finding("runtime-kind-elsewhere", service.ref, "spec.runtime.kind", facts)


def _ref_of(found: Runtime | Problem) -> ObjectRef:
    return found.object if isinstance(found, Problem) else found.ref
