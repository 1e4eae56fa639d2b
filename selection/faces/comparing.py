"""Two things side by side: their facts in the same order, and what tells them apart in a few codes.

Nothing is decided here; the rules' answers for both sides are laid next to each other.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selection.faces.cli.output import as_yaml
from selection.faces.explaining import CHECK_ORDER, Place, arithmetic, parameters, why_first
from selection.faces.words import word
from selection.rules.candidates import Candidate
from selection.rules.explanation import Explanation
from selection.rules.modes import runtime_mode
from selection.rules.objects import Format, Model, ObjectRef
from selection.rules.selection import Failure
from selection.rules.semantics import semantics_of
from selection.rules.sizes import range_text

__all__ = [
    "NOTHING",
    "DiffLine",
    "Fact",
    "Fate",
    "Part",
    "Value",
    "candidate_part",
    "check_part",
    "fate",
    "format_text",
    "model_facts",
    "spec_diff",
    "text_value",
]


@dataclass(frozen=True, slots=True)
class Value:
    """One side of a fact.

    Attributes:
        text: what is shown; with a ``family`` it is a code that is shown as a badge.
        ref: the object that it is, shown as a link.
        family: the badge's family, or ``""``.
        note: a remark beside it.
    """

    text: str = ""
    ref: ObjectRef | None = None
    family: str = ""
    note: str = ""


NOTHING = Value()


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the comparison: what it is about, and both sides."""

    label: str
    a: Value
    b: Value

    @property
    def same(self) -> bool:
        """Whether both sides say the same. Objects are the same by kind and name: they may be in two clusters."""
        return (self.a.text, self.a.note, _identity(self.a.ref)) == (self.b.text, self.b.note, _identity(self.b.ref))


def _identity(ref: ObjectRef | None) -> tuple[str, str] | None:
    return (ref.kind, ref.name) if ref is not None else None


@dataclass(frozen=True, slots=True)
class Part:
    """Facts that belong together; ``key`` is the anchor of their section."""

    key: str
    title: str
    facts: tuple[Fact, ...]

    @property
    def told(self) -> list[Fact]:
        """The facts that at least one side says something for."""
        return [fact for fact in self.facts if fact.a != NOTHING or fact.b != NOTHING]

    @property
    def different(self) -> int:
        """How many facts differ."""
        return sum(not fact.same for fact in self.facts)


def text_value(value: object, note: str = "") -> Value:
    """A value as it is written; what isn't set is nothing, what is set empty shows its quotes.

    >>> text_value("").text, text_value(None).text, text_value(3).text
    ('""', '', '3')
    """
    if value is None:
        return NOTHING
    return Value('""' if value == "" else str(value), note=note)


def format_text(value: Format | None) -> str | None:
    """A model's format or framework on one line."""
    if value is None or not value.name:
        return None
    return value.name if value.version is None else f"{value.name} {value.version}"


def model_facts(a: Model | None, b: Model | None) -> Iterator[Fact]:
    """What selection compares of two models."""
    sides = (a, b)

    def fact(label: str, values: Sequence[object]) -> Fact:
        return Fact(label, text_value(values[0]), text_value(values[1]))

    yield fact("Format", [format_text(each.format) if each else None for each in sides])
    yield fact("Framework", [format_text(each.framework) if each else None for each in sides])
    yield fact("Architecture", [each.architecture if each else None for each in sides])
    yield fact("Quantization", [each.quantization if each else None for each in sides])
    yield fact("Size", [each.size if each else None for each in sides])
    yield fact(
        "Pipeline",
        [each.pipeline.class_name or "without a class" if each and each.pipeline else None for each in sides],
    )
    yield fact("Distribution", [each.distribution if each else None for each in sides])
    yield fact("Disabled", ["yes" if each and each.disabled else None for each in sides])


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one side's runtime on the other side.

    Codes: ``missing`` (it is no candidate there), ``fails`` (with OME's reason), ``behind`` (it qualifies, and another
    comes first: ``place`` says why), ``first`` (automatic selection would choose it), ``unasked`` (nothing is judged).
    """

    code: str
    failure: Failure | None = None
    rank: int | None = None
    place: Place | None = None


def fate(runtime: ObjectRef, there: Explanation) -> Fate:
    """What becomes of a runtime for another service or model; by kind and name, for it may be another cluster's."""
    if not there.considered:
        return Fate("unasked")
    found = next((each for each in there.candidates if _identity(each.verdict.runtime.ref) == _identity(runtime)), None)
    if found is None:
        return Fate("missing")
    if found.reason is not None:
        return Fate("fails", found.reason)
    if found.rank == 1:
        return Fate("first", rank=1)
    return Fate("behind", rank=found.rank, place=why_first([there.candidates[0], found]))


def candidate_part(a: Candidate, b: Candidate, version: str) -> Part:
    """How two candidates of one service rank, and what they declare."""
    sides = [each.verdict for each in (a, b)]
    semantics = semantics_of(version)

    def fact(label: str, values: Sequence[Value]) -> Fact:
        return Fact(label, values[0], values[1])

    modes = {name: [runtime_mode(each.runtime, name, semantics) for each in sides] for name in ("engine", "decoder")}
    return Part(
        "ranking",
        "Ranking and declarations",
        (
            fact("Rank", [text_value(each.rank) for each in (a, b)]),
            fact("Scope", [Value(each.runtime.scope) for each in sides]),
            fact("Score", [Value(arithmetic(each.score) if each.score else "0") for each in sides]),
            fact(
                "Distance", [text_value(None if each.distance is None else parameters(each.distance)) for each in sides]
            ),
            fact("Priority", [text_value(each.priority) for each in sides]),
            fact("Weight", [text_value(each.weight) for each in sides]),
            fact(
                "Model sizes",
                [
                    text_value(range_text(each.runtime.size_range) if each.runtime.size_range else None)
                    for each in sides
                ],
            ),
            fact(
                "Accelerator classes",
                [text_value(", ".join(each.runtime.accelerator_classes) or None) for each in sides],
            ),
            *(
                fact(
                    f"Declares for the {name}", [Value(each.mode, family="mode") if each else NOTHING for each in found]
                )
                for name, found in modes.items()
            ),
        ),
    )


def check_part(a: Candidate, b: Candidate) -> Part:
    """Every check with what each of two candidates comes to: OME's reason where it fails."""
    reasons = [{failure.code: failure.reason for failure in each.verdict.failures} for each in (a, b)]
    facts = [
        Fact(
            word("check", code).label,
            *(Value(f"fails: {each[code]}") if code in each else Value("passes") for each in reasons),
        )
        for code in CHECK_ORDER
    ]
    return Part("checks", "Checks in order", tuple(facts))


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a unified diff: ``add``, ``del``, ``at`` (a place) or ``""`` (the same on both sides)."""

    kind: str
    text: str


_KINDS = {"+": "add", "-": "del", "@": "at"}


def spec_diff(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[DiffLine]:
    """How the annotations and specs of two manifests differ, as a unified diff of their YAML; empty when they don't."""
    left, right = (_told(manifest).splitlines() for manifest in (a, b))
    lines = list(difflib.unified_diff(left, right, lineterm="", n=3))[2:]
    return [DiffLine(_KINDS.get(line[:1], ""), line) for line in lines]


def _told(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    shown = {"metadata": {"annotations": annotations}} if annotations else {}
    return as_yaml({**shown, "spec": manifest.get("spec")})
