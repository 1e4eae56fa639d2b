"""Where an object's page is. Kinds without a page of their own have the page of their manifest."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

__all__ = ["CLUSTER_SCOPE", "manifest_url", "object_url"]

CLUSTER_SCOPE = "-"
"""Stands for the namespace of a cluster-scoped object in an address; never a legal namespace."""

_PAGES = {
    "ServingRuntime": "runtime",
    "ClusterServingRuntime": "runtime",
    "BaseModel": "model",
    "ClusterBaseModel": "model",
}


def object_url(cluster: str, kind: str, namespace: str, name: str) -> str:
    """The page of an object of a cluster (its name); ``namespace`` is ``""`` for a cluster-scoped one."""
    if kind == "InferenceService":
        return reverse("service", args=[cluster, namespace or CLUSTER_SCOPE, name])
    page = _PAGES.get(kind)
    if page is None:
        return manifest_url(cluster, kind, namespace, name)
    return reverse(page, args=[cluster, namespace or CLUSTER_SCOPE, name])


def manifest_url(cluster: str, kind: str, namespace: str, name: str, **query: str) -> str:
    """The page of an object's manifest; ``query`` may hold ``mark`` (paths) or ``download``."""
    url = reverse("object", args=[cluster, kind, namespace or CLUSTER_SCOPE, name])
    return f"{url}?{urlencode(query)}" if query else url
