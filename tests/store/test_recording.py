"""What became different for services is kept once, whoever judges and whenever."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from selection.store import evaluate as evaluation
from selection.store.evaluate import evaluate
from selection.store.models import (
    Change,
    Cluster,
    ModelResult,
    ObjectChange,
    RuntimeResult,
    ServiceResult,
    Tally,
)
from selection.store.sync import store_kind

from .builders import brought, model, rows, runtime, service, sync, workload
from .histories import BASE, SGLANG, VLLM, again, causes, engine, told, without
from .test_incremental import Memory, process

pytestmark = pytest.mark.django_db

# --- what is kept ------------------------------------------------------------------------------------


def test_the_first_answers_are_no_change() -> None:
    sync("east", *BASE)
    assert told() == []


def test_a_runtime_that_is_selected_in_place_of_another_one() -> None:
    sync("east", *BASE)
    sync("east", *BASE, runtime("sglang", "ml"))
    assert told() == [("chat", "runtime", "", VLLM, SGLANG)]
    change = Change.objects.get()
    assert change.cause is not None
    assert (change.cause.kind, change.cause.namespace, change.cause.name, change.cause.act) == (
        "ServingRuntime",
        "ml",
        "sglang",
        "created",
    )
    assert (change.namespace, change.reason, change.other_causes) == ("ml", "", [])
    assert change.generation == change.cause.generation == Cluster.objects.get().generation


def test_a_service_that_is_left_without_a_runtime() -> None:
    sync("east", *BASE)
    sync("east", *without(BASE, "vllm"))
    assert told() == [
        change
        for name in ("chat", "search")
        for change in (
            (name, "outcome", "", "auto-selected", "no-runtime"),
            (name, "runtime", "", VLLM, ""),
            (name, "mode", "engine", "RawDeployment", ""),
        )
    ]
    assert causes() == {"vllm"}


def test_the_mode_of_a_component_and_a_conflict_that_appears() -> None:
    sync("east", *BASE)
    changed = [BASE[0], again(BASE[1], engineConfig=engine("MultiNode")), BASE[2]]
    sync("east", *changed, BASE[3])
    assert [each for each in told() if each[0] == "chat"] == [
        ("chat", "mode", "engine", "RawDeployment", "MultiNode"),
        ("chat", "conflict", "engine", "", "silent-takeover"),
        ("chat", "conflict", "engine", "", "deprecated"),
    ]
    Change.objects.all().delete()
    sync("east", *BASE)
    assert [each for each in told() if each[0] == "chat"] == [
        ("chat", "mode", "engine", "MultiNode", "RawDeployment"),
        ("chat", "conflict", "engine", "silent-takeover", ""),
        ("chat", "conflict", "engine", "deprecated", ""),
    ]


def test_a_component_that_comes_and_one_that_goes() -> None:
    sync("east", *BASE)
    sync("east", *without(BASE, "chat"), again(BASE[2], decoder={}))
    assert told() == [("chat", "mode", "decoder", "", "RawDeployment")]
    sync("east", *BASE)
    assert told()[1:] == [("chat", "mode", "decoder", "RawDeployment", "")]
    assert causes() == {"chat"}


def test_a_service_that_comes_or_goes_is_one_change_whatever_it_brings() -> None:
    sync("east", *BASE)
    busy = service("busy", engine=engine("MultiNode"), decoder=engine("Multinode"), router={})
    sync("east", *BASE, busy)
    assert told() == [("busy", "service", "", "", "auto-selected")]
    sync("east", *BASE)
    assert told()[1:] == [("busy", "service", "", "auto-selected", "")]
    assert [row.act for row in ObjectChange.objects.order_by("pk")] == ["created", "deleted"]
    assert causes() == {"busy"}


def test_a_service_that_cannot_be_read_any_more() -> None:
    sync("east", *BASE)
    sync("east", *without(BASE, "chat"), again(BASE[2], engine="x"))
    assert ("chat", "outcome", "", "auto-selected", "invalid") in told()
    assert causes() == {"chat"}


def test_what_is_no_difference_to_anybody_is_not_kept() -> None:
    sync("east", *BASE)
    sync("east", BASE[0], again(BASE[1], containers=[{"name": "main", "image": "x"}]), *BASE[2:])
    assert told() == []
    assert ObjectChange.objects.get().name == "vllm"


def test_namesakes_in_two_namespaces_and_two_scopes_are_told_apart() -> None:
    objects = [*BASE, service("chat", "web"), runtime("vllm", "ml")]
    sync("east", *objects)
    assert ServiceResult.objects.get(namespace="ml", name="chat").selected_kind == "ServingRuntime"
    sync("east", *BASE, service("chat", "web"))
    gone = Change.objects.filter(what="runtime")
    assert [(row.namespace, row.before, row.after) for row in gone] == [("ml", "ServingRuntime/ml/vllm", VLLM)]
    assert gone[0].cause is not None
    assert (gone[0].cause.kind, gone[0].cause.act) == ("ServingRuntime", "deleted")


def test_clusters_do_not_mix() -> None:
    for name in ("east", "west"):
        sync(name, *BASE)
    sync("west", *BASE, runtime("sglang", "ml"))
    sync("east", *BASE)
    assert {row.cluster.name for row in Change.objects.all()} == {"west"}


# --- whoever judges ----------------------------------------------------------------------------------


def test_judging_anew_keeps_nothing() -> None:
    cluster, _ = sync("east", *BASE)
    sync("east", *BASE, runtime("sglang", "ml"))
    before = told(), rows(Cluster.objects.get())
    for _ in range(2):
        cluster.refresh_from_db()
        assert evaluate(cluster, anew=True).changed == 0
        evaluation._seen.clear()
    assert (told(), rows(cluster)) == before


def test_what_a_killed_process_stored_is_judged_and_explained_by_the_next_one() -> None:
    cluster, _ = sync("east", *BASE)
    store_kind(cluster, brought("ClusterServingRuntime"))
    evaluation._seen.clear()
    evaluate(Cluster.objects.get())
    assert causes() == {"vllm"}
    assert len(told()) == 6
    evaluation._seen.clear()
    evaluate(Cluster.objects.get(), anew=True)
    assert len(told()) == 6


def test_a_workload_that_is_gone_explains_what_a_new_process_sees() -> None:
    cluster, _ = sync("east", *BASE, workload("Deployment", "own-name", "chat", by="other"))
    store_kind(cluster, brought("Deployment"))
    evaluation._seen.clear()
    evaluate(Cluster.objects.get())
    assert told() == [("chat", "conflict", "engine", "drift", "")]
    assert causes() == {"own-name"}


def test_a_process_goes_on_from_what_another_one_judged() -> None:
    mine: Memory = ({}, {})
    other: Memory = ({}, {})
    sglang = runtime("sglang", "ml")
    with process(mine):
        sync("east", *BASE)
    with process(other):
        sync("east", *BASE, sglang)
    with process(mine):
        sync("east", *BASE)
    assert told() == [("chat", "runtime", "", VLLM, SGLANG), ("chat", "runtime", "", SGLANG, VLLM)]
    assert [row.act for row in ObjectChange.objects.order_by("pk")] == ["created", "deleted"]


def test_thousands_of_changes_are_kept_in_few_statements() -> None:
    services = [service(f"s{number}") for number in range(1500)]
    cluster, _ = sync("east", model(), runtime("vllm"), *services)
    store_kind(cluster, brought("ClusterServingRuntime"))
    with CaptureQueriesContext(connection) as queries:
        evaluate(Cluster.objects.get())
    assert Change.objects.count() == 4500
    assert len(queries) < 200


# --- what tells pages to look again ------------------------------------------------------------------


def test_rows_have_the_generation_that_changed_them_and_the_cluster_the_newest() -> None:
    cluster, _ = sync("east", *BASE)
    first = cluster.generation
    assert cluster.answers_generation == first
    assert {row.generation for row in ServiceResult.objects.all()} == {first}
    cluster, _ = sync("east", *BASE, runtime("sglang", "ml"))
    assert cluster.answers_generation == cluster.generation == first + 1
    services = {row.name: row.generation for row in ServiceResult.objects.all()}
    runtimes = {row.name: row.generation for row in RuntimeResult.objects.all()}
    assert services == {"chat": first + 1, "search": first}
    assert runtimes == {"sglang": first + 1, "vllm": first + 1}, "one got the service that the other lost"
    assert ModelResult.objects.get().generation == first


def test_objects_that_change_no_answer_leave_the_answers_as_old_as_they_are() -> None:
    cluster, _ = sync("east", *BASE)
    first = cluster.generation
    sync("east", BASE[0], BASE[1], *BASE[2:], {**model("h100"), "kind": "AcceleratorClass"})
    cluster.refresh_from_db()
    assert (cluster.generation, cluster.evaluated_generation, cluster.answers_generation) == (
        first + 1,
        first + 1,
        first,
    )


def test_evaluations_are_counted_with_their_seconds() -> None:
    sync("east", *BASE)
    sync("east", *BASE, runtime("sglang", "ml"))
    counted = {row.label: row for row in Tally.objects.filter(name="evaluations")}
    assert {label: row.count for label, row in counted.items()} == {"full": 1, "part": 1}
    assert all(row.total > 0 for row in counted.values())
