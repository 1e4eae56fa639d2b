"""From a fleet to the explanation of one service or model.

Follows OME: runtime selection, reference a runtime explicitly, deployment modes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .admission import admit_service
from .conflicts import Scene, component_conflicts
from .explanation import ComponentModes, Explanation
from .fleet import Fleet
from .fleet_answers import Judged
from .migration import migration_state
from .modes import COMPONENTS, MODE_ANNOTATION, OME_NATIVE, VIRTUAL_DEPLOYMENT, Declared, requested_mode, runtime_mode
from .named import NOT_FOUND, REFUSED, Named, judge_named
from .objects import Model, ObjectRef, Problem, Runtime, Service
from .parsing import parse_runtime_spec
from .reading import Unreadable
from .selection import (
    BEFORE_SIZE,
    Question,
    compatibility_failures,
    model_error,
    no_runtime_head,
    no_runtime_text,
    question_of,
)

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


def explain_services(fleet: Fleet, *, brief: bool = False) -> list[Explanation]:
    """Every service of the fleet, readable or not, by namespace and name. For ``brief`` see :func:`explain_service`."""
    unreadable = [ref for ref in fleet.problems if ref.kind == "InferenceService"]
    keys = sorted({*fleet.services, *((ref.namespace, ref.name) for ref in unreadable)})
    return [explain_service(fleet, namespace, name, brief=brief) for namespace, name in keys]


def explain_service(fleet: Fleet, namespace: str, name: str, *, brief: bool = False) -> Explanation:
    """Explain one service.

    ``brief`` leaves out what only someone who looks at this service needs, and what costs most: the candidates
    and the list of excluded runtimes in OME's message. Everything else is the same.

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
    answer = _answer(fleet, service, brief=brief)
    rendered, revision = _rendered(fleet, service, answer)
    shown = NOTHING_JUDGED if answer.outcome == "not-applicable" else answer.judged
    return Explanation(
        subject=ref,
        outcome=answer.outcome,
        selected=answer.runtime,
        message=answer.message,
        event=answer.event,
        event_reason=answer.event_reason,
        candidates=shown.candidates,
        considered=shown.total,
        qualified=len(shown.ranked),
        score=_score(shown) if answer.outcome == "auto-selected" else None,
        modes=_modes(fleet, service, answer, rendered),
        admission=admit_service(fleet, service, answer.model, answer.named, *_automatic(answer, namespace)),
        problems=answer.problems + fleet.unreadable_candidates(namespace),
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
    problems = fleet.unreadable_candidates(namespace)
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
        score=_score(judged),
        candidates=judged.candidates,
        considered=judged.total,
        qualified=len(judged.ranked),
        problems=problems,
        ome_version=version,
        model=found,
    )


def _score(judged: Judged) -> int | None:
    winner = judged.ranked[0].score if judged.ranked else None
    return winner.score if winner else None


def _failure_text(question: Question, namespace: str, judged: Judged) -> str:
    if judged.brief:
        return no_runtime_head(question, namespace)
    return no_runtime_text(question, namespace, judged.verdicts)


def _automatic(answer: _Answer, namespace: str) -> tuple[str | None, str | None]:
    """What automatic selection chooses by name, or OME's text for why it chooses nothing."""
    if answer.model is None or answer.question is None:
        return None, None
    if answer.judged.ranked:
        return answer.judged.ranked[0].runtime.ref.name, None
    return None, model_error(answer.model) or _failure_text(answer.question, namespace, answer.judged)


def _answer(fleet: Fleet, service: Service, *, brief: bool) -> _Answer:
    found = fleet.find_model(service.ref.namespace, service.model_name) if service.model_name else None
    model = found if isinstance(found, Model) else None
    question = question_of(service, model, fleet.semantics) if model else None
    matchable = model is not None and model_error(model) is None
    judged = fleet.judged(question, service.ref.namespace, brief=brief) if question and matchable else NOTHING_JUDGED
    known = _Answer("invalid", judged=judged, question=question, model=model)
    if service.annotations.get(MODE_ANNOTATION) == VIRTUAL_DEPLOYMENT:
        return replace(known, outcome="not-applicable", notes={"virtual": True})
    if service.replica_refs:
        return replace(known, outcome="not-applicable", notes={"replicaRefs": sorted(service.replica_refs)})
    if isinstance(found, Problem):
        return replace(known, problems=(found,))
    if service.model_name and model is None:
        return replace(known, message=_missing_model_text(service), notes={"modelMissing": service.model_name})
    if model is not None and model.disabled:
        event = f"specified base model {service.model_name} is disabled"
        message = f"model {service.model_name} is disabled"
        return replace(known, message=message, event=event, event_reason="ModelReconcileError")
    if model is None and fleet.semantics.version == "1.2":
        message = "model reference is required"  # v1.2 looks at the model first, also with a named runtime
        return replace(known, message=message, event=message, event_reason="ModelReconcileError")
    if service.named_runtime:
        return _named_answer(fleet, service, known)
    if model is None or question is None:
        message = "at least one of spec.model or spec.runtime must be set"
        event = "InferenceService must specify spec.runtime when spec.model is omitted"
        return replace(known, message=message, event=event, event_reason="RuntimeSelectionError")
    return _selected_answer(fleet, service, model, known)


def _selected_answer(fleet: Fleet, service: Service, model: Model, known: _Answer) -> _Answer:
    failed = f"Failed to find runtime for model {service.model_name}: "
    error = model_error(model)
    if error is not None:
        return replace(known, message=error, event=failed + error, event_reason="RuntimeSelectionError")
    if known.judged.ranked:
        return replace(known, outcome="auto-selected", runtime=known.judged.ranked[0].runtime)
    message = _automatic(known, service.ref.namespace)[1] or ""
    old = fleet.semantics.version == "1.2"
    return replace(
        known,
        outcome="no-runtime",
        message=message,
        event=failed + message if old else message,
        event_reason="RuntimeSelectionError" if old else NOT_FOUND,
    )


def _missing_model_text(service: Service) -> str:
    return (
        f'referenced model "{service.model_name}" not found in namespace "{service.ref.namespace}": ensure a BaseModel '
        "exists in this namespace or a ClusterBaseModel exists cluster-wide with this name"
    )


def _named_answer(fleet: Fleet, service: Service, known: _Answer) -> _Answer:
    model = known.model
    named = judge_named(fleet, service, model, known.question)
    name, model_name = service.named_runtime, service.model_name
    answer = replace(known, outcome="named", runtime=named.merged, named=named)
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
    event, reason = _refusal_event(fleet, service, model, named)
    return replace(
        answer,
        outcome="no-runtime" if missing else "invalid",
        runtime=None,
        message=named.error
        if model is None or missing
        else f"runtime {name} does not support model {model_name}: {named.error}",
        event=event,
        event_reason=reason,
    )


def _refusal_event(fleet: Fleet, service: Service, model: Model | None, named: Named) -> tuple[str | None, str | None]:
    """The event that the controller records of a named runtime that can't be used, and its reason.

    Of a pinned service it only looks for the live runtime, to pin it or to see drift, and compares nothing.
    """
    name, missing, old = service.named_runtime, named.reason == NOT_FOUND, fleet.semantics.version == "1.2"
    disabled = named.merged is not None and named.merged.disabled
    failed = f"Runtime {name} failed validation: {named.error}", REFUSED
    if service.runtime is not None and service.runtime.pinned:
        unresolved = f"resolve live runtime {name}: {named.error}", "RuntimePinError"
        follows_a_revision = bool(service.runtime.revision or service.pinned_revision)
        if missing:
            return (None, None) if follows_a_revision and not old else unresolved
        if named.runtime is not None and named.merged is None:
            return unresolved
        return failed if disabled and not follows_a_revision and not old else (None, None)
    if model is None:
        return failed if disabled else (named.error, named.reason)
    if missing and not old:
        return named.error, NOT_FOUND
    # v1.2 says of a missing runtime what it says of an unfit one
    return f"Runtime {name} does not support model {service.model_name}: {named.error}", REFUSED


def _rendered(fleet: Fleet, service: Service, answer: _Answer) -> tuple[Runtime | None, str | None]:
    """The runtime that the components are rendered from: for a pinned service its revision, when it is known."""
    if service.runtime is None or not service.runtime.pinned or not service.named_runtime:
        return answer.runtime, None
    revision = service.runtime.revision or service.pinned_revision
    manifest = fleet.find_revision(revision)
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
        verdicts=answer.judged.verdicts if answer.named is None and answer.outcome != "not-applicable" else (),
        named=answer.named,
        compared=answer.model is not None,
        workloads=workloads,
    )
    alive = rendered is not None or answer.outcome == "not-applicable"
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
            rendered=alive,
            conflicts=() if service.replica_refs else component_conflicts(scene, component),
            workloads=own,
            migration=None
            if component == "router" or service.replica_refs
            else migration_state(
                running if alive else None,
                own,
                pinned=_paused(service),
                uses_leader_worker_set=rendered is not None and fleet.leans(service, rendered, component),
            ),
        )
    return modes


def _paused(service: Service) -> bool:
    """Whether updates of the service wait: on its pin, or on drift that pauses everything."""
    status, reason = service.conditions.get("RuntimeDrifted", ("", ""))
    pinned = service.runtime is not None and service.runtime.pinned
    return pinned or (status == "True" and reason in _PAUSING_DRIFT)


def _open_ranges(fleet: Fleet, service: Service, answer: _Answer) -> list[ObjectRef]:
    """The runtimes over whose size range v1.2's selector breaks down for a service: it reads a bound that isn't there.

    It reads the range of each runtime that it looks at (the one that is named, else every candidate), once the checks
    before it have passed.
    """
    question, model = answer.question, answer.model
    if question is None or model is None or model.size is None or answer.outcome in {"invalid", "not-applicable"}:
        return []
    found = fleet.half_open(service.ref.namespace)
    if answer.named is not None:
        found = tuple(
            each for each in found if answer.named.runtime is not None and each.ref == answer.named.runtime.ref
        )
    return sorted(
        runtime.ref
        for runtime in found
        if not any(failure.code in BEFORE_SIZE for failure in compatibility_failures(question, runtime))
    )


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
    unplaced = [
        verdict.runtime.ref.to_dict()
        for verdict in answer.judged.ranked
        if verdict.distance is not None and not math.isfinite(verdict.distance)
    ]
    if unplaced and answer.outcome == "auto-selected":
        notes["sizeNotFinite"] = unplaced
    if fleet.semantics.needs_both_bounds and (ranges := _open_ranges(fleet, service, answer)):
        notes["openRange"] = [ref.to_dict() for ref in ranges]
    for name in ("engine", "decoder"):
        if name not in service.components:
            continue
        wanted = service.components[name].accelerator_class
        wanted = wanted if wanted is not None else service.accelerator_class
        if answer.runtime and answer.runtime.accelerator_classes and wanted and wanted not in fleet.accelerator_classes:
            notes.setdefault("acceleratorMissing", []).append(
                f"Failed to get accelerator class for {name}: accelerator class {wanted} not found at cluster scope"
            )
    return notes
