"""The interface has the rows that the pages' exports have, value by value, under the same filters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.http import HttpResponseBase
from django.test import Client

pytestmark = pytest.mark.django_db

RUNTIME = "runtimes/eu-prod/-/sgl-fathom-multinode"
MODEL = "models/eu-prod/-/aurora-70b-instruct"

#: The page's export, the interface's list, and filters that both take.
LISTS = [
    (
        "/services/",
        "services",
        "",
        "cluster=eu-prod",
        "outcome=no-runtime",
        "conflict=any&mode=OMENative",
        "q=chat+auro",
    ),
    ("/services/", "services", "admitted=false", "runtime=sgl-fathom-multinode", "migration=at-risk", "named=true"),
    ("/runtimes/", "runtimes", "", "scope=namespaced", "trouble=chain", "used=nobody&cluster=us-lab"),
    ("/models/", "models", "", "state=unserved", "model_format=safetensors+1.0.0", "q=aurora"),
    ("/conflicts/", "conflicts", "", "code=deprecated", "about=runtimes", "requested=none&cluster=eu-prod"),
    ("/findings/", "findings", "", "cluster=us-lab", "q=sgl", "severity=error"),
    ("/changes/", "changes", "", "what=runtime", "cause_kind=ClusterServingRuntime&cluster=eu-prod", "outcome=named"),
    ("/migration/", "migration/components", "", "state=not-started", "component=decoder", "cluster=us-lab"),
    ("/migration/?view=runtimes", "migration/runtimes", "", "references=true", "cluster=us-lab"),
    ("/clusters/", "kinds", "", "cluster=eu-prod", "kind=InferenceService", "outcome=complete&q=run"),
    ("/clusters/?view=unreadable", "objects?readable=false", "", "cluster=eu-prod", "kind=InferenceService"),
    (f"/{RUNTIME}/", f"{RUNTIME}/services", "", "within=frontier", "outcome=named-with-advice"),
    (f"/{MODEL}/", f"{MODEL}/services", "", "within=frontier", "mode=OMENative"),
]
CASES = [(page, listed, query) for page, listed, *queries in LISTS for query in queries]


def joined(address: str, *queries: str) -> str:
    """An address with more in its query."""
    told = [each for each in queries if each]
    return address + ("&" if "?" in address else "?") + "&".join(told) if told else address


def sent(response: HttpResponseBase) -> Any:
    """The JSON that was sent."""
    assert response.status_code == 200, getattr(response, "content", b"")
    return json.loads(response.getvalue())


def every_row(client: Client, address: str) -> list[dict[str, Any]]:
    """The rows of a list, page by page."""
    found: list[dict[str, Any]] = []
    following: str | None = address
    while following:
        value = sent(client.get(following))
        found += value["items"]
        following = value["next"]
    return found


def in_one_order(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Rows as texts, sorted: both sides have orders of their own."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize(("page", "listed", "query"), CASES)
def test_a_list_has_the_rows_of_the_pages_export(
    client: Client, demo: None, page: str, listed: str, query: str
) -> None:
    exported = sent(client.get(joined(page, query, "format=json")))
    rows = every_row(client, joined(f"/api/v1/{listed}", query, "limit=7"))
    keys = set(exported[0]) if exported else set()
    assert in_one_order({key: row[key] for key in row if key in keys} for row in rows) == in_one_order(exported)


def test_the_filters_of_these_tests_leave_rows(client: Client, demo: None) -> None:
    empty = [(page, query) for page, _, query in CASES if not sent(client.get(joined(page, query, "format=json")))]
    assert len(empty) <= 3, empty


@pytest.mark.parametrize("sort", ["name", "-name", "outcome", "-outcome", "runtime", "model"])
def test_a_sort_is_the_pages(client: Client, demo: None, sort: str) -> None:
    exported = sent(client.get(f"/services/?sort={sort}&format=json"))
    rows = every_row(client, f"/api/v1/services?sort={sort}&limit=9&fields=cluster,namespace,name")
    assert rows == [{key: row[key] for key in ("cluster", "namespace", "name")} for row in exported]


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("/services/eu-prod/frontier/research-chat/", "services/eu-prod/frontier/research-chat/explanation"),
        (
            "/migration/services/eu-prod/frontier/disagg-chat/",
            "migration/services/eu-prod/frontier/disagg-chat/plan",
        ),
        ("/migration/runtimes/eu-prod/-/sgl-fathom-pd/", "migration/runtimes/eu-prod/-/sgl-fathom-pd/plan"),
    ],
)
def test_a_value_is_the_one_that_the_page_sends_as_json(client: Client, demo: None, page: str, address: str) -> None:
    assert sent(client.get(f"/api/v1/{address}")) == sent(client.get(f"{page}?format=json"))


def test_the_order_of_a_migration_is_the_pages(client: Client, demo: None) -> None:
    exported = sent(client.get("/migration/order/?cluster=eu-prod&table=waves&format=json"))
    rows = every_row(client, "/api/v1/migration/order/eu-prod/services?limit=3")
    rows.sort(key=lambda row: row["place"])
    assert [{key: row[key] for key in exported[0]} for row in rows] == exported
    exported = sent(client.get("/migration/order/?cluster=eu-prod&table=runtimes&format=json"))
    rows = every_row(client, "/api/v1/migration/order/eu-prod/runtimes?limit=2")
    assert in_one_order({key: row[key] for key in exported[0]} for row in rows) == in_one_order(exported)


def test_the_changes_of_an_upgrade_are_the_pages(client: Client, demo: None) -> None:
    exported = sent(client.get("/upgrade/?cluster=us-lab&format=json"))
    assert in_one_order(every_row(client, "/api/v1/upgrade/us-lab/changes?limit=2")) == in_one_order(exported)


def test_the_candidates_of_an_explanation_are_the_pages(client: Client, demo: None) -> None:
    path = "services/eu-prod/frontier/research-chat"
    exported = sent(client.get(f"/{path}/?table=candidates&format=json"))
    found = sent(client.get(f"/api/v1/{path}/explanation?fields=candidates"))["candidates"]
    assert [{key: row[key] for key in exported[0]} for row in found] == exported


def test_every_row_says_where_it_is(client: Client, demo: None) -> None:
    for name in ("clusters", "kinds", "objects", "services", "runtimes", "models", "changes"):
        for row in every_row(client, f"/api/v1/{name}?limit=50")[:30]:
            assert urlsplit(row["self"]).path == row["self"]
            found = sent(client.get(row["self"]))
            assert {key: found[key] for key in row} == row
