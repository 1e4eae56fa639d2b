"""Two models or two runtimes side by side, of one cluster or of two: the facts, and what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from selection.faces.comparing import NOTHING, Fact, Fate, Part, Value, fate, format_text, model_facts, text_value
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet, parent_of
from selection.rules.modes import COMPONENTS, runtime_mode
from selection.rules.objects import Entry, ObjectRef, Runtime
from selection.rules.sizes import range_text

__all__ = ["ModelContrast", "model_contrast", "model_parts", "runtime_contrast", "runtime_parts"]

RANKS = 10
"""How much of two rankings is laid side by side."""


@dataclass(frozen=True, slots=True)
class ModelContrast:
    """What tells two models apart.

    Attributes:
        different: the labels of what selection compares and they don't share.
        first: ``same``, ``differs``, ``only-a``, ``only-b`` or ``none``: no runtime qualifies for either.
        a_for_b: what becomes of the first runtime of a for b, None when there is nothing to say.
        b_for_a: the other way round.
    """

    different: tuple[str, ...]
    first: str
    a_for_b: Fate | None
    b_for_a: Fate | None


def model_contrast(a: Explanation, b: Explanation) -> ModelContrast:
    """What tells two models apart, for a service that asks for nothing else."""
    different = tuple(fact.label for fact in model_facts(a.model, b.model) if not fact.same)
    mine, theirs = (each.selected.ref if each.selected else None for each in (a, b))
    if mine is None or theirs is None:
        first = "only-a" if mine else "only-b" if theirs else "none"
    else:
        first = "same" if (mine.kind, mine.name) == (theirs.kind, theirs.name) else "differs"
    told = first not in {"same", "none"}
    return ModelContrast(
        different, first, fate(mine, b) if told and mine else None, fate(theirs, a) if told and theirs else None
    )


def model_parts(a: Explanation, b: Explanation) -> Iterator[Part]:
    """The facts of two models: what they are matched by, and which runtimes qualify in order."""
    yield Part("description", "What they are matched by", tuple(model_facts(a.model, b.model)))
    sides = (a, b)
    counts = [text_value(each.qualified if each.considered else None) for each in sides]
    total = [text_value(each.considered or None) for each in sides]
    ranked = [[each.verdict.runtime.ref for each in side.candidates if each.rank][:RANKS] for side in sides]
    places = [
        Fact(f"Rank {place}", *(Value(ref.name, ref) if ref else NOTHING for ref in pair))
        for place, pair in enumerate(zip_longest(*ranked), start=1)
    ]
    versions = [Value(f"v{each.ome_version}") for each in sides]
    yield Part(
        "ranking",
        "Which runtimes qualify",
        (Fact("Qualified", *counts), Fact("Candidates", *total), *places, Fact("OME", *versions)),
    )


def runtime_contrast(parts: list[Part]) -> tuple[str, ...]:
    """The labels of what two runtimes don't share."""
    return tuple(fact.label for part in parts for fact in part.facts if not fact.same)


def runtime_parts(a: tuple[Fleet, ObjectRef], b: tuple[Fleet, ObjectRef]) -> Iterator[Part]:
    """The facts of two runtimes, each with the fleet that it is in."""
    found = [fleet.runtimes.get((ref.namespace, ref.name)) for fleet, ref in (a, b)]
    fleets = [a[0], b[0]]
    yield Part(
        "declares",
        "What they declare",
        (
            Fact("Takes part", *(_takes_part(each) for each in found)),
            Fact("Model sizes", *(_sizes(each) for each in found)),
            Fact(
                "Accelerator classes",
                *(text_value(", ".join(each.accelerator_classes) or None) if each else NOTHING for each in found),
            ),
            *(
                Fact(
                    f"Mode of the {name}",
                    *(_mode(fleet, each, name) for fleet, each in zip(fleets, found, strict=True)),
                )
                for name in COMPONENTS
            ),
            Fact("Inherits from", *(text_value(parent_of(each) or None) if each else NOTHING for each in found)),
        ),
    )
    entries = [each.entries if each else () for each in found]
    yield Part(
        "entries",
        "Their entries",
        tuple(
            Fact(f"Entry {place}", *(_entry(each) for each in pair)) for place, pair in enumerate(zip_longest(*entries))
        ),
    )


def _takes_part(runtime: Runtime | None) -> Value:
    if runtime is None:
        return Value("can't be read")
    if runtime.disabled:
        return Value("disabled")
    return Value("in automatic selection" if any(each.auto_select for each in runtime.entries) else "by name only")


def _sizes(runtime: Runtime | None) -> Value:
    return Value(range_text(runtime.size_range)) if runtime and runtime.size_range else NOTHING


def _mode(fleet: Fleet, runtime: Runtime | None, component: str) -> Value:
    declared = runtime_mode(runtime, component, fleet.semantics) if runtime else None
    return Value(declared.mode, family="mode") if declared else NOTHING


def _entry(entry: Entry | None) -> Value:
    """An entry on one line: what it matches, and what it scores with."""
    if entry is None:
        return NOTHING
    matched = [format_text(entry.format), format_text(entry.framework), entry.architecture, entry.quantization]
    scored = f"priority {1 if entry.priority is None else entry.priority}"
    weights = [str(each.weight) for each in (entry.format, entry.framework) if each is not None]
    select = "autoSelect" if entry.auto_select else "not autoSelect"
    return Value(" · ".join(filter(None, matched)), note=f"{scored}, weights {' + '.join(weights) or 'none'}, {select}")
