"""A cluster's fleet is read once and brought up to date by what changed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from selection.rules.fleet import Fleet
from selection.store import fleets
from selection.store.fleets import MANY, Loaded, advance, fleet_of, load, load_fleet
from selection.store.models import Cluster, StoredObject

from .builders import model, runtime, service, sync

pytestmark = pytest.mark.django_db


FLEET = [model(), runtime("vllm"), service("chat"), service("search")]


def queries() -> CaptureQueriesContext:
    return CaptureQueriesContext(connection)


def test_a_fleet_is_read_once_until_the_cluster_changes() -> None:
    cluster, _ = sync("east", *FLEET)
    first = fleet_of(cluster)
    with queries() as asked:
        assert fleet_of(cluster) is first
        assert fleet_of(Cluster(pk=cluster.pk, generation=cluster.generation, ome_version="1.3")) is first
    assert len(asked) == 0
    changed, _ = sync("east", *FLEET[:3])
    assert fleet_of(changed) is not first
    assert set(fleet_of(changed).services) == {("ml", "chat")}
    assert set(first.services) == {("ml", "chat"), ("ml", "search")}, "who still holds the old one isn't disturbed"


def test_a_sync_without_changes_keeps_the_fleet() -> None:
    cluster, _ = sync("east", *FLEET)
    first = fleet_of(cluster)
    again, _ = sync("east", *FLEET)
    assert fleet_of(again) is first


def test_threads_that_look_at_once_read_a_cluster_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *FLEET)
    reads: list[int] = []
    begun = Barrier(4)

    def slow(cluster: Cluster) -> Loaded:
        reads.append(cluster.pk)
        time.sleep(0.2)
        return Loaded(cluster.generation, cluster.ome_version, Fleet(), {})

    def look() -> Fleet:
        begun.wait(10)
        return fleet_of(cluster)

    monkeypatch.setattr(fleets, "load", slow)
    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(look) for _ in range(4)]]
    assert len(reads) == 1
    assert all(each is found[0] for each in found)


def test_clusters_are_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "close", lambda: None)  # this thread goes on with it
    clusters = [sync(name, *FLEET)[0] for name in ("east", "west")]
    fleets.read_ahead()
    with queries() as asked:
        assert all(fleet_of(cluster).services for cluster in clusters)
    assert len(asked) == 0


def test_another_release_is_another_fleet() -> None:
    cluster, _ = sync("east", *FLEET)
    assert fleet_of(cluster).semantics.version == "1.3"
    older, _ = sync("east", *FLEET, ome_version="1.2")
    assert fleet_of(older).semantics.version == "1.2"


def test_clusters_do_not_share_a_fleet() -> None:
    east, _ = sync("east", *FLEET)
    west, _ = sync("west", model())
    assert fleet_of(east).services
    assert not fleet_of(west).services


def test_only_so_many_clusters_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleets, "_KEPT", 2)
    clusters = [sync(name, model())[0] for name in ("a", "b", "c")]
    for cluster in clusters:
        fleet_of(cluster)
    assert len(fleets._loaded) == 2
    with queries() as asked:
        fleet_of(clusters[2])
    assert len(asked) == 0


def test_advancing_reads_only_what_is_new() -> None:
    cluster, _ = sync("east", *FLEET)
    known = load(cluster)
    cluster, _ = sync("east", *FLEET[:2], service("chat", deploymentMode="OMENative"), service("new"))
    with queries() as asked:
        new = advance(cluster, known)
    assert new is not None
    assert len(asked) == 3  # what is new, how many there are, and which: one is gone
    assert {ref.name for ref in new.changed} == {"chat", "new", "search"}
    assert new.fleet.services == load_fleet(cluster).services
    assert new.rows == load(cluster).rows
    assert new.generation == cluster.generation


def test_advancing_over_many_changes_is_refused() -> None:
    cluster, _ = sync("east", *FLEET)
    known = load(cluster)
    cluster, _ = sync("east", *(service(f"chat-{number}") for number in range(MANY + 1)))
    assert advance(cluster, known) is None


def test_advancing_backwards_is_refused() -> None:
    older, _ = sync("east", *FLEET)
    newer, _ = sync("east", *FLEET[:2])
    assert advance(older, load(newer)) is None


def test_an_object_that_was_made_again_is_not_dropped() -> None:
    cluster, _ = sync("east", *FLEET)
    known = load(cluster)
    StoredObject.objects.filter(cluster=cluster, name="chat").delete()
    cluster, _ = sync("east", *FLEET)
    new = advance(cluster, known)
    assert new is not None
    assert ("ml", "chat") in new.fleet.services
    assert new.rows == load(cluster).rows
