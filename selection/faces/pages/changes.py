"""Changes: what became different for services, from what to what, and which object's change caused it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import CharField, Count, F, Value
from django.db.models.functions import Cast, Concat, Substr
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters_changes import ChangeFilter
from selection.faces.lists import Column, Group, Listing, ListState, show_list
from selection.faces.words import CHANGES as WORDS
from selection.store.models import Change
from selection.store.recent import changes_by_what, recent_changes
from selection.store.timeline import changes as all_changes

__all__ = ["CHANGES", "changes"]

RANGES = (("1h", "last hour"), ("24h", "24 hours"), ("7d", "7 days"), ("", "any time"))
"""The times that the page offers: the filter's value and its label."""


def _cause(name: str) -> Callable[[Change], object]:
    """What an export says of the object that caused a change; nothing when none did."""
    return lambda row: getattr(row.cause, name) if row.cause is not None else ""


SERVICES = Count(Concat("namespace", Value("/"), "service", output_field=CharField()), distinct=True)

# The first ten characters of a moment in UTC: Django's own way calls Python for each row of SQLite.
DAY = Substr(Cast("at", CharField()), 1, 10)

# By the cluster's name a hundred thousand rows would be sorted, where by its key an index is followed.
CHANGES = Listing(
    name="changes",
    noun="change",
    filters=ChangeFilter,
    columns=(
        Column("at", "When", ("at",), "at"),
        Column("cluster", "", value="cluster.name"),
        Column("namespace", "", value="namespace"),
        Column("service", "Service", ("cluster_id", "namespace", "service"), "service"),
        Column("what", "What changed", ("what", "component"), "what"),
        Column("component", "", value="component"),
        Column("before", "", value="before"),
        Column("after", "", value="after"),
        Column("cause", "Cause, and what differed", ("cause__name", "cause__namespace", "cause__kind")),
        Column("cause_kind", "", value=_cause("kind")),
        Column("cause_namespace", "", value=_cause("namespace")),
        Column("cause_name", "", value=_cause("name")),
        Column("cause_act", "", value=_cause("act")),
        Column("cause_at", "", value=_cause("at")),
        Column("cause_old_version", "", value=_cause("old_version")),
        Column("cause_new_version", "", value=_cause("new_version")),
        Column("differences", "", value=_cause("differences")),
        Column("more_differences", "", value=_cause("more_differences")),
        Column("other_causes", "", value="other_causes"),
        Column("reason", "", value="reason"),
    ),
    row="changes/row.html",
    empty="changes/empty.html",
    sort="-at",
    groups={
        "cause": Group(
            "cause",
            ("cluster_id", "cause_id", "reason"),
            (F("cause_id").desc(nulls_last=True),),
            heading="changes/cause_heading.html",
            totals={"services": SERVICES},
        ),
        "service": Group("service", ("cluster_id", "namespace", "service"), heading="changes/service_heading.html"),
        "day": Group("day", ("day",), ("-day",)),
    },
    summary="changes/summary.html",
)


@require_GET
def changes(request: HttpRequest) -> HttpResponseBase:
    """The page of changes, ``/changes/``."""
    return show_list(request, CHANGES, all_changes().annotate(day=DAY), "changes/page.html", _context)


def _context(state: ListState) -> dict[str, Any]:
    """What the last day adds up to, and the count of each kind of change that the other filters leave."""
    counts = changes_by_what(state.narrowed_without("what"))
    total = sum(counts.values())
    if not state.query.get("what"):
        state.counted = total
    since = state.query.get("since", "")
    return {
        "recent": recent_changes(timedelta(days=1)),
        "keep_days": settings.KEEP_CHANGES_DAYS,
        "kinds": [(what, counts[what], what == state.query.get("what", "")) for what in WORDS if what in counts],
        "all_kinds": total,
        "ranges": [(value, label, value == since) for value, label in RANGES],
    }
