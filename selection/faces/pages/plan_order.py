"""The order in which a cluster's services leave MultiNode: what goes first, what together, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.cli.output import as_json
from selection.faces.exports import export
from selection.faces.migrating import copy_diff, copy_text
from selection.faces.orders import Ordered, order_of
from selection.faces.pages.migration import progress_values, tab_values
from selection.faces.pages.plan_parts import download
from selection.faces.plan_markdown import order_markdown
from selection.faces.tables import TURNS, WAVES, asked_table, turn_rows, wave_rows
from selection.rules.migration_order import FleetOrder, Wave
from selection.rules.objects import ObjectRef
from selection.rules.service_plan import ServicePlan
from selection.store.waiting import clusters_on_the_way

__all__ = ["PAGE", "SHOWN", "migration_order"]

SHOWN = 10
"""So many services of a wave, and runtimes, stand on the page before a reader asks for all of them."""

PAGE = 50
"""So many services of one wave stand on a page."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A wave as the page shows it."""

    wave: Wave
    plans: list[ServicePlan]
    hidden: int


@require_GET
def migration_order(request: HttpRequest) -> HttpResponseBase:
    """The page, ``/migration/order/``: of ``?cluster=``, or of the one with most services on the way.

    ``?wave=`` shows one wave page by page, ``?runtimes=all`` every runtime; ``?format=markdown`` sends everything,
    with each service's steps, and ``?format=json`` what ``manage.py migrate-plan -o json`` prints.
    ``?table=waves|runtimes&format=csv|json`` sends one of its tables whole; ``?format=csv`` is the waves.
    """
    clusters = clusters_on_the_way()
    name = request.GET.get("cluster", "")
    cluster = next((each for each in clusters if each.name == name), None) if name else next(iter(clusters), None)
    if name and cluster is None:
        raise Http404(f"No cluster is named {name}.")
    ordered = order_of(cluster) if cluster is not None else None
    table = asked_table(request, "waves", "runtimes")
    if ordered is not None and table and table[0] == "waves":
        return export(table[1], "migration-waves", WAVES, wave_rows(ordered.order))
    if ordered is not None and table:
        return export(table[1], "migration-runtimes", TURNS, turn_rows(ordered.order.runtimes))
    form = request.GET.get("format", "")
    if cluster is not None and ordered is not None and form in {"markdown", "json"}:
        return _export(form, cluster.name, ordered.order)
    context: dict[str, Any] = {
        **tab_values("order"),
        **progress_values(cluster),
        "cluster": cluster,
        "clusters": clusters,
        "ordered": ordered,
    }
    if ordered is not None:
        context |= _context(request.GET, ordered)
    return render(request, "plan/order.html", context)


def _context(query: Mapping[str, str], ordered: Ordered) -> dict[str, Any]:
    order = ordered.order
    plans = {plan.service: plan for plan in order.plans}
    chosen = next((wave for wave in order.waves if wave.kind == query.get("wave")), None)
    runtimes = order.runtimes if query.get("runtimes") == "all" else order.runtimes[:SHOWN]
    return {
        "order": order,
        "ready": sum(plan.ready for plan in order.plans),
        "parts": [_part(wave, plans) for wave in order.waves],
        "chosen": chosen,
        "page": _page(chosen, plans, query.get("page", "1")) if chosen else None,
        "runtimes": () if chosen else runtimes,
        "runtimes_hidden": 0 if chosen else len(order.runtimes) - len(runtimes),
    }


def _part(wave: Wave, plans: Mapping[ObjectRef, ServicePlan]) -> _Part:
    shown = [plans[ref] for ref in wave.services[:SHOWN]]
    return _Part(wave, shown, len(wave.services) - len(shown))


def _page(wave: Wave, plans: Mapping[ObjectRef, ServicePlan], number: str) -> Page[Any]:
    return Paginator([plans[ref] for ref in wave.services], PAGE).get_page(number)


def _export(form: str, cluster: str, order: FleetOrder) -> HttpResponse:
    if form == "json":
        return HttpResponse(as_json(order.to_dict()), content_type="application/json")
    copies = {turn.copy.runtime: turn.copy for turn in order.runtimes if turn.copy is not None}
    texts = {ref: (copy_text(copy), copy_diff(copy)) for ref, copy in copies.items()}
    return download("markdown", f"off-multinode-{cluster}", order_markdown(order, texts, cluster))
