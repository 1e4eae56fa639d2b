"""What became different for services is kept once, with the object that caused it, whoever judges and whenever."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.kinds import KINDS
from selection.store import causes as choosing
from selection.store import evaluate as evaluation
from selection.store.evaluate import evaluate
from selection.store.models import (
    Change,
    Cluster,
    ComponentResult,
    ConflictRow,
    ModelResult,
    ObjectChange,
    RuntimeResult,
    ServiceResult,
    Tally,
)
from selection.store.recording import OTHER_RULES
from selection.store.sync import store_kind
from selection.store.versions import set_version, update_version
from tests.rules.fleets_more import edits, holds, rich_fleets

from .builders import MODE, Manifest, brought, manager, model, revision, rows, runtime, service, sync, workload
from .test_incremental import Memory, lived, process

pytestmark = pytest.mark.django_db

VLLM, SGLANG = "ClusterServingRuntime//vllm", "ServingRuntime/ml/sglang"
BASE = [model(), runtime("vllm"), service("chat"), service("search", "web")]


def again(manifest: Manifest, *, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """The object with something else in its spec, in another version."""
    new = copy.deepcopy(manifest)
    new["metadata"]["resourceVersion"] = str(int(new["metadata"]["resourceVersion"]) + 10_000)
    if annotations is not None:
        new["metadata"]["annotations"] = annotations
    new["spec"].update(spec)
    return new


def without(objects: list[Manifest], *names: str) -> list[Manifest]:
    return [each for each in objects if each["metadata"]["name"] not in names]


def told() -> list[tuple[str, str, str, str, str]]:
    """Every change: the service, what, the component, before and after."""
    return [
        (row.service, row.what, row.component, row.before, row.after)
        for row in Change.objects.order_by("namespace", "service", "pk")
    ]


def causes() -> set[str]:
    """The names of the objects that caused something, ``""`` where none did."""
    return {row.cause.name if row.cause else "" for row in Change.objects.all()}


def engine(mode: str) -> dict[str, Any]:
    return {"annotations": {MODE: mode}}


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


# --- the cause ---------------------------------------------------------------------------------------


def caused(before: list[Manifest], after: list[Manifest], name: str = "chat") -> list[str]:
    """The names of a service's causes when these objects become those at once, the first one first."""
    sync("east", *before)
    sync("east", *after)
    change = Change.objects.filter(service=name)[0]
    assert change.cause is not None
    return [change.cause.name, *(each["name"] for each in change.other_causes)]


def test_the_service_itself_comes_before_its_runtime_and_that_before_its_model() -> None:
    vllm = again(BASE[1], engineConfig=engine("MultiNode"))
    llama = again(BASE[0], modelParameterSize="7B")
    after = [llama, vllm, again(BASE[2], decoder={}), BASE[3]]
    assert caused(BASE, after) == ["chat", "vllm", "llama"]
    search = Change.objects.filter(service="search")[0]
    assert search.cause is not None
    assert search.cause.name == "vllm"
    assert search.other_causes == [
        {"kind": "ClusterBaseModel", "namespace": "", "name": "llama", "act": "changed"},
    ]


def test_a_runtime_that_went_comes_before_one_that_changed() -> None:
    other = runtime("other", supportedModelFormats=[{"modelFormat": {"name": "safetensors"}, "autoSelect": True}])
    before = [*BASE, runtime("a-first"), other]
    after = [*without(BASE, "vllm"), again(BASE[1], disabled=False), other]
    assert caused(before, after) == ["a-first", "vllm"]


def test_another_runtime_is_the_cause_when_it_keeps_a_conflict_away() -> None:
    asking = service("chat", engine=engine("OMENative"))
    kept = runtime("kept", engineConfig=engine("MultiNode"))
    before = [model(), runtime("vllm"), asking, kept]
    assert caused(before, without(before, "kept")) == ["kept"]
    assert told() == [("chat", "conflict", "engine", "rejected", "")]


def test_a_parent_is_the_cause_of_what_its_heir_says() -> None:
    parent = runtime("parent")
    child = runtime("child", annotations={"ome.io/inherit-from": "parent"})
    named = service("chat", runtime={"name": "child"})
    before = [model(), parent, child, named]
    after = [before[0], again(parent, engineConfig=engine("MultiNode")), child, named]
    assert caused(before, after) == ["parent"]


def test_a_workload_is_the_cause_of_drift() -> None:
    before = [*BASE, workload("Deployment", "chat-engine", "chat", by="vllm")]
    after = [*BASE, workload("Deployment", "chat-engine", "chat", by="other")]
    assert caused(before, after) == ["chat-engine"]
    assert told() == [("chat", "conflict", "engine", "", "drift")]


def test_a_revision_is_the_cause_of_what_a_pinned_service_runs() -> None:
    pinned = service("chat", runtime={"name": "vllm", "autoSync": False, "revision": "cr-vllm-0123abcd"})
    native = revision("cr-vllm-0123abcd", {"spec": {"engineConfig": engine("OMENative")}})
    before = [*BASE[:2], pinned, native]
    after = [*BASE[:2], pinned, revision("cr-vllm-0123abcd", {"spec": {"engineConfig": engine("MultiNode")}})]
    assert caused(before, after) == ["cr-vllm-0123abcd"]


def test_an_object_that_changed_twice_is_one_cause_with_its_last_state() -> None:
    cluster, _ = sync("east", *BASE)
    for mode in ("MultiNode", "OMENative"):
        store_kind(cluster, brought("ClusterServingRuntime", again(BASE[1], engineConfig=engine(mode))))
    evaluate(Cluster.objects.get())
    change = Change.objects.filter(service="chat", what="mode").get()
    assert (change.before, change.after, change.other_causes) == ("RawDeployment", "OMENative", [])
    assert change.cause == ObjectChange.objects.latest("pk")


# --- causes that are no object of the service --------------------------------------------------------

NATIVE = [model(), runtime("native", engineConfig={"leader": {}, "worker": {"size": 1}}), service("chat")]


def test_a_release_that_somebody_sets_is_told_in_words() -> None:
    cluster, _ = sync("east", *NATIVE)
    set_version(cluster, "1.2", Cluster.VersionSource.SET)
    evaluate(cluster)
    change = Change.objects.get(what="mode")
    assert (change.before, change.after, change.cause) == ("OMENative", "MultiNode", None)
    assert change.reason == "the rules of OME 1.2 instead of those of 1.3"


def test_a_release_that_is_detected_is_caused_by_the_manager() -> None:
    sync("east", *NATIVE, manager("x/ome-manager:v1.3.0"))
    sync("east", *NATIVE, manager("x/ome-manager:v1.2.0"))
    change = Change.objects.get(what="mode")
    assert change.cause is not None
    assert (change.cause.kind, change.cause.name) == ("Deployment", "ome-controller-manager")
    assert {"path": "spec.template.spec.containers[0].image", "before": '"x/ome-manager:v1.3.0"'}.items() <= (
        change.cause.differences[0].items()
    )
    assert "1.2" in change.reason


def test_a_release_is_told_by_a_process_that_starts_later() -> None:
    cluster, _ = sync("east", *NATIVE)
    set_version(cluster, "1.2", Cluster.VersionSource.SET)
    evaluation._seen.clear()
    evaluate(cluster)
    assert "1.2" in Change.objects.get(what="mode").reason


def test_a_kind_that_is_read_for_the_first_time_is_told_in_words() -> None:
    cluster = Cluster.objects.create(name="east")
    store_kind(cluster, brought("ClusterBaseModel", BASE[0]))
    store_kind(cluster, brought("InferenceService", BASE[2]))
    evaluate(Cluster.objects.get())
    store_kind(cluster, brought("ClusterServingRuntime", BASE[1]))
    evaluate(Cluster.objects.get())
    change = Change.objects.get(what="runtime")
    assert (change.cause, change.reason) == (None, "ClusterServingRuntime read for the first time")


def test_services_that_are_read_for_the_first_time_have_not_come() -> None:
    cluster = Cluster.objects.create(name="east")
    for listing in (brought("ClusterBaseModel", BASE[0]), brought("InferenceService", *BASE[2:])):
        store_kind(cluster, listing)
        evaluate(Cluster.objects.get())
    assert told() == []
    store_kind(cluster, brought("InferenceService", *BASE[2:], service("new")))
    evaluate(Cluster.objects.get())
    assert told() == [("new", "service", "", "", "no-runtime")]


def test_answers_that_no_object_explains_come_from_other_rules() -> None:
    cluster, _ = sync("east", *BASE)
    before = cluster.generation
    ServiceResult.objects.filter(name="chat").update(outcome="no-runtime")
    evaluate(cluster, anew=True)
    change = Change.objects.get()
    assert (change.before, change.after, change.cause) == ("no-runtime", "auto-selected", None)
    assert change.reason == OTHER_RULES
    cluster = Cluster.objects.get()
    assert cluster.generation == cluster.evaluated_generation == cluster.answers_generation == before + 1
    assert ServiceResult.objects.get(name="chat").generation == before + 1
    assert ServiceResult.objects.get(name="search").generation <= before
    assert evaluate(cluster).changed == 0


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


# --- random lives ------------------------------------------------------------------------------------

State = dict[tuple[str, str], dict[tuple[str, str, str], str]]


def state(cluster: Cluster) -> State:
    """What the rows say of each service, from the tables that lists show."""
    found: State = {}
    for row in ServiceResult.objects.filter(cluster=cluster):
        ref = f"{row.selected_kind}/{row.selected_namespace}/{row.selected_name}" if row.selected_name else ""
        found[(row.namespace, row.name)] = {("outcome", "", ""): row.outcome, ("runtime", "", ""): ref}
    for part in ComponentResult.objects.filter(result__cluster=cluster).select_related("result"):
        found[(part.result.namespace, part.result.name)][("mode", part.component, "")] = part.running
    for conflict in ConflictRow.objects.filter(cluster=cluster).exclude(service=""):
        found[(conflict.namespace, conflict.service)][("conflict", conflict.component, conflict.code)] = conflict.code
    return found


def expected(before: State, after: State) -> list[tuple[str, ...]]:
    """The changes that lead from one state to the other."""
    found: list[tuple[str, ...]] = []
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            outcome = ("outcome", "", "")
            found.append((*key, "service", "", (old or {}).get(outcome, ""), (new or {}).get(outcome, "")))
            continue
        for aspect in old.keys() | new.keys():
            values = old.get(aspect, ""), new.get(aspect, "")
            if values[0] != values[1]:
                found.append((*key, *aspect[:2], *values))
    return sorted(found)


EVENTS = ["edit", "edit", "edit", "two", "release", "forget", "anew"]


@pytest.mark.parametrize("many", [choosing.MANY, 0])
@holds(40)
@given(rich_fleets(), st.data())
def test_the_changes_lead_from_each_state_to_the_next_and_each_has_a_cause(
    many: int, manifests: list[Manifest], data: st.DataObject
) -> None:
    processes: list[Memory] = [({}, {}), ({}, {})]
    with lived(manifests) as life, pytest.MonkeyPatch.context() as patched:
        patched.setattr(choosing, "MANY", many)
        cluster = life.quick
        life.store({kind.kind for kind in KINDS})  # each was listed once, so that all that comes later is a change
        life.judge()
        seen, version = state(cluster), "1.3"
        for _ in range(data.draw(st.integers(1, 5))):
            since, last = cluster.evaluated_generation, Change.objects.order_by("pk").last()
            with process(data.draw(st.sampled_from(processes))):
                event = data.draw(st.sampled_from(EVENTS))
                if event in {"edit", "two"}:
                    for _ in range(2 if event == "two" else 1):
                        life.change(data.draw(edits(life.objects)))
                elif event == "release":
                    life.release(data.draw(st.sampled_from(["1.2", "1.3"])))
                elif event == "forget":
                    evaluation._seen.clear()
                    life.change(data.draw(edits(life.objects)))
                if event == "anew":
                    cluster.refresh_from_db()
                    evaluate(cluster, anew=True)
                else:
                    life.judge()
            now = state(cluster)
            fresh = list(Change.objects.filter(cluster=cluster, pk__gt=last.pk if last else 0).select_related("cause"))
            assert sorted(
                (row.namespace, row.service, row.what, row.component, row.before, row.after) for row in fresh
            ) == expected(seen, now)
            moved = version != cluster.ome_version
            noted = ObjectChange.objects.filter(cluster=cluster, generation__gt=since)
            itself = {(row.namespace, row.name) for row in noted if row.kind == "InferenceService"}
            for row in fresh:
                if moved:
                    assert row.reason
                    continue
                assert row.cause is not None
                assert row.reason == ""
                assert since < row.cause.generation <= cluster.evaluated_generation
                own = (row.cause.kind, row.cause.namespace, row.cause.name)
                assert (own == ("InferenceService", row.namespace, row.service)) == (
                    (row.namespace, row.service) in itself
                )
            seen, version = now, cluster.ome_version


def test_the_release_is_looked_up_again_after_a_sync() -> None:
    cluster, _ = sync("east", *NATIVE, manager("x/ome-manager:v1.2.0"))
    assert cluster.evaluated_version == "1.2"
    store_kind(cluster, brought("Deployment", manager("x/ome-manager:v1.3.0")))
    cluster.refresh_from_db()
    update_version(cluster)
    evaluate(cluster)
    assert Cluster.objects.get().evaluated_version == "1.3"
    assert Change.objects.get(what="mode").cause is not None
