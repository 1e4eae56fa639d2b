"""Timelines tell moments: what changed, why, a few of its effects and how many there are."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from selection.rules.objects import ObjectRef
from selection.store.models import Change, Cluster, ObjectChange
from selection.store.sync import open_cluster
from selection.store.timeline import (
    SHOWN,
    DayCount,
    Moment,
    changes,
    changes_per_day,
    latest_changes,
    model_timeline,
    object_changes,
    runtime_key,
    runtime_of,
    runtime_timeline,
    service_timeline,
)

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
VLLM = ObjectRef("ClusterServingRuntime", "", "vllm")
SGLANG = ObjectRef("ServingRuntime", "ml", "sglang")
LLAMA = ObjectRef("ClusterBaseModel", "", "llama")
CHAT = ObjectRef("InferenceService", "ml", "chat")


@pytest.fixture
def cluster() -> Cluster:
    return open_cluster("east")


def moved(cluster: Cluster, ref: ObjectRef, minute: int, act: str = "changed") -> ObjectChange:
    """An object changed, so many minutes after noon; each minute is a generation."""
    return ObjectChange.objects.create(
        cluster=cluster,
        generation=minute,
        at=NOON + timedelta(minutes=minute),
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        act=act,
    )


def felt(
    cluster: Cluster, cause: ObjectChange | None, service: str = "chat", *, minute: int | None = None, **said: Any
) -> Change:
    """A service's outcome became another, or what is said."""
    minute = minute if minute is not None or cause is None else cause.generation
    assert minute is not None
    at = NOON + timedelta(minutes=minute, seconds=1)
    said = {"what": "outcome", "before": "named", "after": "invalid", **said}
    return Change.objects.create(
        cluster=cluster, generation=minute, at=at, namespace="ml", service=service, cause=cause, **said
    )


def told(moments: list[Moment]) -> list[tuple[str, list[str], int]]:
    """Of each moment the cause, the services and how many changes there are."""
    return [
        (moment.cause.name if moment.cause else "", [each.service for each in moment.changes], moment.count)
        for moment in moments
    ]


def test_a_runtime_is_written_as_one_text_and_read_again() -> None:
    for ref in (VLLM, SGLANG):
        assert runtime_of(runtime_key(ref)) == ref
    assert runtime_key(None) == runtime_key(ObjectRef("", "", "")) == ""
    assert runtime_of("") is None


# --- timelines ---------------------------------------------------------------------------------------


def test_a_service_tells_what_it_felt_and_how_it_changed_itself(cluster: Cluster) -> None:
    vllm, chat = moved(cluster, VLLM, 1), moved(cluster, CHAT, 3)
    moved(cluster, CHAT, 2)
    moved(cluster, ObjectRef("InferenceService", "web", "chat"), 4)
    felt(cluster, vllm)
    felt(cluster, vllm, what="mode", component="engine")
    felt(cluster, vllm, "other")
    felt(cluster, chat, what="runtime")
    felt(cluster, None, minute=5, reason="in words")
    moments = service_timeline(cluster, "ml", "chat")
    assert told(moments) == [
        ("", ["chat"], 1),
        ("chat", ["chat"], 1),
        ("chat", [], 0),
        ("vllm", ["chat", "chat"], 2),
    ]
    assert moments[0].changes[0].reason == "in words"
    assert moments[2].at == NOON + timedelta(minutes=2)
    assert {each.what for each in moments[3].changes} == {"outcome", "mode"}
    assert moments[3].more == 0


def test_a_runtime_tells_who_got_it_who_lost_it_and_what_it_caused(cluster: Cluster) -> None:
    mine, silent = moved(cluster, VLLM, 1), moved(cluster, VLLM, 2)
    theirs, unrelated = moved(cluster, SGLANG, 3, "created"), moved(cluster, SGLANG, 4)
    felt(cluster, mine)
    felt(cluster, mine, "other", what="runtime", before="", after=runtime_key(VLLM))
    felt(cluster, theirs, what="runtime", before=runtime_key(VLLM), after=runtime_key(SGLANG))
    felt(cluster, theirs, what="mode")
    felt(cluster, unrelated, what="runtime", before=runtime_key(SGLANG), after="")
    felt(cluster, None, minute=5, what="runtime", before="", after=runtime_key(VLLM), reason="in words")
    assert told(runtime_timeline(cluster, VLLM)) == [
        ("", ["chat"], 1),
        ("sglang", ["chat"], 1),
        ("vllm", [], 0),
        ("vllm", ["chat", "other"], 2),
    ]
    assert told(runtime_timeline(cluster, SGLANG))[0][:2] == ("sglang", ["chat"])
    assert [row.pk for row in object_changes(cluster, VLLM)] == [silent.pk, mine.pk]


def test_a_model_tells_what_it_caused(cluster: Cluster) -> None:
    felt(cluster, moved(cluster, LLAMA, 1))
    moved(cluster, LLAMA, 2, "deleted")
    felt(cluster, moved(cluster, VLLM, 3))
    assert told(model_timeline(cluster, LLAMA)) == [("llama", [], 0), ("llama", ["chat"], 1)]


def test_of_many_effects_a_few_are_told_and_all_are_counted(cluster: Cluster) -> None:
    cause = moved(cluster, VLLM, 1)
    for number in range(SHOWN + 20):
        felt(cluster, cause, f"s{number:02}", what="runtime", before=runtime_key(VLLM), after=runtime_key(SGLANG))
    for timeline, ref in ((runtime_timeline, VLLM), (runtime_timeline, SGLANG)):
        [moment] = timeline(cluster, ref)
        assert ([each.service for each in moment.changes], moment.count) == ([f"s0{n}" for n in range(SHOWN)], 25)
        assert moment.more == 20


def test_one_cause_that_was_felt_at_two_times_is_two_moments(cluster: Cluster) -> None:
    cause = moved(cluster, VLLM, 1)
    felt(cluster, cause)
    felt(cluster, cause, minute=2, before="invalid", after="named")
    assert [moment.at.minute for moment in service_timeline(cluster, "ml", "chat")] == [2, 1]


def test_the_newest_moments_are_told_and_no_more_than_asked_for(cluster: Cluster) -> None:
    for minute in range(1, 30):
        cause = moved(cluster, VLLM, minute)
        if minute % 2:
            felt(cluster, cause, what="runtime", before=runtime_key(VLLM))
    for moments in (runtime_timeline(cluster, VLLM, limit=4), service_timeline(cluster, "ml", "chat", limit=4)):
        assert len(moments) == 4
        assert [moment.at for moment in moments] == sorted((moment.at for moment in moments), reverse=True)
    assert [moment.at.minute for moment in runtime_timeline(cluster, VLLM, limit=4)] == [29, 28, 27, 26]


def test_another_cluster_has_its_own_timelines(cluster: Cluster) -> None:
    west = open_cluster("west")
    felt(west, moved(west, VLLM, 1), what="runtime", before=runtime_key(VLLM))
    assert service_timeline(cluster, "ml", "chat") == []
    assert runtime_timeline(cluster, VLLM) == model_timeline(cluster, LLAMA) == []


def test_a_timeline_takes_few_queries(cluster: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for minute in range(1, 20):
        cause = moved(cluster, VLLM, minute)
        felt(cluster, cause, what="runtime", after=runtime_key(VLLM))
        felt(cluster, moved(cluster, CHAT, minute), what="runtime", after=runtime_key(VLLM))
    with django_assert_max_num_queries(5):
        assert [moment.cause.name for moment in runtime_timeline(cluster, VLLM) if moment.cause]
    with django_assert_max_num_queries(3):
        assert service_timeline(cluster, "ml", "chat")
    with django_assert_max_num_queries(3):
        assert model_timeline(cluster, LLAMA) == []


# --- lists and counts --------------------------------------------------------------------------------


def test_the_newest_changes_come_first_with_cluster_and_cause(
    cluster: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for minute in range(1, 5):
        felt(cluster, moved(cluster, VLLM, minute), f"s{minute}")
    with django_assert_num_queries(1):
        found = latest_changes(2)
        assert [(each.service, each.cluster.name, each.cause and each.cause.name) for each in found] == [
            ("s4", "east", "vllm"),
            ("s3", "east", "vllm"),
        ]
    with django_assert_num_queries(1):
        assert [each.service for each in changes().filter(cause__name="vllm", service__gte="s3")] == ["s4", "s3"]


def test_changes_are_counted_by_day_and_cluster(
    cluster: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    west = open_cluster("west")
    day = 24 * 60
    for minute in (0, 1, -day, -2 * day, -7 * day):
        felt(cluster, None, minute=20_000 + minute)
    felt(west, None, minute=20_000)
    now = NOON + timedelta(minutes=20_000)
    today = now.date()
    with django_assert_num_queries(1):
        assert changes_per_day(3, now=now) == [
            DayCount(today - timedelta(days=2), cluster.pk, 1),
            DayCount(today - timedelta(days=1), cluster.pk, 1),
            DayCount(today, cluster.pk, 2),
            DayCount(today, west.pk, 1),
        ]
    assert sum(each.count for each in changes_per_day(8, now=now)) == 6


def test_a_day_ends_at_midnight_in_utc(cluster: Cluster) -> None:
    felt(cluster, None, minute=12 * 60 - 1)
    felt(cluster, None, minute=12 * 60)
    assert [each.day for each in changes_per_day(2, now=NOON + timedelta(days=1))] == [
        date(2026, 5, 4),
        date(2026, 5, 5),
    ]
