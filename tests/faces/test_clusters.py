"""The page of clusters."""

from __future__ import annotations

import json

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster, KindSync, StoredObject
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
