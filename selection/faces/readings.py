"""How OME reads a runtime, place by place: where it declares modes, its entries, and what it inherits.

Nothing here decides anything; it takes the rules' own answers apart so that a template can say them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from selection.rules.fleet_answers import Effective
from selection.rules.inheritance import RuntimeKey
from selection.rules.modes import COMPONENTS, MODE_ANNOTATION, MULTI_NODE, VIRTUAL_DEPLOYMENT
from selection.rules.objects import Entry, Format, Model, ObjectRef, Runtime, RuntimeComponent
from selection.rules.scoring import EntryScore, entry_score
from selection.rules.semantics import Semantics
from selection.rules.versions import parse_version

__all__ = ["EntryReading", "FormatReading", "ModePlace", "entry_readings", "mode_places", "set_by"]

_NOBODY = ObjectRef("ClusterBaseModel", "", "")


@dataclass(frozen=True, slots=True)
class ModePlace:
    """A place where a mode stands, or where a shape makes one, and whether each of OME's two readers counts it.

    Attributes:
        component: ``engine``, ``decoder``, ``router``, or ``""`` for the whole runtime.
        path: the field.
        value: what stands there; for a shape the names of what makes it.
        matching: whether selection compares it: ``counts``, or why not (``value``, ``router``, ``metadata``,
            ``shape``, ``inherited``).
        running: whether it decides how a component runs: ``counts``, ``impossible``, ``shape``, or why not
            (``value``, ``metadata``, ``overruled``, ``release``).
        inherited: whether it comes from a parent.
    """

    component: str
    path: str
    value: str
    matching: str
    running: str
    inherited: bool = False


def mode_places(runtime: Runtime, effective: Effective, semantics: Semantics) -> list[ModePlace]:
    """Every place where the runtime, or what it inherits from, declares a mode or makes one by its shape."""
    merged = effective.runtime or runtime
    places = []
    for component in COMPONENTS:
        own, whole = runtime.components.get(component), merged.components.get(component)
        found = list(_annotation(component, own, semantics)) or [
            replace(place, inherited=True, matching="inherited" if place.matching == "counts" else place.matching)
            for place in _annotation(component, whole, semantics)
        ]
        places += found
        decided = any(place.running == "counts" for place in found)
        for config, inherited in ((own, False), (whole, True)):
            shape = _shape(component, config, decided)
            if shape is not None:
                places.append(replace(shape, inherited=inherited))
                break
    written = runtime.annotations.get(MODE_ANNOTATION)
    if written is not None:
        places.append(ModePlace("", f'metadata.annotations["{MODE_ANNOTATION}"]', written, "metadata", "metadata"))
    return places


def _annotation(component: str, config: RuntimeComponent | None, semantics: Semantics) -> Iterator[ModePlace]:
    value = config.annotation(MODE_ANNOTATION) if config is not None else None
    if value is None:
        return
    matching = running = "counts"
    if value not in semantics.modes:
        matching = running = "value"
    elif component not in semantics.annotated:
        running = "release"
    elif value == VIRTUAL_DEPLOYMENT or (component == "router" and value == MULTI_NODE):
        running = "impossible"
    if matching == "counts" and component == "router":
        matching = "router"
    yield ModePlace(component, f'spec.{component}Config.annotations["{MODE_ANNOTATION}"]', value, matching, running)


def _shape(component: str, config: RuntimeComponent | None, decided: bool) -> ModePlace | None:
    """The mode that a leader or worker makes; a router's makes none."""
    if config is None or component == "router" or not (config.leader or config.worker):
        return None
    parts = [name for name, there in (("leader", config.leader), ("worker", config.worker)) if there]
    path = f"spec.{component}Config.{parts[0]}"
    return ModePlace(component, path, " and ".join(parts), "shape", "overruled" if decided else "shape")


@dataclass(frozen=True, slots=True)
class FormatReading:
    """How one entry's format or framework is read.

    ``rule`` is ``none`` (no version: only models without one match), ``unreadable`` (never matches), ``equal``,
    ``below`` or ``upto`` (the version is a limit that the model's must stay under, or may reach).
    """

    name: str
    version: str | None
    operator: str
    weight: int
    rule: str


@dataclass(frozen=True, slots=True)
class EntryReading:
    """One of ``supportedModelFormats`` and how it is read; ``score`` is its arithmetic for a model that fits."""

    index: int
    entry: Entry
    format: FormatReading | None
    framework: FormatReading | None
    score: EntryScore

    @property
    def never(self) -> bool:
        """Whether it can match no model at all."""
        sides = (self.format, self.framework)
        return self.format is None or any(side is not None and side.rule == "unreadable" for side in sides)


def entry_readings(runtime: Runtime) -> list[EntryReading]:
    """How each of the runtime's entries is read."""
    readings = []
    for index, entry in enumerate(runtime.entries):
        model = Model(
            _NOBODY,
            Format(entry.format.name if entry.format else ""),
            Format(entry.framework.name) if entry.framework else None,
        )
        readings.append(
            EntryReading(
                index, entry, _format(entry.format), _format(entry.framework), entry_score(model, entry, index)
            )
        )
    return readings


def _format(side: Format | None) -> FormatReading | None:
    if side is None:
        return None
    operator = side.operator if side.operator is not None else "Equal"
    version = parse_version(side.version) if side.version is not None else None
    if side.version is None:
        rule = "none"
    elif version is None:
        rule = "unreadable"
    elif version.unofficial:
        rule = "equal"
    else:
        rule = {"GreaterThan": "below", "GreaterThanOrEqual": "upto"}.get(operator, "equal")
    return FormatReading(side.name, side.version, operator, side.weight, rule)


def set_by(told: Mapping[str, RuntimeKey]) -> dict[RuntimeKey, list[str]]:
    """What each member of a chain set in the merged spec: the fewest paths that cover it.

    Args:
        told: for every path, parents before what is in them, who set it (``rules.inheritance.provenance``).

    >>> base, leaf = (RuntimeKey("ClusterServingRuntime", None, name) for name in ("base", "leaf"))
    >>> told = {"spec": leaf, "spec.a": base, "spec.a.b": base, "spec.c": leaf, "spec.c[0]": base, "spec.c[1]": leaf}
    >>> {key.name: paths for key, paths in set_by(told).items()}
    {'base': ['spec.a', 'spec.c[0]'], 'leaf': ['spec.c[1]']}
    """
    mixed: set[str] = set()
    stack: list[str] = []
    parents: dict[str, str | None] = {}
    for path in told:
        while stack and not path.startswith((f"{stack[-1]}.", f"{stack[-1]}[")):
            stack.pop()
        parents[path] = stack[-1] if stack else None
        mixed.update(above for above in stack if told[above] != told[path])
        stack.append(path)
    found: dict[RuntimeKey, list[str]] = {}
    for path, key in told.items():
        above = parents[path]
        if path not in mixed and (above is None or above in mixed):
            found.setdefault(key, []).append(path)
    return found
