"""The list of runtimes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster, RuntimeResult
from tests.faces.small_fleet import HOSTILE, load

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/runtimes/{query}")
    assert response.status_code == 200
    return response.content.decode()


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/runtimes/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def test_it_lists_every_runtime_readable_or_not(client: Client, fleet: Cluster) -> None:
    text = page(client)
    assert "12 runtimes" in text
    assert "/runtimes/lab/team/team-own/" in text
    assert "Can't be read" in text
    assert "ParentNotFound" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("scope=namespaced", {"team-own"}),
        ("namespace=team", {"team-own"}),
        ("mode=MultiNode", {"multi-node"}),
        ("disabled=true", {"off", "base-profile"}),
        ("references=true", {"multi-node"}),
        ("trouble=chain", {"orphan"}),
        ("trouble=unreadable", {"unreadable"}),
        ("used=selected", {"small", "wide", "team-own"}),
        ("used=named", {"by-name", "heir", "multi-node"}),
        ("auto_select=false&trouble=none", {"by-name", "heir", "misspelt"}),
        ("q=gone", {"orphan"}),
        ("cluster=other", set()),
    ],
)
def test_it_filters(client: Client, fleet: Cluster, query: str, expected: set[str]) -> None:
    assert {row["name"] for row in rows(client, query)} == expected


def test_no_mode_means_that_no_component_declares_one(client: Client, fleet: Cluster) -> None:
    assert {"multi-node", "base-profile"}.isdisjoint({row["name"] for row in rows(client, "mode=none")})


def test_services_are_sorted_by_their_sum_and_most_come_first(client: Client, fleet: Cluster) -> None:
    assert rows(client, "sort=-services")[0]["name"] == "multi-node"
    assert 'href="?sort=-services"' in page(client)


def test_without_a_runtime_it_teaches_how_to_read_some(client: Client, db: None) -> None:
    assert "No runtime has been read yet" in page(client)


def test_hostile_text_is_escaped(client: Client, fleet: Cluster) -> None:
    RuntimeResult.objects.filter(name="small").update(
        namespace=HOSTILE, kind="ServingRuntime", formats=HOSTILE, size_range=HOSTILE, parent=HOSTILE
    )
    assert HOSTILE not in page(client, "?group=formats")


def test_the_number_of_queries_does_not_grow(
    client: Client, fleet: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        load(name=f"more-{number}")
    with django_assert_max_num_queries(10):
        page(client)


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/runtimes/").status_code == 302
