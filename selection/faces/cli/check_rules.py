"""The rules that ``manage.py check`` judges manifests by: each code with its level and why, all in one place.

Most are the codes that findings have everywhere. The others tell what only somebody who writes manifests meets: input
that can't be used, the webhook's words, places that name LeaderWorkerSet, and what the input does to other services.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selection.faces.words import FAMILIES, word
from selection.rules.codes import CODES, OFF, SETTABLE, SEVERITIES

__all__ = ["FAMILY_NAMES", "LEVELS", "OFF", "OTHER", "RULES", "SETTABLE", "Rule", "settable_names"]

LEVELS = SEVERITIES
"""``error``, ``warning`` and ``info``, the one that matters most first."""

OTHER = "other-"
"""What the codes begin with that tell what becomes of a service that isn't in the input."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its code, its family, its level unless something else is set, a few words, and why it matters."""

    code: str
    family: str
    level: str
    title: str
    why: str


def _input() -> Iterator[Rule]:
    for code, level, title, why in (
        ("unreadable-file", "error", "File not read", "Nothing in the file is judged."),
        ("unreadable-document", "error", "Document not read", "It is no YAML or JSON that an API server takes."),
        ("unusable-object", "error", "No such object", "It looks like an object of OME's, and no API server takes it."),
        ("given-twice", "warning", "Given twice", "Which of the two counts depends on the order of applying."),
        ("bad-silence", "warning", "Comment without effect", "Its author thinks that something is silenced."),
        ("incomplete", "info", "Needs what isn't given", "Selection can't be judged by the input alone."),
    ):
        yield Rule(code, "input", level, title, why)


def _manifests() -> Iterator[Rule]:
    yield Rule("warned", "admission", "warning", "Warned about", "The webhook admits it, and says this.")
    yield Rule(
        "lws-reference", "reference", "info", "Names LeaderWorkerSet", "OMENative's pods have none of its variables."
    )


def _others() -> Iterator[Rule]:
    for code, level, title, why in (
        (
            "loses-runtime",
            "error",
            "Another service loses its runtime",
            "It gets no pods, or keeps old ones unchanged.",
        ),
        ("refused-now", "error", "Another service is refused", "Every change of it is refused until it is put right."),
        (
            "conflict-appears",
            "warning",
            "Another service's modes disagree",
            "The sides of its modes begin to disagree.",
        ),
        ("another-runtime", "warning", "Another service's runtime changes", "Its pods are made from another runtime."),
        (
            "mode-changes",
            "warning",
            "Another service's mode changes",
            "It serves nothing until its new pods are ready.",
        ),
        ("model-differs", "warning", "Another service's model changes", "It serves another model than before."),
        ("spec-differs", "info", "Another service's pods change", "They are made anew from what the runtime says now."),
        (
            "outcome-differs",
            "info",
            "Another service's answer changes",
            "OME answers in another way, and nothing runs.",
        ),
        ("admission-differs", "info", "Other words for another service", "The webhook says something else of it."),
        ("gets-runtime", "info", "Another service gets a runtime", "It begins to run."),
        ("admitted-now", "info", "Another service is admitted", "It can be changed again."),
        ("conflict-goes", "info", "Another service's modes agree", "The sides of its modes agree again."),
    ):
        yield Rule(OTHER + code, "other", level, title, why)


def _known() -> Iterator[Rule]:
    for each in CODES.values():
        label = word(each.family, each.code).label if each.family in FAMILIES else each.code
        yield Rule(each.code, each.family, each.severity, label, each.why)


RULES: Mapping[str, Rule] = {each.code: each for each in (*_input(), *_known(), *_manifests(), *_others())}
"""Every rule by its code."""

FAMILY_NAMES = tuple(dict.fromkeys(rule.family for rule in RULES.values()))
"""The families: a level can be set for all of one at once."""


def settable_names() -> tuple[str, ...]:
    """What a level can be set for: every family and every code."""
    return (*FAMILY_NAMES, *RULES)
