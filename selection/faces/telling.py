"""What a finding is and what to do, in the words of its family's sentences."""

from __future__ import annotations

from typing import Any

from selection.faces.plain import plain_sentence
from selection.rules.stream import Told
from selection.store.models import Finding

__all__ = ["plainly_told", "sentence_values"]


def sentence_values(found: Finding | Told, cluster: str) -> dict[str, Any]:
    """What the sentences of every family ask for, of a finding of a cluster (its name)."""
    return {
        "finding": found,
        "conflict": found,
        "change": found,
        "facts": found.facts,
        "component": found.component,
        "message": found.facts.get("message") or "",
        "cluster": cluster,
    }


def plainly_told(found: Finding | Told, cluster: str, part: str = "") -> str:
    """What it is (or with ``next`` what to do) as one line of plain text; ``""`` for a code that isn't known any more.

    >>> from selection.rules.objects import ObjectRef
    >>> shadowed = Told("cleanup-due", ObjectRef("InferenceService", "team", "chat"), "engine")
    >>> plainly_told(shadowed, "prod")
    'It moved, and the old LeaderWorkerSet is still there with its accelerators.'
    """
    return plain_sentence(found.family, found.code, part, **sentence_values(found, cluster)) if found.family else ""
