"""What OME's webhooks say of a service and of a runtime, as far as it decides selection and modes.

Follows OME: the InferenceService and ServingRuntime validation webhooks, in their order. The webhook stops
at the first error; the later ones are listed after it because people need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .fleet import Fleet
from .go import quote
from .inheritance import profile_problem
from .modes import COMPONENTS, MODE_ANNOTATION, OME_NATIVE, RAW_DEPLOYMENT, written_mode
from .named import NOT_FOUND, Named, judge_named, revision_pattern
from .objects import Component, Entry, Model, Runtime, Service
from .rollouts import rollout_errors
from .selection import question_of

__all__ = ["Admission", "admit_runtime", "admit_service", "complete_runner"]


@dataclass(frozen=True, slots=True)
class Admission:
    """The webhook's answer: ``errors`` in its order (OME returns the first), and its warnings."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the object is admitted."""
        return not self.errors

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {"allowed": self.allowed, "errors": list(self.errors), "warnings": list(self.warnings)}


def admit_service(
    fleet: Fleet, service: Service, model: Model | None, named: Named | None, chosen: str | None, failure: str | None
) -> Admission:
    """What the webhook says of creating or updating this service now.

    Args:
        fleet: the cluster.
        service: the service.
        model: the model it names, None when it names none or it doesn't exist.
        named: what became of the runtime it names, None when it names none or selection didn't look.
        chosen: the name of the runtime that automatic selection chooses, None when it chooses none.
        failure: OME's text for why it chooses none.
    """
    warnings: list[str] = []
    errors: list[str] = []
    if fleet.semantics.version != "1.2":
        errors += _beside_replica_refs(service)
    if "decoder" in service.components and "engine" not in service.components:
        errors.append("decoder cannot be specified without engine")
    if fleet.semantics.version != "1.2":
        errors += _pairing(service)
        errors += _lean_runners(service)
        errors += _mode_combination(service)
        errors += rollout_errors(service)
        warnings += _strategy_warnings(service)
        if not service.model_name and not service.named_runtime and not service.replica_refs:
            errors.append("at least one of spec.model or spec.runtime must be set")
    errors += _pin(service)
    if service.model_name and model is None:
        if fleet.find_model(service.ref.namespace, service.model_name) is not None:
            return Admission(tuple(errors), tuple(warnings))  # it is there and unreadable: nothing more can be said
        errors.append(
            f"referenced model {quote(service.model_name)} not found in namespace {quote(service.ref.namespace)}: "
            "ensure a BaseModel exists in this namespace or a ClusterBaseModel exists cluster-wide with this name"
        )
    elif "engine" in service.components:
        if named is None and service.named_runtime:  # what selection passes over, the webhook still looks at
            question = question_of(service, model, fleet.semantics) if model else None
            named = judge_named(fleet, service, model, question)
        resolution = (
            _named_resolution(fleet, service, model, named)
            if named
            else _auto_resolution(fleet, service, model, chosen, failure)
        )
        errors += resolution.errors
        warnings += resolution.warnings
    return Admission(tuple(errors), tuple(warnings))


def complete_runner(engine: Component) -> bool:
    """Whether the engine brings its own images, so that the webhook asks for no runtime."""
    return bool(engine.runner_image) or bool(engine.leader_image and engine.worker_image)


def _beside_replica_refs(service: Service) -> Iterator[str]:
    """What can't stand beside ``spec.replicaRefs``. OME: InferenceService concepts, reference existing replicas."""
    if not service.refers:
        return
    if "engine" not in service.replica_refs:
        yield "spec.replicaRefs.engine is required when spec.replicaRefs is set; a service has an engine"
    for name in service.components:
        yield f"spec.{name} and spec.replicaRefs cannot both be set; a service references all of its roles or none"
    if service.rollout_groups is not None:
        yield "spec.rollout is not accepted with spec.replicaRefs; a referenced replica rolls on its own"
    own = "the referenced replicas carry their own model and runtime"
    for field, there, reason in (
        ("model", service.model_name is not None, own),
        ("runtime", service.runtime is not None, own),
        (
            "acceleratorSelector",
            service.accelerator_class is not None,
            "the service writes nothing on, and renders nothing for, a referenced replica",
        ),
    ):
        if there:
            yield f"spec.{field} is not accepted with spec.replicaRefs; {reason}"
    if service.deployment_mode not in {None, OME_NATIVE}:
        yield (
            f"spec.deploymentMode {service.deployment_mode} is not accepted with spec.replicaRefs; "
            "a referenced replica is OMENative"
        )


def _pairing(service: Service) -> Iterator[str]:
    for name in ("engine", "decoder"):
        component = service.components.get(name)
        if component is None:
            continue
        for has, other, code in (
            ("leader", "worker", "LeaderRequiresWorker"),
            ("worker", "leader", "WorkerRequiresLeader"),
        ):
            if getattr(component, has) and not getattr(component, other):
                yield (
                    f"InvalidLeaderWorkerPairing: {name}.{has} is set but {name}.{other} is not; "
                    f"multi-pod configurations require both ({code})"
                )
        if component.worker_size is not None and component.worker_size <= 0:
            yield (
                f"InvalidLeaderWorkerPairing: {name}.worker.size must be a positive integer when set; "
                "leave it unset to use the runtime's size or one worker (WorkerSizeMustBePositive)"
            )


def _lean_runners(service: Service) -> Iterator[str]:
    """Without model and runtime nothing fills in the images of a multi-pod component."""
    if service.model_name or service.named_runtime:
        return
    for name in ("engine", "decoder"):
        component = service.components.get(name)
        if component is None or not (component.leader and component.worker):
            continue
        if not (component.leader_image and component.worker_image):
            yield (
                f"MultiPodLeanModelNeedsRunner: {name} is multi-pod with no spec.model and no spec.runtime, but "
                f"{name}.leader.runner.image ({quote(component.leader_image)}) or "
                f"{name}.worker.runner.image ({quote(component.worker_image)}) is empty; "
                "multi-pod lean specs must declare both runner images"
            )


def _mode_combination(service: Service) -> Iterator[str]:
    if "engine" not in service.components or "decoder" not in service.components:
        return
    engine, decoder = written_mode(service, "engine"), written_mode(service, "decoder")
    if engine != decoder and OME_NATIVE in (engine, decoder):
        yield (
            f"InvalidDeploymentModeCombination: engine deploymentMode={quote(engine)} does not match decoder "
            f"deploymentMode={quote(decoder)}; when either is OMENative, both must use the same value"
        )


def _strategy_warnings(service: Service) -> Iterator[str]:
    mode = service.annotations.get(MODE_ANNOTATION) or service.deployment_mode or ""
    if not mode or mode == RAW_DEPLOYMENT:
        return
    for name in COMPONENTS:
        component = service.components.get(name)
        if component is not None and component.deployment_strategy:
            yield (
                f"{name}.deploymentStrategy is set but deploymentMode is {quote(mode)}; deploymentStrategy applies "
                f"only to RawDeployment and is ignored here — use {name}.lifecycle.updateStrategy.rollingUpdate "
                "for rollout pacing"
            )


def _pin(service: Service) -> Iterator[str]:
    runtime = service.runtime
    if runtime is None or not runtime.revision:
        return
    if not runtime.pinned:
        yield "spec.runtime.revision requires spec.runtime.autoSync=false; AutoSync=true would silently ignore the pin"
    pattern = revision_pattern(runtime, service.ref.namespace)
    kind = runtime.kind if runtime.kind == "ServingRuntime" else "ClusterServingRuntime"  # whatever else is written
    if not re.fullmatch(re.escape(pattern) + "[0-9a-f]{8}", runtime.revision):
        yield (
            f"spec.runtime.revision {quote(runtime.revision)} does not match the expected naming convention for "
            f"runtime {quote(runtime.name)} ({kind}); expected the form {pattern}<8 lowercase hex chars>"
        )


def _disabled_model(service: Service, model: Model | None) -> Iterator[str]:
    if model is not None and model.disabled:
        yield f"model {service.model_name} is disabled"


def _auto_resolution(
    fleet: Fleet, service: Service, model: Model | None, chosen: str | None, failure: str | None
) -> Admission:
    if complete_runner(service.components["engine"]):
        return Admission()
    if model is None:
        if fleet.semantics.version == "1.2":
            return Admission(
                (
                    "model reference is required when runtime is not specified "
                    "and engine does not have complete runner configuration",
                )
            )
        return Admission()
    disabled = tuple(_disabled_model(service, model))
    if disabled:
        return Admission(disabled)
    if chosen is not None:
        return Admission(warnings=(f"Runtime {chosen} will be auto-selected for model {service.model_name}",))
    return Admission(
        (
            f"no supporting runtime found for model {service.model_name} and engine does not have complete runner "
            f"configuration: {failure}",
        )
    )


def _named_resolution(fleet: Fleet, service: Service, model: Model | None, named: Named) -> Admission:
    if not fleet.semantics.admits_named:
        return Admission()  # before v1.3 the webhook looks at selection only when no runtime is named
    if model is None:
        # OME: runtime revisions. Without a model the live runtime of a pinned service isn't looked at.
        pinned = service.runtime is not None and service.runtime.pinned
        refused = named.error and named.reason != NOT_FOUND and not pinned
        return Admission((named.error,)) if refused else Admission()
    errors = list(_disabled_model(service, model))
    if named.advised:
        return Admission(
            tuple(errors),
            (
                f"runtime {quote(service.named_runtime)} does not declare support for model "
                f"{quote(service.model_name or '')} ({named.error}); "
                "proceeding because the runtime was named explicitly",
            ),
        )
    if named.error:
        errors.append(f"runtime {service.named_runtime} does not support model {service.model_name}: {named.error}")
    return Admission(tuple(errors))


def admit_runtime(fleet: Fleet, runtime: Runtime) -> Admission:
    """What the runtime webhook says; of a disabled runtime it looks only at the profile rule and the chain.

    Follows OME: runtime inheritance ("what admission checks").
    """
    errors: list[str] = []
    profile = profile_problem({"metadata": {"annotations": dict(runtime.annotations)}, "spec": runtime.spec})
    if profile is not None and fleet.semantics.inherits:
        errors.append(profile)
    broken = fleet.effective(runtime).chain.problem
    if broken is not None:
        errors.append(broken.message)
    if not runtime.disabled:
        unknown = [name for name in runtime.accelerator_classes if name not in fleet.accelerator_classes]
        if unknown:
            errors.append(f"unknown accelerator classes referenced in AcceleratorRequirements: [{' '.join(unknown)}]")
        kind = "clusterservingruntime" if runtime.cluster_scoped else "servingruntime"
        errors += [
            f"different priorities assigned for the model format {name} under the {kind} {runtime.ref.name}"
            for name in _differing_priorities(runtime.entries)
        ]
    return Admission(tuple(errors))


def _differing_priorities(entries: tuple[Entry, ...]) -> Iterator[str]:
    """The first ``name`` whose autoSelect entries differ in priority, each compared with the first of that name."""
    first: dict[str, int | None] = {}
    for entry in entries:
        if not entry.auto_select:
            continue
        if entry.name not in first:
            first[entry.name] = entry.priority
            continue
        known = first[entry.name]
        if known is not None and entry.priority is not None and known != entry.priority:
            yield entry.name
            return
