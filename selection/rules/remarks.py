"""Everything that the rules have to say of some objects: what a judge of manifests reports.

Most of it is the stream of findings that a cluster has, too. Beside that stand what only somebody who writes a manifest
asks for: each of the webhook's errors and warnings by itself, each place that names LeaderWorkerSet, what an upgrade
changes, and that something isn't there to be judged by. Follows what each family's module follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from .admission import admit_runtime
from .explain import explain_service
from .explanation import Explanation
from .fleet import Fleet
from .named import NOT_FOUND
from .objects import ObjectRef, Runtime
from .references import Reference, find_references
from .remark_paths import admission_path, deciding_path, runtime_admission_path
from .selection import model_error
from .semantics import V1_2, V1_3
from .stream import Told, digest_of
from .streams import other_stream, service_stream, unreadable_stream
from .upgrade_preview import as_of
from .upgrade_stream import runtime_upgrade_stream, service_upgrade_stream

__all__ = ["Remark", "remark_of", "remarks"]

Manifests = Mapping[ObjectRef, Mapping[str, Any]]

_SERVICE = "InferenceService"
_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_CHOSEN = " will be auto-selected for model "
_ADVICE = "; proceeding because the runtime was named explicitly"
_UNKNOWN_CLASSES = "unknown accelerator classes "
_RESOLUTION = ("referenced model ", "no supporting runtime found ", "runtime ", "model ")
_OF_RESOLUTION = frozenset({"no-runtime", "invalid", "loses-runtime", "refused-now"})


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to say of one object.

    Attributes:
        code: one of :data:`selection.rules.codes.CODES`, or ``warned``, ``lws-reference`` or ``incomplete``.
        object: the object.
        path: the field that decides; ``""`` for the object as a whole.
        component: the component, ``""`` when it is about none.
        about: what else tells it apart from others of its code.
        text: OME's own words, what can't be read, or the name of what is missing; ``""`` when ``value`` says it.
        value: what it follows from: a :class:`Told`, or references; None when the text says it.
    """

    code: str
    object: ObjectRef
    path: str = ""
    component: str = ""
    about: str = ""
    text: str = ""
    value: Any = field(default=None, hash=False)

    @property
    def identity(self) -> tuple[str, str, str, str, str, str]:
        """What tells it apart from all others, whichever file it is in."""
        return (*(self.object.kind, self.object.namespace, self.object.name), self.component, self.code, self.about)


def remarks(fleet: Fleet, manifests: Manifests, subjects: Set[ObjectRef], *, alone: bool) -> Iterator[Remark]:
    """What is to be said of these objects, in an order that doesn't depend on theirs.

    Args:
        fleet: the cluster, or the manifests alone.
        manifests: of the subjects; of those that aren't here, what only a manifest tells is left out.
        subjects: the objects to speak of. Others are only read.
        alone: whether the fleet is manifests alone: what they refer to and isn't among them may be in the cluster, so
            that nothing is said but that (``incomplete``).
    """
    found = [*unreadable_stream(fleet), *other_stream(fleet)]
    if fleet.semantics.version == V1_2.version:
        found += runtime_upgrade_stream(fleet, as_of(fleet, V1_3))
    for told in sorted(found, key=lambda each: each.identity):
        if told.object in subjects and told.code != "refused" and not (alone and _refers_elsewhere(told)):
            yield remark_of(told)
    for ref in sorted(subjects):
        if ref.kind == _SERVICE and (ref in fleet.problems or (ref.namespace, ref.name) in fleet.services):
            yield from _of_service(fleet, ref, manifests, alone=alone)
        elif ref.kind in _RUNTIMES and (ref.namespace, ref.name) in fleet.runtimes:
            yield from _of_runtime(fleet, fleet.runtimes[(ref.namespace, ref.name)], alone=alone)


def remark_of(told: Told) -> Remark:
    """A finding of the stream, with the field that decides it."""
    text = ""
    if told.code in {"no-runtime", "invalid", "named-with-advice", "unreadable", "broken-chain"}:
        text = str(told.rests.get("message") or told.facts["message"])
    return Remark(told.code, told.object, deciding_path(told), told.component, told.about, text, told)


def _refers_elsewhere(told: Told) -> bool:
    """Whether it may be the case only because a parent or an accelerator class isn't among the manifests."""
    lacks_a_parent = told.code == "broken-chain" and told.facts["problem"] == "ParentNotFound"
    return lacks_a_parent or told.code == "runtime-refused"


def _of_service(fleet: Fleet, ref: ObjectRef, manifests: Manifests, *, alone: bool) -> Iterator[Remark]:
    key = (ref.namespace, ref.name)
    explanation = explain_service(fleet, *key, brief=True)
    missing = _missing(fleet, explanation) if alone else None
    if missing is None and explanation.outcome == "no-runtime":
        explanation = explain_service(fleet, *key)  # with the reasons of all that were excluded
    if missing is not None:
        path, what, name = missing
        yield Remark("incomplete", ref, path, "", what, name)
    for told in service_stream(fleet, explanation):
        # The webhook's words tell a pair that it refuses; of another pair one half is enough.
        said = told.code == "pair" and (told.facts["rejected"] or told.component == "decoder")
        if told.code != "refused" and not said and not (missing is not None and told.code in _OF_RESOLUTION):
            own = told.code == "invalid" and explanation.service is None
            yield replace(remark_of(told), path=explanation.problems[0].path) if own else remark_of(told)
    yield from _admission(explanation, resolved=missing is None)
    if fleet.semantics.version == V1_2.version:
        for told in service_upgrade_stream(explanation, as_of(fleet, V1_3), manifests):
            if missing is None or told.code not in _OF_RESOLUTION:
                yield remark_of(told)
    spec = manifests.get(ref, {}).get("spec")
    if explanation.service is not None and isinstance(spec, Mapping):
        yield from _references(ref, spec)


def _missing(fleet: Fleet, told: Explanation) -> tuple[str, str, str] | None:
    """What a service needs that isn't among the manifests: the field that asks for it, what, and its name."""
    service, named, namespace = told.service, told.named, told.subject.namespace
    if service is None or told.outcome not in {"invalid", "no-runtime"}:
        return None
    name = service.model_name
    if name and told.model is None and fleet.find_model(namespace, name) is None:
        return "spec.model.name", "model", name
    if told.model is not None and not told.model.disabled and model_error(told.model) is not None:
        return "spec.model.name", "format", str(told.model.ref)
    if named is not None and named.reason == NOT_FOUND:
        return "spec.runtime.name", "runtime", service.named_runtime
    if named is not None and named.runtime is not None and named.merged is None:
        problem = fleet.effective(named.runtime).chain.problem
        if problem is not None and problem.reason == "ParentNotFound":
            return "spec.runtime.name", "parent", str(named.runtime.ref)
    if named is None and told.outcome == "no-runtime" and not fleet.candidates(namespace):
        return "spec.model.name", "runtimes", namespace
    return None


def _admission(told: Explanation, *, resolved: bool) -> Iterator[Remark]:
    """What the webhook says and the outcome doesn't. Without what a service needs, only what it says of it alone."""
    message = told.message or ""
    for error in told.admission.errors:
        said = bool(message) and error.endswith(message)
        if not said and (resolved or not error.startswith(_RESOLUTION)):
            yield Remark("refused", told.subject, admission_path(error), "", error, error)
    for warning in told.admission.warnings:
        if _CHOSEN not in warning and not warning.endswith(_ADVICE):
            yield Remark("warned", told.subject, admission_path(warning), "", warning, warning)


def _of_runtime(fleet: Fleet, runtime: Runtime, *, alone: bool) -> Iterator[Remark]:
    ref, broken = runtime.ref, fleet.effective(runtime).chain.problem
    if alone and broken is not None and broken.reason == "ParentNotFound":
        path = runtime_admission_path(broken.message)
        yield Remark("incomplete", ref, path, "", "parent", str(ref))
    for error in admit_runtime(fleet, runtime).errors:
        unknown = alone and error.startswith(_UNKNOWN_CLASSES) and not fleet.accelerator_classes
        if not unknown and (broken is None or error != broken.message):
            yield Remark("refused", ref, runtime_admission_path(error), "", error, error)
    yield from _references(ref, runtime.spec)


def _references(ref: ObjectRef, spec: Mapping[str, Any]) -> Iterator[Remark]:
    """One remark a field, however many variables it names."""
    fields: dict[str, list[Reference]] = {}
    for reference in find_references(spec):
        fields.setdefault(reference.path, []).append(reference)
    for path, found in fields.items():
        about = digest_of([[each.token, each.container, each.kind] for each in found])
        yield Remark("lws-reference", ref, path, found[0].component or "", about, "", tuple(found))
