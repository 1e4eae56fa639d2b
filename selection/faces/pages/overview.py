"""The overview: is the fleet all right, and what needs a person?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from selection.faces.exports import EXPORTS, export
from selection.faces.links import manifest_url, object_url
from selection.faces.pictures import columns, parts, steps
from selection.faces.tables import CLUSTERS, STANDS, asked_table, cluster_rows, stand_rows
from selection.faces.telling import plainly_told
from selection.faces.words import word
from selection.rules.migration import STATES
from selection.store.attention import Concern, concerns
from selection.store.daily import progress
from selection.store.findings import severity_counts
from selection.store.freshness import freshness
from selection.store.models import Change, Cluster, Finding
from selection.store.overview import OFF_MULTI_NODE, Overview
from selection.store.overview import overview as count_everything
from selection.store.timeline import changes, changes_per_day

__all__ = ["DAYS", "EXPORTED", "LATEST", "overview"]

DAYS = 14
"""So many days of changes are drawn."""

LATEST = 3
"""The newest change of so many edits is told, with how many more each edit caused."""

LOOKED_AT = 100
"""Among so many of the newest changes they are looked for."""

EXPORTED = 1000
"""So many rows of each kind of concern are exported."""

BARS = 12
"""So many clusters have a bar of their own."""

#: The list that holds all rows of a concern, and the filter that picks them.
_LISTS = {
    "outcome": ("services", "outcome"),
    "conflict": ("conflicts", "code"),
    "migration": ("migration", "state"),
}
_OTHER_LISTS = {
    "pair": ("findings", {"code": "pair"}),  # one of a service; the list of conflicts has each component's
    "unreadable": ("clusters", {"view": "unreadable"}),
    "broken-chain": ("runtimes", {"trouble": "chain"}),
}

#: The states of the migration as they are drawn: those off MultiNode first, the one that is furthest before all.
_WAY = (*OFF_MULTI_NODE, *(state for state in reversed(STATES) if state not in OFF_MULTI_NODE))

#: Where on the object's page the answer stands, and what to call the way there.
_NEXT = {
    "no-runtime": ("selection", "See what keeps each away"),
    "invalid": ("words", "See what OME says"),
    "refused": ("admission", "See what the webhook says"),
    "broken-chain": ("inheritance", "See its parents"),
}

_KINDS = {"InferenceService": "service", "ServingRuntime": "runtime", "ClusterServingRuntime": "runtime"}


@require_GET
def overview(request: HttpRequest) -> HttpResponseBase:
    """Counts, what needs a person, and the clusters; ``?cluster=`` looks at one of them.

    ``?format=csv`` and ``?format=json`` send what needs a person: at most :data:`EXPORTED` of each kind; with
    ``?table=clusters`` the clusters, with ``?table=days`` the progress off MultiNode day by day.
    """
    clusters = freshness()
    name = request.GET.get("cluster", "")
    cluster = next((each.cluster for each in clusters if each.cluster.name == name), None)
    if name and cluster is None:
        raise Http404(f"No cluster is named {name}.")
    counts = count_everything(cluster)
    form = request.GET.get("format", "")
    table, _ = asked_table(request, "needs-a-person", "clusters", "days") or ("", "")
    if table == "clusters":
        return export(form, table, CLUSTERS, cluster_rows(clusters))
    if table == "days":
        return export(form, "off-multi-node", STANDS, stand_rows(progress(cluster)))
    if form in EXPORTS:
        return export(form, "needs-a-person", _KEYS, _exported(concerns(cluster, most=EXPORTED)))
    query = {"cluster": name} if name else {}
    found = concerns(cluster)
    looked_at = [each for each in clusters if cluster in (None, each.cluster)]
    return render(
        request,
        "overview/page.html",
        {
            "clusters": clusters,
            "cluster": cluster,
            "counts": counts,
            "findings": severity_counts(cluster),
            "concerns": [
                (concern, _list_url(concern, query), [(row, *_next(concern, row)) for row in concern.rows])
                for concern in found
            ],
            "waiting": sum(concern.count for concern in found),
            "unsure": [each for each in looked_at if each.problem or each.left],
            "narrow": f"&{urlencode(query)}" if query else "",
            "modes": _modes(counts) if cluster is None and len(clusters) > 1 else (),
            "way": parts(((state, counts.migration.get(state, 0)) for state in _WAY), counts.multi_node),
            **_over_time(cluster),
        },
    )


_KEYS = ("state", "code", "cluster", "kind", "namespace", "name", "component", "what", "next")


def _exported(found: list[Concern]) -> Iterator[dict[str, object]]:
    for concern in found:
        for row in concern.rows:
            cluster = row.cluster.name
            yield {
                "state": word(concern.family, concern.code).label,
                "code": concern.code,
                "cluster": cluster,
                "kind": row.kind,
                "namespace": row.namespace,
                "name": row.name,
                "component": row.component,
                "what": plainly_told(row, cluster),
                "next": plainly_told(row, cluster, "next"),
            }


def _over_time(cluster: Cluster | None) -> dict[str, Any]:
    """What happened: the progress, the changes of each day, and the newest of them. Four queries."""
    newest = changes() if cluster is None else changes().filter(cluster=cluster)
    stands = progress(cluster)
    days = columns(changes_per_day(DAYS), DAYS, timezone.now().date(), cluster.pk if cluster else None)
    return {
        "progress": steps(stands),
        "stands": [stand for before, stand in zip([None, *stands], stands, strict=False) if _told(before, stand)],
        "since": stands[0].day if stands else None,
        "days": days,
        "changed": sum(each.count for each in days),
        "latest": _latest(newest),
    }


def _latest(newest: QuerySet[Change]) -> list[tuple[Change, int]]:
    """The newest change of each of the last edits, and how many more that edit caused. Two queries."""
    found: dict[object, Change] = {}
    for change in newest[:LOOKED_AT]:
        found.setdefault(change.cause_id or change, change)
    shown = list(found.values())[:LATEST]
    causes = [change.cause_id for change in shown if change.cause_id]
    counts = dict(newest.filter(cause__in=causes).order_by().values_list("cause").annotate(Count("pk")))
    return [(change, counts.get(change.cause_id, 1) - 1) for change in shown]


def _told(before: Any, stand: Any) -> bool:
    """Whether a day differs from the one before: the others say nothing new."""
    return before is None or (before.off, before.multi_node) != (stand.off, stand.multi_node)


def _modes(counts: Overview) -> list[dict[str, Any]]:
    """The running modes of each cluster, the largest clusters first."""
    totals: dict[str, int] = {}
    for mode in counts.modes:
        for name, count in mode.clusters.items():
            totals[name] = totals.get(name, 0) + count
    largest = sorted(totals, key=lambda name: (-totals[name], name))[:BARS]
    return [
        {
            "cluster": name,
            "count": totals[name],
            "parts": parts(((mode.mode, mode.clusters.get(name, 0)) for mode in counts.modes), totals[name]),
        }
        for name in largest
    ]


def _next(concern: Concern, row: Finding) -> tuple[str, str]:
    """Where the next step begins, and what to call the way there."""
    there = object_url(row.cluster.name, row.kind, row.namespace, row.name)
    if concern.code == "unreadable":
        return manifest_url(row.cluster.name, row.kind, row.namespace, row.name), "See the manifest"
    if concern.code in _NEXT:
        anchor, text = _NEXT[concern.code]
        return (f"{there}#{anchor}" if there else ""), text
    return (
        f"{there}#{row.component}" if there and row.component else there
    ), f"See the {row.component or _KINDS.get(row.kind, 'object')}"


def _list_url(concern: Concern, query: dict[str, str]) -> str:
    if concern.family in _LISTS and concern.code not in _OTHER_LISTS:
        page, parameter = _LISTS[concern.family]
        return f"{reverse(page)}?{urlencode({parameter: concern.code, **query})}"
    page, filters = _OTHER_LISTS.get(concern.code, ("findings", {"code": concern.code}))
    return f"{reverse(page)}?{urlencode({**filters, **query})}"
