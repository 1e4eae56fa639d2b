"""Where the modes of a service, its runtime and its workloads don't agree.

Each conflict has a stable code and the facts that a sentence needs; sentences live with the pages.
Follows OME: runtime deployment-mode matching ("resolve a conflict") and deployment modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .modes import (
    COMPONENTS,
    MODE_ANNOTATION,
    MULTI_NODE,
    OME_NATIVE,
    RAW_DEPLOYMENT,
    VIRTUAL_DEPLOYMENT,
    Declared,
    merged_shape,
    requested_mode,
    running_mode,
    runtime_mode,
    written_mode,
)
from .named import Named
from .objects import Runtime, RuntimeComponent, Service, Workload
from .selection import AUTO_SELECT, DECODER_MODE, ENGINE_MODE, ENTRY_AUTO_SELECT, SCORE, Verdict
from .semantics import Semantics

__all__ = ["CODES", "LISTED", "WORKLOAD_KINDS", "Conflict", "Scene", "component_conflicts", "runtime_conflicts"]

CODES = (
    "impossible",
    "pair",
    "rejected",
    "overridden",
    "hidden",
    "silent-takeover",
    "ignored",
    "no-workers",
    "deprecated",
    "drift",
)
"""Every code, the one that matters most first: a component shows its first."""

WORKLOAD_KINDS = {RAW_DEPLOYMENT: "Deployment", OME_NATIVE: "InferenceReplica", MULTI_NODE: "LeaderWorkerSet"}
"""What OME makes for a component that runs in each mode."""

LISTED = 20
"""How many runtimes a conflict names; the rest are counted."""

_MODE_CODES = {"engine": ENGINE_MODE, "decoder": DECODER_MODE}
_ONLY_MODES = frozenset({ENGINE_MODE, DECODER_MODE, AUTO_SELECT, ENTRY_AUTO_SELECT, SCORE})
_EMPTY = RuntimeComponent()

_PAIR_WRITTEN_BY_WEBHOOK = "PDDisaggregated"
"""What v1.2's webhook writes into ``metadata.annotations`` of a service with engine and decoder: no mode at all."""


Found = Iterator[tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One conflict: its code, the component (``""`` for a runtime's own), and its facts."""

    code: str
    component: str
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The conflict as JSON."""
        return {"code": self.code, "component": self.component, "facts": dict(self.facts)}


@dataclass(frozen=True, slots=True)
class Scene:
    """What the conflicts of a service are judged on.

    Attributes:
        runtime: the runtime that the components are rendered from, None when there is none.
        configs: that runtime's configs.
        verdicts: the candidates' verdicts of automatic selection, empty when a runtime is named.
        named: what became of a named runtime.
        compared: whether OME compares modes for this service (it has a model).
        workloads: what runs in the cluster for this service.
    """

    service: Service
    semantics: Semantics
    runtime: Runtime | None
    configs: Mapping[str, RuntimeComponent]
    verdicts: Sequence[Verdict]
    named: Named | None
    compared: bool
    workloads: Sequence[Workload]
    _running: dict[str, Declared] = field(default_factory=dict, repr=False, compare=False)

    def running(self, component: str) -> Declared:
        """The mode that a component runs in."""
        if component not in self._running:
            self._running[component] = running_mode(self.service, component, self.configs, self.semantics)
        return self._running[component]


def component_conflicts(scene: Scene, component: str) -> tuple[Conflict, ...]:
    """Every conflict of a declared component, the one that matters most first."""
    finders: tuple[Callable[[Scene, str], Found], ...] = (_impossible, _pair, _rejected, _overridden, _ignored)
    if scene.runtime is not None:
        finders += (_takeover, _shape, _deprecated, _drift)
    found = [Conflict(code, component, facts) for finder in finders for code, facts in finder(scene, component)]
    return tuple(sorted(found, key=lambda conflict: CODES.index(conflict.code)))


def _config(scene: Scene, component: str) -> RuntimeComponent:
    return scene.configs.get(component, _EMPTY)


def _impossible(scene: Scene, component: str) -> Found:
    running = scene.running(component)
    whole_service = running.source == "ServiceAnnotation"
    if (running.mode == VIRTUAL_DEPLOYMENT and not whole_service) or (
        component == "router" and running.mode == MULTI_NODE
    ):
        yield "impossible", {"mode": running.mode, "stops": list(COMPONENTS[COMPONENTS.index(component) :])}


def _pair(scene: Scene, component: str) -> Found:
    components = scene.service.components
    if component == "router" or not {"engine", "decoder"} <= set(components) or OME_NATIVE not in scene.semantics.modes:
        return
    engine, decoder = (written_mode(scene.service, name) for name in ("engine", "decoder"))
    if engine != decoder and OME_NATIVE in (engine, decoder):
        yield "pair", {"engine": engine, "decoder": decoder, "rejected": True}
        return
    engine, decoder = (scene.running(name).mode for name in ("engine", "decoder"))
    if engine != decoder and OME_NATIVE in (engine, decoder):
        yield "pair", {"engine": engine, "decoder": decoder, "rejected": False}


def _rejected(scene: Scene, component: str) -> Found:
    """Runtimes that only a deployment mode keeps away; those built for other models would be noise."""
    code = _MODE_CODES.get(component)
    kept = [
        verdict.runtime
        for verdict in scene.verdicts
        if verdict.failures
        and code in (codes := {failure.code for failure in verdict.failures})
        and codes <= _ONLY_MODES
    ]
    if not kept:
        return
    requested = requested_mode(scene.service, component, scene.semantics)
    by_mode: dict[str, list[Runtime]] = {}
    for runtime in kept:
        declared = runtime_mode(runtime, component, scene.semantics)
        if declared is not None:
            by_mode.setdefault(declared.mode, []).append(runtime)
    for mode, runtimes in sorted(by_mode.items()):
        yield (
            "rejected",
            {
                "requested": requested.mode if requested else None,
                "source": requested.source if requested else None,
                "declared": mode,
                "count": len(runtimes),
                "runtimes": [runtime.ref.to_dict() for runtime in runtimes[:LISTED]],
            },
        )


def _overridden(scene: Scene, component: str) -> Found:
    code = _MODE_CODES.get(component)
    if scene.named is None or not any(failure.code == code for failure in scene.named.failures):
        return
    requested = requested_mode(scene.service, component, scene.semantics)
    declared = runtime_mode(scene.named.merged, component, scene.semantics) if scene.named.merged else None
    yield (
        "overridden",
        {
            "requested": requested.mode if requested else None,
            "declared": declared.mode if declared else None,
            "running": scene.running(component).mode,
        },
    )


def _ignored(scene: Scene, component: str) -> Found:
    """Values that don't count, and modes in places where they aren't read."""
    declared, modes = scene.service.components.get(component), scene.semantics.modes
    theirs = _config(scene, component).annotation(MODE_ANNOTATION)
    reads = component in scene.semantics.annotated
    value = declared.annotations.get(MODE_ANNOTATION) if declared else None
    path = f"spec.{component}.annotations"
    running = scene.running(component).mode
    told = {"side": "service", "running": running if scene.runtime else None}
    if value is not None and (value not in modes or not reads):
        hides = reads and theirs is not None and theirs in modes
        yield (
            "hidden" if hides else "ignored",
            {**told, "value": value, "path": path, "hides": theirs if hides else None},
        )
    if theirs is not None and value is None and (theirs not in modes or not reads):
        yield "ignored", {**told, "value": theirs, "path": f"spec.{component}Config.annotations", "side": "runtime"}
    whole = scene.service.annotations.get(MODE_ANNOTATION)
    if whole and whole not in {VIRTUAL_DEPLOYMENT, _PAIR_WRITTEN_BY_WEBHOOK, running}:
        yield "ignored", {**told, "value": whole, "path": "metadata.annotations"}
    spoken = scene.service.deployment_mode
    if spoken and spoken not in {RAW_DEPLOYMENT, OME_NATIVE} and scene.semantics.reads_service_mode:
        yield "ignored", {**told, "value": spoken, "path": "spec.deploymentMode"}


def _takeover(scene: Scene, component: str) -> Found:
    """The runtime's annotation decides, nobody asked, and without it the component would run otherwise."""
    running = scene.running(component)
    declared = scene.service.components.get(component)
    own = declared is not None and MODE_ANNOTATION in declared.annotations
    if running.source != "ComponentAnnotation" or own:
        return
    requested = requested_mode(scene.service, component, scene.semantics)
    if requested is not None and component != "router" and scene.compared:
        return  # both sides spoke: they agree, or this is a rejection or an override
    without = {**scene.configs, component: _without_annotation(_config(scene, component))}
    otherwise = running_mode(scene.service, component, without, scene.semantics)
    if otherwise.mode != running.mode:
        yield "silent-takeover", {"running": running.mode, "otherwise": otherwise.mode}


def _without_annotation(config: RuntimeComponent) -> RuntimeComponent:
    kept = tuple(item for item in config.annotations if item[0] != MODE_ANNOTATION)
    return RuntimeComponent(kept, config.leader, config.worker)


def _shape(scene: Scene, component: str) -> Found:
    if component == "router" or scene.running(component).mode != RAW_DEPLOYMENT:
        return
    leader, _ = merged_shape(scene.service.components.get(component), scene.configs.get(component))
    if leader:
        yield "no-workers", {}


def _deprecated(scene: Scene, component: str) -> Found:
    running = scene.running(component)
    if running.mode in {MULTI_NODE, "MultiNodeRayVLLM"}:
        yield "deprecated", {"running": running.mode, "source": running.source}


def _drift(scene: Scene, component: str) -> Found:
    """What runs isn't what today's answer says. (Without a runtime nothing is expected: pods keep serving.)"""
    observed = [workload for workload in scene.workloads if workload.component == component]
    expected = WORKLOAD_KINDS.get(scene.running(component).mode)
    if scene.runtime is None or not observed or expected is None:
        return
    fitting = [workload for workload in observed if workload.ref.kind == expected]
    if not fitting:
        yield "drift", {"what": "kind", "expected": expected, "observed": sorted({each.ref.kind for each in observed})}
    labels = sorted({each.runtime for each in fitting or observed if each.runtime})
    if labels and labels != [scene.runtime.ref.name]:
        yield (
            "drift",
            {
                "what": "runtime",
                "expected": scene.runtime.ref.name,
                "observed": labels,
                "automatic": scene.named is None,
            },
        )


def runtime_conflicts(runtime: Runtime, semantics: Semantics) -> tuple[Conflict, ...]:
    """A runtime's own: mode values that don't count and modes where they aren't read."""
    found = []
    for name, config in runtime.components.items():
        value = config.annotation(MODE_ANNOTATION)
        if value is None:
            continue
        path = f"spec.{name}Config.annotations"
        if value not in semantics.modes or name not in semantics.annotated:
            found.append(Conflict("ignored", name, {"value": value, "path": path, "side": "runtime"}))
        elif (name == "router" and value == MULTI_NODE) or value == VIRTUAL_DEPLOYMENT:
            found.append(Conflict("impossible", name, {"mode": value, "path": path, "side": "runtime"}))
        elif value == MULTI_NODE:
            found.append(Conflict("deprecated", name, {"running": value, "path": path, "side": "runtime"}))
    whole = runtime.annotations.get(MODE_ANNOTATION)
    if whole is not None:
        found.append(Conflict("ignored", "", {"value": whole, "path": "metadata.annotations", "side": "runtime"}))
    return tuple(found)
