"""More of whole fleets: what else a cluster's objects may say, how they change, and all that the rules tell of them.

How many fleets a property is held against is :data:`FLEETS`: 2,000 in CI, always the same ones, so that a change
fails by its own faults; else 200, other ones each time. The environment variable ``FLEETS`` asks for more.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from selection.rules.admission import admit_runtime
from selection.rules.conflicts import runtime_conflicts
from selection.rules.explain import explain_model, explain_services
from selection.rules.findings import Finding, model_findings, runtime_findings, service_findings
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.overlaps import overlap_findings
from selection.rules.parsing import ref_of
from selection.rules.references import find_references
from selection.rules.semantics import V1_2, V1_3

from .fleets import MODES, NAMES, fleets, identity, runtime_manifests, service_manifests
from .manifests import Manifest, a_model, a_runtime, moded

__all__ = [
    "FLEETS",
    "Edit",
    "all_findings",
    "edits",
    "everything",
    "holds",
    "put_into",
    "releases",
    "rich_fleets",
    "unreadable",
]

_CI = os.environ.get("CI", "").lower() in {"1", "true"}

FLEETS = int(os.environ.get("FLEETS") or (2000 if _CI else 200))
"""How many fleets a property that costs little is held against."""

releases = st.sampled_from([V1_3, V1_3, V1_2])
"""The rules of a release, mostly of the newest."""


def holds(part: int = 1) -> settings:
    """Settings for a property that is held against all fleets, or against one of so many when each costs more."""
    return settings(
        max_examples=max(20, FLEETS // part),
        deadline=None,
        derandomize=_CI and "FLEETS" not in os.environ,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
        print_blob=True,
    )


Change = Callable[[Manifest], None]

_ODD_RANGES = [
    {"min": "inf"},
    {"max": "inf"},
    {"min": "nan", "max": "8B"},
    {"min": "-inf", "max": "1e300T"},
    {"min": "6999999999.4", "max": "7000000000.3"},
    {"min": "6999999999.9", "max": "7000000000.9"},
    {"min": "1B", "max": "2e19"},
    {"min": None, "max": "8B"},
]
_ODD_SIZES = ["inf", "nan", "1e300T", "0.4", "7000000000.4", "2e19"]
_PIN = "cr-a-0123abcd"


def _annotated(key: str, value: str) -> Change:
    def change(manifest: Manifest) -> None:
        manifest["metadata"]["annotations"] = {**(manifest["metadata"].get("annotations") or {}), key: value}

    return change


def _said(**fields: Any) -> Change:
    return lambda manifest: manifest["spec"].update(copy.deepcopy(fields))


def _reported(**status: Any) -> Change:
    return lambda manifest: manifest.update(status=status)


def _repeated(manifest: Manifest) -> None:
    """The first entry twice, the second time with another priority: for selection two entries, not one."""
    entries = manifest["spec"].get("supportedModelFormats") or []
    manifest["spec"]["supportedModelFormats"] = [
        *entries,
        *({**(entry or {}), "priority": 4} for entry in entries[:1]),
        None,
    ]


_OF_SERVICES: list[Change] = [
    _said(replicaRefs={"engine": ["chat-engine"]}),
    _said(replicaRefs={"engine": ["chat-engine"], "decoder": ["chat-decoder"]}, engine=None, decoder=None, model=None),
    _said(replicaRefs={"decoder": ["chat-decoder"]}),
    _said(model={"name": "llama", "kind": "BaseModel"}),
    _said(model={"name": "nobody"}),
    _said(runtime={"name": "a", "kind": "ClusterServingRuntime"}, model=None),
    _said(runtime={"name": "a", "autoSync": False, "revision": _PIN}),
    _said(runtime={"name": "nobody"}),
    _said(runtime={"name": "b", "kind": "ServingRuntime"}),
    _said(rollout={"groups": [{"components": ["engine"], "canary": {}}]}),
    _said(engine={"leader": {"runner": {"image": "x"}}, "worker": {"runner": {"image": "x"}, "size": 0}}),
    _said(engine={"acceleratorOverride": {"acceleratorClass": "h100"}}),
    _reported(pinnedRevisionName=_PIN),
    _reported(conditions=[{"type": "RuntimeDrifted", "status": "True", "reason": "RevisionMismatch"}]),
    _annotated("ome.io/deploymentMode", "VirtualDeployment"),
]
_OF_RUNTIMES: list[Change] = [
    _repeated,
    _repeated,
    _annotated("ome.io/inherit-from", "a"),
    _annotated("ome.io/inherit-from", "nobody"),
    _annotated("ome.io/deploymentMode", "OMENative"),
    _said(engineConfig={"leader": {"runner": {"args": ["--leader=$(LWS_LEADER_ADDRESS)"]}}, "worker": {}}),
    _said(
        engineConfig={"annotations": {"ome.io/deploymentMode": "MultiNode"}, "runner": {"args": ["$LWS_GROUP_SIZE"]}}
    ),
    _said(decoderConfig={"leader": {}, "worker": {"size": 2}}),
]
_OF_MODELS: list[Change] = [
    _said(modelParameterSize="7B"),
    _said(modelFormat={"name": "safetensors", "version": "1.0.0", "weight": 3}),
    _said(distribution="Sharded"),
]


def _changes_of(kind: str, *, ordered: bool = False) -> list[Change]:
    if kind == "InferenceService":
        return _OF_SERVICES
    if kind.endswith("ServingRuntime"):
        return _OF_RUNTIMES if ordered else [*_OF_RUNTIMES, *(_said(modelSizeRange=each) for each in _ODD_RANGES)]
    if kind.endswith("BaseModel"):
        return _OF_MODELS if ordered else [*_OF_MODELS, *(_said(modelParameterSize=each) for each in _ODD_SIZES)]
    return []


def unreadable(manifest: Manifest) -> Manifest:
    """The object with a field of another type than OME's API says; a ControllerRevision has no such field."""
    if manifest["kind"] in {"Deployment", "InferenceReplica", "LeaderWorkerSet"}:
        return {**manifest, "metadata": {**manifest["metadata"], "labels": 5}}
    return {**manifest, "spec": "x"}


@st.composite
def _fitting_runtimes(draw: st.DrawFn) -> Manifest:
    """A runtime that serves plain models in safetensors; what else it says decides little, but not nothing."""
    entry: dict[str, Any] = {"modelFormat": {"name": "safetensors", "weight": draw(st.sampled_from([1, 1, 2, 0, -1]))}}
    entry |= {"autoSelect": draw(st.sampled_from([True, True, True, False])), "priority": draw(st.sampled_from([1, 2]))}
    spec = {
        "supportedModelFormats": [entry],
        "modelSizeRange": draw(st.sampled_from([None, {"min": "1B", "max": "8B"}, {"max": "9B"}, {"min": "8B"}])),
        "engineConfig": draw(st.sampled_from([None, *(moded(mode) for mode in MODES)])),
        "acceleratorRequirements": draw(st.sampled_from([None, {"acceleratorClasses": ["h100"]}])),
    }
    parent = draw(st.sampled_from([None, *({"ome.io/inherit-from": name} for name in NAMES)]))
    manifest = a_runtime(draw(st.sampled_from(NAMES)), draw(st.sampled_from([None, "team"])), annotations=parent)
    return {**manifest, "spec": spec}


_plain_models = st.sampled_from(
    [
        [],
        [a_model()],
        [a_model(modelParameterSize="7B")],
        [a_model("llama", "team", modelParameterSize="8B"), a_model()],
        [a_model("qwen"), a_model()],
    ]
)


@st.composite
def rich_fleets(draw: st.DrawFn, most: int = 5, *, broken: bool = True, ordered: bool = False) -> list[Manifest]:
    """A fleet of several runtimes in which one object or other says something rare, or can't be read if ``broken``.

    ``chat`` is there, and a plain ``llama`` unless something else has its place. ``ordered`` leaves out the sizes
    whose distances are no order, such as NaN.
    """
    runtimes = st.lists(st.one_of(runtime_manifests(), _fitting_runtimes()), min_size=most // 2, max_size=most)
    objects = [draw(service_manifests()), *draw(runtimes), *draw(_plain_models), *draw(fleets(most=1)), a_model()]
    found = []
    for manifest in {identity(each): each for each in reversed(objects)}.values():
        changes = _changes_of(manifest["kind"], ordered=ordered)
        dice = draw(st.integers(0, 4 * len(changes))) if changes else 0
        if broken and dice == 4 * len(changes) > 0:
            found.append(unreadable(manifest))
        elif 0 < dice <= len(changes):
            found.append(copy.deepcopy(manifest))
            changes[dice - 1](found[-1])
        else:
            found.append(manifest)
    return found


@dataclass(frozen=True)
class Edit:
    """One step of a cluster's life: objects that come or change, and others that go."""

    put: tuple[Manifest, ...]
    dropped: tuple[ObjectRef, ...]

    @property
    def refs(self) -> tuple[ObjectRef, ...]:
        """Every object that it touches."""
        return (*(ref_of(manifest) for manifest in self.put), *self.dropped)


def put_into(objects: Sequence[Manifest], edit: Edit) -> list[Manifest]:
    """The objects after an edit."""
    touched = set(edit.refs)
    return [*(each for each in objects if ref_of(each) not in touched), *edit.put]


@st.composite
def edits(draw: st.DrawFn, objects: Sequence[Manifest], most: int = 3) -> Edit:
    """An edit of these objects: some replaced or added, some taken away, some that can't be read any more."""
    touched: set[ObjectRef] = set()
    put: list[Manifest] = []
    dropped: list[ObjectRef] = []
    others = draw(rich_fleets(most=2))
    for _ in range(draw(st.integers(1, most))):
        how = draw(st.sampled_from(["vary", "put", "drop", "break", "vary", "put"]))
        manifest = draw(st.sampled_from(others if how == "put" or not objects else objects))
        ref, changes = ref_of(manifest), _changes_of(manifest["kind"])
        if ref in touched:
            continue
        touched.add(ref)
        if how == "drop":
            dropped.append(ref)
        elif how == "break":
            put.append(unreadable(manifest))
        else:
            put.append(copy.deepcopy(manifest))
            if how == "vary" and changes and isinstance(manifest["spec"], dict):
                draw(st.sampled_from(changes))(put[-1])
    return Edit(tuple(put), tuple(dropped))


def all_findings(fleet: Fleet) -> list[Finding]:
    """Every finding about every object, by object, code and path."""

    def found() -> Iterator[Finding]:
        for runtime in fleet.runtimes.values():
            yield from runtime_findings(fleet, runtime)
        for model in fleet.models.values():
            yield from model_findings(model)
        for service in fleet.services.values():
            yield from service_findings(fleet, service)
        yield from overlap_findings(fleet)

    return sorted(found(), key=lambda finding: (finding.object, finding.code, finding.path, str(finding.facts)))


def everything(fleet: Fleet) -> dict[str, Any]:
    """All that the rules tell of a fleet: every service twice, in brief and in full, every model and every runtime."""
    return {
        "services": [
            {**each.to_dict(), "counts": (each.considered, each.qualified, each.score)}
            for brief in (True, False)
            for each in explain_services(fleet, brief=brief)
        ],
        "models": [
            explain_model(fleet, namespace or "team", name).to_dict() for namespace, name in sorted(fleet.models)
        ],
        "runtimes": {ref: dict(_of_runtime(fleet, ref)) for ref in (each.ref for each in fleet.runtimes.values())},
        "findings": [finding.to_dict() for finding in all_findings(fleet)],
        "problems": dict(fleet.problems),
        "classes": set(fleet.accelerator_classes),
    }


def _of_runtime(fleet: Fleet, ref: ObjectRef) -> Iterator[tuple[str, Any]]:
    runtime = fleet.runtimes[(ref.namespace, ref.name)]
    effective = fleet.effective(runtime)
    yield "chain", effective.chain
    yield "problem", effective.problem
    yield "merged", effective.runtime
    yield "spec", None if effective.runtime is None else effective.runtime.spec
    yield "references", [] if effective.runtime is None else find_references(effective.runtime.spec)
    yield "admission", admit_runtime(fleet, runtime)
    yield "conflicts", runtime_conflicts(runtime, fleet.semantics)
    yield "children", [child.ref for child in fleet.children(runtime)]
