"""Automatic selection: every candidate judged, the qualified ones ranked, and OME's words when none is left.

Follows OME: runtime selection. Each candidate is judged on its own spec, never on what it inherits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key, partial

from .accelerators import UNSUPPORTED, required_classes, supports_classes
from .formats import matching_entry, unsupported_text
from .modes import mismatch_text, requested_mode, runtime_mode
from .objects import Entry, Model, Runtime, Service
from .scoring import EntryScore, entry_weight, runtime_score
from .semantics import Semantics
from .sizes import SizeRange, distance, in_range, range_text

__all__ = [
    "BEFORE_SIZE",
    "COMPATIBILITY_CODES",
    "Failure",
    "Question",
    "Verdict",
    "compatibility_failures",
    "judge",
    "model_error",
    "no_runtime_head",
    "no_runtime_text",
    "only_the_name",
    "question_of",
    "rank",
]

DISABLED = "disabled"
ACCELERATOR = "accelerator-class"
ENGINE_MODE = "engine-deployment-mode"
DECODER_MODE = "decoder-deployment-mode"
FORMAT = "model-format"
SIZE = "model-size"
AUTO_SELECT = "auto-select"
ENTRY_AUTO_SELECT = "entry-not-auto-select"
SCORE = "score"

BEFORE_SIZE = frozenset({DISABLED, ACCELERATOR, ENGINE_MODE, DECODER_MODE, FORMAT})
"""The checks that have to pass before a runtime's size range is looked at."""

COMPATIBILITY_CODES = BEFORE_SIZE | {SIZE}

_NO_AUTO_SELECT = (
    "supports the model but has no supportedModelFormats[].autoSelect=true entry, "
    "so automatic selection skips it (pin it explicitly via spec.runtime.name instead)"
)


class Failure:
    """One check that a candidate fails: a stable code and OME's reason.

    The reason may be given as a function that makes it. It is made when someone reads it: of a thousand candidates
    only a few are looked at.

    >>> failure = Failure("disabled", lambda: "runtime is disabled")
    >>> failure.code, failure.reason, failure == Failure("disabled", "runtime is disabled")
    ('disabled', 'runtime is disabled', True)
    """

    __slots__ = ("_reason", "code")

    def __init__(self, code: str, reason: str | Callable[[], str]) -> None:
        self.code = code
        self._reason = reason

    @property
    def reason(self) -> str:
        """OME's reason, to the letter."""
        if not isinstance(self._reason, str):
            self._reason = self._reason()
        return self._reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failure) and (self.code, self.reason) == (other.code, other.reason)

    def __hash__(self) -> int:
        return hash((self.code, self.reason))

    def __repr__(self) -> str:
        return f"Failure({self.code!r}, {self.reason!r})"


@dataclass(frozen=True, slots=True)
class Question:
    """What selection depends on besides the candidates. Services that share it share the answer.

    Here ``model`` is the content alone, without its name. ``modes`` are the requested engine and decoder modes, None
    where nothing is asked for.
    """

    model: Model
    classes: frozenset[str]
    modes: tuple[str | None, str | None]
    semantics: Semantics


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one candidate came to. ``failures`` are in OME's order; the first one is OME's reason.

    ``priority`` and ``weight`` are those of the entry that matched, None when none did.
    ``distance`` is in parameters, None for a model without a size.
    """

    runtime: Runtime
    failures: tuple[Failure, ...]
    entry: int | None
    priority: int | None
    weight: int | None
    score: EntryScore | None
    distance: float | None

    @property
    def qualified(self) -> bool:
        """Whether automatic selection can choose it."""
        return not self.failures

    @property
    def compatible(self) -> bool:
        """Whether it passed checks 1 to 5; the rest only gate automatic selection."""
        return not any(failure.code in COMPATIBILITY_CODES for failure in self.failures)


def question_of(service: Service | None, model: Model, semantics: Semantics) -> Question:
    """The question a service asks; without a service (explaining a model) nothing but the model counts."""
    if service is None:
        return Question(model.content, frozenset(), (None, None), semantics)
    engine, decoder = (requested_mode(service, component, semantics) for component in ("engine", "decoder"))
    modes = (engine.mode if engine else None, decoder.mode if decoder else None)
    return Question(model.content, required_classes(service), modes, semantics)


def model_error(model: Model) -> str | None:
    """OME's error for a model that can't be matched at all, or None."""
    if model.format.name:
        return None
    return "invalid model specification: modelFormat.name: model format name is required"


def compatibility_failures(question: Question, runtime: Runtime) -> Iterator[Failure]:
    """Checks 1 to 5 in OME's order, each as if the earlier ones had passed."""
    return _compatibility_failures(question, runtime, matching_entry(question.model, runtime.entries))


def _compatibility_failures(question: Question, runtime: Runtime, entry: Entry | None) -> Iterator[Failure]:
    if runtime.disabled:
        yield Failure(DISABLED, "runtime is disabled")
    if not supports_classes(runtime, question.classes):
        yield Failure(ACCELERATOR, UNSUPPORTED)
    for component, code, requested in zip(
        ("engine", "decoder"), (ENGINE_MODE, DECODER_MODE), question.modes, strict=True
    ):
        declared = runtime_mode(runtime, component, question.semantics) if requested is not None else None
        if requested is not None and declared is not None and declared.mode != requested:
            yield Failure(code, mismatch_text(component, declared.mode, requested))
    if entry is None:
        yield Failure(FORMAT, partial(unsupported_text, question.model, runtime.entries))
    size, bounds = question.model.size, runtime.size_range
    if size is not None and bounds is not None and not in_range(size, bounds):
        yield Failure(SIZE, partial(_size_text, size, bounds))


def _size_text(size: str, bounds: SizeRange) -> str:
    return f"model size {size} is outside supported range {range_text(bounds)}"


def judge(question: Question, runtime: Runtime) -> Verdict:
    """Judge one candidate by every check of automatic selection."""
    entry = matching_entry(question.model, runtime.entries)
    failures = list(_compatibility_failures(question, runtime, entry))
    score = runtime_score(question.model, runtime.entries)
    priority, weight = (None, None) if entry is None else entry_weight(entry)
    if not any(each.auto_select for each in runtime.entries):
        failures.append(Failure(AUTO_SELECT, _NO_AUTO_SELECT))
    if entry is not None and score is None:
        if not entry.auto_select:
            # The other entries' autoSelect opened check 6; this one's decides what OME says here.
            if not failures or failures[-1].code != AUTO_SELECT:
                name = question.model.format.name
                failures.append(
                    Failure(
                        ENTRY_AUTO_SELECT,
                        f"matching format {name} is not autoSelect-enabled (a different supportedModelFormats entry "
                        "on this runtime has autoSelect=true, but not the one that matches this model)",
                    )
                )
        else:
            tail = " (format priority 0)" if priority == 0 else ""
            failures.append(Failure(SCORE, f"auto-select score is 0{tail}"))
    return Verdict(
        runtime,
        tuple(failures),
        next((index for index, each in enumerate(runtime.entries) if each is entry), None),
        priority,
        weight,
        score,
        distance(question.model.size, runtime.size_range),
    )


def rank(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The qualified verdicts, best first: namespaced, then score, then distance, then name.

    As in OME, the two scopes are ranked apart and put one after the other.
    """
    qualified = sorted((verdict for verdict in verdicts if verdict.qualified), key=lambda v: v.runtime.ref.name)
    scopes = (
        [verdict for verdict in qualified if verdict.runtime.cluster_scoped is clustered] for clustered in (False, True)
    )
    return [verdict for scope in scopes for verdict in sorted(scope, key=cmp_to_key(_compare))]


def only_the_name(left: Verdict, right: Verdict) -> bool:
    """Whether nothing but their names tells two qualified verdicts of one scope apart.

    OME turns the difference of two distances into a 64-bit integer. Differences of less than one parameter,
    and such as no integer holds, make neither runtime the better one.
    """
    return _better(left, right) == 0


def _better(left: Verdict, right: Verdict) -> int:
    """Below 0 when the left one's score or distance is the better one, 0 when neither is."""
    scores = [verdict.score.score if verdict.score else 0 for verdict in (left, right)]
    if scores[0] != scores[1]:
        return -1 if scores[0] > scores[1] else 1
    if left.distance is not None and right.distance is not None:
        difference = right.distance - left.distance
        if 1 <= abs(difference) < 2**63:
            return -1 if difference > 0 else 1
    return 0


def _compare(left: Verdict, right: Verdict) -> int:
    return _better(left, right) or (-1 if left.runtime.ref.name < right.runtime.ref.name else 1)


def no_runtime_text(question: Question, namespace: str, verdicts: Sequence[Verdict]) -> str:
    """OME's message when nothing qualifies.

    Only candidates that failed checks 1 to 5 are listed, by name; the others are counted. Two of one
    name are listed once, with the cluster-scoped one's reason.
    """
    clustered = sum(verdict.runtime.cluster_scoped for verdict in verdicts)
    text = no_runtime_head(question, namespace)
    if not verdicts:
        return text
    text += (
        f". Checked {len(verdicts)} runtimes ({len(verdicts) - clustered} namespace-scoped, {clustered} cluster-scoped)"
    )
    reasons: dict[str, str] = {}
    for verdict in sorted(verdicts, key=lambda v: v.runtime.cluster_scoped):
        if not verdict.compatible:
            reasons[verdict.runtime.ref.name] = verdict.failures[0].reason
    if reasons:
        text += ". Excluded runtimes: " + "; ".join(f"{name} ({reasons[name]})" for name in sorted(reasons))
    return text


def no_runtime_head(question: Question, namespace: str) -> str:
    """The message's first sentence: what was looked for, and where."""
    name = question.model.format.name
    return f"no runtime found to support model {name} with format {name} in namespace {namespace}"
