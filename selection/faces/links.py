"""Where an object's page is. Kinds without a page of their own have the page of their manifest."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from selection.rules.objects import ObjectRef

__all__ = ["CLUSTER_SCOPE", "candidate_url", "manifest_url", "object_url"]

CLUSTER_SCOPE = "-"
"""Stands for the namespace of a cluster-scoped object in an address; never a legal namespace."""

_PAGES = {
    "InferenceService": "service",
    "ServingRuntime": "runtime",
    "ClusterServingRuntime": "runtime",
    "BaseModel": "model",
    "ClusterBaseModel": "model",
}


def object_url(cluster: str, kind: str, namespace: str, name: str) -> str:
    """The page of an object of a cluster (its name); ``namespace`` is ``""`` for a cluster-scoped one.

    It is ``""`` for what no address can say, such as a name with a slash: it is shown without a link then.
    """
    page = _PAGES.get(kind)
    if page is None:
        return manifest_url(cluster, kind, namespace, name)
    return _reverse(page, cluster, namespace or CLUSTER_SCOPE, name)


def manifest_url(cluster: str, kind: str, namespace: str, name: str, **query: str) -> str:
    """The page of an object's manifest; ``query`` may hold ``mark`` (paths) or ``download``."""
    url = _reverse("object", cluster, kind, namespace or CLUSTER_SCOPE, name)
    return f"{url}?{urlencode(query)}" if query and url else url


def candidate_url(cluster: str, subject: ObjectRef, runtime: ObjectRef, namespace: str = "") -> str:
    """The page of what it would take for a runtime to be selected for a service, or for a model.

    ``namespace`` is where a ClusterBaseModel is judged. ``""`` for what no address can say.
    """
    page = "candidate" if subject.kind == "InferenceService" else "model-candidate"
    scopes = [each.namespace or CLUSTER_SCOPE for each in (subject, runtime)]
    url = _reverse(page, cluster, scopes[0], subject.name, scopes[1], runtime.name)
    return f"{url}?{urlencode({'namespace': namespace})}" if url and namespace and not subject.namespace else url


def _reverse(page: str, *args: str) -> str:
    try:
        return reverse(page, args=args)
    except NoReverseMatch:
        return ""
