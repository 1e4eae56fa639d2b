"""The page of the order in which a fleet leaves MultiNode."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces import orders
from selection.faces.migrating import fleet_order
from selection.faces.pages import plan_order
from selection.rules.migration_order import FleetOrder
from selection.store.models import Cluster, ComponentResult, DailyCount
from tests.faces.small_fleet import load, runtime, service, small_fleet
from tests.faces.test_plan_runtime import LEANS
from tests.faces.test_plan_service import page, text_of

pytestmark = pytest.mark.django_db

ORDER = "/migration/order/"


def several(count: int, name: str = "lab") -> Cluster:
    """A cluster in which so many services wait on one runtime whose copy is ready."""
    users = [service(f"user-{number:02}", "apps", "llama-7b", "leans", "MultiNode") for number in range(count)]
    return load([*small_fleet(), runtime("leans", engineConfig=LEANS), *users], name=name)


def waves(text: str) -> dict[str, int]:
    found = re.findall(r'<li id="wave-([a-z-]+)"><div><h3>.*?(\d+) service', text, re.DOTALL)
    return {kind: int(count) for kind, count in found}


def test_it_orders_services_and_runtimes(client: Client, db: None) -> None:
    several(3)
    text = page(client, ORDER)
    assert waves(text) == {"first": 1, "together": 2, "not-ready": 3}
    assert "6 services of lab to move or to clean up; 3 with a plan that is ready." in text_of(text)
    runtimes = text[text.index('id="runtimes"') :]
    assert re.findall(r'href="/migration/runtimes/lab/-/([a-z-]+)/"', runtimes)[:2] == ["leans", "multi-node"]
    assert "Needs a person" in runtimes
    assert "/migration/services/lab/apps/user-00/" in text


def test_the_cluster_with_most_to_do_is_shown_first_and_the_others_are_a_link_away(client: Client, db: None) -> None:
    several(1, "few")
    several(4, "many")
    load([], name="none")
    text = page(client, ORDER)
    assert re.findall(r'class="chip" href="\?cluster=([a-z]+)"', text) == ["many", "few", "none"]
    assert "7 services of many" in text_of(text)
    assert "4 services of few" in text_of(page(client, f"{ORDER}?cluster=few"))
    assert "Nothing to order" in page(client, f"{ORDER}?cluster=none")
    assert client.get(f"{ORDER}?cluster=gone").status_code == 404


def test_without_a_cluster_it_says_what_it_is_made_from(client: Client, db: None) -> None:
    assert "No cluster yet" in page(client, ORDER)


def test_a_long_wave_has_pages_of_its_own(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_order, "SHOWN", 2)
    monkeypatch.setattr(plan_order, "PAGE", 3)
    several(8)
    text = page(client, ORDER)
    assert "?cluster=lab&amp;wave=together" in text
    assert len(re.findall(r"/migration/services/lab/apps/user-", text)) == 3
    last = page(client, f"{ORDER}?cluster=lab&wave=together&page=3")
    assert "Page 3 of 3" in last
    assert len(re.findall(r"/migration/services/lab/apps/user-", last)) == 1
    assert "/migration/services/" in page(client, f"{ORDER}?cluster=lab&wave=nothing-like-it")


def test_the_whole_plan_is_sent_as_markdown_and_json(client: Client, db: None) -> None:
    several(2)
    response = client.get(f"{ORDER}?format=markdown")
    assert response["Content-Disposition"] == 'attachment; filename="off-multinode-lab.md"'
    told = response.content.decode()
    assert told.startswith("# Off MultiNode: cluster `lab`")
    assert told.count("kubectl patch inferenceservice.ome.io user-0") >= 2
    assert "name: leans-omenative" in told
    value = json.loads(client.get(f"{ORDER}?format=json").content)
    assert [wave["kind"] for wave in value["waves"]] == ["first", "together", "not-ready"]


def test_an_order_is_computed_once_for_each_state_of_the_cluster(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    several(1)
    made: list[int] = []

    def counted(*args: Any) -> FleetOrder:
        made.append(1)
        return fleet_order(*args)

    monkeypatch.setattr(orders, "fleet_order", counted)
    page(client, ORDER)
    page(client, ORDER)
    assert len(made) == 1
    several(2)
    assert waves(page(client, ORDER))["together"] == 1
    assert len(made) == 2


def test_many_plans_are_made_aside_and_the_older_order_stands_until_then(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = several(1)
    monkeypatch.setattr(orders, "AT_ONCE", 0)
    asked: list[Cluster] = []
    monkeypatch.setattr(orders, "_begin", asked.append)
    text = page(client, ORDER)
    assert "are being made" in text
    assert 'hx-trigger="load delay:2s"' in text
    assert asked == [cluster]

    orders.make_order(cluster)
    assert waves(page(client, ORDER)) == {"first": 1, "not-ready": 3}
    several(3)
    text = page(client, ORDER)
    assert waves(text) == {"first": 1, "not-ready": 3}
    assert "a newer order is being made" in text
    assert len(asked) == 2


def test_one_thread_makes_an_order_and_rests_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    going, done = threading.Event(), threading.Event()
    made: list[str] = []

    def compute(cluster: Cluster) -> None:
        made.append(cluster.name)
        going.set()
        done.wait(10)

    monkeypatch.setattr(orders, "make_order", compute)
    cluster = Cluster(pk=1, name="lab")
    orders._begin(cluster)
    assert going.wait(10)
    orders._begin(cluster)
    done.set()
    orders.forget_orders()
    assert made == ["lab"]
    orders._rests[orders._key(cluster)] = float("inf")
    orders._begin(cluster)
    orders.forget_orders()
    assert made == ["lab"]


def test_a_thread_that_fails_lets_the_next_look_begin_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(cluster: Cluster) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(orders, "make_order", fails)
    orders._begin(Cluster(pk=1, name="lab"))
    for thread in list(orders._running.values()):
        thread.join()
    assert not orders._running
    assert "computing the order of lab failed" in caplog.text


def test_progress_is_drawn_once_there_are_two_days(client: Client, db: None) -> None:
    cluster = several(1)
    assert "day by day" not in page(client, ORDER)
    today = DailyCount.objects.get(cluster=cluster)
    DailyCount.objects.create(cluster=cluster, day=today.day - timedelta(days=3), multi_node=9, off=1)
    for path in (ORDER, "/migration/", "/migration/?view=runtimes"):
        assert "off MultiNode, day by day" in text_of(page(client, path)), path


def test_the_number_of_queries_does_not_grow(
    client: Client, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    several(12)
    page(client, ORDER)
    with django_assert_max_num_queries(8):
        page(client, ORDER)
    assert ComponentResult.objects.exclude(migration="").count() > 12


def test_it_requires_signing_in_on_a_server(client: Client, db: None, server_mode: Settings) -> None:
    assert client.get(ORDER).status_code == 302
