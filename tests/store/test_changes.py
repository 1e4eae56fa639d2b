"""How objects change is kept with them, and forgotten after a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection.store import changes as module
from selection.store.applying import Applier
from selection.store.changes import MOST_DIFFERENCES, prune_changes
from selection.store.models import Change, Cluster, ObjectChange, StoredObject
from selection.store.sync import open_cluster, store_kind

from .builders import Manifest, brought, model, runtime, service, sync, workload
from .telling import gone, list_of, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    return open_cluster("east")


def kept(cluster: Cluster) -> list[tuple[str, str, str]]:
    rows = ObjectChange.objects.filter(cluster=cluster).order_by("pk")
    return [(row.act, row.kind, row.name) for row in rows]


def again(manifest: Manifest, version: str, **spec: Any) -> Manifest:
    """The same object in another version."""
    metadata = {**manifest["metadata"], "resourceVersion": version}
    return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], **spec}}


# --- what is kept ------------------------------------------------------------------------------------


def test_the_first_list_of_a_kind_is_no_change(cluster: Cluster) -> None:
    store_kind(cluster, brought("InferenceService", service("chat")))
    store_kind(cluster, brought("ClusterServingRuntime"))
    assert kept(cluster) == []
    store_kind(cluster, brought("ClusterServingRuntime", runtime("vllm")))
    assert kept(cluster) == [("created", "ClusterServingRuntime", "vllm")]


def test_a_kind_that_could_not_be_listed_at_first_has_its_first_list_later(cluster: Cluster) -> None:
    listing = brought("InferenceService")
    store_kind(cluster, type(listing)(listing.kind, "forbidden", reason="no"))
    store_kind(cluster, brought("InferenceService", service("chat")))
    assert kept(cluster) == []


def test_objects_that_come_change_and_go_are_kept_with_their_versions_and_what_differs(cluster: Cluster) -> None:
    chat, search = service("chat"), service("search")
    store_kind(cluster, brought("InferenceService", chat, search))
    store_kind(cluster, brought("InferenceService", again(chat, "2000", deploymentMode="OMENative"), service("new")))
    rows = {row.name: row for row in ObjectChange.objects.all()}
    generation = Cluster.objects.get().generation
    assert {name: (row.act, row.generation) for name, row in rows.items()} == {
        "chat": ("changed", generation),
        "search": ("deleted", generation),
        "new": ("created", generation),
    }
    assert (rows["chat"].old_version, rows["chat"].new_version) == (chat["metadata"]["resourceVersion"], "2000")
    assert rows["chat"].differences == [{"path": "spec.deploymentMode", "before": None, "after": '"OMENative"'}]
    assert (rows["search"].new_version, rows["new"].old_version) == ("", "")
    assert {each["path"] for each in rows["new"].differences} == {"metadata.name", "spec.engine", "spec.model"}


def test_an_object_that_differs_only_in_what_decides_nothing_leaves_no_trace(cluster: Cluster) -> None:
    chat, pod = service("chat"), workload("Deployment", "chat-engine", "chat")
    for kind, manifest in (("InferenceService", chat), ("Deployment", pod)):
        store_kind(cluster, brought(kind, manifest))
        store_kind(cluster, brought(kind, {**again(manifest, "9000"), "status": {"replicas": 3}}))
    assert StoredObject.objects.filter(resource_version="9000").count() == 2
    assert kept(cluster) == []


def test_another_object_of_the_same_name_is_told_even_when_it_says_the_same(cluster: Cluster) -> None:
    chat = service("chat")
    store_kind(cluster, brought("InferenceService", chat))
    other = {**chat, "metadata": {**chat["metadata"], "uid": "another", "resourceVersion": "9000"}}
    store_kind(cluster, brought("InferenceService", other))
    assert kept(cluster) == [("recreated", "InferenceService", "chat")]
    assert ObjectChange.objects.get().differences == []


def test_of_many_differences_some_are_kept_and_the_others_counted(cluster: Cluster) -> None:
    store_kind(cluster, brought("ClusterBaseModel", llama := model()))
    fields = {f"field{number:02}": number for number in range(MOST_DIFFERENCES + 5)}
    store_kind(cluster, brought("ClusterBaseModel", again(llama, "9000", **fields)))
    row = ObjectChange.objects.get()
    assert (len(row.differences), row.more_differences) == (MOST_DIFFERENCES, 5)


def test_no_secret_is_kept(cluster: Cluster) -> None:
    def with_token(value: str) -> Manifest:
        env = [{"name": "HF_TOKEN", "value": value}, {"name": "PORT", "value": value[-2:]}]
        return runtime("vllm", engineConfig={"runner": {"env": env}})

    store_kind(cluster, brought("ClusterServingRuntime", with_token("hf_secret_one_80")))
    store_kind(cluster, brought("ClusterServingRuntime", with_token("hf_secret_two_81")))
    told = repr(list(ObjectChange.objects.values()))
    assert '"81"' in told
    assert "secret_two" not in told
    assert "secret_one" not in told


def test_events_are_kept_as_lists_are(cluster: Cluster) -> None:
    applier = Applier(cluster, cluster.claim)
    chat, search = service("chat"), service("search")
    applier.apply([list_of("InferenceService", chat, search), put(service("early"))])
    assert kept(cluster) == []
    applier.apply([put(again(chat, "9000", deploymentMode="OMENative")), gone(search), put(again(search, "9001"))])
    assert kept(cluster) == [("changed", "InferenceService", "chat")]
    applier.apply([gone(search), put(service("late"))])
    assert kept(cluster)[1:] == [("created", "InferenceService", "late"), ("deleted", "InferenceService", "search")]
    applier.apply([put(again(chat, "9000", deploymentMode="OMENative"))])
    assert len(kept(cluster)) == 3


def test_thousands_of_objects_are_kept_in_few_statements(cluster: Cluster) -> None:
    store_kind(cluster, brought("InferenceService"))
    with CaptureQueriesContext(connection) as queries:
        store_kind(cluster, brought("InferenceService", *(service(f"s{number}") for number in range(2000))))
    assert ObjectChange.objects.count() == 2000
    assert len(queries) < 60


# --- how long it is kept -----------------------------------------------------------------------------


def test_changes_are_forgotten_after_the_days_that_are_set(cluster: Cluster, settings: Any) -> None:
    settings.KEEP_CHANGES_DAYS = 7
    now = timezone.now()
    old, young = (an_object_change(cluster, now - timedelta(days=days)) for days in (8, 6))
    a_change(cluster, old, now - timedelta(days=8))
    a_change(cluster, young, now - timedelta(days=6))
    assert prune_changes(now) == 2
    assert [row.cause_id for row in Change.objects.all()] == [young.pk]
    assert [row.pk for row in ObjectChange.objects.all()] == [young.pk]
    assert prune_changes(now) == 0


def test_a_cause_stays_as_long_as_what_it_caused(cluster: Cluster, settings: Any) -> None:
    settings.KEEP_CHANGES_DAYS = 7
    now = timezone.now()
    cause = an_object_change(cluster, now - timedelta(days=7, seconds=1))
    change = a_change(cluster, cause, now - timedelta(days=7) + timedelta(seconds=1))
    assert prune_changes(now) == 0
    change.refresh_from_db()
    assert change.cause == cause
    assert prune_changes(now + timedelta(minutes=1)) == 2


def test_many_are_forgotten_in_batches(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 3)
    long_ago = timezone.now() - timedelta(days=4000)
    for _ in range(7):
        a_change(cluster, an_object_change(cluster, long_ago), long_ago)
    assert prune_changes() == 14
    assert not Change.objects.exists()
    assert not ObjectChange.objects.exists()


def test_a_sync_forgets_what_is_too_old() -> None:
    cluster, _ = sync("east", model())
    an_object_change(cluster, timezone.now() - timedelta(days=91))
    an_object_change(cluster, timezone.now() - timedelta(days=89))
    sync("east", model())
    assert ObjectChange.objects.filter(name="old").count() == 1


def an_object_change(cluster: Cluster, at: datetime) -> ObjectChange:
    return ObjectChange.objects.create(
        cluster=cluster, generation=1, at=at, kind="InferenceService", namespace="ml", name="old", act="changed"
    )


def a_change(cluster: Cluster, cause: ObjectChange, at: datetime) -> Change:
    return Change.objects.create(
        cluster=cluster, generation=1, at=at, namespace="ml", service="old", what="outcome", cause=cause
    )
