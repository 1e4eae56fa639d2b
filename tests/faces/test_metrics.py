"""/metrics: what it tells, in Prometheus' words, and to whom."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces import measuring
from selection.store.models import Cluster, KindSync, Tally
from tests.faces.small_fleet import HOSTILE, load
from tests.people.cast import somebody

TOKEN = "t" * 16 + "öken"

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scrape(client: Client, **headers: str) -> Samples:
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    found: Samples = {}
    for family in text_string_to_metric_families(response.content.decode()):
        assert family.documentation, family.name
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((f"ome_dashboard_{name}", tuple(sorted(labels.items()))))


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def test_it_counts_what_is_stored_and_what_the_rules_say(client: Client, fleet: Cluster) -> None:
    found = scrape(client)
    assert value(found, "objects", cluster="lab", kind="LeaderWorkerSet") == 1
    assert (
        value(found, "services", cluster="lab", outcome="invalid") == fleet.services.filter(outcome="invalid").count()
    )
    assert value(found, "services", cluster="lab", outcome="not-applicable") == 0
    assert value(found, "conflicts", cluster="lab", code="rejected") == fleet.conflicts.filter(code="rejected").count()
    assert value(found, "database_up") == 1


def test_it_tells_how_reading_goes(client: Client, fleet: Cluster) -> None:
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
    Cluster.objects.update(heartbeat_at=timezone.now(), followed=True, lag_ms=1500)
    KindSync.objects.update(watching=True, confirmed_at=timezone.now())
    KindSync.objects.filter(kind="BaseModel").update(
        events=7, last_event_at=moment, confirmed_at=moment, listed_at=moment
    )
    KindSync.objects.filter(kind="Deployment").update(outcome="forbidden", watching=False)
    found = scrape(client)
    of = {"cluster": "lab", "kind": "BaseModel"}
    assert value(found, "events_total", **of) == 7
    assert value(found, "kind_last_event_timestamp_seconds", **of) == moment.timestamp()
    assert value(found, "kind_confirmed_timestamp_seconds", **of) == moment.timestamp()
    assert value(found, "kind_watching", **of) == 1
    assert value(found, "kind_watching", cluster="lab", kind="Deployment") == 0
    assert value(found, "kind_unread", cluster="lab", kind="Deployment") == 1
    assert value(found, "cluster_live", cluster="lab") == 1
    assert value(found, "cluster_lag_seconds", cluster="lab") == 1.5


def test_nothing_is_watched_by_a_process_that_is_gone(client: Client, fleet: Cluster) -> None:
    KindSync.objects.update(watching=True)
    found = scrape(client)
    assert value(found, "kind_watching", cluster="lab", kind="BaseModel") == 0
    assert value(found, "cluster_live", cluster="lab") == 0
    assert value(found, "cluster_lag_seconds", cluster="lab") is None


def test_what_other_processes_counted_is_told(client: Client, fleet: Cluster) -> None:
    Tally.objects.filter(cluster=fleet).delete()
    for name, label, count, total in (
        ("sync_failures", "forbidden", 3, 0.0),
        ("evaluations", "part", 5, 1.25),
        ("batches", "", 9, 2.5),
    ):
        Tally.objects.create(cluster=fleet, name=name, label=label, count=count, total=total)
    found = scrape(client)
    assert value(found, "sync_failures_total", cluster="lab", reason="forbidden") == 3
    assert value(found, "evaluation_seconds_count", cluster="lab", scope="part") == 5
    assert value(found, "evaluation_seconds_sum", cluster="lab", scope="part") == 1.25
    assert value(found, "batch_seconds_count", cluster="lab") == 9


def test_a_name_can_be_anything(client: Client, db: None) -> None:
    load(name=f'{HOSTILE}"\\\n')
    assert value(scrape(client), "cluster_live", cluster=f'{HOSTILE}"\\\n') == 0


def test_pages_are_timed_and_what_programs_ask_for_is_not(client: Client, fleet: Cluster) -> None:
    def count(samples: Samples, page: str, status: str = "2xx") -> float:
        return value(samples, "page_seconds_count", page=page, method="GET", status=status) or 0

    before = scrape(client)
    for path in ("/services/", "/services/lab/apps/gone/", "/no/such/page/", "/live/", "/healthz"):
        client.get(path)
    after = scrape(client)
    assert count(after, "services") == count(before, "services") + 1
    assert count(after, "service", "4xx") == count(before, "service", "4xx") + 1
    assert count(after, "none", "4xx") == count(before, "none", "4xx") + 1
    assert not {dict(labels)["page"] for (name, labels) in after if name == "ome_dashboard_page_seconds_count"} & {
        "live",
        "metrics",
        "healthz",
    }


def test_a_method_that_is_none_makes_no_label_of_its_own(client: Client, fleet: Cluster) -> None:
    client.generic("X" * 30, "/services/")
    found = scrape(client)
    assert value(found, "page_seconds_count", page="services", method="other", status="4xx")


def test_it_costs_six_queries_however_much_there_is(
    client: Client, fleet: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    load(name="another")
    with django_assert_num_queries(6):
        client.get("/metrics")


def test_a_database_that_does_not_answer_is_told_as_such(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone() -> None:
        raise DatabaseError("password=hunter2")

    monkeypatch.setattr(measuring, "measure", gone)
    found = scrape(client)
    assert value(found, "database_up") == 0
    assert "hunter2" not in caplog.text


@pytest.fixture
def with_token(server_mode: Settings) -> Settings:
    server_mode.METRICS_TOKEN = TOKEN
    server_mode.ALLOWED_HOSTS = ["ome.example.com"]
    server_mode.SECURE_SSL_REDIRECT = True
    return server_mode


def test_prometheus_asks_a_pod_by_its_address_with_the_token(
    client: Client, fleet: Cluster, with_token: Settings
) -> None:
    headers = {"host": "10.244.1.7:8000", "authorization": f"Bearer {TOKEN}"}
    assert value(scrape(client, **headers), "cluster_live", cluster="lab") == 0


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN])
def test_without_the_token_nothing_is_told(client: Client, db: None, with_token: Settings, given: str) -> None:
    response = client.get("/metrics", secure=True, headers={"host": "ome.example.com", "authorization": given})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert b"ome_dashboard" not in response.content


def test_without_a_token_in_the_settings_none_is_right(client: Client, db: None, server_mode: Settings) -> None:
    for given in ("Bearer ", "Bearer None", ""):
        assert client.get("/metrics", headers={"authorization": given}).status_code == 401


def test_who_has_signed_in_may_look(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    client.force_login(somebody("ann"))
    assert value(scrape(client), "database_up") == 1


def test_each_page_is_a_line_in_the_log_of_a_server_without_what_was_looked_for(
    client: Client, fleet: Cluster, server_mode: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(somebody("ann"))
    with caplog.at_level(logging.INFO, logger="selection.faces.measuring"):
        client.get("/services/?q=secret-project")
        client.get("/live/")
    (line,) = caplog.records
    assert line.getMessage() == "GET /services/"
    assert (vars(line)["page"], vars(line)["status"]) == ("services", 200)


def test_on_ones_own_machine_pages_are_not_logged(
    client: Client, fleet: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="selection.faces.measuring"):
        client.get("/services/")
    assert not caplog.records
