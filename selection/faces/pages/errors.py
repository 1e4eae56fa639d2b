"""When there is no such thing: a page that names what may have been meant."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.store.lookup import find_cluster, names_near

__all__ = ["missing_object"]


def missing_object(request: HttpRequest, cluster: str, kind: str, namespace: str, name: str) -> HttpResponse:
    """Answer 404 for an object that isn't known, with names near it.

    Args:
        request: the request.
        cluster: the cluster's name as it stands in the address.
        kind: what was asked for; for a runtime or a model either of its kinds.
        namespace: its namespace, ``""`` for a cluster-scoped one.
        name: its name.
    """
    context = {
        "cluster": cluster,
        "known_cluster": find_cluster(cluster),
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "near": names_near(cluster, kind, name),
    }
    return render(request, "errors/missing.html", context, status=404)
