"""A cluster that is written to a snapshot and read from it is the same cluster."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from selection.cluster.files import listings, read_paths
from selection.cluster.snapshots import SnapshotHead, read_snapshot
from selection.store.models import Cluster, KindSync, ServiceResult, StoredObject
from selection.store.redaction import PLACEHOLDER
from selection.store.snapshotting import date_as, save_snapshot
from selection.store.storing import LostClaim
from selection.store.sync import open_cluster, sync_cluster

from .builders import model, runtime, service, sync

pytestmark = pytest.mark.django_db

FLEET = [model(), runtime("vllm"), runtime("vllm", "ml"), service("chat"), service("search")]


def saved(cluster: Cluster, folder: Path) -> Path:
    path = folder / "state.gz"
    with path.open("wb") as file:
        save_snapshot(cluster, file)
    return path


def facts(cluster: Cluster) -> list[tuple[object, ...]]:
    fields = ("namespace", "name", "outcome", "selected_kind", "selected_name", "modes", "conflicts", "computed_from")
    return list(ServiceResult.objects.filter(cluster=cluster).order_by("namespace", "name").values_list(*fields))


def objects(cluster: Cluster) -> list[tuple[object, ...]]:
    rows = StoredObject.objects.filter(cluster=cluster).order_by("kind", "namespace", "name")
    return list(rows.values_list("kind", "namespace", "name", "resource_version", "manifest", "digest"))


def test_a_round_trip_gives_the_same_objects_and_answers(tmp_path: Path) -> None:
    east, _ = sync("east", *FLEET)
    path = saved(east, tmp_path)
    west = open_cluster("west")
    sync_cluster(west, listings(read_paths([path])))
    assert objects(west) == objects(east)
    assert facts(west) == facts(east)
    again = io.BytesIO()
    save_snapshot(east, again)
    assert again.getvalue() == path.read_bytes()


def test_it_says_of_which_cluster_and_moment_it_is(tmp_path: Path) -> None:
    east, _ = sync("east", *FLEET)
    KindSync.objects.filter(cluster=east, kind="ServingRuntime").update(
        outcome="failed", reason="cut\noff", listed_at=None, confirmed_at=None
    )
    head = read_snapshot(saved(east, tmp_path)).head
    assert (head.cluster, head.ome_version, head.ome_namespace) == ("east", "1.3", "ome")
    states = {each.kind.kind: each for each in head.kinds}
    newest = max(each for each in KindSync.objects.values_list("confirmed_at", flat=True) if each is not None)
    assert head.taken_at == newest.astimezone(UTC).isoformat()
    assert (states["InferenceService"].outcome, states["InferenceService"].objects) == ("complete", 2)
    failed = states["ServingRuntime"]
    assert (failed.outcome, failed.reason, failed.confirmed_at, failed.known) == ("failed", "cut off", "", False)


def test_no_secret_is_in_it(tmp_path: Path) -> None:
    bearer = service("chat")
    bearer["spec"]["engine"] = {"runner": {"name": "r", "env": [{"name": "HF_TOKEN", "value": "hf_" + "q" * 34}]}}
    east, _ = sync("east", bearer)
    [found] = read_snapshot(saved(east, tmp_path)).objects
    assert found.manifest["spec"]["engine"]["runner"]["env"] == [{"name": "HF_TOKEN", "value": PLACEHOLDER}]


def test_what_is_read_from_one_has_its_age() -> None:
    east, _ = sync("east", *FLEET)
    then = timezone.now() - timedelta(days=3)
    date_as(east, SnapshotHead("prod", "1.3", "ome", then.isoformat()))
    assert set(KindSync.objects.filter(cluster=east).values_list("listed_at", "confirmed_at")) == {(then, then)}


@pytest.mark.parametrize(
    "time", ["", "yesterday", "2026-02-31T00:00:00Z", "2026-11-30T06:00:00", "2999-01-01T00:00:00Z"]
)
def test_a_time_that_cannot_be_has_no_effect(time: str) -> None:
    east, _ = sync("east", *FLEET)
    before = list(KindSync.objects.filter(cluster=east).values_list("listed_at", flat=True))
    date_as(east, SnapshotHead("prod", "1.3", "ome", time))
    assert list(KindSync.objects.filter(cluster=east).values_list("listed_at", flat=True)) == before
    assert all(isinstance(each, datetime) for each in before)


def test_a_cluster_that_was_forgotten_gives_none() -> None:
    east, _ = sync("east", *FLEET)
    Cluster.objects.filter(pk=east.pk).delete()
    with pytest.raises(LostClaim):
        save_snapshot(east, io.BytesIO())
