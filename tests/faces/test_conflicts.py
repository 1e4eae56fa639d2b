"""The page of mode conflicts."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.words import word
from selection.rules.conflicts import CODES
from selection.store.models import Cluster, ConflictRow
from tests.faces.small_fleet import HOSTILE, load

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/conflicts/{query}")
    assert response.status_code == 200
    return response.content.decode()


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/conflicts/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def cells(text: str) -> dict[str, int]:
    """The numbers of the matrix by the query that they lead to."""
    matrix = text[text.index('class="table matrix"') : text.index("</table>")]
    return {query: int(number) for query, number in re.findall(r'<a href="(\?[^"]*)">(\d+)</a>', matrix)}


def test_it_says_what_happens_and_what_to_do(client: Client, fleet: Cluster) -> None:
    text = page(client, "?code=rejected")
    assert "automatic selection skips a runtime that supports its model" in text
    assert "take the mode out of <code>spec.engine.annotations</code>" in text
    assert '/runtimes/lab/-/multi-node/"' in text
    assert '/services/lab/apps/rejected/"' in text


def test_the_kinds_that_matter_most_come_first(client: Client, fleet: Cluster) -> None:
    order = [CODES.index(row["code"]) for row in rows(client)]
    assert order == sorted(order)
    assert len(set(order)) > 3


def test_every_number_of_the_matrix_leads_to_as_many_rows(client: Client, fleet: Cluster) -> None:
    numbers = cells(page(client))
    assert sum(numbers.values()) == ConflictRow.objects.exclude(service="").count()
    for query, number in numbers.items():
        assert len(rows(client, query.removeprefix("?").replace("&amp;", "&"))) == number


def test_the_matrix_counts_what_the_other_filters_leave(client: Client, fleet: Cluster) -> None:
    load(name="second")
    assert sum(cells(page(client, "?cluster=lab")).values()) * 2 == sum(cells(page(client)).values())


def test_the_count_of_each_kind_leads_to_as_many_rows(client: Client, fleet: Cluster) -> None:
    text = page(client)
    chips = re.findall(r'class="chip" href="\?code=([a-z-]+)".*?<span class="count">(\d+)</span>', text)
    assert chips
    for code, number in chips:
        assert len(rows(client, f"code={code}")) == int(number)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("namespace=apps&code=silent-takeover", {"heir-user", "long"}),
        ("runtime=misspelt", {""}),
        ("component=engine&requested=OMENative", {"long-native", "rejected"}),
        ("requested=none&declared=OMENative", {"heir-user"}),
        ("about=runtimes", {""}),
        ("q=raw", {"long-raw"}),
        ("cluster=other", set()),
    ],
)
def test_it_filters(client: Client, fleet: Cluster, query: str, expected: set[str]) -> None:
    assert {row["service"] for row in rows(client, query)} == expected


@pytest.mark.parametrize("group", ["runtime", "namespace", "component", "code"])
def test_it_groups(client: Client, fleet: Cluster, group: str) -> None:
    text = page(client, f"?group={group}")
    sizes = [int(number) for number in re.findall(r'class="muted">(\d+) conflicts?</span></th>', text)]
    assert len(sizes) >= 1
    assert sum(sizes) == ConflictRow.objects.count()


@pytest.mark.parametrize("code", CODES)
def test_every_kind_has_a_sentence_and_a_next_step(client: Client, fleet: Cluster, code: str) -> None:
    ConflictRow.objects.all().delete()
    facts: dict[str, Any] = {"running": "MultiNode", "value": "x", "path": "spec.engine.annotations", "side": "service"}
    ConflictRow.objects.create(
        cluster=fleet, namespace="apps", service="long", component="engine", code=code, facts=facts
    )
    text = page(client)
    what, following = re.findall(r'class="wide what"><p>(.*?)</p><p class="muted">(.*?)</p>', text, re.S)[0]
    assert what.strip().endswith(".")
    assert following.strip().endswith(".")


def test_a_fleet_without_conflicts_teaches_what_one_is(client: Client, db: None) -> None:
    load([])
    text = page(client)
    assert "No mode conflict" in text
    assert "MultiNode although nobody asked" in text


def test_hostile_names_and_values_are_escaped(client: Client, fleet: Cluster) -> None:
    ConflictRow.objects.create(
        cluster=fleet,
        namespace=HOSTILE,
        service=HOSTILE,
        component="engine",
        code="ignored",
        runtime_kind="ServingRuntime",
        runtime_namespace=HOSTILE,
        runtime_name=HOSTILE,
        facts={"value": HOSTILE, "path": HOSTILE, "side": "service"},
    )
    text = page(client, "?group=runtime")
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_number_of_queries_does_not_grow(
    client: Client, fleet: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        load(name=f"more-{number}")
    with django_assert_max_num_queries(12):
        page(client, "?group=runtime")


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    response = client.get("/conflicts/?format=csv")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_each_kind_has_a_table_of_its_own_unless_asked_otherwise(client: Client, fleet: Cluster) -> None:
    text = page(client)
    kinds = set(ConflictRow.objects.values_list("code", flat=True))

    assert text.count('scope="rowgroup"') == len(kinds)
    for code in kinds:
        assert html.escape(word("conflict", code).title) in text
    assert 'scope="rowgroup"' not in page(client, "?group=none")
    assert 'href="?group=none"' in text
    assert '<input type="hidden" name="group" value="none"' in page(client, "?group=none"), "a filter keeps it"
