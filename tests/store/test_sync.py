"""What was read is stored kind by kind, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.models import QuerySet

from selection.cluster.errors import Unauthorized
from selection.cluster.kinds import KINDS, KindListing
from selection.store import sync as sync_module
from selection.store.models import Cluster, KindSync, RuntimeResult, ServiceResult, StoredObject
from selection.store.sync import open_cluster, store_kind, sync_cluster

from .builders import BY_KIND, Manifest, brought, listed, model, rows, runtime, service, sync

pytestmark = pytest.mark.django_db


def names(cluster: Cluster, kind: str) -> list[str]:
    return [row.name for row in StoredObject.objects.filter(cluster=cluster, kind=kind)]


def kind_sync(cluster: Cluster, kind: str) -> KindSync:
    return KindSync.objects.get(cluster=cluster, kind=kind)


def refused(kind: str, outcome: Any = "forbidden") -> KindListing:
    return KindListing(BY_KIND[kind], outcome, f"{kind}: no")


FLEET = [model(), runtime("vllm"), runtime("vllm", "ml"), service("chat"), service("search")]


# --- objects -----------------------------------------------------------------------------------------


def test_every_object_is_kept_whole() -> None:
    cluster, report = sync("east", *FLEET)
    stored = StoredObject.objects.get(cluster=cluster, kind="InferenceService", name="chat")
    [chat] = [each for each in FLEET if each["metadata"]["name"] == "chat"]
    assert stored.manifest == chat
    assert (stored.namespace, stored.uid) == ("ml", chat["metadata"]["uid"])
    assert stored.resource_version == chat["metadata"]["resourceVersion"]
    assert (report.objects, report.changed, report.complete) == (5, 5, True)
    assert set(report.outcomes) == {kind.kind for kind in KINDS}


def test_a_second_sync_of_the_same_objects_writes_nothing() -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)
    again, report = sync("east", *FLEET)
    assert report.changed == 0
    assert rows(again) == before
    assert again.generation == cluster.generation


def test_only_what_changed_is_written() -> None:
    cluster, _ = sync("east", *FLEET)
    before = {row["name"]: row for row in rows(cluster)["StoredObject"]}
    changed = service("chat", deploymentMode="OMENative")
    again, report = sync("east", *FLEET[:3], changed, service("fresh"))
    after = {row["name"]: row for row in rows(again)["StoredObject"]}
    assert report.changed == 3  # one changed, one new, one gone
    assert after.keys() == {"llama", "vllm", "chat", "fresh"}
    assert after["chat"]["id"] == before["chat"]["id"]
    assert after["chat"]["manifest"] == changed
    assert after["llama"] == before["llama"]


def test_an_object_that_was_deleted_and_made_again_is_the_same_row_with_a_new_uid() -> None:
    cluster, _ = sync("east", *FLEET)
    before = StoredObject.objects.get(cluster=cluster, name="chat")
    sync("east", *FLEET[:3], service("chat"))
    after = StoredObject.objects.get(cluster=cluster, name="chat")
    assert after.pk == before.pk
    assert after.uid != before.uid


def test_an_object_that_went_and_came_back_is_judged_again() -> None:
    cluster, _ = sync("east", *FLEET)
    sync("east", *FLEET[:3])
    assert not ServiceResult.objects.filter(cluster=cluster)
    sync("east", *FLEET)
    assert ServiceResult.objects.filter(cluster=cluster).count() == 2


def test_clusters_stand_side_by_side() -> None:
    east, _ = sync("east", *FLEET)
    west, _ = sync("west", model(), service("chat"))
    before = rows(east)
    assert ServiceResult.objects.get(cluster=east, name="chat").outcome == "auto-selected"
    assert ServiceResult.objects.get(cluster=west, name="chat").outcome == "no-runtime"
    sync("west")
    assert rows(east) == before
    assert not StoredObject.objects.filter(cluster=west)


def test_the_objects_generation_is_the_one_that_brought_them() -> None:
    cluster, _ = sync("east", *FLEET)
    sync("east", *FLEET[:4], service("search", deploymentMode="OMENative"))
    by_name = {row.name: row.generation for row in StoredObject.objects.filter(cluster=cluster)}
    cluster.refresh_from_db()
    assert by_name["search"] == cluster.generation > by_name["chat"]


# --- kinds that can't be read ------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["forbidden", "failed"])
def test_a_kind_that_cannot_be_read_keeps_what_is_stored_and_says_why(outcome: Any) -> None:
    cluster, _ = sync("east", *FLEET)
    before, listed_at = rows(cluster), kind_sync(cluster, "ClusterServingRuntime").listed_at
    listings = [each for each in listed(FLEET) if each.kind.kind != "ClusterServingRuntime"]
    report = sync_cluster(cluster, [refused("ClusterServingRuntime", outcome), *listings])
    status = kind_sync(cluster, "ClusterServingRuntime")
    assert (status.outcome, status.reason) == (outcome, "ClusterServingRuntime: no")
    assert (status.object_count, status.listed_at) == (1, listed_at)
    assert status.listed_at is not None
    assert status.attempted_at > status.listed_at
    assert not report.complete
    assert report.reasons == {"ClusterServingRuntime": "ClusterServingRuntime: no"}
    assert {**rows(cluster), "KindSync": []} == {**before, "KindSync": []}


def test_a_kind_that_was_never_read_has_no_age() -> None:
    cluster = open_cluster("east")
    sync_cluster(cluster, [refused("BaseModel", "failed"), brought("ClusterBaseModel", model())])
    assert kind_sync(cluster, "BaseModel").listed_at is None
    assert kind_sync(cluster, "ClusterBaseModel").listed_at is not None


def test_a_kind_that_is_not_served_any_more_has_no_objects() -> None:
    cluster, _ = sync("east", *FLEET)
    report = sync_cluster(cluster, [KindListing(BY_KIND["ServingRuntime"], "not-served", "no such group")])
    assert names(cluster, "ServingRuntime") == []
    assert names(cluster, "ClusterServingRuntime") == ["vllm"]
    assert kind_sync(cluster, "ServingRuntime").object_count == 0
    assert report.complete


def test_a_kind_that_nobody_asked_for_stays_as_it_is() -> None:
    cluster, _ = sync("east", *FLEET)
    sync_cluster(cluster, [brought("InferenceService")])
    assert names(cluster, "ClusterServingRuntime") == ["vllm"]
    assert names(cluster, "InferenceService") == []


# --- whole or not at all -----------------------------------------------------------------------------


class _Broken(RuntimeError):
    pass


def breaking(listings: list[KindListing], after: int, error: BaseException) -> Iterator[KindListing]:
    yield from listings[:after]
    raise error


def test_a_cluster_that_stops_answering_keeps_the_kinds_read_before_and_judges_them() -> None:
    cluster, _ = sync("east", *FLEET)
    listings = listed([model(), runtime("sglang"), service("chat")])
    at = [each.kind.kind for each in listings].index("InferenceService")
    with pytest.raises(Unauthorized):
        sync_cluster(cluster, breaking(listings, at, Unauthorized("the API server doesn't know us")))
    cluster.refresh_from_db()
    assert cluster.sync_error == "the API server doesn't know us"
    assert names(cluster, "ClusterServingRuntime") == ["sglang"]
    assert names(cluster, "InferenceService") == ["chat", "search"]
    assert {row.selected_name for row in ServiceResult.objects.filter(cluster=cluster)} == {"sglang"}
    assert cluster.evaluated_generation == cluster.generation


def test_the_error_is_gone_after_the_next_sync() -> None:
    cluster = open_cluster("east")
    with pytest.raises(Unauthorized):
        sync_cluster(cluster, breaking([], 0, Unauthorized("no")))
    cluster, _ = sync("east", *FLEET)
    assert cluster.sync_error == ""


def test_a_sync_that_is_interrupted_does_not_look_like_one_that_went_well() -> None:
    cluster = open_cluster("east")
    with pytest.raises(KeyboardInterrupt):
        sync_cluster(cluster, breaking(listed(FLEET), 3, KeyboardInterrupt()))
    cluster.refresh_from_db()
    assert cluster.sync_error == "interrupted"


def test_an_exception_in_the_middle_of_a_kind_leaves_the_old_state(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)

    def _break(*args: Any, **options: Any) -> None:
        raise _Broken

    # The rows that vanished are deleted by then, the changed ones not yet written.
    monkeypatch.setattr(QuerySet, "bulk_create", _break)
    with pytest.raises(_Broken):
        store_kind(cluster, brought("InferenceService", service("chat", deploymentMode="OMENative"), service("new")))
    monkeypatch.undo()
    assert rows(cluster) == before


def test_an_exception_in_the_middle_of_judging_leaves_the_old_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)

    def _break(*args: Any, **options: Any) -> None:
        raise _Broken

    monkeypatch.setattr("selection.store.evaluate.write_models", _break)
    with pytest.raises(_Broken):
        sync_cluster(cluster, [brought("ClusterServingRuntime", runtime("sglang"))])
    monkeypatch.undo()
    after = rows(cluster)
    for table in (
        "ServiceResult",
        "ComponentResult",
        "ConflictRow",
        "RuntimeResult",
        "ReferenceRow",
        "ModelResult",
        "Finding",
    ):
        assert after[table] == before[table]
    cluster.refresh_from_db()
    assert cluster.evaluated_generation < cluster.generation, "the pages can tell that the answers are old"
    again, _ = sync("east", *FLEET[:1], runtime("sglang"), *FLEET[2:])
    assert again.evaluated_generation == again.generation
    assert names(again, "ClusterServingRuntime") == ["sglang"]
    assert RuntimeResult.objects.filter(cluster=again, name="sglang").exists()


def test_a_database_that_fails_is_not_hidden_by_what_is_done_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = open_cluster("east")

    def _break(*args: Any, **options: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(sync_module, "store_kind", _break)
    monkeypatch.setattr(sync_module, "evaluate", _break)
    with pytest.raises(DatabaseError, match="disk full"):
        sync_cluster(cluster, listed(FLEET))


# --- objects that are odd ----------------------------------------------------------------------------


ODD: list[Manifest] = [
    {**service("no-spec"), "spec": None},
    {**service("spec-is-a-list"), "spec": ["x"]},
    {**service("spec-is-text"), "spec": "x"},
    service("model-is-text", model="llama"),
    service("model-name-is-a-number", model={"name": 5}),
    service("engine-is-true", engine=True),
    {**service("labels-are-a-list"), "metadata": {"name": "labels", "namespace": "ml", "labels": ["x"]}},
    {**service("status-is-text"), "status": "x"},
    {**service("conditions-are-text"), "status": {"conditions": "x"}},
    {**service("nameless"), "metadata": {"namespace": "ml"}},
    {**service("name-is-a-list"), "metadata": {"name": ["x"], "namespace": "ml"}},
    {**service("metadata-is-text"), "metadata": "x"},
    service("n" * 300),
    {**service("long-namespace"), "metadata": {"name": "a", "namespace": "n" * 300}},
    {
        **service("long-version"),
        "metadata": {"name": "b", "namespace": "ml", "resourceVersion": "9" * 300, "uid": "u" * 300},
    },
    {**service("uid-is-a-number"), "metadata": {"name": "c", "namespace": "ml", "resourceVersion": 5, "uid": 5}},
    service("nul-\x00", model={"name": "a\x00b"}, engine={"annotations": {"ome.io/deploymentMode": "\ud800"}}),
    service("long-values", model={"name": "m" * 5000}, engine={"annotations": {"ome.io/deploymentMode": "M" * 5000}}),
    service("deep", engine={"x": [[[[[[[[[[{"a": {"b": {"c": [{}]}}}]]]]]]]]]]}),
    runtime("formats-are-text", supportedModelFormats="x"),
    runtime("weight-is-text", supportedModelFormats=[{"modelFormat": {"name": "x", "weight": "1"}}]),
    runtime("weight-is-huge", supportedModelFormats=[{"modelFormat": {"name": "safetensors", "weight": 2**70}}]),
    runtime("many-formats", supportedModelFormats=[{"modelFormat": {"name": "f" * 300 + str(n)}} for n in range(9)]),
    runtime(
        "long-reference",
        engineConfig={"runner": {"args": ["--" + "x" * 900 + "=$(LWS_GROUP_SIZE)"], "name": "n" * 300}},
    ),
    runtime("long-key", engineConfig={"annotations": {"leaderworkerset.sigs.k8s.io/" + "k" * 900: "x"}}),
    runtime(
        "two-long-keys",
        engineConfig={"labels": {"leaderworkerset.sigs.k8s.io/" + "k" * 900 + end: "x" for end in "ab"}},
    ),
    runtime("long-parent", annotations={"ome.io/inherit-from": "p" * 300}),
    runtime("own-parent", annotations={"ome.io/inherit-from": "own-parent"}),
    model("format-is-text", modelFormat="safetensors"),
    model("size-is-a-number", modelParameterSize=7),
    model("long-words", modelArchitecture="A" * 900, quantization="q" * 900, modelParameterSize="9" * 900),
]


def test_odd_objects_never_hide_the_others() -> None:
    cluster, _ = sync("east", *ODD, *FLEET)
    row = ServiceResult.objects.get(cluster=cluster, namespace="ml", name="chat")
    assert (row.outcome, row.selected_kind, row.selected_name) == ("auto-selected", "ServingRuntime", "vllm")


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd["kind"] + " " + str(odd["metadata"])[:60])
def test_an_odd_object_is_stored_and_syncing_it_again_writes_nothing(odd: Manifest) -> None:
    cluster, _ = sync("east", *FLEET, odd)
    before = rows(cluster)
    assert len(before["StoredObject"]) == 6
    again, report = sync("east", *FLEET, odd)
    assert report.changed == 0
    assert rows(again) == before


def test_what_is_unreadable_says_where_and_why_until_it_is_mended() -> None:
    cluster, _ = sync("east", *FLEET, service("broken", model="llama"))
    stored = StoredObject.objects.get(cluster=cluster, name="broken")
    assert (stored.problem_path, stored.problem_message) == ("spec.model", 'expected an object, found text "llama"')
    assert ServiceResult.objects.get(cluster=cluster, name="broken").outcome == "invalid"
    sync("east", *FLEET, service("broken"))
    stored.refresh_from_db()
    assert (stored.problem_path, stored.problem_message) == ("", "")
    assert ServiceResult.objects.get(cluster=cluster, name="broken").outcome == "auto-selected"


def test_an_object_is_of_the_kind_that_was_listed_whatever_it_says() -> None:
    odd = [{**service("a"), "kind": kind} for kind in ("Secret", None)] + [{**service("c"), "kind": 5}]
    for _ in range(2):
        cluster = open_cluster("east")
        sync_cluster(cluster, [brought("InferenceService", *odd)])
    assert names(cluster, "InferenceService") == ["a", "c"]
    assert StoredObject.objects.filter(cluster=cluster).count() == 2


def test_scores_may_overflow_as_they_do_in_go() -> None:
    entry = {"modelFormat": {"name": "safetensors", "weight": 2**63 - 1}, "autoSelect": True, "priority": 1}
    for priority, score in ((1, 2**63 - 1), (2**31 - 1, 2**63 - 2**31 + 1)):
        heavy = runtime("heavy", supportedModelFormats=[{**entry, "priority": priority}])
        cluster, _ = sync("east", model(), heavy, service("chat"))
        assert ServiceResult.objects.get(cluster=cluster).score == score


# --- the cluster's row -------------------------------------------------------------------------------


def test_when_nothing_could_be_read_the_cluster_says_why() -> None:
    cluster, _ = sync("east", *FLEET)
    unreachable = [KindListing(kind, "failed", f"east: connection refused ({kind.kind})") for kind in KINDS]
    report = sync_cluster(cluster, unreachable)
    cluster.refresh_from_db()
    assert report.failure == cluster.sync_error == "east: connection refused (AcceleratorClass)"
    sync_cluster(cluster, [*unreachable[1:], brought("AcceleratorClass")])
    cluster.refresh_from_db()
    assert cluster.sync_error == ""


def test_times_tell_when_it_was_read() -> None:
    cluster, _ = sync("east", *FLEET)
    assert isinstance(cluster.sync_started_at, datetime)
    assert isinstance(cluster.sync_finished_at, datetime)
    assert cluster.sync_started_at <= cluster.sync_finished_at


def test_what_is_not_given_is_kept() -> None:
    open_cluster("east", source="a kubeconfig", ome_namespace="ome-system", ome_version="1.2")
    cluster = open_cluster("east")
    assert (cluster.source, cluster.ome_namespace, cluster.ome_version) == ("a kubeconfig", "ome-system", "1.2")


def test_opening_a_cluster_does_not_turn_back_what_another_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    sync("east", *FLEET)
    real = QuerySet.get_or_create

    def counted(rows: Any, **options: Any) -> Any:
        found = real(rows, **options)
        rows.update(generation=99, evaluated_generation=98, sync_error="x")
        return found

    monkeypatch.setattr(QuerySet, "get_or_create", counted)
    cluster = open_cluster("east", source="elsewhere", ome_version="1.2")
    cluster.refresh_from_db()
    # Another release counts the generation up by one, from where the other process left it.
    assert (cluster.generation, cluster.evaluated_generation, cluster.sync_error) == (100, 98, "x")
    assert (cluster.source, cluster.ome_version) == ("elsewhere", "1.2")


def test_long_words_about_a_cluster_are_cut() -> None:
    cluster = open_cluster("east", source="s" * 900)
    cluster.refresh_from_db()
    assert len(cluster.source) == 500


def test_reasons_and_versions_of_any_length_are_kept_as_far_as_they_fit() -> None:
    cluster = open_cluster("east")
    sync_cluster(
        cluster,
        [
            KindListing(BY_KIND["BaseModel"], "failed", "why \x00 " + "x" * 5000),
            KindListing(BY_KIND["ServingRuntime"], "complete", None, [], "9" * 300),
        ],
    )
    assert kind_sync(cluster, "BaseModel").reason.startswith("why \ufffd x")
    assert kind_sync(cluster, "ServingRuntime").resource_version == "9" * 64
