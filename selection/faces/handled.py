"""Findings with what people do with them, in one query: what their list shows, filters and exports."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from django.db.models import JSONField, OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.utils import timezone

from selection.faces.listing import Column
from selection.people.models import Handling
from selection.people.standings import Standing, standing
from selection.store.findings import finding_rows
from selection.store.models import Finding

__all__ = ["HANDLED", "handled_rows", "owned_by", "standing_of"]

_FIELDS = ("owner", "state", "reason", "expires_on", "evidence", "decided_by", "decided_at", "version")


def handled_rows() -> QuerySet[Finding]:
    """Every finding with its cluster and, as ``handled``, what people wrote of it."""
    written = Handling.objects.filter(key=OuterRef("key")).order_by()
    told = written.values(told=JSONObject(**{name: name for name in _FIELDS}))
    return finding_rows().annotate(handled=Subquery(told[:1], output_field=JSONField()))


def owned_by(findings: QuerySet[Finding], owner: str | None) -> QuerySet[Finding]:
    """Those that somebody of this name owns; with ``""`` nobody, with None anybody."""
    owned = Handling.objects.exclude(owner="").order_by().values("key")
    if owner:  # few: a database begins with them
        return findings.filter(key__in=owned.filter(owner=owner))
    return findings.filter(key__in=owned) if owner is None else findings.exclude(key__in=owned)


def standing_of(finding: Finding) -> Standing:
    """Where a row of :func:`handled_rows` stands today."""
    told: dict[str, Any] | None = getattr(finding, "handled", None)
    if told is None:
        return standing(finding, None, timezone.now().date())
    expires_on = date.fromisoformat(told["expires_on"][:10]) if told["expires_on"] else None
    row = Handling(**{**told, "key": finding.key, "expires_on": expires_on, "decided_at": _moment(told["decided_at"])})
    return standing(finding, row, timezone.now().date())


def _wrote(name: str, empty: object = "") -> Any:
    """What an export says of a field that people wrote."""
    return lambda row: (getattr(row, "handled", None) or {}).get(name, empty)


def _moment(text: str | None) -> datetime | None:
    """A moment as a database puts it into JSON: SQLite leaves UTC out."""
    if not text:
        return None
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


HANDLED = (
    Column("decision", "", value=lambda row: standing_of(row).state),
    Column("lapsed", "", value=lambda row: standing_of(row).lapsed),
    Column("owner", "", value=_wrote("owner")),
    Column("reason", "", value=_wrote("reason")),
    Column("expires_on", "", value=_wrote("expires_on", None)),
    Column("decided_by", "", value=_wrote("decided_by")),
    Column("decided_at", "", value=lambda row: _moment(_wrote("decided_at")(row))),
)
"""What an export of findings says of what people do with each."""
