"""Saying how much a code of findings matters in this installation, with a line in the record."""

from __future__ import annotations

from selection.store.models import SeveritySetting
from selection.store.severities import set_severity

from .subjects import code_subject
from .writing import Writer, note, writing

__all__ = ["grade"]


def grade(by: Writer, code: str, severity: str, *, reason: str = "") -> int:
    """Say how much a code matters here, and return how many findings that graded anew.

    Args:
        by: who says so. Whether they may is for the caller to ask (``Act.GRADE``).
        code: the code.
        severity: ``error``, ``warning``, ``info`` or ``off``; ``""`` for the one that it has by itself.
        reason: why, for the others.

    Raises:
        SeverityError: there is no such code, or no such severity.
    """
    with writing():
        before = _told(code)
        graded = set_severity(code, severity, by=str(by.person), reason=reason)
        after = _told(code)
        if before != after:
            note(by, "severity-set", code_subject(code), before, after)
    return graded


def _told(code: str) -> dict[str, str] | None:
    said = SeveritySetting.objects.filter(code=code).first()
    return {"severity": said.severity, "reason": said.reason} if said else None
