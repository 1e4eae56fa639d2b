"""BaseModels and ClusterBaseModels: what each is, and which runtimes qualify for it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from selection.faces.api.explanations import Explanation
from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.missing import missing, model_named
from selection.faces.api.parameters import query, refused
from selection.faces.api.paths import address, scope_of
from selection.faces.api.services import MORE as MORE_OF_SERVICE
from selection.faces.api.shapes import Shape, flag, number, text, texts
from selection.faces.api.views import ReadView
from selection.faces.pages.model import USERS
from selection.faces.pages.models import MODELS
from selection.rules.explain import explain_model
from selection.rules.explanation import OUTCOMES
from selection.store.basemodels import model_rows, services_of_model
from selection.store.fleets import fleet_of
from selection.store.models import ModelResult, ServiceResult

__all__ = ["ModelDetail", "ModelExplanation", "ModelList", "ModelServices"]


class ModelRow(Shape):
    """A model."""

    cluster = text("The cluster.")
    kind = text("`BaseModel` or `ClusterBaseModel`.")
    namespace = text('The namespace, `""` for a ClusterBaseModel.')
    name = text("The name.")
    format = text("Its format.")
    framework = text("Its framework.")
    architecture = text("Its architecture.")
    quantization = text("Its quantization.")
    size = text("Its size in parameters, as it is written.")
    disabled = flag("Whether it is disabled.")
    matchable = flag("Whether it says its format, without which nothing can be matched.")
    qualified = number("How many runtimes qualify for it in its own scope.")
    first = text("The runtime that comes first for it there.")
    first_kind = text("That runtime's kind.")
    services = number("How many services use it.")
    problem = text("Why it can't be read.")
    self = text('The path of this resource; `""` for what no path can say.')


def _address(row: ModelResult) -> str:
    return address("model", {"cluster": row.cluster.name, "scope": scope_of(row.namespace), "name": row.name})


MORE: More = {"self": _address}


class ModelList(ListView):
    """List models.

    Every BaseModel and ClusterBaseModel of every cluster.
    """

    operation, tag = "listModels", "models"
    row, shape = ModelRow, list_shape(ModelRow)
    listing, more = MODELS, MORE
    identity, by = ("cluster__name", "kind", "namespace", "name"), "cluster, kind, namespace and name"

    def rows(self, **names: str) -> QuerySet[ModelResult]:
        """Every model that is seen."""
        return model_rows()


class ModelDetail(ReadView):
    """Read a model.

    The same as its row in the list.
    """

    operation, tag, shape = "readModel", "models", ModelRow

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The model's row."""
        return row_value(model_named(**names), MODELS, wanted, MORE)


class ModelExplanation(ReadView):
    """Explain a model.

    What a service gets that names the model and asks for nothing else: which runtimes qualify, in which order, and why
    the others don't. What `manage.py explain --model` prints.
    """

    operation, tag, shape = "explainModel", "models", Explanation
    takes = (
        query(
            "namespace",
            "Where a ClusterBaseModel is judged; without it only the cluster's own runtimes are candidates.",
            {"type": "string", "minLength": 1, "maxLength": 253},
        ),
    )

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The explanation, computed now."""
        row = model_named(**names)
        namespace = self.request.query_params.get("namespace")
        if namespace is not None and (not 1 <= len(namespace) <= 253 or row.namespace not in {"", namespace}):
            raise refused("namespace", "It is the name of a namespace, and a BaseModel is judged in its own.")
        try:
            return explain_model(fleet_of(row.cluster), row.namespace or namespace or "", row.name).to_dict()
        except LookupError:  # the row is older than the objects: it goes with the next evaluation
            raise missing(row.kind, row.cluster.name, row.namespace, row.name) from None


class ModelUser(Shape):
    """A service that uses the model."""

    cluster = text("The cluster.")
    namespace = text("The namespace.")
    name = text("The name.")
    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    runtime = text('The name of the runtime that it gets, `""` without one.')
    runtime_kind = text("That runtime's kind.")
    runtime_namespace = text('That runtime\'s namespace, `""` for a ClusterServingRuntime.')
    score = number("The runtime's score in automatic selection; null when it was named or there is none.", null=True)
    conflicts = texts("The codes of its mode conflicts.")
    self = text('The path of the service; `""` for what no path can say.')


class ModelServices(ListView):
    """List the services that use a model."""

    operation, tag = "listServicesOfModel", "models"
    row, shape = ModelUser, list_shape(ModelUser)
    listing, more = USERS, MORE_OF_SERVICE
    identity, by = ("namespace", "name"), "namespace and name"

    def rows(self, **names: str) -> QuerySet[ServiceResult]:
        """Every service that uses it, and is seen."""
        return services_of_model(model_named(**names))
