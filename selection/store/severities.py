"""How much each code matters here: the registry's severity, unless this installation says otherwise.

What it says is in the database, so that every process goes by the same, and it is in force at once for what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from selection.rules.codes import CODES, SETTABLE, Code, urgency_of

from .holding import hold_clusters
from .models import Finding, SeveritySetting
from .sight import EVERYTHING, seeing

__all__ = ["Graded", "SeverityError", "grade_of", "grades", "set_severity", "severities"]


class SeverityError(ValueError):
    """A code that isn't known, or a severity that doesn't exist."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A code with the severity in force, and the setting that says so, if one does."""

    code: Code
    severity: str
    setting: SeveritySetting | None = None

    @property
    def changed(self) -> bool:
        """Whether this installation says otherwise than the registry."""
        return self.severity != self.code.severity


def severities() -> Mapping[str, str]:
    """The severity in force of every code. One query."""
    said = dict(SeveritySetting.objects.filter(severity__in=SETTABLE).values_list("code", "severity"))
    return {code: said.get(code, each.severity) for code, each in CODES.items()}


def grades() -> list[Graded]:
    """Every code with the severity in force, in the registry's order. One query."""
    said = {row.code: row for row in SeveritySetting.objects.filter(severity__in=SETTABLE)}
    return [
        Graded(each, said[code].severity if code in said else each.severity, said.get(code))
        for code, each in CODES.items()
    ]


def grade_of(code: str) -> Graded | None:
    """One code with the severity in force; None for one that isn't known any more. One query."""
    known = CODES.get(code)
    if known is None:
        return None
    said = SeveritySetting.objects.filter(code=code, severity__in=SETTABLE).first()
    return Graded(known, said.severity if said else known.severity, said)


def set_severity(code: str, severity: str, *, by: str = "", reason: str = "") -> int:
    """Say how much a code matters here, and grade what is kept of it anew; return how many findings that were.

    What was seen of them stays as it is. In one transaction that no evaluation overlaps.

    Args:
        code: the code.
        severity: ``error``, ``warning``, ``info`` or ``off``; ``""`` for the registry's again.
        by: who says so.
        reason: why, for the others.

    Raises:
        SeverityError: there is no such code, or no such severity.
    """
    known = CODES.get(code)
    if known is None:
        raise SeverityError(f"{code!r} is no code of a finding")
    if severity and severity not in SETTABLE:
        raise SeverityError(f"{severity!r} is no severity; there are {', '.join(SETTABLE)}")
    with transaction.atomic(), seeing(EVERYTHING):
        hold_clusters()  # who evaluates reads the settings after it has its cluster's row
        if severity:
            values = {"severity": severity, "by": by[:150], "reason": reason[:500], "at": timezone.now()}
            SeveritySetting.objects.update_or_create(code=code, defaults=values)
        else:
            SeveritySetting.objects.filter(code=code).delete()
        now = severity or known.severity
        differing = Finding.objects.filter(code=code).exclude(severity=now)
        return differing.update(severity=now, urgency=urgency_of(code, now))
