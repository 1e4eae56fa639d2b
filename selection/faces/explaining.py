"""An explanation arranged for a page: the funnel, the arithmetic, why first beats second, the rules' ladder.

Nothing is decided here; what the rules decided is put in the order in which a person reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selection.rules.candidates import Candidate
from selection.rules.explanation import Explanation
from selection.rules.modes import MODE_ANNOTATION, Declared
from selection.rules.objects import Service
from selection.rules.scoring import EntryScore
from selection.rules.semantics import semantics_of

__all__ = [
    "CHECK_ORDER",
    "Place",
    "Rung",
    "Said",
    "Step",
    "arithmetic",
    "funnel",
    "ladder",
    "parameters",
    "why_first",
]

CHECK_ORDER = (
    "disabled",
    "accelerator-class",
    "engine-deployment-mode",
    "decoder-deployment-mode",
    "model-format",
    "model-size",
    "auto-select",
    "entry-not-auto-select",
    "score",
)
"""The checks in OME's order. The last but one is shown only where it removed something."""


@dataclass(frozen=True, slots=True)
class Step:
    """One check of the funnel: how many candidates came to it, and how many it removed; ``total`` is all of them."""

    code: str
    arrived: int
    removed: int
    total: int

    @property
    def left(self) -> int:
        """How many pass."""
        return self.arrived - self.removed

    @property
    def before(self) -> str:
        """What came to the check, as the points of a band in a square of 100 by 100, widest for all candidates."""
        return _band(self.arrived, self.arrived, self.total)

    @property
    def after(self) -> str:
        """The part of the band that goes on, as points."""
        return _band(self.arrived, self.left, self.total)


def _band(above: int, below: int, total: int) -> str:
    """A band around the middle that narrows downward. One candidate of a thousand is drawn, too.

    >>> _band(4, 2, 4), _band(0, 0, 4)
    ('0,0 100,0 75,100 25,100', '50,0 50,0 50,100 50,100')
    """
    top, bottom = (max(100 * count / total, 1.5) / 2 if count else 0.0 for count in (above, below))
    return f"{50 - top:.4g},0 {50 + top:.4g},0 {50 + bottom:.4g},100 {50 - bottom:.4g},100"


def funnel(candidates: Iterable[Candidate]) -> list[Step]:
    """The checks with what each removed, counting each candidate at the first check that it fails."""
    removed: dict[str, int] = {}
    total = 0
    for candidate in candidates:
        total += 1
        if candidate.reason is not None:
            removed[candidate.reason.code] = removed.get(candidate.reason.code, 0) + 1
    steps, left = [], total
    for code in CHECK_ORDER:
        count = removed.get(code, 0)
        if not count and code == "entry-not-auto-select":
            continue
        steps.append(Step(code, left, count, total))
        left -= count
    return steps


def arithmetic(score: EntryScore) -> str:
    """The score spelled out.

    >>> arithmetic(EntryScore(0, 6, 2, 1, 2)), arithmetic(EntryScore(0, 3, 3, None, 1))
    ('(2 + 1) × 2 = 6', '3 × 1 = 3')
    """
    weights = [str(weight) for weight in (score.format_weight, score.framework_weight) if weight is not None]
    total = f"({' + '.join(weights)})" if len(weights) > 1 else "".join(weights) or "0"
    return f"{total} × {score.priority} = {score.score}"


def parameters(value: float) -> str:
    """A number of parameters as people write it.

    >>> parameters(7e9), parameters(15.4e9), parameters(5e8), parameters(0), parameters(float("inf"))
    ('7B', '15.4B', '500M', '0', 'not finite')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "not finite"
    for unit, name in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Place:
    """What puts the first runtime before the second: a code, and both sides of it.

    Codes: ``scope``, ``score``, ``distance``, ``name``.
    """

    code: str
    first: str
    second: str


def why_first(candidates: Sequence[Candidate]) -> Place | None:
    """The first difference in OME's order between rank 1 and rank 2; None when there is no second.

    Follows OME: runtime selection (ranking), as :func:`selection.rules.selection.rank` orders them.
    """
    ranked = [candidate.verdict for candidate in candidates[:2] if candidate.rank is not None]
    if len(ranked) < 2:
        return None
    first, second = ranked
    if first.runtime.cluster_scoped != second.runtime.cluster_scoped:
        return Place("scope", first.runtime.scope, second.runtime.scope)
    scores = [verdict.score.score if verdict.score else 0 for verdict in ranked]
    if scores[0] != scores[1]:
        return Place("score", str(scores[0]), str(scores[1]))
    if first.distance is not None and second.distance is not None and abs(first.distance - second.distance) >= 1:
        return Place("distance", parameters(first.distance), parameters(second.distance))
    return Place("name", first.runtime.ref.name, second.runtime.ref.name)


@dataclass(frozen=True, slots=True)
class Said:
    """What a rule finds: whose it is (``service``, ``runtime``, ``""`` for the default), the value, and its field."""

    whose: str
    value: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Rung:
    """One rule of how a component's mode is found, first to last.

    Attributes:
        rule: its name, as in ``Declared.source``.
        says: what stands there; empty when nothing does.
        state: ``passed`` over, ``decides``, or ``unread`` because an earlier one decided.
    """

    rule: str
    says: tuple[Said, ...]
    state: str


_MODE = f'annotations["{MODE_ANNOTATION}"]'
_RULES = ("ServiceAnnotation", "ComponentAnnotation", "ServiceSpec", "LeaderWorkerShape", "Default")


def ladder(explanation: Explanation, component: str) -> list[Rung]:
    """The rules for a component's running mode in order, with what each found and the one that decided.

    Rules that this release of OME doesn't have for the component are left out.
    """
    modes, service = explanation.modes[component], explanation.service
    if service is None or modes.running.source not in _RULES:
        return [Rung(modes.running.source, (), "decides")]
    semantics = semantics_of(explanation.ome_version)
    unknown = set() if semantics.reads_service_mode else {"ServiceSpec"}
    unknown |= set() if component in semantics.annotated else {"ComponentAnnotation"}
    rungs, decided = [], False
    for rule in _RULES:
        if rule in unknown:
            continue
        here = rule == modes.running.source
        rungs.append(Rung(rule, tuple(_says(explanation, service, component, rule)), _state(here, decided)))
        decided = decided or here
    return rungs


def _state(here: bool, decided: bool) -> str:
    if here:
        return "decides"
    return "unread" if decided else "passed"


def _says(explanation: Explanation, service: Service, component: str, rule: str) -> Iterable[Said]:
    own = service.components.get(component)
    runtime = explanation.selected.components.get(component) if explanation.selected else None
    declared: Declared | None = explanation.modes[component].runtime
    if rule == "ServiceAnnotation" and MODE_ANNOTATION in service.annotations:
        yield Said("service", service.annotations[MODE_ANNOTATION], f"metadata.{_MODE}")
    elif rule == "ComponentAnnotation":
        if own is not None and MODE_ANNOTATION in own.annotations:
            yield Said("service", own.annotations[MODE_ANNOTATION], f"spec.{component}.{_MODE}")
        theirs = declared.mode if declared else runtime.annotation(MODE_ANNOTATION) if runtime else None
        if theirs is not None:
            yield Said("runtime", theirs, f"spec.{component}Config.{_MODE}")
    elif rule == "ServiceSpec" and service.deployment_mode is not None:
        yield Said("service", service.deployment_mode, "spec.deploymentMode")
    elif rule == "LeaderWorkerShape" and component != "router":
        for whose, side, field in (("service", own, component), ("runtime", runtime, f"{component}Config")):
            shape = [name for name in ("leader", "worker") if side is not None and getattr(side, name)]
            if shape:
                yield Said(whose, " and ".join(shape), f"spec.{field}.{shape[0]}")
    elif rule == "Default":
        yield Said("", "RawDeployment")
