"""Where a finding stands with people: what was decided, and whether that still holds.

It follows from the decision, the date and the finding as it is now, and is asked each time, so that it is right at
every moment and no job has to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.db.models import Q, QuerySet
from django.db.models.expressions import Exists, OuterRef

from selection.store.models import Finding

from .models import Handling

__all__ = ["LAPSES", "STATES", "Standing", "in_state", "standing"]

STATES = ("open", "in-progress", "accepted", "fixed")
"""``fixed``: the finding is gone, whoever did it."""

LAPSES = ("expired", "evidence-changed")
"""Why an acceptance doesn't hold any more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a finding stands.

    Attributes:
        state: one of :data:`STATES`.
        lapsed: why a decision that was made doesn't hold any more, one of :data:`LAPSES`, or ``""``.
        handling: what people wrote, None when nobody did anything.
    """

    state: str
    lapsed: str = ""
    handling: Handling | None = None


def standing(finding: Finding | None, handling: Handling | None, today: date) -> Standing:
    """Where a finding stands on a day (UTC). A finding that isn't kept any more is gone.

    >>> from selection.people.models import Handling
    >>> accepted = Handling(state="accepted", evidence="a", expires_on=date(2026, 12, 31))
    >>> there = Finding(evidence="a")
    >>> standing(there, accepted, date(2026, 12, 31)).state, standing(there, accepted, date(2027, 1, 1)).lapsed
    ('accepted', 'expired')
    >>> standing(Finding(evidence="b"), accepted, date(2026, 12, 1)).lapsed
    'evidence-changed'
    """
    if finding is None or finding.gone_at is not None:
        return Standing("fixed", "", handling)
    if handling is None:
        return Standing("open")
    if handling.state != Handling.State.ACCEPTED:
        return Standing(handling.state, "", handling)
    if handling.expires_on is not None and handling.expires_on < today:
        return Standing("open", "expired", handling)
    if handling.evidence != finding.evidence:
        return Standing("open", "evidence-changed", handling)
    return Standing("accepted", "", handling)


def in_state(findings: QuerySet[Finding], state: str, today: date) -> QuerySet[Finding]:
    """The findings that stand so on a day; the same as :func:`standing` says of each, by the database.

    Besides :data:`STATES`, ``lapsed`` are those whose acceptance doesn't hold any more.
    """
    if state == "fixed":
        return findings.filter(gone_at__isnull=False)
    # By their keys where few are meant, so that a database may begin with them.
    written = Handling.objects.order_by()
    accepted = written.filter(state=Handling.State.ACCEPTED)
    on_time = accepted.filter(Q(expires_on__isnull=True) | Q(expires_on__gte=today))
    holds = Exists(on_time.filter(key=OuterRef("key"), evidence=OuterRef("evidence")))
    there = findings.filter(gone_at__isnull=True)
    if state == "accepted":
        return there.filter(holds, key__in=on_time.values("key"))
    if state == "in-progress":
        return there.filter(key__in=written.filter(state=Handling.State.IN_PROGRESS).values("key"))
    if state == "lapsed":
        return there.filter(~holds, key__in=accepted.values("key"))
    begun = written.filter(state=Handling.State.IN_PROGRESS)
    return there.exclude(key__in=begun.values("key")).exclude(Q(key__in=on_time.values("key")) & Q(holds))
