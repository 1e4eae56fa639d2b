"""What a report says: OME's words where it has any, else the sentence that pages show, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.template import TemplateDoesNotExist

from selection.faces.cli.check_rules import RULES
from selection.faces.plain import plain_sentence
from selection.rules.objects import ObjectRef
from selection.rules.references import Reference
from selection.rules.remarks import Remark

__all__ = ["named", "next_of", "other_words", "silence_words", "words_of"]

_NAMES = {"conflict": "conflict", "finding": "finding", "upgrade": "change", "other": "change"}
"""By family what its sentences call the value that they tell."""

_BY_COMMAND = frozenset({"no-runtime", "named-with-advice", "deprecated"})
"""What pages lead on from, for services, a command does here."""

_PLAIN = frozenset({"renamed", "leader-selector", "no-counterpart"})
"""The explanations of references that say no more than the replacement does."""


def words_of(remark: Remark) -> str:
    """What a remark says, in one line."""
    if remark.code == "lws-reference":
        return _references(remark.value)
    if remark.code in {"incomplete", "named-with-advice"}:
        return plain_sentence("input", remark.code, about=remark.about, name=remark.text)
    if remark.text:
        return remark.text
    return plain_sentence(RULES[remark.code].family, remark.code, **_values(remark))


def next_of(remark: Remark) -> str:
    """What to do about it; ``""`` when nobody has written that down."""
    if remark.code in _BY_COMMAND and remark.object.kind == "InferenceService":
        return plain_sentence("input", remark.code, "next", service=remark.object)
    return _next(RULES[remark.code].family, remark.code, _values(remark))


def other_words(code: str, change: Any) -> str:
    """What becomes of a service that isn't in the input."""
    return plain_sentence("other", code, change=change)


def silence_words(why: str, name: str) -> str:
    """Why a comment silences nothing."""
    return plain_sentence("input", "bad-silence", why=why, name=name)


def _next(family: str, code: str, values: Mapping[str, Any]) -> str:
    try:
        return plain_sentence(family, code, "next", **values)
    except TemplateDoesNotExist:  # a family's sentences need not have a next step
        return ""


def _values(remark: Remark) -> dict[str, Any]:
    family = RULES[remark.code].family
    facts = getattr(remark.value, "facts", {})
    told = {"facts": facts, "message": remark.text, "component": remark.component}
    return {**told, _NAMES.get(family, "value"): remark.value}


def _references(references: Sequence[Reference]) -> str:
    """The names of LeaderWorkerSet in one field, each with what it is on OMENative, and what else is to be known."""
    each_once = {each.token: each for each in references}.values()
    told = plain_sentence("input", "lws-reference", container=references[0].container, references=each_once)
    explained = (each.explanation for each in references if each.explanation not in _PLAIN)
    return " ".join([told, *(plain_sentence("reference", code, reference=None) for code in dict.fromkeys(explained))])


def named(ref: ObjectRef | None, words: str) -> str:
    """Words with the object in front, unless they begin with it.

    >>> named(ObjectRef("ServingRuntime", "team", "fast"), "It is empty.")
    'ServingRuntime team/fast: It is empty.'
    """
    return words if ref is None or words.startswith(str(ref)) else f"{ref}: {words}"
