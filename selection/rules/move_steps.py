"""The ordered steps of a service's move.

Follows OME: move from LeaderWorkerSet to OMENative (steps 2 to 5, and its troubleshooting).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .accelerator_needs import Pods
from .objects import ObjectRef
from .plan_steps import Check, Leftover, Step, kubectl, merge_command, resource
from .runtime_copy import RuntimeCopy
from .service_patches import SYNC

__all__ = ["TIMEOUT", "Course", "steps_of"]

TIMEOUT = "60m"
"""How long to wait for new pods: a large model takes most of an hour to load."""

_NEWLINE = '{"\\n"}'


@dataclass(frozen=True, slots=True)
class Course:
    """What the steps are made of.

    Attributes:
        service: the service.
        copy: the copy that it will name, None when it needs none.
        patch: its merge patch, empty when nothing has to change.
        back: the merge patch that undoes it.
        moved: the components that the plan moves.
        stopping: those of them that serve nothing from the patch on.
        rolling: those of them that run OMENative already, and whose pods the patch has replaced.
        fresh: those of them whose InferenceReplica goes when the way back is taken.
        native: the components that run OMENative when the plan is done.
        pods: what each component comes to.
        leftovers: the old workloads of each component that has some.
        returning: the components that go back to MultiNode, where OME would make the LeaderWorkerSet again.
        outage: what the patch means for those who call the service, one of :data:`.plan_steps.OUTAGES`.
        unpinned: for a service that followed a revision without naming it, the ``runtime`` that it follows after the
            way back, and the ``revision`` that it had; None for any other.
    """

    service: ObjectRef
    copy: RuntimeCopy | None
    patch: Mapping[str, Any] = field(hash=False)
    back: Mapping[str, Any] = field(hash=False)
    moved: Sequence[str] = ()
    stopping: Sequence[str] = ()
    rolling: Sequence[str] = ()
    fresh: Sequence[str] = ()
    native: Sequence[str] = ()
    pods: Mapping[str, Pods] = field(default_factory=dict, hash=False)
    leftovers: Mapping[str, Sequence[Leftover]] = field(default_factory=dict, hash=False)
    returning: Sequence[str] = ()
    outage: str = "begins"
    unpinned: Mapping[str, Any] | None = field(default=None, hash=False)


def steps_of(course: Course) -> tuple[Step, ...]:
    """The steps in order; none when there is nothing to do."""
    if not course.moved and not course.leftovers:
        return ()
    return tuple(_steps(course))


def _steps(course: Course) -> Iterator[Step]:
    if course.copy is not None and not course.copy.exists:
        yield _create(course.copy)
    if course.patch:
        yield _move(course)
    if course.moved and course.leftovers:
        yield _free(course)
    yield _wait(course)
    if course.leftovers:
        yield _delete(course)


def _create(copy: RuntimeCopy) -> Step:
    ref, file = copy.copy, f"{copy.copy.name}.yaml"
    kind = resource(ref.kind)
    return Step(
        "create-runtime",
        (kubectl("create", "-f", file, namespace=ref.namespace),),  # a file may leave the namespace out
        checks=(Check(kubectl("get", kind, ref.name, namespace=ref.namespace), "runtime-there", {"name": ref.name}),),
        back=(kubectl("delete", kind, ref.name, namespace=ref.namespace),),
        facts={"file": file, "runtime": copy.runtime.to_dict(), "copy": ref.to_dict()},
    )


def _move(course: Course) -> Step:
    service = course.service
    back = [merge_command(service, course.back)]
    for name in course.fresh:
        back.append(_deletion(ObjectRef("InferenceReplica", service.namespace, _workload(course, name))))
    return Step(
        "move",
        (merge_command(service, course.patch),),
        patch=course.patch,
        checks=tuple(_looks(course)),
        back=tuple(back),
        outage=course.outage,
        facts={
            "components": list(course.moved),
            "stopping": list(course.stopping),
            "rolling": list(course.rolling),
            "moves": bool(course.stopping or course.rolling),
            "copy": course.copy.copy.to_dict() if course.copy else None,
            "pin": SYNC in course.patch.get("metadata", {}).get("annotations", {}),
            "unpinned": course.unpinned,
        },
    )


def _looks(course: Course) -> Iterator[Check]:
    """What to look at once the patch is in."""
    service = course.service
    token = course.patch.get("metadata", {}).get("annotations", {}).get(SYNC)
    if token is not None:
        options = ["-o", f"jsonpath={{.status.lastRuntimeSyncToken}}{_NEWLINE}"]
        yield Check(
            _get(service, resource("InferenceService"), service.name, options=options), "token-taken", {"token": token}
        )
    for name in course.moved:
        pods, workload = course.pods[name], _workload(course, name)
        facts = {"component": name, "name": workload, "replicas": pods.replicas}
        yield Check(_get(service, resource("InferenceReplica"), workload), "replica-there", facts)
        counts = {"leaders": pods.replicas * pods.leaders, "workers": pods.replicas * pods.workers}
        options = ["-l", _labels(course, name), "-L", "ome.io/runner"]
        yield Check(_get(service, "pods", options=options), "pods-labelled", {"component": name, **counts})
        if pods.workers:
            options = ["-o", f"jsonpath={{.spec.selector}}{_NEWLINE}"]
            yield Check(_get(service, "service", workload, options=options), "selects-leaders", {"component": name})


def _free(course: Course) -> Step:
    events = ["--field-selector", "reason=FailedScheduling"]
    return Step(
        "free-accelerators",
        tuple(_deletions(course)),
        checks=(Check(_get(course.service, "events", options=events), "nothing-pending"),),
        outage=course.outage if course.outage in {"none", "rolls"} else "lasts",
        only_if_pending=True,
        facts={"workloads": _names(course)},
    )


def _wait(course: Course) -> Step:
    service = course.service
    options = ["--for=condition=Ready", f"--timeout={TIMEOUT}"]
    command = kubectl(
        "wait", f"{resource('InferenceService')}/{service.name}", namespace=service.namespace, options=options
    )
    checks = [Check(_get(service, resource("InferenceService"), service.name), "condition-met")]
    for name in course.native:  # a service that OME hasn't looked at again is Ready by its old pods
        facts = {"component": name, "replicas": course.pods[name].replicas}
        looked = _get(service, resource("InferenceReplica"), _workload(course, name))
        checks.append(Check(looked, "replica-ready", facts))
    over = course.moved and course.outage not in {"none", "rolls"}
    return Step("wait", (command,), checks=tuple(checks), outage="over" if over else "none")


def _delete(course: Course) -> Step:
    checks = [
        Check(_get(course.service, "pods", options=["-l", selector]), "pods-gone", {"name": each.ref.name})
        for name, workloads in course.leftovers.items()
        for each in workloads
        for selector in [_pods_of(course, name, each.ref)]
    ]
    facts = {"workloads": _names(course), "again": bool(course.returning)}
    return Step("delete-leftovers", tuple(_deletions(course)), checks=tuple(checks), facts=facts)


def _deletions(course: Course) -> Iterator[str]:
    for workloads in course.leftovers.values():
        for each in workloads:
            yield _deletion(each.ref)


def _deletion(workload: ObjectRef) -> str:
    """Newer builds of OME delete old workloads by themselves, so that one may be gone already."""
    options = ["--ignore-not-found"]
    return kubectl("delete", resource(workload.kind), workload.name, namespace=workload.namespace, options=options)


def _pods_of(course: Course, component: str, workload: ObjectRef) -> str:
    """The selector of a workload's own pods; those of a Deployment carry neither set of labels."""
    if workload.kind == "LeaderWorkerSet":
        return f"leaderworkerset.sigs.k8s.io/name={workload.name}"
    return f"{_labels(course, component)},!ome.io/runner"


def _names(course: Course) -> list[str]:
    return [each.ref.name for workloads in course.leftovers.values() for each in workloads]


def _workload(course: Course, component: str) -> str:
    return f"{course.service.name}-{component}"


def _labels(course: Course, component: str) -> str:
    return f"ome.io/inferenceservice={course.service.name},component={component}"


def _get(service: ObjectRef, kind: str, *names: str, options: Sequence[str] = ()) -> str:
    return kubectl("get", kind, *names, namespace=service.namespace, options=options)
