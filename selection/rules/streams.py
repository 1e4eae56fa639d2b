"""Where the stream's findings come from: explanations of services, runtimes and models, objects that can't be read.

Follows OME: what each family's module names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .admission import admit_runtime
from .conflicts import Conflict, runtime_conflicts
from .explanation import ComponentModes, Explanation
from .findings import Described, describe, model_findings, runtime_findings, service_findings
from .fleet import Fleet, parent_of
from .modes import MULTI_NODE
from .objects import Runtime
from .overlaps import overlap_findings
from .stream import LONGEST, Told, told_of_finding, unique
from .workloads import standings

__all__ = ["other_stream", "service_stream", "unreadable_stream"]

_TOLD_STATES = frozenset({"at-risk", "waiting-on-pin", "moved-by-upgrade", "cleanup-due"})
_ABOUT = {"rejected": "declared", "drift": "what", "ignored": "path", "hidden": "path"}
"""The fact that tells a conflict apart from others of its code and component."""

_SERVICE = "InferenceService"


def service_stream(fleet: Fleet, explanation: Explanation) -> Iterator[Told]:
    """Everything that is to be said of one service by itself."""
    yield from unique(_of_service(fleet, explanation))


def _of_service(fleet: Fleet, explanation: Explanation) -> Iterator[Told]:
    yield from _outcome(explanation)
    yield from _refused(explanation)
    for name, modes in explanation.modes.items():
        for conflict in modes.conflicts:
            if not _told_elsewhere(name, conflict):
                yield _conflict(explanation, name, modes, conflict)
        if modes.migration in _TOLD_STATES:
            yield _migration(explanation, name, modes)
        yield from _left_over(explanation, name)
    if explanation.service is not None:
        for finding in service_findings(fleet, explanation.service):
            yield told_of_finding(finding)


def _told_elsewhere(component: str, conflict: Conflict) -> bool:
    """What a runtime writes is told of the runtime (:mod:`.findings`), and a pair of its engine."""
    if conflict.code == "pair":
        return component != "engine"
    return conflict.code == "ignored" and conflict.facts.get("side") == "runtime"


def _outcome(explanation: Explanation) -> Iterator[Told]:
    outcome, service = explanation.outcome, explanation.service
    if outcome not in {"no-runtime", "invalid", "named-with-advice"}:
        return
    message = explanation.message or ""
    if outcome == "named-with-advice":
        message = explanation.named.error if explanation.named else ""
    elif not message and explanation.problems:
        first = explanation.problems[0]
        message = f"{first.object}: {first.path}: {first.message}" if first.path else f"{first.object}: {first.message}"
    named = service.named_runtime if service else ""
    path = "spec.runtime.name" if named else "spec.model.name" if service and service.model_name else ""
    facts: dict[str, Any] = {
        "message": message[:LONGEST],
        "runtime": _ref(explanation.selected),
        "model": explanation.model.ref.to_dict() if explanation.model else None,
    }
    yield Told(outcome, explanation.subject, "", "", path, facts, {**facts, "named": named, "message": message})


def _refused(explanation: Explanation) -> Iterator[Told]:
    errors = explanation.admission.errors
    if errors and explanation.outcome not in {"no-runtime", "invalid"}:
        facts = {"message": errors[0][:LONGEST], "more": len(errors) - 1}
        yield Told("refused", explanation.subject, "", "", "", facts, {"errors": sorted(errors)})


def _conflict(explanation: Explanation, component: str, modes: ComponentModes, conflict: Conflict) -> Told:
    facts: dict[str, Any] = {
        "requested": modes.requested.mode if modes.requested else None,
        "declared": modes.runtime.mode if modes.runtime else None,
        "running": modes.running.mode if modes.rendered else None,
        **conflict.facts,
        "runtime": _ref(explanation.selected),
    }
    about = str(conflict.facts.get(_ABOUT.get(conflict.code, ""), ""))
    path = conflict.facts.get("path") or f"spec.{component}"
    of = "" if conflict.code == "pair" else component
    return Told(conflict.code, explanation.subject, of, about, path, facts, facts)


def _migration(explanation: Explanation, component: str, modes: ComponentModes) -> Told:
    rests = {
        "runtime": _ref(explanation.selected),
        "running": modes.running.mode if modes.rendered else None,
        "source": modes.running.source if modes.rendered else None,
        "revision": explanation.revision,
        "workloads": [workload.ref.to_dict() for workload in modes.workloads],
    }
    code = modes.migration or ""
    return Told(code, explanation.subject, component, "", f"spec.{component}", rests, rests)


def _left_over(explanation: Explanation, component: str) -> Iterator[Told]:
    """Workloads beside the expected one; a LeaderWorkerSet's leftover is the migration's to tell."""
    told = explanation.modes[component].migration in _TOLD_STATES
    for each in standings(explanation, component):
        if each.workload is None or each.code not in {"left-over", "unasked"}:
            continue
        if told and each.workload.ref.kind == "LeaderWorkerSet":
            continue
        facts = {"workload": each.workload.ref.to_dict(), "running": explanation.modes[component].running.mode}
        yield Told(
            "left-over", explanation.subject, component, str(each.workload.ref), f"spec.{component}", facts, facts
        )


def other_stream(fleet: Fleet) -> Iterator[Told]:
    """Everything that is to be said of runtimes and models, each beside all others."""
    described = describe(fleet)
    for runtime in fleet.runtimes.values():
        yield from unique(_of_runtime(fleet, runtime, described))
    for model in fleet.models.values():
        yield from unique(told_of_finding(finding) for finding in model_findings(model))
    yield from unique(told_of_finding(finding) for finding in overlap_findings(fleet))


def _of_runtime(fleet: Fleet, runtime: Runtime, described: Described) -> Iterator[Told]:
    for finding in runtime_findings(fleet, runtime, described):
        yield told_of_finding(finding, runtime)
    for conflict in runtime_conflicts(runtime, fleet.semantics):
        if conflict.code != "ignored":  # told as mode-ignored
            facts = {"declared": conflict.facts.get("mode", MULTI_NODE), **conflict.facts}
            yield Told(conflict.code, runtime.ref, conflict.component, "", facts.get("path", ""), facts, facts)
    yield from _chain(fleet, runtime)
    problem = fleet.effective(runtime).chain.problem
    errors = [error for error in admit_runtime(fleet, runtime).errors if problem is None or error != problem.message]
    if errors:
        facts = {"message": errors[0][:LONGEST], "more": len(errors) - 1}
        yield Told("refused", runtime.ref, "", "", "", facts, {"errors": sorted(errors)})


def _chain(fleet: Fleet, runtime: Runtime) -> Iterator[Told]:
    if not fleet.semantics.inherits:
        return
    effective = fleet.effective(runtime)
    problem = effective.chain.problem
    path = "metadata.annotations"
    if problem is not None:
        facts = {"parent": parent_of(runtime), "problem": problem.reason, "message": problem.message}
        yield Told("broken-chain", runtime.ref, "", "", path, facts, facts)
    elif effective.problem is not None:
        facts = {
            "parent": parent_of(runtime),
            "problem": "Unmergeable",
            "message": f"{effective.problem.path}: {effective.problem.message}",
        }
        yield Told("broken-chain", runtime.ref, "", "", path, facts, facts)


def unreadable_stream(fleet: Fleet) -> Iterator[Told]:
    """The objects that can't be read; a service is told as one that can't be judged."""
    for ref, problem in fleet.problems.items():
        if ref.kind != _SERVICE:
            where = f"{problem.path}: " if problem.path else ""
            facts = {"message": f"{where}{problem.message}"[:LONGEST]}
            yield Told("unreadable", ref, "", "", problem.path, facts, {"path": problem.path, "why": problem.message})


def _ref(runtime: Runtime | None) -> Mapping[str, Any] | None:
    return runtime.ref.to_dict() if runtime else None
