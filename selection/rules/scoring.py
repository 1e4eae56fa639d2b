"""The score that ranks runtimes, and the priority and weight that OME prints beside it.

Follows OME: runtime selection scoring. All arithmetic is signed 64-bit and wraps as Go's does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .go import wrap64
from .objects import Entry, Format, Model
from .versions import accepts

__all__ = ["DEFAULT_PRIORITY", "EntryScore", "entry_score", "entry_weight", "runtime_score"]

DEFAULT_PRIORITY = 1
_FORMAT_WEIGHT_FOR_ZERO = 10
_FRAMEWORK_WEIGHT_FOR_ZERO = 5


@dataclass(frozen=True, slots=True)
class EntryScore:
    """One entry's score with its arithmetic: ``(format weight + framework weight) x priority``."""

    index: int
    score: int
    format_weight: int | None
    framework_weight: int | None
    priority: int

    def to_dict(self) -> dict[str, Any]:
        """The arithmetic as JSON; ``entry`` counts from 0."""
        return {
            "entry": self.index,
            "score": self.score,
            "formatWeight": self.format_weight,
            "frameworkWeight": self.framework_weight,
            "priority": self.priority,
        }


def runtime_score(model: Model, entries: tuple[Entry, ...]) -> EntryScore | None:
    """The best entry's score, or None when every entry scores 0 or less (the runtime's score is then 0).

    Entries whose ``autoSelect`` is explicitly false don't take part; an entry that doesn't match the
    model can still set the score, because architecture, quantization and pipeline play no part in it.
    """
    best: EntryScore | None = None
    for index, entry in enumerate(entries):
        if entry.auto_select is False:
            continue
        scored = entry_score(model, entry, index)
        if scored.score > (best.score if best else 0):
            best = scored
    return best


def entry_score(model: Model, entry: Entry, index: int = 0) -> EntryScore:
    """The score of one entry for a model; 0 when its format or framework doesn't fit.

    A version that only one side sets does not zero the score.

    >>> from .objects import ObjectRef
    >>> model = Model(ObjectRef("BaseModel", "a", "m"), Format("safetensors"), Format("transformers"))
    >>> entry = Entry(format=Format("safetensors", weight=2), framework=Format("transformers", weight=1), priority=2)
    >>> entry_score(model, entry).score
    6
    """
    priority = DEFAULT_PRIORITY if entry.priority is None else entry.priority
    nothing = EntryScore(index, 0, None, None, priority)
    if entry.format is not None and not _fits(model.format, entry.format):
        return nothing
    if (entry.framework is None) != (model.framework is None):
        return nothing
    if entry.framework is not None and model.framework is not None and not _fits(model.framework, entry.framework):
        return nothing
    format_weight = None if entry.format is None else entry.format.weight or _FORMAT_WEIGHT_FOR_ZERO
    framework_weight = None if entry.framework is None else entry.framework.weight or _FRAMEWORK_WEIGHT_FOR_ZERO
    score = wrap64(sum(wrap64((weight or 0) * priority) for weight in (format_weight, framework_weight)))
    return EntryScore(index, score, format_weight, framework_weight, priority)


def entry_weight(entry: Entry) -> tuple[int, int]:
    """PRIORITY and WEIGHT as ``kubectl ome runtime explain`` prints them, of the entry that matched.

    Only positive weights count here, so WEIGHT may differ from the score.
    """
    priority = DEFAULT_PRIORITY if entry.priority is None else entry.priority
    weight = 0
    for side in (entry.format, entry.framework):
        if side is not None and side.weight > 0:
            weight = wrap64(weight + side.weight * priority)
    return priority, weight


def _fits(model: Format, entry: Format) -> bool:
    if model.name != entry.name:
        return False
    if model.version is None or entry.version is None:
        return True
    return accepts(entry.version, entry.operator, model.version)
