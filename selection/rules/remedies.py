"""What it would take to make a candidate qualify: the smallest change of the runtime, the service or the model.

Nothing is guessed. A change is applied to the manifest and the rules judge it again; only a change that they
accept, and that OME's webhook doesn't refuse, is told, with whether the candidate would then be selected. Follows
OME: troubleshoot runtime selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .accelerators import ACCELERATOR_ANNOTATION
from .admission import admit_runtime, admit_service
from .fleet import Fleet
from .formats import SHARDED, entry_matches, matching_entry
from .modes import MODE_ANNOTATION, VIRTUAL_DEPLOYMENT, requested_mode, runtime_mode
from .objects import Entry, Format, Model, ObjectRef, Runtime, Service
from .parsing import parse_model, parse_runtime, parse_service, ref_of
from .patches import Operation, applied, removing, setting
from .selection import Question, Verdict, judge, model_error, question_of, rank
from .sizes import parse_size
from .versions import accepts, parse_version

__all__ = ["Case", "Remedy", "admitted", "remedies", "would_win"]

_ROUNDS = 12
Manifest = Mapping[str, Any]
Steps = Iterator[Operation | None]


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate of one question, with the manifests that a change would be made in.

    ``service`` is None when a model is explained without one.
    """

    fleet: Fleet
    namespace: str
    runtime: Manifest
    model: Manifest
    service: Manifest | None = None

    def question(self, *, model: Manifest | None = None, service: Manifest | None = None) -> Question:
        """What selection is asked, perhaps with a changed model or service."""
        asking = service or self.service
        parsed = parse_service(asking) if asking is not None else None
        return question_of(parsed, parse_model(model or self.model), self.fleet.semantics)


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of one object that the rules were seen to accept.

    Attributes:
        target: the object to change.
        patch: what to change in it.
        selected: whether automatic selection would then choose the candidate.
        kind: what it is about: ``qualify``, or the way to win: ``priority``, ``weight``, ``name``, ``namespace``.
    """

    target: ObjectRef
    patch: tuple[Operation, ...]
    selected: bool
    kind: str = "qualify"

    def to_dict(self) -> dict[str, Any]:
        """The remedy as JSON; ``patch`` is a JSON Patch (RFC 6902) of the target."""
        return {
            "target": self.target.to_dict(),
            "kind": self.kind,
            "patch": [operation.to_dict() for operation in self.patch],
            "selected": self.selected,
        }


def remedies(case: Case) -> tuple[Remedy, ...]:
    """What makes a candidate that doesn't qualify do so, each object changed alone.

    Empty when it qualifies, for a sharded model, which no runtime can serve yet, and for one without a format. A
    model's change is for one whose description is wrong: it is told only when the description is all that stands
    in the way.
    """
    model = parse_model(case.model)
    if model.distribution == SHARDED or model_error(model) is not None:
        return ()
    if judge(case.question(), parse_runtime(case.runtime)).qualified:
        return ()
    found = [_by_runtime(case), _by_service(case) if case.service is not None else None, _by_model(case)]
    return tuple(remedy for remedy in found if remedy is not None)


def _walked(
    manifest: Manifest,
    judged: Callable[[Manifest], Verdict],
    steps: Callable[[Manifest, str], Steps],
) -> tuple[tuple[Operation, ...], Verdict] | None:
    """Mend the first failure until none is left; None when a failure can't be mended here."""
    patch: list[Operation] = []
    for _ in range(_ROUNDS):
        verdict = judged(manifest)
        if verdict.qualified:
            return (tuple(patch), verdict) if patch else None
        mended = [step for step in steps(manifest, verdict.failures[0].code) if step is not None]
        if not mended:
            return None
        patch += mended
        manifest = applied(manifest, mended)
    return None


def _by_runtime(case: Case) -> Remedy | None:
    question = case.question()

    def judged(manifest: Manifest) -> Verdict:
        return judge(question, parse_runtime(manifest))

    found = _walked(case.runtime, judged, lambda manifest, code: _runtime_steps(question, manifest, code))
    if found is None or not admitted(case, found[0]):
        return None
    patch, verdict = found
    return Remedy(ref_of(case.runtime), patch, would_win(case.fleet, case.namespace, question, verdict))


def admitted(case: Case, patch: tuple[Operation, ...]) -> bool:
    """Whether OME's webhook has nothing to say of the changed runtime that it doesn't say of it as it stands."""
    runtimes = parse_runtime(case.runtime), parse_runtime(applied(case.runtime, patch))
    before, after = (set(admit_runtime(case.fleet, runtime).errors) for runtime in runtimes)
    return after <= before


def would_win(fleet: Fleet, namespace: str, question: Question, verdict: Verdict) -> bool:
    """Whether a verdict on a changed runtime would come first among the others as they are."""
    others = fleet.judged(question, namespace, brief=True).ranked
    rest = [other for other in others if other.runtime.ref != verdict.runtime.ref]
    return rank([*rest, verdict])[0].runtime.ref == verdict.runtime.ref


def _runtime_steps(question: Question, manifest: Manifest, code: str) -> Steps:
    runtime, model = parse_runtime(manifest), question.model
    entry = matching_entry(model, runtime.entries)
    index = runtime.entries.index(entry) if entry is not None else 0
    path = ("spec", "supportedModelFormats", index)
    if code == "disabled":
        yield setting(manifest, ("spec", "disabled"), False)
    elif code == "accelerator-class":
        classes = [*runtime.accelerator_classes, *sorted(question.classes - set(runtime.accelerator_classes))]
        yield setting(manifest, ("spec", "acceleratorRequirements", "acceleratorClasses"), classes)
    elif code in {"engine-deployment-mode", "decoder-deployment-mode"}:
        component = code.split("-")[0]
        wanted = question.modes[component == "decoder"]
        yield setting(manifest, ("spec", f"{component}Config", "annotations", MODE_ANNOTATION), wanted)
    elif code == "model-format":
        yield from _entry_steps(manifest, model, runtime)
    elif code == "model-size":
        yield from _range_steps(manifest, model, runtime)
    elif code in {"auto-select", "entry-not-auto-select"}:
        yield setting(manifest, (*path, "autoSelect"), True)
    elif code == "score" and entry is not None:
        yield from _score_steps(manifest, entry, path)


def _entry_steps(manifest: Manifest, model: Model, runtime: Runtime) -> Steps:
    """Widen an entry that only a version keeps from matching, else add one for the model.

    An entry that is made to match one model may stop matching others; one that is added takes nothing away.
    """
    for index, entry in enumerate(runtime.entries):
        steps = list(_widening_steps(manifest, model, entry, ("spec", "supportedModelFormats", index)))
        if steps:
            yield from steps
            return
    yield setting(manifest, ("spec", "supportedModelFormats", "-"), _entry_of(model))


def _widening_steps(manifest: Manifest, model: Model, entry: Entry, path: tuple[str | int, ...]) -> Steps:
    """Raise an entry's upper limit to the model's version, when that alone makes it match."""
    steps: list[Operation] = []
    wider = entry
    for name, has, wants in (("format", entry.format, model.format), ("framework", entry.framework, model.framework)):
        if has is None or wants is None or has.version is None or wants.version is None or _accepts(has, wants):
            continue
        raised = _raised(has, wants)
        if raised is None:
            return
        field = (*path, f"model{name.capitalize()}")
        if has.version != raised.version:
            steps.append(setting(manifest, (*field, "version"), raised.version))
        if has.operator != raised.operator:
            steps.append(setting(manifest, (*field, "operator"), raised.operator))
        wider = replace(wider, format=raised) if name == "format" else replace(wider, framework=raised)
    if entry_matches(model, wider):
        yield from steps


def _raised(has: Format, wants: Format) -> Format | None:
    """The entry's format with its upper limit raised to the model's version; None when that would raise nothing.

    Only versions written alike are greater or less than each other. To take over one that is written otherwise might
    keep out models that the entry serves now.
    """
    ours, theirs = parse_version(has.version or ""), parse_version(wants.version or "")
    if has.operator not in {"GreaterThan", "GreaterThanOrEqual"} or ours is None or theirs is None:
        return None
    if ours.unofficial or theirs.unofficial or (ours.parts, ours.prefix) != (theirs.parts, theirs.prefix):
        return None
    return replace(has, version=wants.version, operator="GreaterThanOrEqual")


def _entry_of(model: Model) -> dict[str, Any]:
    """An entry that matches exactly this model."""
    entry: dict[str, Any] = {"modelFormat": _described(model.format)}
    if model.framework is not None:
        entry["modelFramework"] = _described(model.framework)
    if model.architecture is not None:
        entry["modelArchitecture"] = model.architecture
    if model.quantization is not None:
        entry["quantization"] = model.quantization
    return {**entry, "autoSelect": True}


def _described(wanted: Format) -> dict[str, Any]:
    return {"name": wanted.name} if wanted.version is None else {"name": wanted.name, "version": wanted.version}


def _plain_steps(manifest: Manifest, path: tuple[str | int, ...], has: str | None, wants: str | None) -> Steps:
    if has != wants:
        yield removing(manifest, path) if wants is None else setting(manifest, path, wants)


def _format_steps(manifest: Manifest, path: tuple[str | int, ...], has: Format | None, wants: Format | None) -> Steps:
    """Describe a model's format or framework as an entry does; a version that the entry accepts stays."""
    if wants is None or has is None:
        if wants is not None:
            yield setting(manifest, path, _described(wants))
        elif has is not None:
            yield removing(manifest, path)
        return
    yield from _plain_steps(manifest, (*path, "name"), has.name, wants.name)
    fits = has.version is not None and wants.version is not None and _accepts(wants, has)
    if not fits:
        yield from _plain_steps(manifest, (*path, "version"), has.version, wants.version)


def _accepts(entry: Format, model: Format) -> bool:
    return accepts(entry.version or "", entry.operator, model.version or "")


def _range_steps(manifest: Manifest, model: Model, runtime: Runtime) -> Steps:
    """Move the bound that keeps the model out to the model's size, as it is written."""
    low, high = runtime.size_range or (None, None)
    size = model.size or ""
    if low is not None and parse_size(size) < parse_size(low):
        yield setting(manifest, ("spec", "modelSizeRange", "min"), size)
    elif high is not None and parse_size(size) > parse_size(high):
        yield setting(manifest, ("spec", "modelSizeRange", "max"), size)


def _score_steps(manifest: Manifest, entry: Entry, path: tuple[str | int, ...]) -> Steps:
    if entry.priority is not None and entry.priority <= 0:
        yield setting(manifest, (*path, "priority"), 1)
    elif entry.format is not None and entry.format.weight < 0:
        yield setting(manifest, (*path, "modelFormat", "weight"), 1)
    elif entry.framework is not None and entry.framework.weight < 0:
        yield setting(manifest, (*path, "modelFramework", "weight"), 1)


def _by_service(case: Case) -> Remedy | None:
    runtime = parse_runtime(case.runtime)

    def judged(manifest: Manifest) -> Verdict:
        return judge(case.question(service=manifest), runtime)

    def steps(manifest: Manifest, code: str) -> Steps:
        return _service_steps(case, parse_service(manifest), runtime, manifest, code)

    found = _walked(case.service or {}, judged, steps)
    if found is None:
        return None
    patch, _ = found
    changed = applied(case.service or {}, patch)
    before, after = (_refused(case, manifest) for manifest in (case.service or {}, changed))
    if not after <= before:
        return None
    return Remedy(ref_of(changed), patch, _is_first(case, case.question(service=changed)))


def _refused(case: Case, service: Manifest) -> set[str]:
    """What OME's webhook refuses in a service, whatever it gets by selection."""
    said = admit_service(case.fleet, parse_service(service), parse_model(case.model), None, "chosen", None)
    return set(said.errors)


def _service_steps(case: Case, service: Service, runtime: Runtime, manifest: Manifest, code: str) -> Steps:
    listed = set(runtime.accelerator_classes)
    if code == "accelerator-class":
        annotation = service.annotations.get(ACCELERATOR_ANNOTATION)
        if annotation is not None and annotation not in listed:
            yield removing(manifest, ("metadata", "annotations", ACCELERATOR_ANNOTATION))
        if service.accelerator_class is not None and service.accelerator_class not in listed:
            yield removing(manifest, ("spec", "acceleratorSelector", "acceleratorClass"))
        for name in ("engine", "decoder"):
            component = service.components.get(name)
            if component and component.accelerator_class is not None and component.accelerator_class not in listed:
                yield removing(manifest, ("spec", name, "acceleratorOverride", "acceleratorClass"))
    elif code in {"engine-deployment-mode", "decoder-deployment-mode"}:
        component_name = code.split("-")[0]
        declared = runtime_mode(runtime, component_name, case.fleet.semantics)
        requested = requested_mode(service, component_name, case.fleet.semantics)
        if declared is not None and declared.mode != VIRTUAL_DEPLOYMENT and requested is not None:
            if component_name in service.components:
                yield setting(manifest, ("spec", component_name, "annotations", MODE_ANNOTATION), declared.mode)
            else:
                yield removing(manifest, ("spec", "deploymentMode"))


def _by_model(case: Case) -> Remedy | None:
    runtime, model = parse_runtime(case.runtime), parse_model(case.model)
    codes = {failure.code for failure in judge(case.question(), runtime).failures}
    if codes != {"model-format"}:
        return None
    patches = [tuple(_description_steps(case.model, model, entry)) for entry in runtime.entries]
    for patch in sorted((patch for patch in patches if patch), key=len):
        question = case.question(model=applied(case.model, patch))
        if judge(question, runtime).qualified:
            return Remedy(model.ref, patch, _is_first(case, question))
    return None


def _description_steps(manifest: Manifest, model: Model, entry: Entry) -> Iterator[Operation]:
    """Describe the model as an entry does; a pipeline is no description that could be wrong in small."""
    if entry.format is None or entry.pipeline is not None:
        return
    steps = (
        *_plain_steps(manifest, ("spec", "modelArchitecture"), model.architecture, entry.architecture),
        *_plain_steps(manifest, ("spec", "quantization"), model.quantization, entry.quantization),
        *_format_steps(manifest, ("spec", "modelFormat"), model.format, entry.format),
        *_format_steps(manifest, ("spec", "modelFramework"), model.framework, entry.framework),
    )
    yield from (step for step in steps if step is not None)


def _is_first(case: Case, question: Question) -> bool:
    ranked = case.fleet.judged(question, case.namespace, brief=True).ranked
    return bool(ranked) and ranked[0].runtime.ref == ref_of(case.runtime)
