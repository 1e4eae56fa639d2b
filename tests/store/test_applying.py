"""A batch of happenings is stored whole, the last word on each object wins, and only the claim's holder writes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, OperationalError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selection.cluster.events import Happening
from selection.store import applying as module
from selection.store import storing
from selection.store.applying import Applied, Applier, LostClaim
from selection.store.models import Cluster, KindSync, StoredObject, Tally
from selection.store.sync import open_cluster

from .builders import Manifest, model, runtime, service
from .telling import everything, gone, list_failed, list_of, lost, put, watching

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    cluster = open_cluster("east")
    Cluster.objects.filter(pk=cluster.pk).update(claim=7)
    return cluster


@pytest.fixture
def applier(cluster: Cluster) -> Applier:
    return Applier(cluster, 7)


def stored(cluster: Cluster, kind: str = "InferenceService") -> dict[str, StoredObject]:
    return {row.name: row for row in StoredObject.objects.filter(cluster=cluster, kind=kind)}


def status(cluster: Cluster, kind: str = "InferenceService") -> KindSync:
    return KindSync.objects.get(cluster=cluster, kind=kind)


def generation(cluster: Cluster) -> int:
    return Cluster.objects.values_list("generation", flat=True).get(pk=cluster.pk)


# --- what becomes of objects -------------------------------------------------------------------------


def test_a_list_then_events_give_what_the_cluster_has(cluster: Cluster, applier: Applier) -> None:
    chat, search = service("chat"), service("search")
    assert applier.apply([list_of("InferenceService", chat, search)]).changed == 2
    changed = service("chat", deploymentMode="OMENative")
    applied = applier.apply([put(changed), gone(search), put(service("fresh"))])
    assert applied == Applied(3, frozenset({"InferenceService"}), 3)
    assert stored(cluster).keys() == {"chat", "fresh"}
    assert stored(cluster)["chat"].manifest == changed


def test_only_rows_that_differ_get_the_new_generation(cluster: Cluster, applier: Applier) -> None:
    chat, search = service("chat"), service("search")
    applier.apply([list_of("InferenceService", chat, search)])
    before = generation(cluster)
    applier.apply([put(chat), put(service("search", deploymentMode="OMENative"))])
    rows = stored(cluster)
    assert (rows["chat"].generation, rows["search"].generation) == (before, before + 1) == (before, generation(cluster))


def test_what_is_stored_already_changes_nothing(cluster: Cluster, applier: Applier) -> None:
    chat = service("chat")
    batch: list[Happening] = [list_of("InferenceService"), put(chat), gone(service("never-there"))]
    applier.apply(batch)
    before = generation(cluster)
    assert applier.apply(batch).changed == 0
    assert generation(cluster) == before


def test_the_last_word_on_an_object_wins(cluster: Cluster, applier: Applier) -> None:
    first, second, other = service("chat"), service("chat", deploymentMode="OMENative"), service("other")
    applied = applier.apply([put(first), put(second), put(other), gone(other)])
    assert applied.changed == 1
    assert stored(cluster)["chat"].manifest == second
    assert status(cluster).events == 4


def test_an_object_that_is_deleted_and_made_again_is_another_one_in_the_same_place(
    cluster: Cluster, applier: Applier
) -> None:
    old, new = service("chat"), service("chat")
    applier.apply([list_of("InferenceService", old)])
    row = stored(cluster)["chat"]
    applier.apply([gone(old), put(new)])
    again = stored(cluster)["chat"]
    assert (again.pk, again.uid) == (row.pk, new["metadata"]["uid"])


def test_a_list_counts_more_than_what_came_before_it_and_less_than_what_comes_after(
    cluster: Cluster, applier: Applier
) -> None:
    chat, search, late = service("chat"), service("search"), service("late")
    applier.apply([put(service("vanished")), list_of("InferenceService", chat, search), gone(chat), put(late)])
    assert stored(cluster).keys() == {"search", "late"}
    assert status(cluster).object_count == 2


def test_objects_of_one_name_in_several_namespaces_and_kinds_are_apart(cluster: Cluster, applier: Applier) -> None:
    here, there = service("chat"), service("chat", "other")
    applier.apply([put(here), put(there), put(runtime("chat")), put(runtime("chat", "ml"))])
    applier.apply([gone(there), gone(runtime("chat", "ml"))])
    rows = StoredObject.objects.filter(cluster=cluster).values_list("kind", "namespace", "name")
    assert set(rows) == {("InferenceService", "ml", "chat"), ("ClusterServingRuntime", "", "chat")}


def test_secrets_are_replaced_in_events_too(cluster: Cluster, applier: Applier) -> None:
    env = [{"name": "HF_TOKEN", "value": "hf_verysecret"}]
    applier.apply([put(service("chat", engine={"runner": {"env": env}}))])
    assert "verysecret" not in str(stored(cluster)["chat"].manifest)


# --- what becomes of kinds ---------------------------------------------------------------------------


def test_a_kind_says_that_it_is_watched_and_how_far(cluster: Cluster, applier: Applier) -> None:
    chat = service("chat")
    applier.apply([list_of("InferenceService", version="5"), watching("InferenceService", "5")])
    assert (status(cluster).watching, status(cluster).resource_version, status(cluster).last_event_at) == (
        True,
        "5",
        None,
    )
    applier.apply([put(chat)])
    row = status(cluster)
    assert row.resource_version == chat["metadata"]["resourceVersion"]
    assert (row.events, row.object_count) == (1, 1)
    assert row.last_event_at == row.confirmed_at
    assert row.last_event_at is not None
    assert timezone.now() - row.last_event_at < timedelta(seconds=5)
    applier.apply([watching("InferenceService", "99")])
    assert status(cluster).resource_version == "99"
    confirmed = status(cluster).confirmed_at
    assert confirmed is not None
    assert confirmed >= row.last_event_at


def test_a_lost_watch_says_why_until_it_is_open_again(cluster: Cluster, applier: Applier) -> None:
    applier.apply([list_of("InferenceService"), watching("InferenceService")])
    applier.apply([lost("InferenceService", "the API server closed the connection")])
    row = status(cluster)
    assert (row.watching, row.watch_trouble) == (False, "the API server closed the connection")
    assert row.outcome == "complete", "what is stored is still the last list and what came after it"
    applier.apply([watching("InferenceService")])
    row = status(cluster)
    assert (row.watching, row.watch_trouble) == (True, "")
    assert Tally.objects.get(cluster=cluster, name="sync_failures", label="connection").count == 1


@pytest.mark.parametrize("outcome", ["forbidden", "failed"])
def test_a_kind_that_may_not_be_read_any_more_keeps_what_is_stored(
    outcome: str, cluster: Cluster, applier: Applier
) -> None:
    applier.apply([list_of("InferenceService", service("chat")), watching("InferenceService")])
    listed_at = status(cluster).listed_at
    applier.apply([list_failed("InferenceService", outcome, "may not list")])
    row = status(cluster)
    assert (row.outcome, row.reason, row.watching) == (outcome, "may not list", False)
    assert (row.object_count, row.listed_at) == (1, listed_at)
    assert stored(cluster).keys() == {"chat"}
    applier.apply([list_of("InferenceService", service("other")), watching("InferenceService")])
    row = status(cluster)
    assert (row.outcome, row.reason, row.watching) == ("complete", "", True)
    assert stored(cluster).keys() == {"other"}


def test_events_before_a_list_that_failed_count(cluster: Cluster, applier: Applier) -> None:
    applier.apply([list_of("InferenceService", service("chat"))])
    applier.apply([put(service("fresh")), list_failed("InferenceService")])
    assert stored(cluster).keys() == {"chat", "fresh"}
    assert status(cluster).outcome == "forbidden"


def test_a_kind_that_is_not_served_any_more_has_no_objects(cluster: Cluster, applier: Applier) -> None:
    applier.apply([list_of("InferenceService", service("chat"))])
    applied = applier.apply([list_failed("InferenceService", "not-served", "no such kind")])
    assert applied.changed == 1
    assert stored(cluster) == {}
    assert (status(cluster).outcome, status(cluster).object_count) == ("not-served", 0)


# --- whole or not at all -----------------------------------------------------------------------------


def test_who_lost_the_claim_writes_nothing(cluster: Cluster, applier: Applier) -> None:
    applier.apply([list_of("InferenceService", service("chat"))])
    Cluster.objects.filter(pk=cluster.pk).update(claim=8, holder="other:1")
    with pytest.raises(LostClaim, match="other:1 follows it now"):
        applier.apply([list_of("InferenceService"), watching("InferenceService")])
    assert stored(cluster).keys() == {"chat"}
    assert not status(cluster).watching


def test_a_cluster_that_was_forgotten_is_written_nowhere(cluster: Cluster, applier: Applier) -> None:
    Cluster.objects.all().delete()
    with pytest.raises(LostClaim, match="forgotten"):
        applier.apply([put(service("chat"))])
    assert not StoredObject.objects.exists()


def test_a_batch_that_fails_leaves_nothing_behind_and_may_be_tried_again(
    cluster: Cluster, applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    batch: list[Happening] = [put(service("chat")), put(model())]
    monkeypatch.setattr(module, "count", broken)
    with pytest.raises(OperationalError):
        applier.apply(batch)
    assert not StoredObject.objects.exists()
    assert generation(cluster) == 0
    monkeypatch.undo()
    applier.apply(batch)
    assert stored(cluster).keys() == {"chat"}


def test_an_object_that_cannot_be_made_a_row_does_not_stop_the_others(
    cluster: Cluster, applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = storing.row_of

    def row_of(cluster: Cluster, kind: str, manifest: Manifest) -> StoredObject:
        if "poison" in manifest["spec"]:
            raise RecursionError
        return make(cluster, kind, manifest)

    monkeypatch.setattr(storing, "row_of", row_of)
    old = service("bad")
    applier.apply([list_of("InferenceService", old)])
    applier.apply([put(service("bad", poison=1)), put(service("good"))])
    assert stored(cluster).keys() == {"bad", "good"}
    assert stored(cluster)["bad"].manifest == old, "what was known of it stays"
    assert status(cluster).reason == "could not be kept: ml/bad (RecursionError)"
    applier.apply([put(service("other"))])
    assert status(cluster).reason == "could not be kept: ml/bad (RecursionError)"
    applier.apply([put(service("bad"))])
    assert status(cluster).reason == ""


def test_an_object_that_the_database_refuses_does_not_stop_the_others(
    cluster: Cluster, applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    applier.apply([list_of("InferenceService")])
    manager = StoredObject.objects
    write = type(manager).bulk_create

    def bulk_create(self: Any, rows: Sequence[StoredObject], *args: Any, **options: Any) -> Any:
        if any(row.name == "bad" for row in rows):
            raise DataError("out of range")
        return write(self, rows, *args, **options)

    monkeypatch.setattr(type(manager), "bulk_create", bulk_create)
    applied = applier.apply([put(service("good")), put(service("bad")), put(service("better"))])
    assert applied.changed == 2
    assert stored(cluster).keys() == {"good", "better"}
    assert status(cluster).reason == "could not be kept: ml/bad (DataError)"


# --- any order of things -----------------------------------------------------------------------------

_versions = itertools.count(1000)
KIND_NAMES = ("InferenceService", "ServingRuntime")
OPERATIONS = ("put", "delete", "deliver", "apply", "again", "fail", "lose", "gone", "crash")


class _Upstream:
    """A cluster with two kinds, whose history one process after the other follows, as ``selection.cluster`` does."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.objects: dict[str, dict[str, Manifest]] = {kind: {} for kind in KIND_NAMES}
        self.history: dict[str, list[Happening]] = {kind: [] for kind in KIND_NAMES}
        self.seen: dict[str, int] = {}
        self.queue: list[Happening] = []
        self.applied: list[Happening] = []
        self.claim = 0
        self.applier = self.crash()

    def crash(self) -> Applier:
        """Everything that wasn't stored is lost; the next process claims the cluster and lists anew."""
        self.claim += 1
        Cluster.objects.filter(pk=self.cluster.pk).update(claim=self.claim)
        self.queue, self.applied = [], []
        self.applier = Applier(self.cluster, self.claim)
        for kind in KIND_NAMES:
            self.list(kind)
        return self.applier

    def list(self, kind: str) -> None:
        self.queue += [list_of(kind, *copy.deepcopy(list(self.objects[kind].values()))), watching(kind)]
        self.seen[kind] = len(self.history[kind])

    def change(self, kind: str, name: str, *, delete: bool) -> None:
        objects = self.objects[kind]
        if delete and name not in objects:
            return
        version = str(next(_versions))
        old = objects.get(name)
        new = copy.deepcopy(old) if old else (service(name) if kind == "InferenceService" else runtime(name, "ml"))
        new["metadata"]["resourceVersion"] = version
        if delete:
            del objects[name]
        else:
            new["spec"]["number"] = version
            objects[name] = new
        self.history[kind].append(gone(new) if delete else put(new))

    def deliver(self, kind: str, number: int) -> None:
        at = self.seen[kind]
        some = self.history[kind][at : at + number]
        self.queue += some
        self.seen[kind] = at + len(some)

    def apply(self, number: int) -> None:
        self.applied, self.queue = self.queue[:number], self.queue[number:]
        self.applier.apply(self.applied)

    def do(self, what: str, kind: str, name: str, number: int) -> None:
        match what:
            case "put" | "delete":
                self.change(kind, name, delete=what == "delete")
            case "deliver":
                self.deliver(kind, number)
            case "apply":
                self.apply(number)
            case "again":  # committed, but the answer was lost with the connection
                self.applier.apply(self.applied)
            case "fail":
                batch = [*self.queue[:number], watching(kind)]
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(KindSync, "save", _unreachable)
                    with pytest.raises(OperationalError):
                        self.applier.apply(batch)
            case "lose":
                self.queue.append(lost(kind))
            case "gone":
                self.queue.append(lost(kind, "too old", "gone"))
                self.list(kind)
            case "crash":
                stale = self.applier
                self.crash()
                with pytest.raises(LostClaim):
                    stale.apply([list_of(kind)])

    def settle(self) -> None:
        for kind in KIND_NAMES:
            self.deliver(kind, len(self.history[kind]))
        self.apply(len(self.queue))


def _unreachable(*args: Any, **options: Any) -> None:
    raise OperationalError("the connection is closed")


def _content(cluster: Cluster) -> set[tuple[Any, ...]]:
    fields = ("kind", "namespace", "name", "uid", "resource_version", "digest")
    return set(StoredObject.objects.filter(cluster=cluster).values_list(*fields))


@pytest.fixture
def numbers() -> Iterator[int]:
    return itertools.count()


steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.sampled_from(KIND_NAMES), st.sampled_from("abc"), st.integers(1, 6)),
    max_size=40,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_order_of_events_losses_and_crashes_ends_as_a_fresh_list(
    numbers: Iterator[int], done: list[tuple[str, str, str, int]]
) -> None:
    upstream = _Upstream(open_cluster(f"east-{next(numbers)}"))
    for step in done:
        upstream.do(*step)
    upstream.settle()
    fresh = open_cluster(f"west-{next(numbers)}")
    Applier(fresh, None).apply(everything(each for some in upstream.objects.values() for each in some.values()))
    assert _content(upstream.cluster) == _content(fresh)
    for kind in KIND_NAMES:
        assert status(upstream.cluster, kind).object_count == len(upstream.objects[kind])
