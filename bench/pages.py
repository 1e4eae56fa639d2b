"""How long each page takes on the server, and how many queries it makes, on the fleet in the database."""

from __future__ import annotations

import random
from collections.abc import Iterator

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from bench.measure import Measurement, stopwatch
from selection.faces.links import CLUSTER_SCOPE
from selection.store.models import Cluster, StoredObject

__all__ = ["addresses", "measure_pages"]

ROUNDS = 20
#: Milliseconds at the 95th percentile.
LIMIT = 100.0

LISTS = ("overview", "services", "conflicts", "migration", "runtimes", "models", "clusters")
#: The page of one object, and the kind whose objects it shows.
DETAILS = {"service": "InferenceService", "runtime": "ClusterServingRuntime", "model": "ClusterBaseModel"}


def addresses(cluster: Cluster) -> Iterator[tuple[str, list[str]]]:
    """Each page's name and the addresses to ask for, ``ROUNDS`` of them; details of objects drawn by lot."""
    dice = random.Random(1)
    for name in LISTS:
        yield name, [reverse(name)] * ROUNDS
    for name, kind in DETAILS.items():
        rows = StoredObject.objects.filter(cluster=cluster, kind=kind).values_list("namespace", "name")
        drawn = dice.choices(sorted(rows), k=ROUNDS)
        yield name, [reverse(name, args=[cluster.name, namespace or CLUSTER_SCOPE, of]) for namespace, of in drawn]


def measure_pages(cluster: Cluster) -> list[Measurement]:
    """The 95th percentile of each page in milliseconds, and the most queries it made."""
    client = Client(SERVER_NAME=settings.ALLOWED_HOSTS[0])
    found = []
    for name, paths in addresses(cluster):
        times = []
        for path in paths:
            with stopwatch() as watch:
                status = client.get(path).status_code
            if status != 200:
                raise AssertionError(f"{path}: {status}")
            times.append(watch.seconds * 1000)
        with CaptureQueriesContext(connection) as queries:
            client.get(paths[0])
        times.sort()
        slow = times[int(len(times) * 0.95) - 1]
        found.append(Measurement(f"page: {name}, {len(queries)} queries, p95", slow, "ms", LIMIT))
    return found
