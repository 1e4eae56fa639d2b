"""From a fleet to the explanation of one service or model.

Follows OME: runtime selection, reference a runtime explicitly, deployment modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .admission import admit_service
from .conflicts import Scene, component_conflicts
from .explanation import ComponentModes, Explanation
from .fleet import Fleet, Judged
from .migration import migration_state
from .modes import COMPONENTS, MODE_ANNOTATION, OME_NATIVE, VIRTUAL_DEPLOYMENT, Declared, requested_mode, runtime_mode
from .named import NOT_FOUND, Named, judge_named
from .objects import Model, ObjectRef, Problem, Runtime, Service
from .parsing import parse_runtime_spec
from .reading import Unreadable
from .selection import Question, model_error, no_runtime_text, question_of

__all__ = ["explain_model", "explain_service", "explain_services"]

_PAUSING_DRIFT = frozenset({"RevisionMismatch", "RevisionMissing", "RuntimeMismatch"})


NOTHING_JUDGED = Judged()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What became of the question which runtime a service gets."""

    outcome: str
    runtime: Runtime | None = None
    message: str | None = None
    event: str | None = None
    event_reason: str | None = None
    judged: Judged = NOTHING_JUDGED
    named: Named | None = None
    question: Question | None = None
    model: Model | None = None
    problems: tuple[Problem, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)


def explain_services(fleet: Fleet) -> list[Explanation]:
    """Every service of the fleet, readable or not, by namespace and name."""
    unreadable = [ref for ref in fleet.problems if ref.kind == "InferenceService"]
    keys = sorted({*fleet.services, *((ref.namespace, ref.name) for ref in unreadable)})
    return [explain_service(fleet, namespace, name) for namespace, name in keys]


def explain_service(fleet: Fleet, namespace: str, name: str) -> Explanation:
    """Explain one service.

    Raises:
        LookupError: the fleet has no such service.
    """
    version = fleet.semantics.version
    ref = ObjectRef("InferenceService", namespace, name)
    service = fleet.services.get((namespace, name))
    if service is None:
        problem = fleet.problems.get(ref)
        if problem is None:
            raise LookupError(f"there is no InferenceService {namespace}/{name}")
        return Explanation(ref, "invalid", problems=(problem,), ome_version=version)
    answer = _answer(fleet, service)
    rendered, revision = _rendered(fleet, service, answer)
    return Explanation(
        subject=ref,
        outcome=answer.outcome,
        selected=answer.runtime,
        message=answer.message,
        event=answer.event,
        event_reason=answer.event_reason,
        candidates=answer.judged.candidates,
        modes=_modes(fleet, service, answer, rendered),
        admission=admit_service(fleet, service, answer.model, answer.named, answer.question),
        problems=answer.problems + _candidate_problems(fleet, namespace),
        ome_version=version,
        service=service,
        model=answer.model,
        named=answer.named,
        revision=revision,
        notes={**answer.notes, **_notes(fleet, service, answer)},
    )


def explain_model(fleet: Fleet, namespace: str, name: str) -> Explanation:
    """Explain which runtimes qualify for a model in a namespace, when a service asks for nothing else.

    Raises:
        LookupError: the fleet has no such model for that namespace.
    """
    version = fleet.semantics.version
    found = fleet.find_model(namespace, name)
    if found is None:
        raise LookupError(f"there is no BaseModel {name} in namespace {namespace} and no ClusterBaseModel {name}")
    if isinstance(found, Problem):
        return Explanation(found.object, "invalid", problems=(found,), ome_version=version)
    error = model_error(found)
    problems = _candidate_problems(fleet, namespace)
    if error is not None:
        return Explanation(found.ref, "invalid", message=error, problems=problems, ome_version=version, model=found)
    question = question_of(None, found, fleet.semantics)
    judged = fleet.judged(question, namespace)
    chosen = judged.ranked[0].runtime if judged.ranked else None
    return Explanation(
        subject=found.ref,
        outcome="auto-selected" if chosen else "no-runtime",
        selected=chosen,
        message=None if chosen else no_runtime_text(question, namespace, judged.verdicts),
        candidates=judged.candidates,
        problems=problems,
        ome_version=version,
        model=found,
    )


def _candidate_problems(fleet: Fleet, namespace: str) -> tuple[Problem, ...]:
    """Runtimes that OME couldn't read either and that are candidates here."""
    return tuple(
        problem
        for ref, problem in sorted(fleet.problems.items())
        if ref.kind == "ClusterServingRuntime" or (ref.kind == "ServingRuntime" and ref.namespace == namespace)
    )


def _answer(fleet: Fleet, service: Service) -> _Answer:
    if service.annotations.get(MODE_ANNOTATION) == VIRTUAL_DEPLOYMENT:
        return _Answer("not-applicable", notes={"virtual": True})
    if service.replica_refs:
        return _Answer("not-applicable", notes={"replicaRefs": True})
    if not service.model_name:
        if service.named_runtime:
            return _named_answer(fleet, service, None, None, NOTHING_JUDGED)
        return _Answer("invalid", message="at least one of spec.model or spec.runtime must be set")
    found = fleet.find_model(service.ref.namespace, service.model_name)
    if isinstance(found, Problem):
        return _Answer("invalid", problems=(found,))
    if found is None:
        return _Answer("invalid", message=_missing_model_text(service), notes={"modelMissing": service.model_name})
    question = question_of(service, found, fleet.semantics)
    error = model_error(found)
    judged = NOTHING_JUDGED if error else fleet.judged(question, service.ref.namespace)
    if found.disabled:
        message = f"model {service.model_name} is disabled"
        event = f"specified base model {service.model_name} is disabled"
        return _Answer("invalid", None, message, event, "ModelReconcileError", judged, None, question, found)
    if service.named_runtime:
        return _named_answer(fleet, service, found, question, judged)
    if error is not None:
        event = f"Failed to find runtime for model {service.model_name}: {error}"
        return _Answer("invalid", None, error, event, "RuntimeSelectionError", judged, None, question, found)
    if judged.ranked:
        return _Answer("auto-selected", judged.ranked[0].runtime, judged=judged, question=question, model=found)
    message = no_runtime_text(question, service.ref.namespace, judged.verdicts)
    if fleet.semantics.version == "1.2":
        event, reason = f"Failed to find runtime for model {service.model_name}: {message}", "RuntimeSelectionError"
    else:
        event, reason = message, NOT_FOUND
    return _Answer("no-runtime", None, message, event, reason, judged, None, question, found)


def _missing_model_text(service: Service) -> str:
    return (
        f'referenced model "{service.model_name}" not found in namespace "{service.ref.namespace}": ensure a BaseModel '
        "exists in this namespace or a ClusterBaseModel exists cluster-wide with this name"
    )


def _named_answer(
    fleet: Fleet, service: Service, model: Model | None, question: Question | None, judged: Judged
) -> _Answer:
    named = judge_named(fleet, service, model, question)
    name, model_name = service.named_runtime, service.model_name
    answer = _Answer("named", named.merged, judged=judged, named=named, question=question, model=model)
    if named.problem is not None:
        return replace(answer, outcome="invalid", runtime=None, problems=(named.problem,))
    if named.advised:
        advice = (
            f"Runtime {name} does not declare support for model {model_name} ({named.error}); "
            "proceeding because the runtime was named explicitly"
        )
        silent = service.runtime is not None and service.runtime.pinned
        return replace(
            answer,
            outcome="named-with-advice",
            event=None if silent else advice,
            event_reason=None if silent else named.reason,
        )
    if not named.error:
        return answer
    missing = named.reason == NOT_FOUND
    wrapped = model is not None and not missing
    return replace(
        answer,
        outcome="no-runtime" if missing else "invalid",
        runtime=None,
        message=f"runtime {name} does not support model {model_name}: {named.error}" if wrapped else named.error,
        event=f"Runtime {name} does not support model {model_name}: {named.error}" if wrapped else named.error,
        event_reason=named.reason,
    )


def _rendered(fleet: Fleet, service: Service, answer: _Answer) -> tuple[Runtime | None, str | None]:
    """The runtime that the components are rendered from: for a pinned service its revision, when it is known."""
    if service.runtime is None or not service.runtime.pinned or not service.named_runtime:
        return answer.runtime, None
    revision = service.runtime.revision or service.pinned_revision
    manifest = fleet.revisions.get(revision)
    data = manifest.get("data") if manifest else None
    if not isinstance(data, Mapping):
        return answer.runtime, revision or None
    spec = data.get("spec", data)
    ref = answer.runtime.ref if answer.runtime else ObjectRef("ClusterServingRuntime", "", service.named_runtime)
    try:
        return parse_runtime_spec(ref, spec if isinstance(spec, Mapping) else {}), revision
    except Unreadable:
        return answer.runtime, revision


def _modes(fleet: Fleet, service: Service, answer: _Answer, rendered: Runtime | None) -> dict[str, ComponentModes]:
    workloads = tuple(fleet.workloads.get((service.ref.namespace, service.ref.name), ()))
    scene = Scene(
        service=service,
        semantics=fleet.semantics,
        runtime=rendered,
        configs=rendered.components if rendered else {},
        verdicts=answer.judged.verdicts if answer.named is None else (),
        named=answer.named,
        compared=answer.model is not None,
        workloads=workloads,
    )
    modes = {}
    for component in COMPONENTS:
        if component not in service.components:
            continue
        running = Declared(OME_NATIVE, "ReplicaRefs") if service.replica_refs else scene.running(component)
        own = tuple(sorted((each for each in workloads if each.component == component), key=lambda each: each.ref))
        modes[component] = ComponentModes(
            requested=requested_mode(service, component, fleet.semantics),
            runtime=runtime_mode(rendered, component, fleet.semantics) if rendered else None,
            running=running,
            conflicts=() if service.replica_refs else component_conflicts(scene, component),
            workloads=own,
            migration=None
            if component == "router" or service.replica_refs
            else migration_state(
                running,
                own,
                pinned=_paused(service),
                uses_leader_worker_set=rendered is not None and fleet.uses_leader_worker_set(rendered, component),
            ),
        )
    return modes


def _paused(service: Service) -> bool:
    """Whether updates of the service wait: on its pin, or on drift that pauses everything."""
    status, reason = service.conditions.get("RuntimeDrifted", ("", ""))
    pinned = service.runtime is not None and service.runtime.pinned
    return pinned or (status == "True" and reason in _PAUSING_DRIFT)


def _notes(fleet: Fleet, service: Service, answer: _Answer) -> dict[str, Any]:
    """Facts that decide nothing in selection and that a person should know."""
    notes: dict[str, Any] = {}
    model = answer.model
    if "engine" not in service.replica_refs | set(service.components):
        notes["noEngine"] = "engine component is required"
    if model is not None and service.model_kind not in {None, model.ref.kind}:
        notes["modelKind"] = {"written": service.model_kind, "found": model.ref.kind}
    if service.runtime is not None and service.runtime.pinned:
        notes["pinned"] = service.runtime.revision or service.pinned_revision or None
    for name in ("engine", "decoder"):
        wanted = service.components[name].accelerator_class if name in service.components else None
        wanted = wanted if wanted is not None else service.accelerator_class
        if answer.runtime and answer.runtime.accelerator_classes and wanted and wanted not in fleet.accelerator_classes:
            notes.setdefault("acceleratorMissing", []).append(
                f"Failed to get accelerator class for {name}: accelerator class {wanted} not found at cluster scope"
            )
    return notes
