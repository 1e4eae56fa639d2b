"""Two explanations of services side by side: the facts, and why they come to different runtimes or modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from selection.faces.comparing import NOTHING, Fact, Fate, Part, Value, fate, model_facts, text_value
from selection.faces.explaining import arithmetic
from selection.faces.words import word
from selection.rules.accelerators import required_classes
from selection.rules.explanation import ComponentModes, Explanation
from selection.rules.modes import COMPONENTS, Declared, requested_mode
from selection.rules.objects import Service
from selection.rules.semantics import semantics_of

__all__ = ["Contrast", "ModeContrast", "contrast", "service_parts"]


@dataclass(frozen=True, slots=True)
class ModeContrast:
    """A component that runs in two modes; None where a side doesn't have it or nothing is made."""

    component: str
    a: Declared | None
    b: Declared | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """What tells two services apart.

    Attributes:
        runtime: ``same``, ``differs``, ``only-a``, ``only-b`` or ``none``: neither gets one.
        asks: in what their questions differ: ``model``, ``description`` (two models of one name that say different
            things), ``classes``, ``modes``, ``named``.
        a_for_b: what becomes of a's runtime for b, None when it has none or both get the same.
        b_for_a: the other way round.
        modes: the components that run in different modes.
    """

    runtime: str
    asks: tuple[str, ...]
    a_for_b: Fate | None
    b_for_a: Fate | None
    modes: tuple[ModeContrast, ...]


def contrast(a: Explanation, b: Explanation) -> Contrast:
    """What tells two services apart, in the order of OME's questions."""
    runtime = _runtime(a, b)
    same = runtime in {"same", "none"}
    return Contrast(
        runtime,
        tuple(_asks(a, b)),
        None if same or a.selected is None else fate(a.selected.ref, b),
        None if same or b.selected is None else fate(b.selected.ref, a),
        tuple(_modes(a, b)),
    )


def _runtime(a: Explanation, b: Explanation) -> str:
    if a.selected is None or b.selected is None:
        return "only-a" if a.selected else "only-b" if b.selected else "none"
    mine, theirs = a.selected.ref, b.selected.ref
    return "same" if (mine.kind, mine.name) == (theirs.kind, theirs.name) else "differs"


def _asks(a: Explanation, b: Explanation) -> Iterator[str]:
    if a.service is None or b.service is None:
        return
    if a.service.model_name != b.service.model_name:
        yield "model"
    elif a.model is not None and b.model is not None and a.model.content != b.model.content:
        yield "description"
    if required_classes(a.service) != required_classes(b.service):
        yield "classes"
    if _asked_modes(a, a.service) != _asked_modes(b, b.service):
        yield "modes"
    if a.service.named_runtime != b.service.named_runtime:
        yield "named"


def _asked_modes(of: Explanation, service: Service) -> list[str | None]:
    found = [requested_mode(service, name, semantics_of(of.ome_version)) for name in ("engine", "decoder")]
    return [each.mode if each else None for each in found]


def _modes(a: Explanation, b: Explanation) -> Iterator[ModeContrast]:
    for name in COMPONENTS:
        mine, theirs = (_running(each.modes.get(name)) for each in (a, b))
        if (mine.mode if mine else None) != (theirs.mode if theirs else None):
            yield ModeContrast(name, mine, theirs)


def _running(modes: ComponentModes | None) -> Declared | None:
    return modes.running if modes is not None and modes.rendered else None


Teller = Callable[[Explanation], Value]


def service_parts(a: Explanation, b: Explanation) -> Iterator[Part]:
    """The facts of two services by what they are about."""
    yield Part("answer", "The answer", tuple(_pairs(_ANSWER, a, b)))
    model, *rest = _pairs(_ASKED, a, b)
    yield Part("asks", "What each asks for", (model, *model_facts(a.model, b.model), *rest))
    for name in COMPONENTS:
        sides = a.modes.get(name), b.modes.get(name)
        if sides[0] is not None or sides[1] is not None:
            yield Part(name, name.capitalize(), tuple(_component(*sides)))


def _pairs(tellers: Mapping[str, Teller], a: Explanation, b: Explanation) -> Iterator[Fact]:
    for label, of in tellers.items():
        yield Fact(label, of(a), of(b))


def _selected(of: Explanation) -> Value:
    return Value(of.selected.ref.name, of.selected.ref) if of.selected else NOTHING


def _score(of: Explanation) -> Value:
    first = of.candidates[0] if of.candidates else None
    if of.outcome != "auto-selected" or first is None:
        return NOTHING
    return Value(arithmetic(first.verdict.score) if first.verdict.score else "0")


def _admitted(of: Explanation) -> Value:
    if of.service is None:
        return NOTHING
    return Value("admitted") if of.admission.allowed else Value("refused", note=of.admission.errors[0])


_ANSWER: Mapping[str, Teller] = {
    "Outcome": lambda of: Value(of.outcome, family="outcome"),
    "Runtime": _selected,
    "Score": _score,
    "Qualified": lambda of: text_value(of.qualified if of.considered else None),
    "Candidates": lambda of: text_value(of.considered or None),
    "Webhook": _admitted,
    "Revision": lambda of: text_value(of.revision),
    "OME": lambda of: Value(f"v{of.ome_version}"),
}


def _model(of: Explanation) -> Value:
    if of.model is not None:
        return Value(of.model.ref.name, of.model.ref)
    return text_value(of.service.model_name if of.service else None)


def _classes(of: Explanation) -> Value:
    return text_value(", ".join(sorted(required_classes(of.service))) or None) if of.service else NOTHING


_ASKED: Mapping[str, Teller] = {
    "Model": _model,
    "Accelerator classes": _classes,
    "Names a runtime": lambda of: text_value(of.service.named_runtime or None) if of.service else NOTHING,
    "spec.deploymentMode": lambda of: text_value(of.service.deployment_mode) if of.service else NOTHING,
}


def _component(a: ComponentModes | None, b: ComponentModes | None) -> Iterator[Fact]:
    sides = (a, b)

    def declared(label: str, values: Sequence[Declared | None]) -> Fact:
        return Fact(label, *(Value(each.mode, note=f"in {each.source}") if each else NOTHING for each in values))

    yield declared("Asked for", [each.requested if each else None for each in sides])
    yield declared("Runtime declares", [each.runtime if each else None for each in sides])
    running = [_running(each) for each in sides]
    yield Fact("Runs in", *(Value(each.mode, family="mode") if each else NOTHING for each in running))
    yield Fact(
        "Decided by",
        *(Value(each.source, note=word("source", each.source).label) if each else NOTHING for each in running),
    )
    yield Fact("In the cluster", *(_kinds(each) for each in sides))
    yield Fact("Conflicts", *(_conflicts(each) for each in sides))


def _kinds(of: ComponentModes | None) -> Value:
    return text_value(", ".join(each.ref.kind for each in of.workloads) or None) if of else NOTHING


def _conflicts(of: ComponentModes | None) -> Value:
    codes = dict.fromkeys(each.code for each in of.conflicts) if of else {}
    return text_value(", ".join(word("conflict", code).label for code in codes) or None)
