"""Reads models: the rows of their list, one model, and the services that use it."""

from __future__ import annotations

from collections import Counter

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from selection.rules.objects import ObjectRef

from .models import ModelResult, RuntimeResult, ServiceResult

__all__ = [
    "find_model_row",
    "model_rows",
    "models_named_alike",
    "namespaces_for_model",
    "runtimes_of_users",
    "services_of_model",
]


def model_rows() -> QuerySet[ModelResult]:
    """Every model with its cluster."""
    return ModelResult.objects.select_related("cluster")


def find_model_row(cluster: str, namespace: str, name: str) -> ModelResult:
    """The model of that name; ``namespace`` is ``""`` for a ClusterBaseModel.

    Raises:
        ModelResult.DoesNotExist: there is none.
    """
    kind = "BaseModel" if namespace else "ClusterBaseModel"
    return model_rows().get(cluster__name=cluster, kind=kind, namespace=namespace, name=name)


def services_of_model(model: ModelResult) -> QuerySet[ServiceResult]:
    """The services that are matched with this model."""
    return ServiceResult.objects.select_related("cluster").filter(
        cluster=model.cluster_id, model_kind=model.kind, model_namespace=model.namespace, model_name=model.name
    )


def models_named_alike(model: ModelResult, limit: int = 20) -> list[ModelResult]:
    """The models of the same name, those of other clusters first."""
    rows = model_rows().filter(name=model.name).exclude(pk=model.pk)
    rows = rows.annotate(here=ExpressionWrapper(Q(cluster=model.cluster_id), BooleanField()))
    return list(rows.order_by("here", "cluster__name", "namespace")[:limit])


def runtimes_of_users(model: ModelResult) -> dict[ObjectRef, int]:
    """The runtimes that the model's services get, by selection or by name, with how many get each."""
    # Counted here: asked to group, SQLite goes through the services by their runtimes, and so through all of them.
    rows = services_of_model(model).order_by().values_list("selected_kind", "selected_namespace", "selected_name")
    return Counter(ObjectRef(*row) for row in rows if row[0])


def namespaces_for_model(model: ModelResult) -> list[tuple[str, int]]:
    """The namespaces in which a ClusterBaseModel may come to another answer, and how many services use it there.

    They are those with services that use it and those with ServingRuntimes of their own.
    """
    own = RuntimeResult.objects.filter(cluster=model.cluster_id, kind="ServingRuntime")
    found = dict.fromkeys(own.order_by("namespace").values_list("namespace", flat=True).distinct(), 0)
    found.update(services_of_model(model).order_by().values_list("namespace").annotate(Count("pk")))
    return sorted(found.items())
