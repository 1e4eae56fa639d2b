"""The stages of a measurement. Each runs in a process of its own, so that memory is its own too.

They share a data folder: the first fills the database, the others go on from there.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from typing import Any

from django.core.management import call_command
from django.db import connection

from bench.fleet import Manifest, Size, changed_runtime, manifests
from bench.measure import Measurement, peak_memory, stopwatch
from bench.pages import measure_pages
from selection.cluster.kinds import KINDS, KindListing
from selection.rules.explain import explain_services
from selection.rules.fleet import read_fleet
from selection.store.evaluate import evaluate
from selection.store.models import Cluster
from selection.store.sync import open_cluster, store_kind, sync_cluster

__all__ = ["STAGES"]

NAME = "bench"

Stage = Callable[[Size], list[Measurement]]


def listings(fleet: Iterable[Manifest]) -> list[KindListing]:
    """The fleet as if it had been listed, kind by kind."""
    by_kind: dict[str, list[Manifest]] = {kind.kind: [] for kind in KINDS}
    for manifest in fleet:
        by_kind[manifest["kind"]].append(manifest)
    return [KindListing(kind, "complete", objects=by_kind[kind.kind]) for kind in KINDS]


def rules(size: Size) -> list[Measurement]:
    """Selection alone, without a database."""
    fleet = manifests(size)
    before = peak_memory()
    with stopwatch() as watch:
        explained = explain_services(read_fleet(fleet), brief=True)
    if len(explained) != size.services:
        raise AssertionError(f"{len(explained)} services explained, not {size.services}")
    return [
        Measurement("rules: explain every service, in brief", watch.seconds, "s"),
        Measurement("rules: memory for that", peak_memory() - before, "MB"),
    ]


def first_sync(size: Size) -> list[Measurement]:
    """An empty database, filled; then the same again."""
    call_command("migrate", verbosity=0)
    listed = listings(manifests(size))
    cluster = open_cluster(NAME)
    with stopwatch() as first:
        report = sync_cluster(cluster, listed)
    with stopwatch() as again:
        sync_cluster(Cluster.objects.get(name=NAME), listed)
    return [
        Measurement(f"store: first sync of {report.objects:,} objects, evaluated", first.seconds, "s"),
        Measurement("store: the same sync again, nothing changed", again.seconds, "s"),
    ]


def from_scratch(size: Size) -> list[Measurement]:
    """Every derived row made anew, from the objects in the database."""
    cluster = Cluster.objects.get(name=NAME)
    cluster.services.all().delete()
    gc.collect()
    with stopwatch() as watch:
        evaluate(cluster)
    if cluster.services.count() != size.services:
        raise AssertionError("not every service was judged")
    return [
        Measurement("store: evaluate the fleet from scratch", watch.seconds, "s", 10),
        Measurement("store: memory of that process", peak_memory(), "MB", 500),
    ]


def one_change(size: Size) -> list[Measurement]:
    """One runtime changes; how long until its consequences are in the database."""
    cluster = Cluster.objects.get(name=NAME)
    evaluate(cluster)
    fleet = manifests(size)
    changed = changed_runtime(fleet)
    kind = next(each for each in KINDS if each.kind == changed["kind"])
    same = [each for each in fleet if each["kind"] == kind.kind and each["metadata"] != changed["metadata"]]
    others = [each for each in same if each["metadata"]["name"] != changed["metadata"]["name"]]
    store_kind(cluster, KindListing(kind, "complete", objects=[*others, changed]))
    cluster.refresh_from_db()
    with stopwatch() as watch:
        result = evaluate(cluster)
    return [
        Measurement(f"store: evaluate after one runtime changed ({result.changed:,} rows)", watch.seconds, "s", 0.5),
    ]


def pages(size: Size) -> list[Measurement]:
    """Every page, with the fleet behind it."""
    return measure_pages(Cluster.objects.get(name=NAME))


def database_size(size: Size) -> list[Measurement]:
    """How much room the fleet takes, on SQLite."""
    if connection.vendor != "sqlite":
        return []
    with connection.cursor() as cursor:
        row: Any = cursor.execute(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        ).fetchone()
    return [Measurement("store: size of the database", row[0] / 1e6, "MB")]


STAGES: dict[str, Stage] = {
    "rules": rules,
    "first_sync": first_sync,
    "from_scratch": from_scratch,
    "one_change": one_change,
    "pages": pages,
    "database_size": database_size,
}
