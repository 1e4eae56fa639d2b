"""The list of models: what each is, and which runtime comes first for it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from selection.faces.filters import ModelFilter
from selection.faces.lists import Column, Group, Listing, show_list
from selection.store.basemodels import model_rows

__all__ = ["MODELS", "models"]

MODELS = Listing(
    name="models",
    noun="model",
    filters=ModelFilter,
    columns=(
        Column("cluster", "", value="cluster.name"),
        Column("kind", "", value="kind"),
        Column("namespace", "", value="namespace"),
        Column("name", "Model", ("name", "namespace", "cluster__name"), "name"),
        Column("format", "Format", ("format", "framework"), "format"),
        Column("framework", "", value="framework"),
        Column("architecture", "Architecture", ("architecture", "quantization"), "architecture"),
        Column("quantization", "", value="quantization"),
        Column("size", "Size", value="size", numeric=True),
        Column("disabled", "", value="disabled"),
        Column("matchable", "", value="matchable"),
        Column("qualified", "Qualify", ("qualified",), "qualified", numeric=True),
        Column("first", "First runtime", ("first_name",), "first_name"),
        Column("first_kind", "", value="first_kind"),
        Column("services", "Services", ("services",), "services", numeric=True),
        Column("problem", "", value="problem"),
    ),
    row="models/row.html",
    empty="models/empty.html",
    sort="name",
    groups={
        "cluster": Group("cluster", ("cluster__name",)),
        "format": Group("format", ("format",)),
        "architecture": Group("architecture", ("architecture",)),
    },
)


@require_GET
def models(request: HttpRequest) -> HttpResponseBase:
    """The page of models, ``/models/``."""
    return show_list(request, MODELS, model_rows(), "models/page.html")
