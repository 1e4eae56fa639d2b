"""How long each page takes on the server, and how many queries it makes, on the fleet in the database."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from bench.api import api_addresses
from bench.measure import median, percentile, stopwatch
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.orders import make_order
from selection.faces.urls import urlpatterns
from selection.store.models import Cluster, Finding, ModelResult, RuntimeResult, ServiceResult, StoredObject
from selection.store.upgrades import compute_preview

__all__ = ["first_looks", "measure_pages"]

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "40"))
"""How often each page is asked for."""

Draw = Callable[[Cluster, random.Random], Sequence[str]]


def _drawn(rows: Any, dice: random.Random, count: int) -> list[Any]:
    """As many rows, drawn by lot, each once as long as there are enough."""
    found = sorted(rows)
    return [place for _ in range(-(-count // len(found))) for place in dice.sample(found, len(found))][:count]


def _services(cluster: Cluster, dice: random.Random, outcome: str = "") -> list[tuple[str, str]]:
    """Services of different questions: of each model and namespace one. Of one outcome, where there are any."""
    every = ServiceResult.objects.filter(cluster=cluster)
    rows = every.filter(outcome=outcome) if every.filter(outcome=outcome).exists() else every
    one = {(namespace, model): name for namespace, model, name in rows.values_list("namespace", "model_name", "name")}
    return _drawn([(namespace, name) for (namespace, _), name in one.items()], dice, ROUNDS)


def _runtimes(cluster: Cluster, dice: random.Random) -> list[tuple[str, str]]:
    rows = RuntimeResult.objects.filter(cluster=cluster).order_by("-selected_by")
    return _busiest_first(rows, dice)


def _models(cluster: Cluster, dice: random.Random) -> list[tuple[str, str]]:
    return _busiest_first(ModelResult.objects.filter(cluster=cluster).order_by("-services"), dice)


def _busiest_first(rows: QuerySet[Any], dice: random.Random) -> list[tuple[str, str]]:
    """The two that most services use, and others drawn by lot."""
    names = rows.values_list("namespace", "name")
    found = [*names[:2], *_drawn(names, dice, ROUNDS)][:ROUNDS]
    return [(namespace or CLUSTER_SCOPE, name) for namespace, name in found]


def _on_the_way(cluster: Cluster, dice: random.Random) -> list[tuple[str, str]]:
    """Services that have something left to do, in every state; any service where there is none."""
    every = ServiceResult.objects.filter(cluster=cluster)
    moving = every.filter(components__migration__gt="").distinct()
    return _drawn((moving if moving.exists() else every).values_list("namespace", "name"), dice, ROUNDS)


def _to_move(cluster: Cluster, dice: random.Random) -> list[tuple[str, str]]:
    """Runtimes that refer to LeaderWorkerSet; any runtime where there is none."""
    every = RuntimeResult.objects.filter(cluster=cluster, problem="")
    moving = every.filter(references__gt=0)
    names = _drawn((moving if moving.exists() else every).values_list("namespace", "name"), dice, ROUNDS)
    return [(namespace or CLUSTER_SCOPE, name) for namespace, name in names]


def _clustered(cluster: Cluster, dice: random.Random) -> list[tuple[str, str]]:
    """Runtimes that are candidates everywhere."""
    rows = RuntimeResult.objects.filter(cluster=cluster, namespace="", problem="").values_list("name", flat=True)
    return [(CLUSTER_SCOPE, name) for name in _drawn(rows, dice, ROUNDS)]


def _objects(cluster: Cluster, dice: random.Random) -> list[tuple[str, ...]]:
    rows = StoredObject.objects.filter(cluster=cluster).values_list("kind", "namespace", "name")
    return [(kind, scope or CLUSTER_SCOPE, name) for kind, scope, name in _drawn(rows, dice, ROUNDS)]


_OF_ONE_PERSON = frozenset({"set-password", "token-revoke", "account-of"})
"""Pages of one account or token, which no fleet makes larger."""


def addresses(cluster: Cluster) -> Iterator[tuple[str, list[str]]]:
    """Each page's name and ``ROUNDS`` addresses of it, of objects drawn by lot, and a few ways to ask for a list.

    Raises:
        AssertionError: a page needs arguments that nobody told this module how to choose.
    """
    dice = random.Random(1)
    services, clustered = _services(cluster, dice), _clustered(cluster, dice)
    selected = _services(cluster, dice, "auto-selected")
    models = _models(cluster, dice)
    arguments: dict[str, Sequence[tuple[str, ...]]] = {
        "service": services,
        "candidate": [(*of, *runtime) for of, runtime in zip(selected, clustered, strict=True)],
        "runtime": _runtimes(cluster, dice),
        "model": models,
        "model-candidate": [(*of, *runtime) for of, runtime in zip(models, clustered, strict=True)],
        "object": _objects(cluster, dice),
        "compare-candidates": services,
        "service-plan": _on_the_way(cluster, dice),
        "runtime-plan": _to_move(cluster, dice),
        "cluster-settings": [()] * ROUNDS,
        "cluster-forget": [()] * ROUNDS,
    }
    for pattern in urlpatterns:
        name = str(getattr(pattern, "name", ""))
        if name in _OF_ONE_PERSON:
            continue
        if name in arguments:
            yield name, [reverse(name, args=[cluster.name, *of]) for of in arguments[name]]
        elif name == "finding":
            keys = _drawn(Finding.objects.filter(cluster=cluster).values_list("key", flat=True), dice, ROUNDS)
            yield name, [reverse(name, args=[key]) for key in keys]
        elif pattern.pattern.converters:
            raise AssertionError(f"say in {__name__} which addresses of the page {name} to measure")
        else:
            yield name, [reverse(name)] * ROUNDS
    yield (
        "compare services, two",
        [_compared("services", cluster, *pair) for pair in pairwise([services[-1], *services])],
    )
    yield "compare models, two", [_compared("models", cluster, *pair) for pair in pairwise([models[-1], *models])]
    nothing = _services(cluster, dice, "no-runtime")
    yield "service, no runtime", [reverse("service", args=[cluster.name, *of]) for of in nothing]
    yield "service, as JSON", [f"{reverse('service', args=[cluster.name, *of])}?format=json" for of in services]
    for name, query in (
        ("services, searched", "q=service-0+model"),
        ("services, by runtime, last page", "group=runtime&page=100000"),
        ("services, of a namespace, as JSON", "namespace=team-00&format=json"),
        ("conflicts, by runtime", "group=runtime"),
        ("findings, by object, last page", "group=object&page=100000"),
        ("findings, there or gone, new", "state=any&since=24h"),
        ("matrix, of a namespace", "namespace=team-00"),
        ("matrix, of a model", f"model={models[0][1]}"),
        ("migration, runtimes", "view=runtimes"),
        ("clusters, unreadable", "view=unreadable"),
        ("search, what everything has", "q=e"),
        ("search, a piece of many names", "q=service-0"),
        ("search, of a kind", "q=kind:runtime+runtime-1"),
    ):
        yield name, [f"{reverse(name.partition(',')[0])}?{query}"] * ROUNDS


def _compared(what: str, cluster: Cluster, *sides: Sequence[str]) -> str:
    """The address that compares two objects of the cluster, each a scope and a name."""
    a, b = ("/".join((cluster.name, *side)) for side in sides)
    return f"{reverse(f'compare-{what}')}?{urlencode({'a': a, 'b': b})}"


class _Counter:
    """Counts queries, at next to no cost: the time is measured in the same request."""

    def __init__(self) -> None:
        self.queries = 0

    def __call__(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        self.queries += 1
        return execute(sql, params, many, context)


def _get(client: Client, path: str) -> tuple[float, float, int]:
    """Milliseconds by the clock and of the processor, and queries."""
    counter = _Counter()
    if not connection.settings_dict["CONN_MAX_AGE"]:
        connection.close()  # as between two requests to the server
    with connection.execute_wrapper(counter), stopwatch() as watch:
        response = client.get(path)
        if response.streaming:
            b"".join(response.streaming_content)  # type: ignore[attr-defined]
    if response.status_code != 200:
        raise AssertionError(f"{path}: {response.status_code}")
    return watch.seconds * 1000, watch.cpu * 1000, counter.queries


def _client() -> Client:
    return Client(SERVER_NAME=settings.ALLOWED_HOSTS[0])


def measure_pages(cluster: Cluster) -> dict[str, dict[str, float]]:
    """The 50th and 95th percentile of each page in milliseconds, and the most queries it made."""
    client = _client()
    found = {}
    make_order(cluster)  # else a thread makes it beside the pages that are measured
    compute_preview(cluster)  # likewise
    for name, paths in chain(addresses(cluster), api_addresses(cluster, client, ROUNDS)):
        client.get(paths[-1])  # compiles the templates
        times, spent, queries = zip(*(_get(client, path) for path in paths), strict=True)
        found[name] = {
            "p50_ms": percentile(times, 50),
            "p95_ms": percentile(times, 95),
            "cpu_p50_ms": percentile(spent, 50),
            "cpu_p95_ms": percentile(spent, 95),
            "queries": max(queries),
        }
    return found


def first_looks(cluster: Cluster) -> dict[str, float]:
    """What the first explanation costs in a process that has yet to read the fleet, and after each change of it."""
    client = _client()
    client.get(reverse("overview"))
    services = [reverse("service", args=[cluster.name, *of]) for of in _services(cluster, random.Random(3))]
    first, _, _ = _get(client, services[0])
    after = []
    kinds = ("InferenceService", "ClusterServingRuntime", "ClusterBaseModel", "Deployment")
    for place, path in enumerate(services[1 : ROUNDS // 2 + 2]):
        # As if it had been read anew with another resourceVersion.
        rows = StoredObject.objects.filter(cluster=cluster, kind=kinds[place % len(kinds)]).order_by("name")
        row = rows[place % rows.count()]
        cluster.refresh_from_db()
        cluster.generation += 1
        row.generation = cluster.generation
        row.manifest["metadata"]["resourceVersion"] = str(place)
        row.save()
        cluster.save()
        after.append(_get(client, path)[0])
    return {"first_ms": first, "after_change_p50_ms": median(after), "after_change_p95_ms": percentile(after, 95)}
