"""The page of clusters."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.template.loader import get_template
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.words import CLUSTERS
from selection.store.health import STATES
from selection.store.models import Cluster, KindSync, StoredObject
from tests.faces.clusters import text_of
from tests.faces.small_fleet import HOSTILE, load

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/clusters/{query}")
    assert response.status_code == 200
    return response.content.decode()


def fail(cluster: Cluster, kind: str, outcome: str, reason: str) -> None:
    KindSync.objects.filter(cluster=cluster, kind=kind).update(
        outcome=outcome, reason=reason, attempted_at=timezone.now()
    )


def test_it_says_that_two_objects_can_not_be_judged_and_the_others_are(client: Client, fleet: Cluster) -> None:
    assert "2 objects can't be judged; the others are." in " ".join(page(client).split())


def test_unreadable_objects_have_their_path_and_reason(client: Client, fleet: Cluster) -> None:
    text = page(client, "?view=unreadable")
    assert "spec.supportedModelFormats" in text
    assert "expected a list, found text &quot;onnx&quot;" in text
    assert "/objects/lab/ClusterServingRuntime/-/unreadable/?mark=spec.supportedModelFormats" in text
    assert HOSTILE not in text


def test_unreadable_objects_filter_and_export(client: Client, fleet: Cluster) -> None:
    response = client.get("/clusters/?view=unreadable&kind=InferenceService&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found = json.loads(response.getvalue())
    assert [(row["namespace"], row["name"], row["path"]) for row in found] == [
        ("apps", "broken", "spec.engine.annotations")
    ]


def test_a_kind_that_was_refused_comes_first_with_its_reason(client: Client, fleet: Cluster) -> None:
    fail(fleet, "ServingRuntime", "forbidden", "servingruntimes is forbidden: no list")
    text = page(client)
    assert "1 kind couldn't be read: what is stored of it is older." in text
    assert "servingruntimes is forbidden: no list" in text
    assert text.index("Forbidden") < text.index("Complete")


def test_a_sync_that_broke_off_is_said_with_its_reason(client: Client, fleet: Cluster) -> None:
    Cluster.objects.update(sync_error=f"connection refused {HOSTILE}")
    text = page(client)
    assert "lab couldn't be read to the end at the last attempt." in text
    assert "connection refused &lt;script&gt;" in text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("detected", "from the image of its manager"),
        ("set", "set by hand"),
        ("default", "assumed: no manager was found"),
    ],
)
def test_it_says_where_the_version_of_ome_comes_from(client: Client, fleet: Cluster, source: str, words: str) -> None:
    Cluster.objects.update(ome_version="1.2", ome_version_source=source)
    text = page(client)
    assert "v1.2 rules" in text
    assert words in text


def test_without_a_cluster_it_teaches_how_to_read_one(client: Client, db: None) -> None:
    text = page(client)
    assert "No cluster has been read yet" in text
    assert "python manage.py sync" in text


def test_without_an_unreadable_object_it_says_so(client: Client, fleet: Cluster) -> None:
    StoredObject.objects.update(problem_path="", problem_message="")
    assert "Every object can be judged" in page(client, "?view=unreadable")
    assert "Everything was read, and every object can be judged." in page(client)


def test_the_number_of_queries_does_not_grow(
    client: Client, fleet: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        load(name=f"more-{number}")
    for view in ("kinds", "unreadable"):
        with django_assert_max_num_queries(12):
            page(client, f"?view={view}")


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/clusters/").status_code == 302


NOW = timezone.now


def follow(cluster: Cluster, *, silent: timedelta = timedelta(0), **fields: Any) -> None:
    """A process follows the cluster and watches all its kinds; it was heard ``silent`` ago."""
    values = {"access": "kubeconfig", "context": "lab", "declared_by": "page", "followed": True, "holder": "host:7"}
    Cluster.objects.filter(pk=cluster.pk).update(**{**values, "heartbeat_at": NOW() - silent, **fields})
    at = NOW() - silent
    KindSync.objects.filter(cluster=cluster).update(watching=True, confirmed_at=at, last_event_at=at, events=3)


def panel(client: Client, query: str = "") -> str:
    """The first cluster's panel as a person reads it."""
    found = re.search(r'<section class="panel cluster".*?</section>', page(client, query), re.S)
    assert found is not None
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", found.group())).split())


def test_a_cluster_that_is_watched_is_live(client: Client, fleet: Cluster) -> None:
    follow(fleet, lag_ms=120)
    text = panel(client)
    assert "Live" in text
    assert "what is shown is what the cluster has" in text
    assert "host:7, heard just now" in text
    assert "context lab of the kubeconfig" in text
    assert "30 in all; the last one was judged after 120 ms" in text
    assert "10, 10 watched" in text


def test_a_cluster_whose_process_died_says_since_when_and_what_to_do(client: Client, fleet: Cluster) -> None:
    follow(fleet, silent=timedelta(minutes=5))
    text = panel(client)
    assert "Nobody follows it" in text
    assert "the last one was heard 5 min ago" in text
    assert "python manage.py sync --watch" in text
    assert "lab is to be followed, and no process does." in " ".join(page(client).split())
    assert "Watched" not in page(client).split("<table")[1]
    assert page(client).count("No process follows the cluster just now.") == KindSync.objects.count()


def test_a_cluster_that_is_down_keeps_its_data_and_its_age(client: Client, fleet: Cluster) -> None:
    follow(fleet, sync_error="https://lab:6443: connection refused")
    old = NOW() - timedelta(hours=3)
    KindSync.objects.update(watching=False, confirmed_at=old, listed_at=old, watch_trouble="connection refused")
    text = panel(client)
    assert "Not reached" in text
    assert "what is shown is as of 3 h ago" in text
    assert "It is tried again by itself" in text
    assert "kubectl --context lab get --raw /readyz" in text
    assert f"Objects{StoredObject.objects.count()}" in text.replace("Objects ", "Objects")


def test_a_kind_that_is_not_watched_says_why_and_what_happens_next(client: Client, fleet: Cluster) -> None:
    follow(fleet)
    KindSync.objects.filter(kind="ServingRuntime").update(watching=False, watch_trouble="nothing came for 40 s")
    text = " ".join(page(client).split())
    assert "In part" in text
    assert "1 kind isn't watched just now" in html.unescape(text)
    assert text.index("nothing came for 40 s") < text.index("One is opened again by itself.")
    assert text.index("Not watched") < text.index("Watched</span>"), "what needs a person comes first"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("forbidden", "Let the account that the dashboard uses get, list and watch servingruntimes.ome.io."),
        ("failed", "Run the sync again."),
        ("not-served", "The cluster has no servingruntimes.ome.io: what defines it isn't installed there."),
    ],
)
def test_each_reason_why_a_kind_is_not_there_has_its_next_step(
    client: Client, fleet: Cluster, outcome: str, words: str
) -> None:
    fail(fleet, "ServingRuntime", outcome, "no such luck")
    assert words in text_of(client.get("/clusters/?kind=ServingRuntime"))


def test_a_cluster_that_is_read_by_hand_is_not_followed(client: Client, fleet: Cluster) -> None:
    text = panel(client)
    assert "Not followed" in text
    assert "a test" in text
    assert "nobody: it isn't followed" in text
    assert "Have it followed in its settings" in text


def test_a_cluster_that_was_just_declared_waits_for_a_process(client: Client, db: None) -> None:
    cluster = Cluster.objects.create(name="new", access="in-cluster", followed=True, declared_by="environment")
    text = panel(client)
    assert "Nobody follows it" in text
    assert "Declared by OME_DASHBOARD_CLUSTERS" in text
    Cluster.objects.filter(pk=cluster.pk).update(heartbeat_at=NOW(), holder="host:7")
    assert "Being read" in panel(client)


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_a_cluster_has_its_word_and_its_sentence(state: str) -> None:
    assert state in CLUSTERS
    assert get_template(f"sentences/cluster/{state}.html")


def test_kinds_export_how_each_is_watched(client: Client, fleet: Cluster) -> None:
    follow(fleet)
    response = client.get("/clusters/?kind=ServingRuntime&format=json")
    assert isinstance(response, StreamingHttpResponse)
    (row,) = json.loads(response.getvalue())
    assert (row["outcome"], row["watched"], row["events"]) == ("complete", True, 3)
