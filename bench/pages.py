"""How long each page takes on the server, and how many queries it makes, on the fleet in the database."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse

from bench.addresses import ROUNDS, addresses, services_of
from bench.addresses_written import signed_in_addresses, viewer_addresses
from bench.api import api_addresses
from bench.measure import median, percentile, stopwatch
from bench.written import ADMIN, VIEWER
from selection.faces.orders import make_order
from selection.store.models import Cluster, StoredObject
from selection.store.upgrades import compute_preview

__all__ = ["first_looks", "measure_pages"]

Addresses = Iterable[tuple[str, list[str]]]


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


@contextmanager
def _signed_in(name: str) -> Iterator[Client]:
    """A browser of somebody who has signed in to a server."""
    middleware = list(settings.MIDDLEWARE)
    signing_in = "django.contrib.auth.middleware.AuthenticationMiddleware"
    middleware.insert(middleware.index(signing_in) + 1, "django.contrib.auth.middleware.LoginRequiredMiddleware")
    with override_settings(MODE="server", LOCAL=False, MIDDLEWARE=middleware):
        client = _client()
        client.force_login(User.objects.get(username=name))
        yield client


def measure_pages(cluster: Cluster) -> dict[str, dict[str, float]]:
    """The 50th and 95th percentile of each page in milliseconds, and the most queries it made.

    They are asked for as on one's own machine, where there is no sign-in; what only accounts have by an account that
    may everything, and some once more by one that sees five namespaces.
    """
    client = _client()
    make_order(cluster)  # else a thread makes it beside the pages that are measured
    compute_preview(cluster)  # likewise
    found = _measured(client, chain(addresses(cluster), api_addresses(cluster, client, ROUNDS)))
    for name, asked in ((ADMIN, signed_in_addresses(ROUNDS)), (VIEWER, viewer_addresses(cluster, VIEWER, ROUNDS))):
        with _signed_in(name) as theirs:
            found |= _measured(theirs, asked)
    return found


def _measured(client: Client, asked: Addresses) -> dict[str, dict[str, float]]:
    found = {}
    for name, paths in asked:
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
    services = [reverse("service", args=[cluster.name, *of]) for of in services_of(cluster, random.Random(3))]
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
