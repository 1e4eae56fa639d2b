"""Clusters: how each is followed, how reading went kind by kind, and the objects that can't be judged."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import KindFilter, UnreadableFilter
from selection.faces.lists import Column, Listing, ListState, show_list
from selection.faces.pages.declare import may_declare
from selection.store.health import cluster_health, kind_rows, unreadable_objects

__all__ = ["KINDS", "UNREADABLE", "clusters"]

KINDS = Listing(
    name="kinds",
    noun="kind",
    filters=KindFilter,
    columns=(
        Column("kind", "Kind", ("kind",), "kind"),
        Column("cluster", "Cluster", ("cluster__name",), "cluster.name"),
        Column("outcome", "State", ("trouble", "outcome"), "outcome"),
        Column("watched", "", value=lambda row: bool(row.watched)),
        Column("objects", "Objects", ("object_count",), "object_count", numeric=True),
        Column("listed_at", "Last complete list", ("listed_at",), "listed_at"),
        Column("last_event_at", "Last event", ("last_event_at",), "last_event_at"),
        Column("events", "Events", ("events",), "events", numeric=True),
        Column("attempted_at", "", value="attempted_at"),
        Column("confirmed_at", "", value="confirmed_at"),
        Column("reason", "Reason, and what to do", value="reason"),
        Column("watch_trouble", "", value="watch_trouble"),
        Column("resource_version", "", value="resource_version"),
    ),
    row="clusters/kind.html",
    empty="clusters/empty.html",
    sort="outcome",
)

UNREADABLE = Listing(
    name="unreadable",
    noun="object",
    filters=UnreadableFilter,
    columns=(
        Column("kind", "Kind", ("kind",), "kind"),
        Column("cluster", "", value="cluster.name"),
        Column("namespace", "", value="namespace"),
        Column("name", "Object", ("name", "namespace", "cluster__name"), "name"),
        Column("path", "Where", ("problem_path",), "problem_path"),
        Column("reason", "What is wrong", value="problem_message"),
    ),
    row="clusters/unreadable.html",
    empty="clusters/empty_unreadable.html",
    sort="kind",
)


@require_GET
def clusters(request: HttpRequest) -> HttpResponseBase:
    """The page of clusters, ``/clusters/``; ``?view=unreadable`` lists the objects that can't be judged."""
    view = "unreadable" if request.GET.get("view") == "unreadable" else "kinds"
    listing = UNREADABLE if view == "unreadable" else KINDS
    rows: QuerySet[Any] = unreadable_objects() if view == "unreadable" else kind_rows()

    def context(state: ListState) -> dict[str, Any]:
        found = cluster_health()
        return {
            "view": view,
            "clusters": found,
            "may": may_declare(request),
            "changeable": {each.cluster.name for each in found if may_declare(request, each.cluster.name)},
            "kinds": sum(each.kinds for each in found),
            "failed": sum(each.failed for each in found),
            "unreadable": sum(each.unreadable for each in found),
            "unreached": [each.cluster.name for each in found if each.cluster.sync_error],
            "left": [each.cluster.name for each in found if each.state == "left"],
        }

    return show_list(request, listing, rows, "clusters/page.html", context)
