"""``manage.py rebuild``: the same objects give the same rows."""

from __future__ import annotations

import pytest

from selection.store.models import Cluster, ServiceResult
from tests.store.builders import model, rows, runtime, service, sync

from .cli import manage, refused, run

pytestmark = pytest.mark.django_db

FLEET = [model(), runtime("vllm"), service("chat"), service("search")]


def test_a_rebuild_gives_the_same_rows() -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)
    assert run("rebuild") == "east: 2 services judged, 0 rows changed\n"
    assert rows(cluster) == before


def test_a_rebuild_mends_what_was_lost() -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)
    ServiceResult.objects.filter(name="chat").update(outcome="named", message="x")
    assert run("rebuild") == "east: 2 services judged, 1 rows changed\n"
    after = rows(cluster)
    for table in (before, after):
        for row in table["ServiceResult"]:
            del row["computed_at"], row["generation"]
    assert after == before


def test_one_cluster_may_be_asked_for() -> None:
    sync("east", *FLEET)
    sync("west", *FLEET)
    assert run("rebuild", "--cluster", "west") == "west: 2 services judged, 0 rows changed\n"
    assert refused("rebuild", "--cluster", "wst").startswith("there is no cluster 'wst'")


def test_without_a_cluster_there_is_nothing_to_do() -> None:
    assert not Cluster.objects.exists()
    assert run("rebuild") == ""


def test_a_database_out_of_reach_is_said_in_one_line() -> None:
    done = manage("rebuild")
    assert done.code == 1
    assert done.err.startswith("CommandError: the database can't be used (")
    assert done.err.count("\n") == 1
