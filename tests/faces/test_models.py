"""The list of models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster, ModelResult
from tests.faces.small_fleet import HOSTILE, load

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/models/{query}")
    assert response.status_code == 200
    return response.content.decode()


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/models/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def test_it_says_which_runtime_comes_first_and_links_to_it(client: Client, fleet: Cluster) -> None:
    text = page(client)
    assert "5 models" in text
    assert "/runtimes/lab/team/team-own/" in text
    assert "/runtimes/lab/-/small/" in text
    assert "Can't be matched yet" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("scope=namespaced", {("team", "llama-7b")}),
        ("state=unmatchable", {("", "from-file")}),
        ("state=unserved", {("", "nobody-serves")}),
        ("state=served&scope=cluster", {("", "llama-7b"), ("", "llama-70b")}),
        ("q=other", {("", "nobody-serves")}),
        ("used=false", set()),
        ("namespace=team", {("team", "llama-7b")}),
    ],
)
def test_it_filters(client: Client, fleet: Cluster, query: str, expected: set[tuple[str, str]]) -> None:
    assert {(row["namespace"], row["name"]) for row in rows(client, query)} == expected


def test_without_a_model_it_teaches_how_to_read_some(client: Client, db: None) -> None:
    assert "No model has been read yet" in page(client)


def test_hostile_text_is_escaped(client: Client, fleet: Cluster) -> None:
    ModelResult.objects.filter(name="llama-70b").update(
        architecture=HOSTILE, format=HOSTILE, framework=HOSTILE, quantization=HOSTILE, size=HOSTILE, first_name=HOSTILE
    )
    assert HOSTILE not in page(client, "?group=architecture")


def test_the_number_of_queries_does_not_grow(
    client: Client, fleet: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        load(name=f"more-{number}")
    with django_assert_max_num_queries(10):
        page(client)


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/models/").status_code == 302
