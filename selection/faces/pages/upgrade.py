"""The preview of the upgrade from v1.2 to v1.3: go or no-go, and what changes for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.exports import EXPORTS, export
from selection.faces.pages.errors import missing_object
from selection.faces.upgrading import KEYS, WITH_NEXT, lines, markdown, side_text, verdict_text
from selection.faces.words import word
from selection.rules.upgrade import UPGRADES, ObjectUpgrade, RuntimeMoves, ServiceUpgrade, UpgradePreview
from selection.store.lookup import find_cluster
from selection.store.models import Cluster
from selection.store.results import service_clusters
from selection.store.upgrades import compute_preview, preview_of

__all__ = ["upgrade"]

ROWS = 25
"""Rows of a page: each has several sentences and a command."""

VIEWS = {"services": "Services", "runtimes": "Runtimes whose services move", "objects": "Fields and annotations"}


@require_GET
def upgrade(request: HttpRequest) -> HttpResponseBase:
    """``/upgrade/?cluster=…``; ``&view=runtimes|objects``, ``&code=``, ``&q=`` and ``&page=`` narrow what is listed.

    ``&format=csv|json|markdown`` sends everything, of the cluster as it stands. Without a cluster it is the first one
    that runs v1.2, else the first.
    """
    query = request.GET
    clusters = service_clusters()
    name = query.get("cluster", "") or _first(clusters)
    cluster = find_cluster(name)
    if cluster is None:
        if query.get("cluster"):
            return missing_object(request, name, "Cluster", "", name)
        return render(request, "upgrade/page.html", {})
    form = query.get("format", "")
    if form in {*EXPORTS, "markdown"}:
        return _exported(form, cluster)
    found = preview_of(cluster)
    values: dict[str, Any] = {"cluster": cluster, "clusters": clusters, "query": _query(query)}
    if found is None:
        return render(request, "upgrade/page.html", values)
    preview = found.preview
    view = query.get("view", "")
    view = view if view in VIEWS else "services"
    values |= {
        "preview": preview,
        "verdict": verdict_text(preview),
        "stale": not found.of(cluster),
        "severities": [(word("upgrade", code), count) for code, count in preview.severities.items()],
        "codes": _codes(preview, query.get("code", "")),
        "view": view,
        "views": [(key, label, len(getattr(preview, key))) for key, label in VIEWS.items()],
        **_listed(preview, view, query),
    }
    return render(request, "upgrade/page.html", values)


def _first(clusters: Sequence[str]) -> str:
    """The cluster that is looked at when none is asked for: one that has the upgrade before it."""
    old = Cluster.objects.filter(name__in=clusters, ome_version="1.2").order_by("name").values_list("name", flat=True)
    return old.first() or (clusters[0] if clusters else "")


def _exported(form: str, cluster: Cluster) -> HttpResponseBase:
    preview = compute_preview(cluster).preview
    if form == "markdown":
        return HttpResponse(
            markdown(cluster.name, preview),
            content_type="text/markdown; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="upgrade.md"'},
        )
    return export(form, "upgrade", KEYS, lines(cluster.name, preview))


def _query(query: QueryDict) -> str:
    """The address's query without the page, for links to other pages."""
    return urlencode([(name, query[name]) for name in ("cluster", "view", "code", "q") if query.get(name)])


def _codes(preview: UpgradePreview, asked: str) -> list[dict[str, Any]]:
    return [
        {
            "code": code,
            "word": word("upgrade", code),
            "severity": word("upgrade", UPGRADES[code]),
            "count": count,
            "held": held,
            "current": code == asked,
            "view": "services"
            if any(code == each.code for row in preview.services for each in row.changes)
            else "objects",
        }
        for code, (count, held) in preview.counts.items()
    ]


def _listed(preview: UpgradePreview, view: str, query: QueryDict) -> dict[str, Any]:
    """The rows of the page asked for, and how many the filters leave."""
    code, words = query.get("code", ""), query.get("q", "").lower().split()
    every: Sequence[ServiceUpgrade | RuntimeMoves | ObjectUpgrade] = getattr(preview, view)
    kept = [each for each in every if _fits(each, code, words)]
    page = Paginator(kept, ROWS).get_page(query.get("page"))
    return {
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1),
        "rows": [_row(each) for each in page.object_list],
        "code": code,
        "q": query.get("q", ""),
        "filtered": len(kept) != len(every),
    }


def _fits(each: ServiceUpgrade | RuntimeMoves | ObjectUpgrade, code: str, words: Sequence[str]) -> bool:
    if isinstance(each, ServiceUpgrade):
        ref, codes = each.service, {change.code for change in each.changes}
    elif isinstance(each, ObjectUpgrade):
        ref, codes = each.object, {each.change.code}
    else:
        ref, codes = each.runtime, {code}
    name = f"{ref.namespace}/{ref.name}".lower()
    return (not code or code in codes) and all(part in name for part in words)


def _row(each: ServiceUpgrade | RuntimeMoves | ObjectUpgrade) -> dict[str, Any]:
    if not isinstance(each, ServiceUpgrade):
        return {"row": each, "next": isinstance(each, ObjectUpgrade) and each.change.code in WITH_NEXT}
    changes = [
        {"change": change, "held": each.held(change), "next": change.code in WITH_NEXT} for change in each.changes
    ]
    return {"row": each, "changes": changes, "before": side_text(each.before), "after": side_text(each.after)}
