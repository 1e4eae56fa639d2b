"""As of what an answer is: what its ETag is made of.

Whatever the interface tells of clusters follows from their objects, whose generation grows with each change, from the
rules, and from what the one who asks may see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from ome_dashboard import __version__
from selection.people.models import ActRecord
from selection.store.freshness import freshness
from selection.store.models import Cluster
from selection.store.sight import sight_key

__all__ = ["etag", "of_answers", "of_people", "of_reading"]

_ANSWERS = (
    "pk",
    "name",
    "generation",
    "evaluated_generation",
    "answers_generation",
    "evaluated_version",
    "ome_version",
)


def of_answers(cluster: str = "") -> Hashable:
    """The state of the objects and answers of one cluster (its name), or of all. One query."""
    rows = Cluster.objects.order_by("pk")
    return tuple((rows.filter(name=cluster) if cluster else rows).values_list(*_ANSWERS))


def of_people() -> Hashable:
    """The state of everything that people wrote, and the day, as acceptances end with one. One query."""
    newest = ActRecord._base_manager.order_by("-pk").values_list("pk", flat=True).first()
    return newest, timezone.now().date()


def of_reading() -> Hashable:
    """The state of everything that is known of clusters, how reading goes included. One query."""
    return tuple(
        (
            *(getattr(each.cluster, column.attname) for column in each.cluster._meta.concrete_fields),
            *(each.listed_at, each.newest_at, each.last_event_at, each.failed, each.read, each.watched, each.held),
        )
        for each in freshness()
    )


def etag(request: HttpRequest, *parts: Hashable) -> str:
    """A weak ETag of what this request asks for, in a state."""
    user: Any = getattr(request, "user", None)
    asked: Sequence[Hashable] = (request.get_full_path(), getattr(user, "pk", None), repr(_sorted(sight_key())))
    told = repr((__version__, *asked, *parts))
    return f'W/"{hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]}"'


def _sorted(places: Any) -> Any:
    """A sight whose text is the same in every process."""
    if places is None:
        return None
    return [(each.pk, None if each.namespaces is None else sorted(each.namespaces)) for each in places]
