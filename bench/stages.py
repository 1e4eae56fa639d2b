"""The stages of a measurement. Each runs in a process of its own, so that memory is its own too.

They share a data folder or a database: ``fill`` fills it, the others go on from there.
"""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Callable, Iterable
from typing import Any

from django.core.management import call_command
from django.db import connection

from bench.fleet import Size, changed, manifests
from bench.history import fill_changes, fill_gone
from bench.manifests import Manifest
from bench.measure import Stopwatch, peak_memory, stopwatch
from bench.pages import first_looks, measure_pages
from bench.plain import compare, plainly
from bench.written import fill_written
from ome_dashboard.collecting import collect_seldom
from selection.cluster.kinds import KINDS, KindListing
from selection.rules.explain import explain_services
from selection.rules.fleet import read_fleet
from selection.store.evaluate import evaluate
from selection.store.models import Cluster
from selection.store.sync import open_cluster, store_kind
from selection.store.uncollected import uncollected

__all__ = ["STAGES"]

NAME = "bench"
SAMPLE = 50
"""So many services are judged the plain way; all of them would take minutes."""
CHANGES = 5
"""So many objects of each kind are changed, one after the other."""
OLDER = "1.2"
"""The release before: an evaluation says of each service what the upgrade brings, too."""
CHANGED = {"runtime": "ClusterServingRuntime", "model": "ClusterBaseModel", "service": "InferenceService"}

Found = dict[str, Any]
Stage = Callable[[Size], Found]


def _timed(watch: Stopwatch) -> Found:
    return {"seconds": watch.seconds, "cpu": watch.cpu}


def _as_read(fleet: list[Manifest]) -> list[Manifest]:
    """The fleet as it comes from an API server: no two objects share a part."""
    found: list[Manifest] = json.loads(json.dumps(fleet))
    return found


def _listings(fleet: Iterable[Manifest]) -> list[KindListing]:
    """The fleet as if it had been listed, kind by kind."""
    by_kind: dict[str, list[Manifest]] = {kind.kind: [] for kind in KINDS}
    for manifest in fleet:
        by_kind[manifest["kind"]].append(manifest)
    return [KindListing(kind, "complete", objects=by_kind[kind.kind]) for kind in KINDS]


def _cluster() -> Cluster:
    return Cluster.objects.get(name=NAME)


def rules(size: Size) -> Found:
    """Selection alone, without a database; then a sample the plain way, which must come to the same answers."""
    fleet = _as_read(manifests(size))
    with uncollected():  # as the store judges
        with stopwatch() as parsing:
            read = read_fleet(fleet)
        with stopwatch() as explaining:
            explained = explain_services(read, brief=True)
    if len(explained) != size.services:
        raise AssertionError(f"{len(explained)} services explained, not {size.services}")
    memory = peak_memory()
    readable = [each for each in explained if each.service is not None]
    sample = random.Random(1).sample(readable, min(SAMPLE, len(readable)))
    with stopwatch() as plain:
        answers = [plainly(read, each.subject.namespace, each.subject.name) for each in sample]
    for answer, each in zip(answers, sample, strict=True):
        compare(answer, each)
    return {
        "objects": len(fleet),
        "workloads": len(read.owners),
        "parse": _timed(parsing),
        "explain": _timed(explaining),
        "rss_mb": memory,
        "plain": {"services": len(sample), **_timed(plain)},
    }


def fill(size: Size) -> Found:
    """An empty database, filled; then the same once more, when nothing changed."""
    call_command("migrate", verbosity=0)
    listed = _listings(_as_read(manifests(size)))
    cluster = open_cluster(NAME)
    with stopwatch() as storing:
        for listing in listed:
            store_kind(cluster, listing)
    with stopwatch() as again:
        for listing in listed:
            store_kind(cluster, listing)
    return {"store": _timed(storing), "store_again": _timed(again)}


def full(size: Size) -> Found:
    """Every derived row made anew, from the objects in the database."""
    cluster = _cluster()
    for rows in ("services", "conflicts", "runtimes", "models", "stream"):
        getattr(cluster, rows).all().delete()
    Cluster.objects.filter(pk=cluster.pk).update(evaluated_generation=0)
    cluster.refresh_from_db()
    gc.collect()
    with stopwatch() as watch:
        result = evaluate(cluster)
    if cluster.services.count() != size.services or not result.complete:
        raise AssertionError("not every service was judged")
    return {"evaluate": _timed(watch), "rss_mb": peak_memory(), "rows": result.changed}


def history(size: Size) -> Found:
    """Three months of changes, beside which the rest is measured."""
    with stopwatch() as watch:
        fill_changes(_cluster(), size)
    return _timed(watch)


def older(size: Size) -> Found:
    """The same fleet under the release before: judged from scratch, and after changes. It stays so for the pages."""
    open_cluster(NAME, ome_version=OLDER)
    told = full(size)
    return {**told, "findings": _cluster().stream.filter(gone_at=None).count(), "changes": changes(size)}


def written(size: Size) -> Found:
    """Findings that are gone and what people wrote, beside which the pages are measured."""
    with stopwatch() as watch:
        fill_gone(_cluster())
        fill_written(_cluster(), size)
    return _timed(watch)


def changes(size: Size) -> Found:
    """One object changes; how long until its consequences are in the database, in a process that saw it before."""
    cluster = _cluster()
    evaluate(cluster)
    fleet = _as_read(manifests(size))
    found: Found = {}
    for what, kind in CHANGED.items():
        listing = next(each for each in _listings(fleet) if each.kind.kind == kind)
        objects = listing.objects or []
        found[what] = []
        for place in random.Random(2).sample(range(len(objects)), min(CHANGES, len(objects))):
            objects[place] = changed(objects[place])
            with stopwatch() as storing:
                store_kind(cluster, KindListing(listing.kind, "complete", objects=objects))
            cluster.refresh_from_db()
            with stopwatch() as watch:
                result = evaluate(cluster)
            told = {"store": _timed(storing), "evaluate": _timed(watch)}
            found[what].append({**told, "services": result.services, "rows": result.changed})
    return found


def pages(size: Size) -> Found:
    """Every page, with the fleet behind it, in a process that is set up to serve."""
    collect_seldom()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # PostgreSQL's autovacuum does it within a minute, which isn't waited for here
    return {"first": first_looks(_cluster()), "pages": measure_pages(_cluster()), "rss_mb": peak_memory()}


def database(size: Size) -> Found:
    """What it is, and how much room the fleet takes in it."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT 'SQLite ' || sqlite_version()")
            (name,) = cursor.fetchone()
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("SHOW server_version")
            name = f"PostgreSQL {cursor.fetchone()[0].split()[0]}"
            cursor.execute("SELECT pg_database_size(current_database())")
        (octets,) = cursor.fetchone()
    return {"name": name, "mb": octets / 1e6}


STAGES: dict[str, Stage] = {
    "rules": rules,
    "fill": fill,
    "full": full,
    "history": history,
    "changes": changes,
    "older": older,
    "written": written,
    "pages": pages,
    "database": database,
}
