"""How the fleet stood on each day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from selection.store.daily import KEPT, Stand, note_day, progress
from selection.store.models import Cluster, DailyCount
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, deployed, moded

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
MULTI_NODE = a_runtime("multi", engineConfig=moded("MultiNode", leader={}, worker={}))


def on(day: int) -> date:
    """A day of the month."""
    return date(2026, 5, day)


def stood(cluster: Cluster, day: date, multi_node: int, off: int) -> None:
    """How a cluster stood on a day."""
    DailyCount.objects.update_or_create(cluster=cluster, day=day, defaults={"multi_node": multi_node, "off": off})


def empty_cluster(name: str = "prod") -> Cluster:
    """A cluster of which no day is known."""
    return Cluster.objects.create(name=name)


def test_judging_a_cluster_keeps_how_it_stands_today() -> None:
    moved = a_service("moved", engine=moded("OMENative", leader={}, worker={}))
    store(a_model(), a_runtime(), MULTI_NODE, a_service(runtime={"name": "multi"}), moved)
    assert [(stand.multi_node, stand.off) for stand in progress()] == [(1, 0)]

    store(
        a_model(),
        a_runtime(),
        MULTI_NODE,
        a_service(runtime={"name": "multi"}),
        moved,
        deployed("InferenceReplica", service="moved"),
    )

    assert [(stand.multi_node, stand.off) for stand in progress()] == [(2, 1)]
    assert DailyCount.objects.count() == 1


def test_the_last_word_of_a_day_stays() -> None:
    cluster = store(a_model(), MULTI_NODE, a_service(runtime={"name": "multi"}))
    DailyCount.objects.all().delete()
    note_day(cluster, changed=True, now=NOON)
    DailyCount.objects.update(multi_node=7)

    note_day(cluster, changed=False, now=NOON + timedelta(hours=1))
    assert DailyCount.objects.get().multi_node == 7, "nothing changed, so nothing is counted"
    note_day(cluster, changed=True, now=NOON + timedelta(hours=2))
    assert DailyCount.objects.get().multi_node == 1
    note_day(cluster, changed=False, now=NOON + timedelta(days=1))
    assert list(DailyCount.objects.values_list("day", "multi_node")) == [(on(10), 1), (on(11), 1)]


def test_days_that_are_too_old_are_forgotten() -> None:
    cluster = empty_cluster()
    stood(cluster, NOON.date() - KEPT - timedelta(days=1), 1, 0)
    stood(cluster, NOON.date() - KEPT, 1, 0)

    note_day(cluster, changed=False, now=NOON)

    assert [row.day for row in DailyCount.objects.all()] == [NOON.date() - KEPT, NOON.date()]


def test_a_day_on_which_nobody_looked_stands_as_the_one_before() -> None:
    cluster = empty_cluster()
    stood(cluster, on(7), 10, 2)
    stood(cluster, on(9), 10, 5)

    found = progress(now=NOON)

    assert found == [Stand(on(7), 10, 2), Stand(on(8), 10, 2), Stand(on(9), 10, 5), Stand(on(10), 10, 5)]


def test_clusters_add_up_from_the_first_day_that_all_have() -> None:
    one, two = empty_cluster("one"), empty_cluster("two")
    stood(one, on(1), 10, 1)
    stood(two, on(9), 4, 4)

    assert progress(now=NOON) == [Stand(on(9), 14, 5), Stand(on(10), 14, 5)]
    assert progress(one, now=NOON)[0] == Stand(on(1), 10, 1)


def test_it_goes_back_no_further_than_asked_and_knows_how_it_began() -> None:
    stood(empty_cluster(), on(1), 10, 1)

    assert progress(days=2, now=NOON) == [Stand(on(9), 10, 1), Stand(on(10), 10, 1)]


def test_nothing_is_known_of_a_fleet_that_was_never_judged() -> None:
    empty_cluster()
    assert progress(now=NOON) == []


def test_it_takes_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(5):
        for day in range(1, 10):
            stood(empty_cluster(f"c-{number}-{day}"), on(day), 1, 0)

    with django_assert_num_queries(1):
        progress(now=NOON)
