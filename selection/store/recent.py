"""What changes add up to: those of the last day, and those that belong to one object."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from selection.rules.objects import ObjectRef

from .models import Change, Cluster
from .timeline import object_changes

__all__ = ["RecentChanges", "changes_by_what", "felt_by", "recent_changes"]


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The changes since a moment, in numbers.

    Attributes:
        since: the moment.
        services: how many services changed.
        lost: how many of them lost their runtime, and have got none since.
        came: how many are new.
        went: how many are gone.
        last_at: when the last change was, also before ``since``; None when none is known.
        followed: whether a cluster is followed, so that changes are noticed as they happen.
    """

    since: datetime
    services: int
    lost: int
    came: int
    went: int
    last_at: datetime | None
    followed: bool


def recent_changes(within: timedelta, *, now: datetime | None = None) -> RecentChanges:
    """The changes of the last hours or days, of all clusters. Four queries, whatever happened."""
    since = (now or timezone.now()) - within
    rows = Change.objects.filter(at__gte=since).order_by()
    what = Change.What
    # What is lost and found again isn't lost: only the last change of its kind tells. Losses are few, so that each
    # can be asked whether another change came after it; grouping what happened to ten thousand services costs more.
    # Without the moment SQLite would go through all of the cluster's later changes.
    same = {name: OuterRef(name) for name in ("cluster_id", "namespace", "service", "what")}
    last = ~Exists(Change.objects.filter(**same, at__gte=OuterRef("at"), pk__gt=OuterRef("pk")).order_by())
    marks = {
        "lost": Q(what=what.RUNTIME, after=""),
        "came": Q(what=what.SERVICE, before=""),
        "went": Q(what=what.SERVICE, after=""),
    }
    counts = rows.filter(marks["lost"] | marks["came"] | marks["went"]).filter(last)
    return RecentChanges(
        since=since,
        services=rows.values("cluster_id", "namespace", "service").distinct().count(),
        last_at=Change.objects.order_by("-at").values_list("at", flat=True).first(),
        followed=Cluster.objects.filter(followed=True).exists(),
        **counts.aggregate(**{name: Count("pk", filter=mark) for name, mark in marks.items()}),
    )


def changes_by_what(rows: QuerySet[Change]) -> dict[str, int]:
    """How many of these changes are of each kind, those without any left out. One query."""
    counted = dict(rows.order_by().values_list("what").annotate(Count("pk")))
    return {what: counted[what] for what in Change.What.values if counted.get(what)}


def felt_by(cluster: Cluster, ref: ObjectRef) -> QuerySet[Change]:
    """The changes of a service; of any other object those that its own changes caused."""
    rows = Change.objects.order_by()
    if ref.kind == "InferenceService":
        return rows.filter(cluster=cluster, namespace=ref.namespace, service=ref.name)
    return rows.filter(cause__in=object_changes(cluster, ref).order_by().values("pk"))
