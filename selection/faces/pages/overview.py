"""The overview: is the fleet all right, and what needs a person?"""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from selection.store.attention import Concern, concerns
from selection.store.findings import severity_counts
from selection.store.freshness import freshness
from selection.store.overview import overview as count_everything

__all__ = ["overview"]

#: The list that holds all rows of a concern, and the filter that picks them.
_LISTS = {
    "outcome": ("services", "outcome"),
    "conflict": ("conflicts", "code"),
    "migration": ("migration", "state"),
}
_OTHER_LISTS = {
    "refused": ("services", {"admitted": "false"}),
    "unreadable": ("clusters", {}),
    "broken-chain": ("runtimes", {"trouble": "chain"}),
}


@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    """Counts, what needs a person, and the clusters; ``?cluster=`` looks at one of them."""
    clusters = freshness()
    name = request.GET.get("cluster", "")
    cluster = next((each.cluster for each in clusters if each.cluster.name == name), None)
    if name and cluster is None:
        raise Http404(f"No cluster is named {name}.")
    counts = count_everything(cluster)
    query = {"cluster": name} if name else {}
    return render(
        request,
        "overview/page.html",
        {
            "clusters": clusters,
            "cluster": cluster,
            "counts": counts,
            "findings": severity_counts(cluster),
            "concerns": [(concern, _list_url(concern, query)) for concern in concerns(counts, cluster)],
            "narrow": f"&{urlencode(query)}" if query else "",
        },
    )


def _list_url(concern: Concern, query: dict[str, str]) -> str:
    if concern.family in _LISTS:
        page, parameter = _LISTS[concern.family]
        return f"{reverse(page)}?{urlencode({parameter: concern.code, **query})}"
    page, filters = _OTHER_LISTS[concern.code]
    return f"{reverse(page)}?{urlencode({**filters, **query})}"
