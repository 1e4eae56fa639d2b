"""Whether something about a few objects is newer than what somebody has seen of them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Model, Q

from selection.rules.objects import ObjectRef

from .models import Cluster, ModelResult, RuntimeResult, ServiceResult, StoredObject

__all__ = ["changed_since"]

RUNTIMES = ("ServingRuntime", "ClusterServingRuntime")
MODELS = ("BaseModel", "ClusterBaseModel")


def changed_since(cluster: Cluster, refs: Sequence[ObjectRef], *, generation: int, evaluated: int) -> bool:
    """Say whether one of the objects, or an answer about it, changed. At most three queries for each object.

    An object that isn't there counts as changed, for it may have been there. Of a runtime and of a model the answers
    are also those of the services that have it.

    Args:
        cluster: their cluster.
        refs: the objects.
        generation: the cluster's generation whose objects were seen.
        evaluated: the one whose answers were seen.
    """
    return any(_object_changed(cluster, ref, generation) or _answers_changed(cluster, ref, evaluated) for ref in refs)


def _object_changed(cluster: Cluster, ref: ObjectRef, generation: int) -> bool:
    found = StoredObject.objects.filter(cluster=cluster, kind=ref.kind, namespace=ref.namespace, name=ref.name)
    newest = found.values_list("generation", flat=True).first()
    return newest is None or newest > generation


def _answers_changed(cluster: Cluster, ref: ObjectRef, evaluated: int) -> bool:
    if ref.kind == "InferenceService":
        return _exists(ServiceResult, cluster, evaluated, Q(namespace=ref.namespace, name=ref.name))
    own = Q(kind=ref.kind, namespace=ref.namespace, name=ref.name)
    if ref.kind in RUNTIMES:
        uses = Q(selected_kind=ref.kind, selected_namespace=ref.namespace, selected_name=ref.name)
        result: type[Model] = RuntimeResult
    elif ref.kind in MODELS:
        uses = Q(model_kind=ref.kind, model_namespace=ref.namespace, model_name=ref.name)
        result = ModelResult
    else:
        return False
    return _exists(result, cluster, evaluated, own) or _exists(ServiceResult, cluster, evaluated, uses)


def _exists(model: type[Model], cluster: Cluster, evaluated: int, rows: Q) -> bool:
    return bool(model._default_manager.filter(rows, cluster=cluster, generation__gt=evaluated).exists())
