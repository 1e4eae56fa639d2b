"""Services × runtimes of a namespace or of a model: who gets what, and what keeps the others away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from selection.faces.exports import EXPORTS, export
from selection.faces.links import object_url
from selection.faces.pages.errors import missing_object
from selection.rules.fleet import Fleet
from selection.rules.matrix import Asking, Cell, Row, askings, cells, columns, fill, others
from selection.rules.objects import ObjectRef, Runtime, Service
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster
from selection.store.models import Cluster
from selection.store.results import namespaces_of, service_clusters

__all__ = ["matrix", "matrix_url"]

ROWS = 15
"""Rows of a page."""

COLUMNS = 40
"""Runtimes of a page that stand in a column of their own; the others are counted."""

SHORT = {
    "disabled": "off",
    "accelerator-class": "class",
    "engine-deployment-mode": "mode",
    "decoder-deployment-mode": "mode",
    "model-format": "format",
    "model-size": "size",
    "auto-select": "auto",
    "entry-not-auto-select": "auto",
    "score": "score",
}
"""A cell is narrow: each check in one short word."""


@dataclass(frozen=True, slots=True)
class Column:
    """A runtime, with its address and the end of the address of each candidate."""

    runtime: Runtime
    url: str
    tail: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell as it is drawn: its address, the code with a short word, and its rank."""

    url: str
    code: str
    short: str
    rank: int | None
    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it is drawn. ``first`` is the service that its links lead to; the others ask the same."""

    row: Row
    first: Service
    rest: tuple[Service, ...]
    cells: list[Drawn]


def matrix_url(cluster: str, **query: str) -> str:
    """The matrix of a cluster's ``namespace`` or ``model``."""
    return f"{reverse('matrix')}?{urlencode({'cluster': cluster, **query})}"


@require_GET
def matrix(request: HttpRequest) -> HttpResponseBase:
    """``/matrix/?cluster=…&namespace=…`` or ``&model=…`` (a name); both together narrow further.

    ``&also=excluded`` has a column for every runtime that serves a model here, ``&page=`` turns the pages.
    ``&format=csv|json`` sends every cell of every page.
    """
    query = request.GET
    clusters = service_clusters()
    name = query.get("cluster", "") or (clusters[0] if clusters else "")
    cluster = find_cluster(name)
    if cluster is None:
        if query.get("cluster"):
            return missing_object(request, name, "Cluster", "", name)
        return render(request, "matrix/page.html", {"clusters": clusters})
    namespace, model = query.get("namespace", "").strip(), query.get("model", "").strip()
    chosen: dict[str, Any] = {
        "cluster": cluster,
        "clusters": clusters,
        "namespaces": namespaces_of(cluster),
        "namespace": namespace,
        "model": model,
        "also": query.get("also") == "excluded",
    }
    if not namespace and not model:
        return render(request, "matrix/page.html", chosen)
    fleet = fleet_of(cluster)
    asked, without = askings(fleet, _services(fleet, namespace, model))
    form = query.get("format", "")
    if form in EXPORTS:
        rows = fill(fleet, asked)
        return export(form, "matrix", _KEYS, _exported(rows, columns(rows, excluded=chosen["also"])))
    unreadable = [] if model else _unreadable(fleet, namespace)
    return _page(request, cluster, fleet, asked, {**chosen, "without": without, "unreadable": unreadable})


def _services(fleet: Fleet, namespace: str, model: str) -> Iterator[Service]:
    for (scope, _), service in fleet.services.items():
        if (not namespace or scope == namespace) and (not model or service.model_name == model):
            yield service


def _unreadable(fleet: Fleet, namespace: str) -> list[ObjectRef]:
    """The services of the namespace that can't be read: what they ask for isn't known."""
    return sorted(ref for ref in fleet.problems if ref.kind == "InferenceService" and ref.namespace == namespace)


def _page(
    request: HttpRequest, cluster: Cluster, fleet: Fleet, asked: list[Asking], chosen: dict[str, Any]
) -> HttpResponse:
    page: Page[Asking] = Paginator(asked, ROWS).get_page(request.GET.get("page"))
    rows = fill(fleet, list(page.object_list))
    every = columns(rows, excluded=chosen["also"])
    told = every[:COLUMNS]
    drawn = [Column(each, url, _tail(url)) for each in told for url in [_url(cluster, each.ref)]]
    context = {
        **chosen,
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1),
        "columns": drawn,
        "hidden_columns": len(every) - len(told),
        "lines": [_line(cluster, row, drawn) for row in rows],
        "others": others(fleet, rows, every) if rows else None,
        "services": sum(len(each.services) for each in asked),
        "query": _query(request.GET),
    }
    return render(request, "matrix/page.html", context)


def _query(query: QueryDict) -> str:
    """The address's query without the page, for links to other pages and exports."""
    kept = [(name, query[name]) for name in ("cluster", "namespace", "model", "also") if query.get(name)]
    return urlencode(kept)


def _url(cluster: Cluster, ref: ObjectRef) -> str:
    return object_url(cluster.name, ref.kind, ref.namespace, ref.name)


def _tail(url: str) -> str:
    """Scope and name at the end of a runtime's address: what a candidate's address ends with."""
    return "/".join(url.split("/")[-3:])


def _line(cluster: Cluster, row: Row, drawn: Sequence[Column]) -> Line:
    first, *rest = row.asking.services
    url = _url(cluster, first.ref)
    found = [
        _drawn(cell, url, column)
        for cell, column in zip(cells(row, [each.runtime for each in drawn]), drawn, strict=True)
    ]
    return Line(row, first, tuple(rest), found)


def _drawn(cell: Cell, service: str, column: Column) -> Drawn:
    url = f"{service}candidates/{column.tail}" if service and column.url and cell.code != "absent" else ""
    return Drawn(url, cell.code, SHORT.get(cell.code, ""), cell.rank, column.runtime.ref.name)


_KEYS = ("namespace", "services", "model", "named", "runtime_kind", "runtime_namespace", "runtime", "code", "rank")


def _exported(rows: Sequence[Row], runtimes: Sequence[Runtime]) -> Iterator[dict[str, object]]:
    for row in rows:
        for cell, runtime in zip(cells(row, runtimes), runtimes, strict=True):
            yield {
                "namespace": row.asking.namespace,
                "services": [service.ref.name for service in row.asking.services],
                "model": row.asking.model.ref.name,
                "named": row.asking.named,
                "runtime_kind": runtime.ref.kind,
                "runtime_namespace": runtime.ref.namespace,
                "runtime": runtime.ref.name,
                "code": cell.code,
                "rank": cell.rank,
            }
