"""The list of runtimes: what each is for, what it declares, and who gets it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import RuntimeFilter
from selection.faces.lists import Column, Group, Listing, show_list
from selection.store.runtimes import runtime_rows

__all__ = ["RUNTIMES", "runtimes"]

RUNTIMES = Listing(
    name="runtimes",
    noun="runtime",
    filters=RuntimeFilter,
    columns=(
        Column("cluster", "", value="cluster.name"),
        Column("kind", "", value="kind"),
        Column("namespace", "", value="namespace"),
        Column("name", "Runtime", ("name", "namespace", "cluster__name"), "name"),
        Column("disabled", "", value="disabled"),
        Column("profile", "", value="profile"),
        Column("auto_select", "Selection", ("auto_select", "disabled"), "auto_select"),
        Column("formats", "Formats", ("formats",), "formats"),
        Column("size_range", "Model sizes", value="size_range"),
        Column("engine_mode", "Declares", ("engine_mode", "decoder_mode", "router_mode"), "engine_mode"),
        Column("decoder_mode", "", value="decoder_mode"),
        Column("router_mode", "", value="router_mode"),
        Column("parent", "Inherits from", ("parent",), "parent"),
        Column("chain_problem", "", value="chain_problem"),
        Column("services", "Services", ("services",), "services", numeric=True),
        Column("selected_by", "", value="selected_by"),
        Column("named_by", "", value="named_by"),
        Column("references", "LWS", ("references",), "references", numeric=True),
        Column("problem", "", value="problem"),
    ),
    row="runtimes/row.html",
    empty="runtimes/empty.html",
    sort="name",
    groups={
        "cluster": Group("cluster", ("cluster__name",)),
        "scope": Group("scope", ("kind", "namespace")),
        "formats": Group("formats", ("formats",)),
    },
)


@require_GET
def runtimes(request: HttpRequest) -> HttpResponseBase:
    """The page of runtimes, ``/runtimes/``."""
    return show_list(request, RUNTIMES, runtime_rows(), "runtimes/page.html")
