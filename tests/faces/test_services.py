"""The list of services: filters, sort, exports, and the list alone for htmx."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

import pytest
from django.http import HttpResponseBase
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from tests.faces.clusters import store, text_of
from tests.rules.manifests import a_model, a_runtime, a_service, moded

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet() -> None:
    """Two clusters: a selected service, one that names a MultiNode runtime, and one whose model is gone."""
    store(
        a_model(),
        a_runtime(),
        a_runtime("multi", engineConfig=moded("MultiNode", leader={}, worker={})),
        a_service("plain"),
        a_service("big", "other", runtime={"name": "multi"}),
        name="one",
    )
    store(a_service("lost", model={"name": "gone"}), name="two")


def names(client: Client, **query: str) -> list[str]:
    """The names that the JSON export holds for these filters."""
    response = client.get(f"/services/?{urlencode({**query, 'format': 'json'})}")
    return [row["name"] for row in json.loads(body(response))]


def body(response: HttpResponseBase) -> str:
    """The whole text of a response, also of one that is sent while it is read."""
    chunks = response.streaming_content if response.streaming else [response.content]  # type: ignore[attr-defined]
    return b"".join(chunks).decode()


def test_it_shows_what_each_service_gets(client: Client, fleet: None) -> None:
    page = client.get("/services/").content.decode()

    assert 'href="/services/one/team/plain/"' in page
    assert 'href="/runtimes/one/-/fast/"' in page
    assert 'href="/models/one/-/llama/"' in page
    assert "3 services" in text_of(client.get("/services/"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"cluster": "two"}, ["lost"]),
        ({"namespace": "other"}, ["big"]),
        ({"outcome": "named"}, ["big"]),
        ({"outcome": "invalid"}, ["lost"]),
        ({"runtime": "fast"}, ["plain"]),
        ({"model": "gone"}, ["lost"]),
        ({"mode": "MultiNode"}, ["big"]),
        ({"conflict": "deprecated"}, ["big"]),
        ({"q": "LAI"}, ["plain"]),
        ({"q": "gone team"}, ["lost"]),
        ({"admitted": "false"}, ["lost"]),
        ({"cluster": "one", "mode": "OMENative"}, []),
        ({"cluster": "moon"}, []),
    ],
)
def test_it_narrows_by(client: Client, fleet: None, query: dict[str, str], found: list[str]) -> None:
    assert names(client, **query) == found


def test_the_outcomes_are_counted_with_the_other_filters_in_force(client: Client, fleet: None) -> None:
    page = text_of(client.get("/services/?cluster=one&outcome=named"))

    assert "All 2" in page
    assert "Selected 1" in page
    assert "Can't be judged 1" not in page
    assert "1 of 3 services" in page


def test_it_sorts_by_what_the_url_says(client: Client, fleet: None) -> None:
    assert names(client, sort="name") == ["big", "plain", "lost"]
    assert names(client, sort="-name") == ["lost", "plain", "big"]


def test_an_unknown_outcome_shows_no_rows_and_says_why(client: Client, fleet: None) -> None:
    page = text_of(client.get("/services/?outcome=magic"))

    assert "A filter can't be read" in page
    assert "/services/one/team/plain/" not in page


def test_the_export_has_what_the_table_has_and_more(client: Client, fleet: None) -> None:
    text = body(client.get("/services/?format=csv&namespace=other"))
    rows = list(csv.DictReader(io.StringIO(text)))

    assert len(rows) == 1
    assert rows[0]["runtime"] == "multi"
    assert rows[0]["runtime_kind"] == "ClusterServingRuntime"
    assert rows[0]["modes"] == "engine=MultiNode"


def test_htmx_gets_the_list_alone_and_the_url_to_show(client: Client, fleet: None) -> None:
    headers = {"HX-Request": "true", "HX-Target": "list-services"}
    response = client.get("/services/?outcome=named", headers=headers)

    assert response.headers["HX-Push-Url"] == "/services/?outcome=named"
    page = response.content.decode()
    assert "<html" not in page
    assert "/services/one/other/big/" in page
    assert "/services/one/team/plain/" not in page


def test_it_teaches_what_to_do_when_there_is_nothing_yet(client: Client) -> None:
    assert "No service has been read yet" in text_of(client.get("/services/"))


def test_hostile_text_is_only_text(client: Client) -> None:
    store(a_service("s", model={"name": "<script>alert(1)</script>"}))

    page = client.get("/services/").content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_cluster_may_have_slashes_in_its_name(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), name="arn:aws:eks:eu-west-1:1:cluster/prod")

    page = client.get("/services/").content.decode()

    assert "/services/arn:aws:eks:eu-west-1:1:cluster/prod/team/chat/" in page
    assert client.get("/services/arn:aws:eks:eu-west-1:1:cluster/prod/team/chat/").status_code == 200


def test_the_number_of_queries_does_not_grow_with_the_fleet(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    services = [a_service(f"s-{number}", f"team-{number}") for number in range(60)]
    store(a_model(), a_runtime(), *services)

    with django_assert_max_num_queries(12):
        response = client.get("/services/")

    assert "60 services, page 1 of 2" in text_of(response)


def test_it_requires_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    assert client.get("/services/").headers["Location"].startswith("/login/")
