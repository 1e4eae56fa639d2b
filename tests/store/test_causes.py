"""The cause of a change is the most direct of the objects that changed and can reach the service."""

from __future__ import annotations

import pytest

from selection.store import evaluate as evaluation
from selection.store.evaluate import evaluate
from selection.store.models import (
    Change,
    Cluster,
    ObjectChange,
    ServiceResult,
)
from selection.store.recording import OTHER_RULES
from selection.store.sync import store_kind
from selection.store.versions import set_version, update_version

from .builders import Manifest, brought, manager, model, revision, runtime, service, sync, workload
from .histories import BASE, again, engine, told, without

pytestmark = pytest.mark.django_db

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


def test_the_release_is_looked_up_again_after_a_sync() -> None:
    cluster, _ = sync("east", *NATIVE, manager("x/ome-manager:v1.2.0"))
    assert cluster.evaluated_version == "1.2"
    store_kind(cluster, brought("Deployment", manager("x/ome-manager:v1.3.0")))
    cluster.refresh_from_db()
    update_version(cluster)
    evaluate(cluster)
    assert Cluster.objects.get().evaluated_version == "1.3"
    assert Change.objects.get(what="mode").cause is not None
