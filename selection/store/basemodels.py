"""Reads models: the rows of their list, one model, and the services that use it."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from .models import ModelResult, RuntimeResult, ServiceResult

__all__ = ["find_model_row", "model_rows", "namespaces_for_model", "services_of_model"]


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


def namespaces_for_model(model: ModelResult) -> list[tuple[str, int]]:
    """The namespaces in which a ClusterBaseModel may come to another answer, and how many services use it there.

    They are those with services that use it and those with ServingRuntimes of their own.
    """
    own = RuntimeResult.objects.filter(cluster=model.cluster_id, kind="ServingRuntime")
    found = dict.fromkeys(own.order_by("namespace").values_list("namespace", flat=True).distinct(), 0)
    found.update(services_of_model(model).order_by().values_list("namespace").annotate(Count("pk")))
    return sorted(found.items())
