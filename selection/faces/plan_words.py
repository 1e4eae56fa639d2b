"""The words of a plan for those who read no HTML: plain for a terminal, marked up for Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.template.loader import get_template
from django.utils.html import strip_tags

from selection.rules.accelerator_needs import Accelerators
from selection.rules.edits import Edit
from selection.rules.explanation import Explanation
from selection.rules.runtime_copy import DIFFERENCES

__all__ = ["Say", "accelerators", "edit_reasons", "in_markdown", "in_plain", "side"]

Say = Callable[..., str]
"""Gives the sentence of a code: ``say("step-move", step=step)``."""

_CODE = re.compile(r"</?code>")
_SPECIAL = re.compile(r"([\\*_<>\[\]|#])")


def in_plain(code: str, family: str = "plan", **values: Any) -> str:
    """A sentence of ``templates/sentences/``, without markup and on one line."""
    return " ".join(html.unescape(strip_tags(_rendered(code, family, values))).split())


def in_markdown(code: str, family: str = "plan", **values: Any) -> str:
    """The same with code as Markdown has it; nothing that an object says can be taken for markup."""
    parts = _CODE.split(_rendered(code, family, values))
    told = [" ".join(f"|{html.unescape(strip_tags(part))}|".split())[1:-1] for part in parts]
    marked = [
        f"`{text.replace('`', '’')}`" if place % 2 else _SPECIAL.sub(r"\\\1", text) for place, text in enumerate(told)
    ]
    return "".join(marked).strip()


def _rendered(code: str, family: str, values: Mapping[str, Any]) -> str:
    return get_template(f"sentences/{family}/{code}.html").render(dict(values))


def accelerators(asked: Accelerators) -> str:
    """Accelerators in words.

    >>> accelerators((("amd.com/gpu", 4), ("nvidia.com/gpu", 1600))), accelerators(())
    ('4 amd.com/gpu, 1,600 nvidia.com/gpu', 'none')
    """
    return ", ".join(f"{number:,} {name}" for name, number in asked) or "none"


def edit_reasons(say: Say, edit: Edit) -> str:
    """Why something differs in a copy, in sentences."""
    own = {"renamed", *DIFFERENCES}
    return " ".join(say(f"edit-{code}") if code in own else say(code, family="reference") for code in edit.why)


def side(explanation: Explanation) -> str:
    """One side of an outcome, on a line: the runtime, the modes, what doesn't agree, what admission refuses."""
    told = [explanation.outcome + (f" {explanation.selected.ref}" if explanation.selected else "")]
    for name, modes in explanation.modes.items():
        told.append(f"{name} {modes.running.mode} ({modes.running.source})" if modes.rendered else f"{name} unknown")
    conflicts = [f"{conflict.component} {conflict.code}" for conflict in explanation.conflicts]
    told.append(f"conflicts: {', '.join(conflicts) or 'none'}")
    told.append("admitted" if explanation.admission.allowed else f"refused: {explanation.admission.errors[0]}")
    return "; ".join(told)
