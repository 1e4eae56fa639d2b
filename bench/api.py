"""The addresses of the REST interface that are measured: each list, deep in it too, and what is computed when asked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.test import Client
from django.urls import reverse

from selection.faces.api.paths import scope_of
from selection.faces.api.urls import urlpatterns
from selection.people.models import Comment, Handling, Review, ReviewItem
from selection.store.models import Change, Cluster, ModelResult, RuntimeResult, ServiceResult, StoredObject

__all__ = ["api_addresses"]

LISTS: Mapping[str, tuple[str, ...]] = {
    "services": ("", "sort=-score", "q=service-0+model", "outcome=no-runtime&fields=namespace,name,message"),
    "runtimes": ("", "sort=-services"),
    "models": ("", "sort=qualified"),
    "conflicts": ("", "sort=runtime"),
    "findings": ("", "sort=name"),
    "changes": ("", "sort=service"),
    "objects": ("", "kind=InferenceService&q=service-0", "readable=false"),
    "comments": ("",),
    "reviews": ("",),
    "acts": ("",),
    "kinds": ("",),
    "clusters": ("",),
    "migration-components": ("", "sort=-running"),
    "migration-runtimes": ("",),
}
"""Each list, and what it is asked for."""

DEEP = ("services", "objects", "conflicts", "findings", "changes", "comments", "acts", "migration-components")
"""Lists of which a page is measured that is far from the first."""

FAR = 12
"""So many pages of :data:`MOST` rows are passed over, where there are so many."""

MOST = 500
NOT_MEASURED = frozenset({"review-compare"})
"""What needs another one to compare with; the page of it is measured."""


def _far(client: Client, name: str) -> str:
    """The query of a page deep in a list."""
    query = ""
    following: str | None = f"{reverse(f'api-v1:{name}')}?limit={MOST}&fields=cluster"
    for _ in range(FAR):
        if following is None:
            break
        page = json.loads(client.get(following).content)
        following = page["next"]
        query = f"cursor={page['next_cursor']}" if following else query
    return query


def api_addresses(cluster: Cluster, client: Client, rounds: int) -> Iterator[tuple[str, list[str]]]:
    """Each resource's name and ``rounds`` addresses of it, of objects drawn by lot.

    Raises:
        AssertionError: a resource needs names that nobody told this module how to choose.
    """
    dice = random.Random(2)
    drawn = {name: list(islice(_drawn(rows, dice), rounds)) for name, rows in _named(cluster).items()}
    for pattern in urlpatterns:
        name, takes = str(pattern.name), set(pattern.pattern.converters)
        if name in NOT_MEASURED or not hasattr(getattr(pattern.callback, "cls", None), "get"):  # it takes a body
            continue
        if not takes and name not in LISTS:
            yield f"api: {name}", [reverse(f"api-v1:{name}")] * rounds
        elif not takes:
            path = reverse(f"api-v1:{name}")
            asked = {query: query for query in LISTS[name]} | ({"far": _far(client, name)} if name in DEEP else {})
            for told, query in asked.items():
                yield f"api: {name}{', ' * bool(told)}{told}", [f"{path}?{query}"] * rounds
        elif takes <= {"cluster"}:
            yield f"api: {name}", [reverse(f"api-v1:{name}", kwargs={"cluster": cluster.name})] * rounds
        else:
            found = [_address(cluster, name, takes, names) for names in drawn[_of(name, takes)]]
            if found:  # nothing may have changed yet
                yield f"api: {name}", found


def _of(name: str, takes: set[str]) -> str:
    """Which kind of object an address names."""
    if takes == {"id"}:
        return "change"
    for own in ("comment", "key", "item", "review"):
        if own in takes and takes <= {own, "review"}:
            return own
    if takes == {"cluster", "kind"}:
        return "kind"
    if "kind" in takes:
        return "object"
    found = "service" if "namespace" in takes else "model" if name.startswith("model") else "runtime"
    if not takes <= {"cluster", "namespace", "scope", "name"}:
        raise AssertionError(f"say in {__name__} which addresses of {name} to measure")
    return found


def _address(cluster: Cluster, name: str, takes: set[str], names: Mapping[str, Any]) -> str:
    told = {"cluster": cluster.name, **names}
    return reverse(f"api-v1:{name}", kwargs={key: told[key] for key in takes})


def _drawn(rows: list[Mapping[str, Any]], dice: random.Random) -> Iterator[Mapping[str, Any]]:
    while rows:
        yield from dice.sample(rows, len(rows))


def _named(cluster: Cluster) -> dict[str, list[Mapping[str, Any]]]:
    """The names of what there is; services of each model and namespace one."""
    services = ServiceResult.objects.filter(cluster=cluster).values_list("namespace", "model_name", "name")
    one = {(namespace, model): name for namespace, model, name in services}
    objects = StoredObject.objects.filter(cluster=cluster).values_list("kind", "namespace", "name")[:5000]
    scoped: dict[str, list[Mapping[str, Any]]] = {
        kind: [
            {"scope": scope_of(namespace), "name": name}
            for namespace, name in rows.objects.filter(cluster=cluster, problem="").values_list("namespace", "name")
        ]
        for kind, rows in (("runtime", RuntimeResult), ("model", ModelResult))
    }
    items = ReviewItem.objects.order_by("-place").values_list("review", "key")
    return {
        "service": [{"namespace": namespace, "name": name} for (namespace, _), name in one.items()],
        **scoped,
        "object": [{"kind": kind, "scope": scope_of(namespace), "name": name} for kind, namespace, name in objects],
        "kind": [{"kind": kind} for kind in cluster.kinds.values_list("kind", flat=True)],
        "comment": [{"comment": pk} for pk in Comment.objects.order_by("pk").values_list("pk", flat=True)[:500]],
        "key": [{"key": key} for key in Handling.objects.order_by("key").values_list("key", flat=True)[:500]],
        "item": [{"review": review, "item": key} for review, key in items[:500]],
        "review": [{"review": pk} for pk in Review.objects.order_by("pk").values_list("pk", flat=True)],
        "change": [{"id": pk} for pk in Change.objects.order_by("-pk").values_list("pk", flat=True)[:500]],
    }
