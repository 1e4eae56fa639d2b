"""What changes add up to: those of the last day, and those that belong to one object."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet
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
        lost: how many of them lost their runtime, and got no other one in the same step.
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
    """The changes of the last hours or days, of all clusters. Three queries, whatever happened."""
    since = (now or timezone.now()) - within
    rows = Change.objects.filter(at__gte=since).order_by()
    what = Change.What
    marks = {
        "lost": Count("pk", filter=Q(what=what.RUNTIME, after="")),
        "came": Count("pk", filter=Q(what=what.SERVICE, before="")),
        "went": Count("pk", filter=Q(what=what.SERVICE, after="")),
    }
    services = rows.values("cluster_id", "namespace", "service").annotate(**marks)
    any_of = {name: Count("service", filter=Q(**{f"{name}__gt": 0})) for name in marks}
    counts = services.aggregate(services=Count("service"), **{f"any_{name}": each for name, each in any_of.items()})
    return RecentChanges(
        since=since,
        services=counts["services"],
        lost=counts["any_lost"],
        came=counts["any_came"],
        went=counts["any_went"],
        last_at=Change.objects.order_by("-at").values_list("at", flat=True).first(),
        followed=Cluster.objects.filter(followed=True).exists(),
    )


def changes_by_what(rows: QuerySet[Change]) -> dict[str, int]:
    """How many of these changes are of each kind, those without any left out. One query."""
    counted = dict(rows.order_by().values_list("what").annotate(Count("pk")))
    return {what: counted[what] for what in Change.What.values if counted.get(what)}


def felt_by(cluster: Cluster, ref: ObjectRef) -> QuerySet[Change]:
    """The changes of a service; of any other object those that its own changes caused."""
    rows = Change.objects.filter(cluster=cluster).order_by()
    if ref.kind == "InferenceService":
        return rows.filter(namespace=ref.namespace, service=ref.name)
    return rows.filter(cause__in=object_changes(cluster, ref).order_by().values("pk"))
