"""What open pages ask: whether what they show has changed, and what they are told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.seen import Seen
from selection.rules.explain import explain_service
from selection.store import freshness as store_freshness
from selection.store.models import Cluster, KindSync, ModelResult, RuntimeResult, ServiceResult, StoredObject
from tests.faces.small_fleet import load
from tests.people.cast import somebody


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_freshness, "RECENT", -1.0)


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


SERVICES = "/services/"
CHAT = "/services/lab/apps/chat/"
RUNTIME = "/runtimes/lab/-/small/"
MODEL = "/models/lab/-/llama-7b/"
OBJECT = "/objects/lab/ClusterServingRuntime/-/small/"
PAGES = ["/", SERVICES, CHAT, RUNTIME, MODEL, OBJECT, "/clusters/", "/conflicts/", "/migration/", "/findings/"]


class Browser:
    """A page that is open, as ``live.js`` has it: the address it asks, and where it stands."""

    def __init__(self, client: Client, path: str) -> None:
        self.client, self.path = client, path
        self.ask = self._address(client.get(path))

    def _address(self, response: Any) -> str:
        found = re.search(r'hx-get="(/live/\?seen=[^"]*)"', response.content.decode())
        assert found
        return found.group(1)

    def asks(self) -> HttpResponse:
        """Ask once; what comes is kept as htmx keeps it."""
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{self.path}"}
        response = self.client.get(self.ask, headers=headers)
        assert isinstance(response, HttpResponse)
        if response.status_code == 200:
            self.ask = self._address(response)
        return response

    def told(self) -> bool:
        """Whether it is told to fetch itself."""
        return self.asks().headers.get("HX-Trigger") == "fleet-changed"


def judged(cluster: Cluster, *rows: Any, answers: bool = True) -> None:
    """As an evaluation leaves it: one more generation, these rows stamped with it."""
    cluster.refresh_from_db()
    cluster.generation += 1
    cluster.evaluated_generation = cluster.generation
    if answers:
        cluster.answers_generation = cluster.generation
    cluster.save()
    for row in rows:
        type(row)._default_manager.filter(pk=row.pk).update(generation=cluster.generation)


@pytest.mark.parametrize("path", PAGES)
def test_nothing_new_is_answered_with_nothing(client: Client, fleet: Cluster, path: str) -> None:
    browser = Browser(client, path)
    response = browser.asks()
    assert (response.status_code, response.content) == (204, b"")
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", SERVICES, "/conflicts/", "/runtimes/?cluster=lab", "/migration/"])
def test_a_page_about_everything_is_told_once_when_an_answer_changes(client: Client, fleet: Cluster, path: str) -> None:
    browser = Browser(client, path)
    judged(fleet)
    assert browser.told()
    assert browser.asks().status_code == 204


@pytest.mark.parametrize("path", ["/", SERVICES, "/conflicts/", CHAT, RUNTIME, MODEL])
def test_an_object_that_changes_no_answer_disturbs_nobody(client: Client, fleet: Cluster, path: str) -> None:
    browser = Browser(client, path)
    judged(fleet, StoredObject.objects.get(kind="ClusterServingRuntime", name="qwen"), answers=False)
    assert browser.asks().status_code == 204


def result(kind: str, name: str) -> Any:
    if kind == "service":
        return ServiceResult.objects.get(namespace="apps", name=name)
    return (RuntimeResult if kind == "runtime" else ModelResult).objects.get(namespace="", name=name)


@pytest.mark.parametrize(
    ("path", "kind", "own", "other"),
    [
        (CHAT, "service", "chat", "lost"),
        (RUNTIME, "runtime", "small", "qwen"),
        (RUNTIME, "service", "chat", "lost"),
        (MODEL, "model", "llama-7b", "llama-70b"),
        (MODEL, "service", "chat", "lost"),
    ],
)
def test_a_page_about_one_object_is_told_of_its_own_answers_alone(
    client: Client, fleet: Cluster, path: str, kind: str, own: str, other: str
) -> None:
    browser = Browser(client, path)
    judged(fleet, result(kind, other))
    assert browser.asks().status_code == 204
    judged(fleet, result(kind, own))
    assert browser.told()
    assert browser.asks().status_code == 204


@pytest.mark.parametrize("path", [CHAT, OBJECT])
def test_a_page_about_one_object_is_told_when_the_object_itself_changes(
    client: Client, fleet: Cluster, path: str
) -> None:
    kind, name = ("InferenceService", "chat") if path == CHAT else ("ClusterServingRuntime", "small")
    row = StoredObject.objects.filter(kind=kind, name=name, namespace="apps" if path == CHAT else "").get()
    browser = Browser(client, path)
    judged(fleet, row, answers=False)
    assert browser.told()


def test_a_page_is_told_when_its_object_goes_and_when_it_comes_back(client: Client, fleet: Cluster) -> None:
    browser = Browser(client, CHAT)
    row = StoredObject.objects.get(kind="InferenceService", namespace="apps", name="chat")
    row.delete()
    judged(fleet)
    assert browser.told()
    row.pk = None
    row.save()
    judged(fleet, row)
    assert browser.told()


def test_a_change_while_the_page_is_drawn_is_told_afterwards(
    client: Client, fleet: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:

    def slowly(*arguments: Any) -> Any:
        judged(fleet, result("service", "chat"))
        return explain_service(*arguments)

    monkeypatch.setattr("selection.faces.pages.service.explain_service", slowly)
    browser = Browser(client, CHAT)
    monkeypatch.undo()
    assert browser.told()


def test_answers_that_come_later_than_their_objects_are_told_when_they_come(client: Client, fleet: Cluster) -> None:
    fleet.generation += 1
    fleet.save()
    browser = Browser(client, SERVICES)
    fleet.evaluated_generation = fleet.answers_generation = fleet.generation
    fleet.save()
    assert browser.told()


def test_a_page_narrowed_to_a_cluster_does_not_hear_of_another(client: Client, fleet: Cluster) -> None:
    other = load([], name="other")
    browser = Browser(client, "/services/?cluster=lab")
    judged(other)
    assert browser.asks().status_code == 204
    judged(fleet)
    assert browser.told()


def test_lists_are_told_of_a_new_cluster_and_of_one_that_is_forgotten(client: Client, fleet: Cluster) -> None:
    browser = Browser(client, SERVICES)
    other = load([], name="other")
    assert browser.told()
    other.delete()
    assert browser.told()


def test_trouble_shows_in_the_strip_of_every_page_and_is_told_to_those_about_reading(
    client: Client, fleet: Cluster
) -> None:
    overview, services = Browser(client, "/"), Browser(client, SERVICES)
    Cluster.objects.update(sync_error="connection refused")
    assert overview.told()
    answer = services.asks()
    assert "last sync failed" in answer.content.decode()
    assert "HX-Trigger" not in answer.headers


def follow(cluster: Cluster, **fields: Any) -> None:
    now = timezone.now()
    Cluster.objects.filter(pk=cluster.pk).update(**{"followed": True, "heartbeat_at": now, **fields})
    KindSync.objects.filter(cluster=cluster).update(watching=True, confirmed_at=now, last_event_at=now)


def test_the_strip_says_live_with_the_last_event_beside_it(client: Client, fleet: Cluster) -> None:
    follow(fleet)
    page = client.get(SERVICES).content.decode()
    assert re.search(r'lab: <span title="Last event 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC">live</span>', page)
    assert 'class="dot"' in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: Cluster.objects.update(heartbeat_at=timezone.now() - store_freshness.ALIVE), "nobody follows it now"),
        (lambda: KindSync.objects.filter(kind="BaseModel").update(watching=False), "1 kind not followed now"),
        (lambda: KindSync.objects.filter(kind="BaseModel").update(outcome="forbidden"), "live</span>, 1 kind not read"),
    ],
)
def test_what_keeps_a_cluster_from_being_live_is_said(client: Client, fleet: Cluster, change: Any, words: str) -> None:
    follow(fleet)
    browser = Browser(client, SERVICES)
    change()
    assert words in browser.asks().content.decode()


@pytest.mark.parametrize("seen", ["", "x", "9" * 300, "0" * 12 + ".x.1-2", f"{'0' * 12}.{'0' * 12}.1-2-{'9' * 30}"])
def test_what_cannot_be_read_is_answered_with_all_there_is(client: Client, fleet: Cluster, seen: str) -> None:
    response = client.get("/live/", {"seen": seen}, headers={"HX-Current-URL": "http://testserver/services/"})
    assert response.status_code == 200
    assert response.headers["HX-Trigger"] == "fleet-changed"


@pytest.mark.parametrize("address", ["", "http://[", "http://testserver/nowhere/", "http://testserver/login/"])
def test_a_page_that_is_not_known_is_never_told_to_fetch_itself(client: Client, fleet: Cluster, address: str) -> None:
    response = client.get("/live/", {"seen": ""}, headers={"HX-Current-URL": address})
    assert "HX-Trigger" not in response.headers


def test_an_error_page_stays_as_it_is(client: Client, fleet: Cluster) -> None:
    browser = Browser(client, "/nowhere/")
    browser.path = SERVICES
    judged(fleet)
    assert browser.asks().status_code == 204


def test_a_name_with_a_slash_or_a_letter_from_elsewhere_is_found(client: Client, db: None) -> None:
    cluster = load(name="arn:aws/pröd")
    browser = Browser(client, "/services/arn:aws/pr%C3%B6d/apps/chat/")
    assert browser.asks().status_code == 204
    judged(cluster, result("service", "chat"))
    assert browser.told()


def test_it_costs_one_query_while_nothing_happens_and_few_otherwise(
    client: Client, fleet: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browsers = [Browser(client, path) for path in PAGES]
    for browser in browsers:
        with django_assert_num_queries(1):
            browser.asks()
    judged(fleet, answers=False)
    for path, most in ((SERVICES, 1), (CHAT, 3), (RUNTIME, 4)):
        browser = Browser(client, path)
        judged(fleet, answers=False)
        with django_assert_num_queries(most):
            browser.asks()


def test_those_who_ask_together_share_one_look(
    client: Client, fleet: Cluster, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = Browser(client, SERVICES)
    monkeypatch.setattr(store_freshness, "RECENT", 60.0)
    monkeypatch.setattr(store_freshness, "_recent", None)
    with django_assert_num_queries(1):
        for _ in range(10):
            assert browser.asks().status_code == 204
    monkeypatch.setattr(store_freshness, "_recent", None)


def test_who_has_not_signed_in_is_told_so_and_not_sent_to_another_page(client: Client, server_mode: Settings) -> None:
    response = client.get("/live/")
    assert (response.status_code, response.headers["Content-Type"]) == (403, "text/plain")


def test_asking_keeps_no_session_alive_and_writes_nothing(
    client: Client, fleet: Cluster, server_mode: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(somebody("ann"))
    browser = Browser(client, SERVICES)
    before = Session.objects.values_list("session_data", "expire_date").get()
    with django_assert_num_queries(4) as asked:  # the session, the user, the rights, the clusters
        response = browser.asks()
    assert response.status_code == 204
    assert all(query["sql"].startswith("SELECT") for query in asked.captured_queries)
    assert not response.cookies
    assert Session.objects.values_list("session_data", "expire_date").get() == before


def test_only_asking_is_allowed(client: Client) -> None:
    assert client.post("/live/").status_code == 405


def test_what_was_seen_survives_an_address() -> None:
    seen = Seen("a" * 12, "b" * 12, {1: (5, 4), 12: (0, 0)})
    assert Seen.parse(str(seen)) == seen
    assert Seen.parse(str(Seen("a" * 12, "x", {}))) == Seen("a" * 12, "x", {})
