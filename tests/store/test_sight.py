"""What isn't seen is in no row, no count, no fleet and no cache; who sees everything pays nothing for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Count, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection.store import freshness as freshness_module
from selection.store import upgrades
from selection.store.daily import progress
from selection.store.evaluate import evaluate
from selection.store.fleets import fleet_of
from selection.store.freshness import freshness, recent_freshness
from selection.store.models import (
    Change,
    Cluster,
    ComponentResult,
    ConflictRow,
    DailyCount,
    Finding,
    KindSync,
    ModelResult,
    ObjectChange,
    ReferenceRow,
    RuntimeResult,
    ServiceResult,
    StoredObject,
    Tally,
)
from selection.store.recent import recent_changes
from selection.store.results import service_clusters
from selection.store.sight import (
    EVERYTHING,
    NOTHING,
    Place,
    SeenManager,
    Sight,
    SightedModel,
    current_sight,
    seeing,
    seen_through,
    sight_key,
    step_by_step,
)
from selection.store.timeline import changes
from selection.store.upgrades import compute_preview
from selection.store.waiting import clusters_on_the_way

from .builders import MODE, Manifest, model, rows, runtime, service, sync, workload

pytestmark = pytest.mark.django_db

BY_NAME: dict[str, Any] = {"supportedModelFormats": [{"modelFormat": {"name": "safetensors"}, "autoSelect": False}]}
MULTI = {"annotations": {MODE: "MultiNode"}, "leader": {}, "worker": {"size": 2}}
WITHOUT_A_PLACE = {"SeveritySetting"}
"""Models that tell nothing of a cluster."""


def objects(*namespaces: str) -> list[Manifest]:
    """A cluster's own objects, and the same ones in each namespace."""
    found = [
        model(),
        runtime("vllm"),
        runtime("multi", engineConfig=MULTI, **BY_NAME),
        runtime("broken", supportedModelFormats=1),
    ]
    for namespace in namespaces:
        found += [
            model("own", namespace),
            runtime("own", namespace, engineConfig={**MULTI, "annotations": {MODE: "Unknown"}}, **BY_NAME),
            service("chat", namespace),
            service("long", namespace, runtime={"name": "multi"}),
            service("odd", namespace, model=3),
            workload("LeaderWorkerSet", "long-engine", "long", namespace),
        ]
    return found


@pytest.fixture
def east() -> Cluster:
    return sync("east", *objects("ml", "hr"))[0]


@pytest.fixture
def west() -> Cluster:
    return sync("west", *objects("hr"))[0]


def some_of(cluster: Cluster, *namespaces: str) -> Sight:
    return Sight((Place(cluster.pk, cluster.name, frozenset(namespaces)),))


def whole(cluster: Cluster) -> Sight:
    return Sight((Place(cluster.pk, cluster.name),))


# The managers


def sighted() -> list[Any]:
    return [each for each in apps.get_app_config("store").get_models() if each.__name__ not in WITHOUT_A_PLACE]


def test_every_model_says_where_its_rows_belong() -> None:
    for each in sighted():
        assert issubclass(each, SightedModel), each
        assert isinstance(each._default_manager, SeenManager), each


@pytest.mark.parametrize("table", sighted(), ids=lambda each: each.__name__)
def test_who_sees_everything_asks_as_if_there_were_no_sight(table: Any) -> None:
    assert str(table.objects.all().query) == str(QuerySet(table).all().query)
    with seeing(EVERYTHING):
        assert str(table.objects.all().query) == str(QuerySet(table).all().query)


@pytest.mark.parametrize("table", sighted(), ids=lambda each: each.__name__)
def test_who_sees_nothing_gets_nothing(table: Any, east: Cluster) -> None:
    with seeing(NOTHING):
        assert not table.objects.exists()
        assert table.objects.count() == 0
    with seeing(Sight((Place(east.pk + 1, "another"),))):
        assert not table.objects.exists()


def places(table: Any, *fields: str) -> set[Any]:
    return set(table.objects.order_by().values_list(*fields))


def test_a_namespace_is_seen_with_what_is_the_clusters(east: Cluster, west: Cluster) -> None:
    with seeing(some_of(east, "ml")):
        assert places(Cluster, "name") == {("east",)}
        assert places(KindSync, "cluster__name") == {("east",)}
        assert places(ServiceResult, "cluster__name", "namespace") == {("east", "ml")}
        assert places(ComponentResult, "result__cluster__name", "result__namespace") == {("east", "ml")}
        assert places(ReferenceRow, "runtime__cluster__name", "runtime__namespace") <= {("east", "ml"), ("east", "")}
        assert places(ConflictRow, "namespace", "runtime_namespace") <= {("", "ml"), ("ml", ""), ("", ""), ("ml", "ml")}
        assert ConflictRow.objects.filter(namespace="ml").exists()
        assert ConflictRow.objects.filter(namespace="", runtime_namespace="ml").exists()
        for table in (StoredObject, RuntimeResult, ModelResult, Finding):
            assert places(table, "cluster__name", "namespace") == {("east", "ml"), ("east", "")}, table
        assert {row.name for row in RuntimeResult.objects.filter(namespace="")} == {"vllm", "multi", "broken"}


def test_a_whole_cluster_is_seen_as_it_is(east: Cluster, west: Cluster) -> None:
    everything = rows(east)
    with seeing(whole(east)):
        assert rows(east) == everything
        assert not any(rows(west).values())


def test_related_rows_are_narrowed_too(east: Cluster) -> None:
    with seeing(some_of(east, "ml")):
        found = Cluster.objects.get()
        assert {row.namespace for row in found.services.all()} == {"ml"}
        assert found.services.count() == found.services.aggregate(rows=Count("pk"))["rows"] == 3
        assert set(ServiceResult.objects.in_bulk()) == set(found.services.values_list("pk", flat=True))
        names = Cluster.objects.filter(seen_through(ServiceResult, "services__"), services__namespace="hr")
        assert not names.exists()
        prefetched = RuntimeResult.objects.prefetch_related("cluster__services").first()
        assert prefetched is not None
        assert {row.namespace for row in prefetched.cluster.services.all()} == {"ml"}
    assert str(seen_through(ServiceResult, "services__")) == "(AND: )"


def hidden_row(east: Cluster) -> ServiceResult:
    return ServiceResult.objects.get(cluster=east, namespace="hr", name="chat")


def test_a_primary_key_opens_nothing(east: Cluster) -> None:
    pk = hidden_row(east).pk
    with seeing(some_of(east, "ml")):
        assert not ServiceResult.objects.filter(pk=pk).exists()
        assert ServiceResult.objects.in_bulk([pk]) == {}


# Counts


def counts(name: str) -> tuple[int, int]:
    row = RuntimeResult.objects.get(cluster__name="east", name=name, namespace="")
    return row.selected_by, row.named_by


def test_counts_are_of_what_is_seen(east: Cluster) -> None:
    assert (counts("vllm"), counts("multi")) == ((2, 0), (0, 2))
    users = ModelResult.objects.get(cluster=east, name="llama")
    assert users.services == 4
    with seeing(some_of(east, "ml")):
        assert (counts("vllm"), counts("multi")) == ((1, 0), (0, 1))
        assert ModelResult.objects.get(name="llama").services == 2
        services = KindSync.objects.get(kind="InferenceService")
        assert services.object_count == 3
        assert dict(KindSync.objects.values_list("kind", "object_count"))["ClusterServingRuntime"] == 3
        assert dict(KindSync.objects.values_list("kind", "object_count"))["AcceleratorClass"] == 0
    with seeing(some_of(east)):
        assert (counts("vllm"), ModelResult.objects.get(name="llama").services) == ((0, 0), 0)
    with seeing(whole(east)):
        assert counts("vllm") == (2, 0)


def test_filters_sorts_and_values_go_by_what_is_seen(east: Cluster) -> None:
    with seeing(some_of(east)):
        assert not RuntimeResult.objects.filter(selected_by__gt=0).exists()
        assert set(RuntimeResult.objects.values_list("selected_by", "named_by")) == {(0, 0)}
        assert not ModelResult.objects.exclude(services=0).exists()
    with seeing(some_of(east, "ml")):
        first = RuntimeResult.objects.order_by("-named_by").values_list("name", flat=True).first()
        assert first == "multi"
        assert RuntimeResult.objects.filter(selected_by=1).get().name == "vllm"
        total = RuntimeResult.objects.count()
    with seeing(whole(east)):
        assert RuntimeResult.objects.count() == total + 1


def test_a_row_that_another_one_leads_to_has_no_count_of_everything(east: Cluster) -> None:
    with seeing(some_of(east, "ml")):
        conflict = ReferenceRow.objects.select_related("runtime").first()
        assert conflict is None or conflict.runtime.named_by == 0
        stale = RuntimeResult.objects.get(name="multi", namespace="")
        stale.refresh_from_db(fields=["named_by"])
        assert stale.named_by == 0, "a row that comes without the manager has no count at all"


def test_events_are_told_of_whole_clusters_alone(east: Cluster, west: Cluster) -> None:
    KindSync.objects.update(events=7)
    both = Sight((*some_of(east, "ml").places, Place(west.pk, "west")))  # type: ignore[misc]
    with seeing(both):
        assert set(KindSync.objects.values_list("cluster__name", "events")) == {("east", 0), ("west", 7)}
        assert {row.events for row in KindSync.objects.filter(cluster=east)} == {0}


def test_what_is_kept_of_clusters_as_a_whole_is_for_who_sees_them_whole(east: Cluster, west: Cluster) -> None:
    assert {row.cluster_id for row in Tally.objects.all()} == {east.pk, west.pk}
    both = Sight((*some_of(east, "ml").places, Place(west.pk, "west")))  # type: ignore[misc]
    with seeing(both):
        assert {row.cluster_id for row in Tally.objects.all()} == {west.pk}
        assert {row.cluster_id for row in DailyCount.objects.all()} == {west.pk}
        assert [(stand.multi_node, stand.off) for stand in progress()] == [(2, 0)]
        assert [(stand.multi_node, stand.off) for stand in progress(east)] == [(1, 0)]
        assert [(stand.multi_node, stand.off) for stand in progress(west)] == [(1, 0)]
    assert [(stand.multi_node, stand.off) for stand in progress()] == [(3, 0)]


def test_findings_that_rest_on_the_models_of_every_namespace_are_for_who_sees_all_of_them() -> None:
    cluster, _ = sync("east", runtime("a"), runtime("b"), model("own", "hr"), service("chat", "ml"))
    codes = {row.code for row in Finding.objects.filter(namespace="")}
    assert "overlap" in codes
    with seeing(some_of(cluster, "ml", "hr")):
        assert "overlap" not in {row.code for row in Finding.objects.all()}
    with seeing(whole(cluster)):
        assert {row.code for row in Finding.objects.filter(namespace="")} == codes


# What happened


def history(east: Cluster) -> Change:
    now = timezone.now()
    same: dict[str, Any] = {"cluster": east, "generation": 9, "at": now}
    cause = ObjectChange.objects.create(
        kind="ControllerRevision",
        namespace="ome",
        name="secret",
        act="changed",
        old_version="1",
        new_version="2",
        differences=[{"path": "data", "before": "x", "after": "y"}],
        more_differences=3,
        **same,
    )
    others = [
        {"kind": "ControllerRevision", "namespace": "ome", "name": "other", "act": "changed"},
        {"kind": "ClusterServingRuntime", "namespace": "", "name": "vllm", "act": "changed"},
    ]
    Change.objects.create(namespace="hr", service="chat", what="outcome", before="a", after="b", **same)
    return Change.objects.create(
        namespace="ml", service="chat", what="outcome", before="a", after="b", cause=cause, other_causes=others, **same
    )


def test_a_cause_that_is_not_seen_is_only_told_to_be_there(east: Cluster) -> None:
    kept = history(east)
    with seeing(some_of(east, "ml")):
        for change in (changes().get(), Change.objects.get()):
            assert change.pk == kept.pk
            assert change.cause is not None
            assert change.cause.veiled
            told = (change.cause.kind, change.cause.namespace, change.cause.name, change.cause.act)
            assert told == ("", "", "", "")
            assert (change.cause.old_version, change.cause.differences, change.cause.more_differences) == ("", [], 0)
            assert change.cause.at == change.at
            assert [each["name"] for each in change.other_causes] == ["vllm"]
        assert not ObjectChange.objects.filter(namespace="ome").exists()
        assert recent_changes(timezone.now() - kept.at + timedelta(days=1)).services == 1
    change = changes().get(pk=kept.pk)
    assert change.cause is not None
    assert (change.cause.name, change.cause.veiled, len(change.other_causes)) == ("secret", False, 2)


# Fleets and what is computed


def test_a_fleet_has_what_is_seen(east: Cluster) -> None:
    everything = fleet_of(east)
    assert {namespace for namespace, _ in everything.services} == {"ml", "hr"}
    with seeing(some_of(east, "ml")):
        few = fleet_of(east)
        assert {namespace for namespace, _ in few.services} == {"ml"}
        assert {namespace for namespace, _ in few.runtimes} == {"", "ml"}
        assert fleet_of(east) is few, "it is the same until the cluster changes"
    with seeing(some_of(east, "ml")):
        assert fleet_of(east) is few, "for everybody who sees as much"
    with seeing(whole(east)):
        assert fleet_of(east) is everything
    with seeing(NOTHING):
        assert not fleet_of(east).runtimes
    assert fleet_of(east) is everything


def test_a_fleet_read_under_a_narrow_sight_is_whole_for_others(east: Cluster) -> None:
    with seeing(some_of(east, "ml")):
        fleet_of(east)
    assert {namespace for namespace, _ in fleet_of(east).services} == {"ml", "hr"}
    changed, _ = sync("east", *objects("ml", "hr"), service("new", "ml"), service("new", "hr"))
    with seeing(some_of(east, "ml")):
        assert {key for key in fleet_of(changed).services if key[1] == "new"} == {("ml", "new")}
    assert {key for key in fleet_of(changed).services if key[1] == "new"} == {("ml", "new"), ("hr", "new")}


def test_narrow_fleets_are_kept_within_bounds_and_only_of_the_newest_state(
    east: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from selection.store import fleets

    monkeypatch.setattr(fleets, "_NARROWED", 2)
    for namespaces in (("ml",), ("hr",), ("ml", "hr")):
        with seeing(some_of(east, *namespaces)):
            fleet_of(east)
    assert len(fleets._narrowed) == 2
    changed, _ = sync("east", *objects("ml", "hr"), service("new", "ml"))
    with seeing(some_of(east, "ml")):
        fleet_of(changed)
    assert [of for of, _ in fleets._narrowed.values()] == [fleets._loaded[east.pk].fleet]


def test_previews_are_kept_apart(east: Cluster) -> None:
    everything = compute_preview(east).preview
    with seeing(some_of(east, "ml")):
        few = compute_preview(east).preview
    assert (everything.total, few.total) == (4, 2)
    assert compute_preview(east).preview is everything
    assert len(upgrades._kept) == 2


def test_judging_under_a_narrow_sight_writes_what_it_always_writes(east: Cluster) -> None:
    before = rows(east)
    with seeing(some_of(east, "ml")):
        evaluate(Cluster.objects.get(), anew=True)
    assert rows(east) == before


# Clusters


def test_clusters_are_counted_by_what_is_seen(east: Cluster, west: Cluster) -> None:
    assert service_clusters() == ["east", "west"]
    both = Sight((*some_of(east, "ml").places, *some_of(west, "ml").places))  # type: ignore[misc]
    with seeing(both):
        assert service_clusters() == ["east"]
        assert [each.name for each in clusters_on_the_way()] == ["east", "west"]
        assert [each.waiting for each in clusters_on_the_way()] == [1, 0]  # type: ignore[attr-defined]
        assert {each.cluster.name for each in freshness()} == {"east", "west"}


def test_one_look_at_all_clusters_serves_everybody_with_what_they_see(
    east: Cluster, west: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness_module, "_recent", None)
    monkeypatch.setattr(freshness_module, "RECENT", 60.0)
    with CaptureQueriesContext(connection) as asked:
        with seeing(some_of(west, "hr")):
            assert [each.cluster.name for each in recent_freshness()] == ["west"]
        assert {each.cluster.name for each in recent_freshness()} == {"east", "west"}
        with seeing(NOTHING):
            assert recent_freshness() == []
    assert len(asked) == 1
    freshness_module._recent = None


# The sight itself


def test_a_sight_holds_for_its_block_and_its_thread() -> None:
    lab = Sight((Place(1, "lab"),))
    found: list[Sight] = []
    with seeing(lab):
        with seeing(NOTHING):
            assert sight_key() == ()
        assert current_sight() is lab
        thread = threading.Thread(target=lambda: found.append(current_sight()))
        thread.start()
        thread.join()
    assert found == [EVERYTHING]
    assert current_sight() is EVERYTHING
    with pytest.raises(ZeroDivisionError), seeing(lab):
        1 / 0  # noqa: B018
    assert current_sight() is EVERYTHING


def test_an_answer_that_is_still_read_is_made_under_its_sight() -> None:
    def told() -> Iterator[bool]:
        for _ in range(3):
            yield current_sight().nothing

    seen = step_by_step(NOTHING, told())
    assert next(seen)
    assert current_sight() is EVERYTHING
    assert list(seen) == [True, True]


def test_keys_are_equal_where_as_much_is_seen() -> None:
    def key(*namespaces: str) -> object:
        with seeing(Sight((Place(1, "lab", frozenset(namespaces)),))):
            return sight_key()

    assert key("a", "b") == key("b", "a") != key("a")
    assert hash(key("a", "b")) == hash(key("b", "a"))
    assert sight_key() is None


def test_what_is_seen_by_name_needs_a_cluster_that_is_known() -> None:
    sight = Sight((Place(1, "lab", frozenset({"ml"})),))
    assert sight.sees_named("lab", "ml")
    assert not sight.sees_named("lab", "hr")
    assert not sight.sees_named("gone", "ml")
    assert EVERYTHING.sees_named("gone", "ml")
