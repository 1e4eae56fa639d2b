"""Finding what an address names, or saying that it isn't there."""

from __future__ import annotations

from selection.faces.api.paths import namespace_of
from selection.faces.api.problems import NotFound
from selection.store.basemodels import find_model_row
from selection.store.lookup import find_cluster
from selection.store.models import Cluster, ModelResult, RuntimeResult
from selection.store.runtimes import find_runtime_row

__all__ = ["cluster_named", "missing", "model_named", "runtime_named"]


def missing(kind: str, cluster: str, namespace: str, name: str) -> NotFound:
    """Says that a cluster has no such object."""
    place = f"{namespace}/{name}" if namespace else name
    return NotFound(f"There is no {kind} {place} in {cluster}.")


def cluster_named(name: str) -> Cluster:
    """The cluster of that name.

    Raises:
        NotFound: there is none.
    """
    found = find_cluster(name)
    if found is None:
        raise NotFound(f"There is no cluster {name}.")
    return found


def runtime_named(cluster: str, scope: str, name: str) -> RuntimeResult:
    """The row of a runtime.

    Raises:
        NotFound: there is none.
    """
    namespace = namespace_of(scope)
    try:
        return find_runtime_row(cluster, namespace, name)
    except RuntimeResult.DoesNotExist:
        kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
        raise missing(kind, cluster, namespace, name) from None


def model_named(cluster: str, scope: str, name: str) -> ModelResult:
    """The row of a model.

    Raises:
        NotFound: there is none.
    """
    namespace = namespace_of(scope)
    try:
        return find_model_row(cluster, namespace, name)
    except ModelResult.DoesNotExist:
        raise missing("BaseModel" if namespace else "ClusterBaseModel", cluster, namespace, name) from None
