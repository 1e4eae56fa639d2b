"""One cluster is followed: batches are stored and judged, outlast the database, and end with the claim."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from selection.cluster.errors import ConfigurationError
from selection.cluster.events import Happening
from selection.cluster.kinds import KINDS
from selection.store import following as module
from selection.store.applying import LostClaim
from selection.store.evaluate import evaluate
from selection.store.following import MOST_WAITING, Following
from selection.store.models import Cluster, KindSync, ServiceResult, StoredObject
from selection.store.sync import open_cluster

from .builders import Manifest, manager, model, runtime, service
from .telling import FakeLine, everything, gone, list_failed, lost, put, watching

pytestmark = pytest.mark.django_db

FORMAT = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
FLEET = [model(), runtime("vllm"), service("chat"), service("search")]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 0.01)
    monkeypatch.setattr(module, "IDLE", 0.01)
    # It runs in the test's own thread here, whose connection stays.
    monkeypatch.setattr("selection.store.following.connection.close", lambda: None)


@pytest.fixture
def cluster() -> Cluster:
    cluster = open_cluster("east")
    Cluster.objects.filter(pk=cluster.pk).update(claim=1)
    return cluster


@pytest.fixture
def follow(cluster: Cluster) -> Callable[..., tuple[Following, FakeLine]]:
    def make(*objects: Manifest) -> tuple[Following, FakeLine]:
        line = FakeLine(*everything(objects))
        return Following(cluster, 1, line.open), line

    return make


def settle(following: Following) -> None:
    while following.step():
        pass


def selected() -> dict[str, str]:
    return dict(ServiceResult.objects.values_list("name", "selected_name"))


def test_the_first_lists_are_stored_and_judged(follow: Any, cluster: Cluster) -> None:
    following, _ = follow(*FLEET)
    settle(following)
    assert selected() == {"chat": "vllm", "search": "vllm"}
    cluster.refresh_from_db()
    assert cluster.evaluated_generation == cluster.generation > 0
    assert cluster.sync_started_at is not None
    assert cluster.sync_finished_at is not None
    assert KindSync.objects.filter(cluster=cluster, watching=True).count() == len(KINDS)


def test_the_first_lists_are_judged_once(follow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []

    def counting(cluster: Cluster) -> Any:
        judged.append(cluster.generation)
        return evaluate(cluster)

    monkeypatch.setattr(module, "evaluate", counting)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 1)
    following, _ = follow(*FLEET)
    settle(following)
    assert len(judged) == 1


def test_an_event_is_judged_and_its_lag_told(follow: Any, cluster: Cluster) -> None:
    following, line = follow(*FLEET)
    settle(following)
    line.tell(put(runtime("a-better-one", supportedModelFormats=[{**FORMAT, "priority": 5}])))
    assert following.step()
    assert selected() == {"chat": "a-better-one", "search": "a-better-one"}
    cluster.refresh_from_db()
    assert cluster.lag_ms is not None
    assert 0 < cluster.lag_ms < 5000


def test_an_object_that_goes_takes_its_answer_with_it(follow: Any) -> None:
    following, line = follow(*FLEET)
    settle(following)
    line.tell(gone(FLEET[3]))
    settle(following)
    assert selected() == {"chat": "vllm"}


def test_nothing_to_do_is_said(follow: Any) -> None:
    following, line = follow(*FLEET)
    settle(following)
    assert not following.step()
    line.tell(put(FLEET[2]))
    assert following.step(), "a batch that changes nothing is something done"


def test_omes_release_follows_its_manager(follow: Any, cluster: Cluster) -> None:
    following, line = follow(*FLEET, manager("ome-manager:v1.2.2"))
    settle(following)
    cluster.refresh_from_db()
    assert cluster.ome_version == "1.2"
    line.tell(put(manager("ome-manager:v1.3.0")))
    settle(following)
    cluster.refresh_from_db()
    assert (cluster.ome_version, cluster.ome_version_source) == ("1.3", "detected")
    assert cluster.evaluated_generation == cluster.generation


def test_answers_that_a_dead_process_owed_are_given(follow: Any, cluster: Cluster) -> None:
    following, _ = follow(*FLEET)
    settle(following)
    ServiceResult.objects.all().delete()
    Cluster.objects.filter(pk=cluster.pk).update(evaluated_generation=0)
    again, _ = follow(*FLEET)
    settle(again)
    assert selected() == {"chat": "vllm", "search": "vllm"}


def test_answers_that_somebody_else_made_old_are_given(follow: Any, cluster: Cluster) -> None:
    following, _ = follow(*FLEET)
    settle(following)
    Cluster.objects.filter(pk=cluster.pk).update(generation=99)
    following._looked = float("-inf")
    settle(following)
    cluster.refresh_from_db()
    assert cluster.evaluated_generation == 99


# --- the cluster -------------------------------------------------------------------------------------


def test_a_cluster_that_cannot_be_reached_says_so_and_keeps_what_is_stored(
    follow: Any, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "selection")
    following, line = follow(*FLEET)
    settle(following)
    for kind in KINDS:
        line.tell(lost(kind.kind, "east: connection refused"))
    settle(following)
    cluster.refresh_from_db()
    assert cluster.sync_error == "east: connection refused"
    assert selected().keys() == {"chat", "search"}
    for kind in KINDS:
        line.tell(watching(kind.kind))
    settle(following)
    cluster.refresh_from_db()
    assert cluster.sync_error == ""
    assert [record.message for record in caplog.records] == ["listed", "lost", "resumed"]
    listed = vars(caplog.records[0])
    assert (listed["cluster"], listed["kinds"], listed["objects"]) == ("east", len(KINDS), 4)


def test_one_kind_that_is_refused_is_no_error_of_the_cluster(follow: Any, cluster: Cluster) -> None:
    following, line = follow(*FLEET)
    settle(following)
    line.tell(list_failed("InferenceReplica", "forbidden", "may not list"))
    settle(following)
    cluster.refresh_from_db()
    assert cluster.sync_error == ""
    assert KindSync.objects.get(kind="InferenceReplica").reason == "may not list"


def test_a_cluster_that_is_down_from_the_start_says_so(cluster: Cluster) -> None:
    line = FakeLine(*(lost(kind.kind, "east: connection refused") for kind in KINDS))
    settle(Following(cluster, 1, line.open))
    cluster.refresh_from_db()
    assert cluster.sync_error == "east: connection refused"
    assert cluster.generation == 0


def test_a_way_to_the_cluster_that_is_not_known_ends_it(cluster: Cluster) -> None:
    def nowhere(cluster: Cluster) -> FakeLine:
        raise ConfigurationError("there is no context 'east'")

    following = Following(cluster, 1, nowhere)
    with pytest.raises(ConfigurationError):
        following.step()
    following.run()
    assert following.ended == "there is no context 'east'"
    cluster.refresh_from_db()
    assert cluster.sync_error == "there is no context 'east'"


# --- the claim ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [[put(service("late"))], []])
def test_it_ends_when_the_claim_is_somebody_elses(batch: list[Happening], follow: Any, cluster: Cluster) -> None:
    following, line = follow(*FLEET)
    settle(following)
    Cluster.objects.filter(pk=cluster.pk).update(claim=2, holder="other:1")
    following._looked = float("-inf")
    for each in batch:
        line.tell(each)
    with pytest.raises(LostClaim):
        following.step()
    assert not StoredObject.objects.filter(name="late").exists()


def test_it_ends_when_the_cluster_is_forgotten(follow: Any, cluster: Cluster) -> None:
    following, line = follow(*FLEET)
    settle(following)
    cluster.delete()
    following._looked = float("-inf")
    following.run()
    assert following.ended == "east: it was forgotten"
    assert line.stopped


# --- the database ------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_batch_is_kept_until_the_database_has_it(
    error: type[Exception], follow: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "selection")
    following, line = follow(*FLEET)
    settle(following)
    apply = following._applier.apply

    def gone_away(batch: Any) -> Any:
        raise error("the server closed the connection unexpectedly\n\tThis probably means")

    line.tell(put(service("fresh")))
    monkeypatch.setattr(following._applier, "apply", gone_away)
    for _ in range(3):
        assert not following.step()
    line.tell(put(service("fresher")))
    assert not following.step()
    monkeypatch.setattr(following._applier, "apply", apply)
    settle(following)
    assert selected().keys() == {"chat", "search", "fresh", "fresher"}
    told = [record.message for record in caplog.records if "database" in record.message]
    assert told == ["the database is gone", "the database is back"]


def test_what_cannot_be_judged_is_stored_and_told(
    follow: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(cluster: Cluster) -> Any:
        raise ZeroDivisionError

    following, line = follow(*FLEET)
    monkeypatch.setattr(module, "evaluate", broken)
    settle(following)
    cluster.refresh_from_db()
    assert "judging it failed (ZeroDivisionError)" in cluster.sync_error
    line.tell(put(service("fresh")))
    settle(following)
    assert StoredObject.objects.filter(name="fresh").exists()
    monkeypatch.setattr(module, "evaluate", evaluate)
    following._not_before = 0.0
    settle(following)
    assert selected().keys() == {"chat", "search", "fresh"}


# --- the queue ---------------------------------------------------------------------------------------


def test_a_storm_waits_outside(cluster: Cluster) -> None:
    following = Following(cluster, 1, FakeLine().open)
    told = _Storm(following)
    storm = threading.Thread(target=told.run, daemon=True)
    storm.start()
    until = time.monotonic() + 10
    while following.waiting < MOST_WAITING and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    assert following.waiting == MOST_WAITING
    assert told.told <= MOST_WAITING + 1
    following.stop()
    storm.join(timeout=5)
    assert not storm.is_alive(), "who waits to tell something is let go"


class _Storm:
    """Tells the same event again and again."""

    def __init__(self, following: Following) -> None:
        self.following = following
        self.told = 0

    def run(self) -> None:
        event = watching("InferenceService")
        for _ in range(3 * MOST_WAITING):
            self.told += 1
            self.following.hear(event)


def test_a_storm_is_stored_in_batches_and_judged_when_it_abates(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = FakeLine(*everything(FLEET))
    following = Following(cluster, 1, line.open, clock=lambda: 0.0)
    settle(following)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 50)
    sizes, judged = [], []
    apply = following._applier.apply

    def noting(batch: list[Happening]) -> Any:
        sizes.append(len(batch))
        return apply(batch)

    def judging(cluster: Cluster) -> Any:
        judged.append(len(sizes))
        return evaluate(cluster)

    monkeypatch.setattr(following._applier, "apply", noting)
    monkeypatch.setattr(module, "evaluate", judging)
    for number in range(600):
        line.tell(put(service("chat", number=number)))
    settle(following)
    assert sizes == [50] * 12
    assert judged == [9, 10, 11, 12], "not while 200 or more are waiting"
    assert StoredObject.objects.get(name="chat").manifest["spec"]["number"] == 599
    cluster.refresh_from_db()
    assert cluster.evaluated_generation == cluster.generation


def test_a_storm_that_lasts_is_judged_once_a_second(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    line = FakeLine(*everything(FLEET))
    following = Following(cluster, 1, line.open, clock=lambda: now[0])
    settle(following)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 50)
    judged = []

    def judging(cluster: Cluster) -> Any:
        judged.append(now[0])
        return evaluate(cluster)

    monkeypatch.setattr(module, "evaluate", judging)
    for number in range(1000):
        line.tell(put(service("chat", number=number)))
    for _ in range(15):
        now[0] += 0.4
        following.step()
    assert following.waiting == 250
    assert judged == pytest.approx([1.6, 3.2, 4.8])
