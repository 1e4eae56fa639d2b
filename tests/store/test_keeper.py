"""Declared clusters are claimed, followed and left again; whoever holds one says so, and only one process does."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from selection.cluster.errors import ConfigurationError
from selection.store import claims
from selection.store import following as following_module
from selection.store import keeper as module
from selection.store.claims import HOLDER
from selection.store.declarations import Declaration
from selection.store.declared import declare, undeclare
from selection.store.following import Line
from selection.store.keeper import Keeper
from selection.store.models import Cluster, KindSync, ServiceResult, StoredObject
from selection.store.sync import open_cluster

from .builders import model, runtime, service
from .databases import OwnDatabase
from .shared import shared_database
from .telling import FakeLine, everything, put

pytestmark = pytest.mark.usefixtures("shared_database")

__all__ = ["shared_database"]

FLEET = [model(), runtime("vllm"), service("chat")]
PAGE = Cluster.DeclaredBy.PAGE


class _Locks:
    """Locks that a test breaks."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.elsewhere: set[int] = set()
        self.broken = False

    def take(self, cluster: Cluster) -> bool:
        if cluster.pk in self.elsewhere:
            return False
        self.taken.add(cluster.pk)
        return True

    def give(self, pk: int) -> None:
        self.taken.discard(pk)

    def alive(self) -> bool:
        alive, self.broken = not self.broken, False
        if not alive:
            self.taken.clear()
        return alive

    def close(self) -> None:
        self.taken.clear()


class _Clock:
    """Each step is a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class _Cast:
    """A keeper, the lines that it opened, and its clock."""

    def __init__(self) -> None:
        self.lines: dict[str, list[FakeLine]] = {}
        self.clock = _Clock()
        self.locks = _Locks()
        self.refused: set[str] = set()
        self.keeper = Keeper(self.open_line, locks=self.locks, clock=self.clock, jitter=lambda: 0.5)

    def open_line(self, cluster: Cluster) -> Line:
        if cluster.name in self.refused:
            raise ConfigurationError(f"there is no context {cluster.context!r}")
        line = FakeLine(*everything(FLEET))
        self.lines.setdefault(cluster.name, []).append(line)
        return line

    def steps(self, number: int = 8) -> None:
        for _ in range(number):
            self.clock.now += 1
            self.keeper.step()


@pytest.fixture
def cast(shared_database: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Cast]:
    monkeypatch.setattr(following_module, "TOGETHER", 0.01)
    monkeypatch.setattr(following_module, "IDLE", 0.05)
    cast = _Cast()
    yield cast
    cast.keeper.close()


def declared(name: str, ome_namespace: str | None = None) -> Cluster:
    return declare(Declaration(name, context=name, ome_namespace=ome_namespace), PAGE)


def eventually(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def judged(name: str) -> bool:
    return ServiceResult.objects.filter(cluster__name=name, selected_name="vllm").exists()


def test_a_declared_cluster_is_claimed_and_followed(cast: _Cast, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "selection")
    cluster = declared("east")
    cast.steps(1)
    assert cast.keeper.following == {"east"}
    assert eventually(lambda: judged("east"))
    cluster.refresh_from_db()
    assert (cluster.claim, cluster.holder) == (1, HOLDER)
    assert cluster.heartbeat_at is not None
    assert [record.message for record in caplog.records] == ["claimed", "listed"]


def test_several_clusters_are_taken_one_after_the_other(cast: _Cast) -> None:
    for name in ("east", "west", "north"):
        declared(name)
    cast.steps(1)
    assert len(cast.keeper.following) == 1
    cast.steps(12)
    assert cast.keeper.following == {"east", "west", "north"}


def test_a_cluster_that_is_declared_later_is_followed_without_a_restart(cast: _Cast) -> None:
    cast.steps()
    assert cast.keeper.following == set()
    declared("east")
    cast.steps()
    assert cast.keeper.following == {"east"}


def test_one_that_nobody_declared_is_not_followed(cast: _Cast) -> None:
    open_cluster("by-hand")
    declare(Declaration("of-a-command", context="x"), Cluster.DeclaredBy.COMMAND)
    cast.steps()
    assert cast.keeper.following == set()


def test_what_the_command_declares_is_followed_and_ends_with_it(cast: _Cast) -> None:
    cast.keeper.own = (Declaration("east", context="east"),)
    cast.steps()
    assert cast.keeper.following == {"east"}
    assert eventually(lambda: judged("east"))
    cast.keeper.close()
    cluster = Cluster.objects.get()
    assert (cluster.followed, cluster.declared_by, cluster.holder) == (False, "", "")
    assert judged("east"), "what was read of it stays"


def test_one_that_is_undeclared_is_left_and_keeps_its_data(cast: _Cast) -> None:
    declared("east")
    cast.steps()
    assert eventually(lambda: judged("east"))
    assert undeclare("east")
    cast.steps()
    assert cast.keeper.following == set()
    assert cast.lines["east"][0].stopped
    cluster = Cluster.objects.get()
    assert cluster.holder == ""
    assert not KindSync.objects.filter(watching=True).exists()
    assert StoredObject.objects.filter(cluster=cluster).count() == 3


def test_one_that_is_forgotten_is_left(cast: _Cast) -> None:
    declared("east")
    cast.steps()
    assert eventually(lambda: judged("east"))
    Cluster.objects.all().delete()
    cast.steps()
    assert cast.keeper.following == set()
    assert cast.locks.taken == set()
    assert not Cluster.objects.exists()


def test_another_way_to_a_cluster_is_taken_at_once(cast: _Cast) -> None:
    declared("east")
    cast.steps()
    assert eventually(lambda: judged("east"))
    declared("east", ome_namespace="ome-system")
    cast.steps()
    assert eventually(lambda: len(cast.lines["east"]) == 2)
    assert cast.lines["east"][0].stopped
    assert Cluster.objects.get().claim == 2


def test_a_cluster_without_a_way_to_it_is_tried_again_and_does_not_stop_the_others(cast: _Cast) -> None:
    cast.refused.add("east")
    declared("east")
    declared("west")
    cast.steps(12)
    assert eventually(lambda: judged("west"))
    assert eventually(lambda: Cluster.objects.get(name="east").sync_error != "")
    cast.steps(3)
    assert Cluster.objects.get(name="east").sync_error == "there is no context 'east'"
    assert Cluster.objects.get(name="east").holder == "", "another process may fare better"
    cast.refused.clear()
    cast.steps(30)
    assert eventually(lambda: judged("east"))
    assert eventually(lambda: Cluster.objects.get(name="east").sync_error == "")


def test_a_heartbeat_is_given_every_few_seconds(cast: _Cast) -> None:
    cluster = declared("east")
    cast.steps(2)
    Cluster.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=5))
    cast.steps(6)
    cluster.refresh_from_db()
    assert cluster.heartbeat_at is not None
    assert timezone.now() - cluster.heartbeat_at < timedelta(seconds=30)
    assert claims.holder_of("east") == HOLDER


def test_chores_are_done_now_and_then(cast: _Cast) -> None:
    done: list[float] = []
    cast.keeper.chores = ((10.0, lambda: done.append(cast.clock.now)),)
    cast.steps(25)
    assert done == [1.0, 11.0, 21.0]


# --- claims ------------------------------------------------------------------------------------------


def test_a_cluster_that_another_process_has_is_left_to_it(cast: _Cast, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "selection")
    cluster = declared("east")
    cast.locks.elsewhere.add(cluster.pk)
    cast.steps(20)
    assert cast.keeper.following == set()
    assert [record.message for record in caplog.records] == ["another process follows: waiting to take over"]
    Cluster.objects.update(holder="dead:1", claim=4)
    cast.locks.elsewhere.clear()
    cast.steps(2)
    assert cast.keeper.following == {"east"}
    assert [record.message for record in caplog.records][1] == "taken over"
    assert vars(caplog.records[1])["after"] == "dead:1"
    assert Cluster.objects.get().claim == 5


def test_claims_that_went_with_their_connection_are_taken_anew(cast: _Cast) -> None:
    declared("east")
    cast.steps()
    assert eventually(lambda: judged("east"))
    cast.locks.broken = True
    cast.steps()
    assert cast.lines["east"][0].stopped
    assert eventually(lambda: len(cast.lines["east"]) == 2)
    assert Cluster.objects.get().claim == 2


def test_a_cluster_that_somebody_else_claimed_is_left(cast: _Cast) -> None:
    cluster = declared("east")
    cast.steps()
    assert eventually(lambda: judged("east"))
    cast.locks.elsewhere.add(cluster.pk)
    Cluster.objects.update(claim=9, holder="other:1")
    cast.lines["east"][0].tell(put(service("late")))
    cast.steps()
    assert cast.keeper.following == set()
    assert not StoredObject.objects.filter(name="late").exists()
    cluster.refresh_from_db()
    assert (cluster.claim, cluster.holder) == (9, "other:1"), "who lost it takes nothing from the one who has it"


# --- the database, and the end -----------------------------------------------------------------------


def test_it_outlasts_the_database(
    cast: _Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "selection")
    declared("east")

    def gone() -> list[str]:
        raise OperationalError("connection refused")

    monkeypatch.setattr(module, "declare_settings", gone)
    cast.steps(10)
    assert cast.keeper.following == set()
    monkeypatch.undo()
    cast.steps(6)
    assert cast.keeper.following == {"east"}
    told = [record.message for record in caplog.records]
    assert told[:3] == ["the database is gone", "claimed", "the database is back"]


def test_it_ends_within_seconds_and_says_so_in_the_database(cast: _Cast) -> None:
    declared("east")
    declared("west")
    runner = threading.Thread(target=cast.keeper.run, daemon=True)
    cast.keeper.clock = time.monotonic
    runner.start()
    assert eventually(lambda: judged("east") and judged("west"))
    cast.keeper.stopping = True
    runner.join(timeout=5)
    assert not runner.is_alive()
    assert not Cluster.objects.exclude(holder="").exists()
    assert not KindSync.objects.filter(watching=True).exists()
    assert cast.locks.taken == set()
    assert all(line.stopped for lines in cast.lines.values() for line in lines)


def test_it_does_not_wait_for_a_large_evaluation(cast: _Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, done = threading.Event(), threading.Event()

    def large(cluster: Cluster) -> None:
        with transaction.atomic():
            Cluster.objects.select_for_update().get(pk=cluster.pk)
            Cluster.objects.filter(pk=cluster.pk).update(lag_ms=1)
            begun.set()
            done.wait(30)

    monkeypatch.setattr(following_module, "evaluate", large)
    cast.keeper.own = (Declaration("east", context="east"),)
    cast.steps(1)
    assert begun.wait(10)
    began = time.monotonic()
    cast.keeper.close()
    assert time.monotonic() - began < 6
    done.set()


def test_wrong_settings_are_told_once_and_what_was_declared_holds(
    cast: _Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    declared("east")
    monkeypatch.setattr(module, "declare_settings", lambda: ["clusters.yaml:3: a cluster needs a name"])
    cast.steps(20)
    assert cast.keeper.following == {"east"}
    wrong = [vars(record)["reason"] for record in caplog.records if record.levelno == logging.ERROR]
    assert wrong == ["clusters.yaml:3: a cluster needs a name"]
