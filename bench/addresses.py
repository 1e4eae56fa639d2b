"""The addresses of the pages that are measured: of objects drawn by lot, of the busiest, and of lists as people ask."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse

from bench.addresses_written import NOT_MEASURED, SIGNED_IN, written_addresses
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.urls import urlpatterns
from selection.store.models import Cluster, ModelResult, RuntimeResult, ServiceResult, StoredObject

__all__ = ["ROUNDS", "addresses", "services_of"]

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "40"))
"""How often each page is asked for."""


def _drawn(rows: Any, dice: random.Random, count: int) -> list[Any]:
    """As many rows, drawn by lot, each once as long as there are enough."""
    found = sorted(rows)
    return [place for _ in range(-(-count // len(found))) for place in dice.sample(found, len(found))][:count]


def services_of(cluster: Cluster, dice: random.Random, outcome: str = "") -> list[tuple[str, str]]:
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


def addresses(cluster: Cluster) -> Iterator[tuple[str, list[str]]]:
    """Each page's name and ``ROUNDS`` addresses of it, of objects drawn by lot, and a few ways to ask for a list.

    Raises:
        AssertionError: a page needs arguments that nobody told this module how to choose.
    """
    dice = random.Random(1)
    services, clustered = services_of(cluster, dice), _clustered(cluster, dice)
    selected = services_of(cluster, dice, "auto-selected")
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
    written = written_addresses(cluster, ROUNDS)
    for pattern in urlpatterns:
        name = str(getattr(pattern, "name", ""))
        if name in NOT_MEASURED or name in SIGNED_IN or name in written:
            continue
        if name in arguments:
            yield name, [reverse(name, args=[cluster.name, *of]) for of in arguments[name]]
        elif pattern.pattern.converters:
            raise AssertionError(f"say in {__name__} which addresses of the page {name} to measure")
        else:
            yield name, [reverse(name)] * ROUNDS
    yield from written.items()
    yield (
        "compare services, two",
        [_compared("services", cluster, *pair) for pair in pairwise([services[-1], *services])],
    )
    yield "compare models, two", [_compared("models", cluster, *pair) for pair in pairwise([models[-1], *models])]
    nothing = services_of(cluster, dice, "no-runtime")
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
        ("findings, by name", "sort=name"),
        ("findings, searched", "q=service-0"),
        ("findings, searched for what few have", "q=Family07"),
        ("findings, that somebody owns", "decision=in-progress"),
        ("changes, by cause", "group=cause"),
        ("changes, by service, last page", "group=service&page=100000"),
        ("changes, by day", "group=day"),
        ("changes, deep", "page=1000"),
        ("changes, of a day, by service", "since=24h&sort=service"),
        ("changes, searched", "q=service-0"),
        ("acts, last page", "page=100000"),
        ("search, what everything has", "q=e"),
        ("search, a piece of many names", "q=service-0"),
        ("search, of a kind", "q=kind:runtime+runtime-1"),
    ):
        yield name, [f"{reverse(name.partition(',')[0])}?{query}"] * ROUNDS


def _compared(what: str, cluster: Cluster, *sides: Sequence[str]) -> str:
    """The address that compares two objects of the cluster, each a scope and a name."""
    a, b = ("/".join((cluster.name, *side)) for side in sides)
    return f"{reverse(f'compare-{what}')}?{urlencode({'a': a, 'b': b})}"
