"""The sentences of ``templates/sentences/`` as plain text, for those who don't read HTML."""

from __future__ import annotations

import html
from typing import Any

from django.template.loader import get_template
from django.utils.html import strip_tags

__all__ = ["plain_sentence"]


def plain_sentence(family: str, code: str, part: str = "", **values: Any) -> str:
    """The sentence for a code, without markup and on one line.

    Args:
        family: the folder in ``templates/sentences/``.
        code: the code.
        part: ``""`` for what it is, ``next`` for what to do.
        values: what the sentence's comment asks for.

    >>> from selection.rules.findings import Finding
    >>> from selection.rules.objects import ObjectRef
    >>> finding = Finding("operator-unknown", ObjectRef("ServingRuntime", "team", "fast"), "", {"value": "<"})
    >>> plain_sentence("finding", "operator-unknown", finding=finding).partition(".")[0]
    '< is no operator that OME knows'
    """
    name = f"sentences/{family}/{code}.{part}.html" if part else f"sentences/{family}/{code}.html"
    return " ".join(html.unescape(strip_tags(get_template(name).render(values))).split())
