"""Every table of a page can be had as CSV and as JSON, with the values that the page shows."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import DjangoDbBlocker

from selection.faces import families
from selection.faces.exports import cell
from selection.faces.tables import (
    CANDIDATES,
    CLUSTERS,
    ELSEWHERE,
    FACTS,
    LOSSES,
    OVERLAPS,
    TURNS,
    WAVES,
    WINS,
)
from selection.faces.tables_plan import EDITS, NEEDS, OUTCOME
from selection.faces.tables_runtime import ENTRIES, INHERITED, PLACES, REFERENCES, REFUSED
from selection.faces.tables_service import CHECKS, RULES, WORKLOADS
from tests.browser.pages import PAGES

SERVICE = "/services/eu-prod/frontier/research-chat/"
PAIR = "a=-/sgl-fathom-multinode&b=-/sgl-fathom-pd"
CLUSTERED = "ClusterServingRuntime"

TABLES: list[tuple[str, str, tuple[str, ...], dict[str, Any]]] = [
    (SERVICE, "candidates", CANDIDATES, {"name": "sgl-fathom-multinode", "compatible": True, "rank": 1, "score": 4}),
    (SERVICE, "candidates", CANDIDATES, {"name": "sgl-fathom-pd", "compatible": False, "code": "auto-select"}),
    (
        "/models/eu-prod/-/fathom-moe-480b/",
        "candidates",
        (*CANDIDATES, "services"),
        {"name": "sgl-fathom-multinode", "rank": 1, "priority": 2, "size_distance": 400_000_000_000},
    ),
    (
        "/models/eu-prod/-/borealis-32b-chat/?namespace=assistants",
        "candidates",
        (*CANDIDATES, "services"),
        {"name": "team-borealis", "scope": "Namespaced", "rank": 1},
    ),
    (f"{SERVICE}candidates/-/sgl-fathom-multinode/", "ranks", CANDIDATES, {"name": "sgl-fathom-multinode", "rank": 1}),
    (
        "/runtimes/eu-prod/-/sgl-qwen3/",
        "losses",
        LOSSES,
        {"service": "query-rewriter", "how": "selected", "outcome": "auto-selected", "instead": "vllm-qwen3"},
    ),
    (
        "/runtimes/eu-prod/-/vllm-llama/",
        "wins",
        WINS,
        {"service": "batch-summaries", "rank": 2, "winner": "sgl-llama-fp8", "because": "score", "winners": "6"},
    ),
    (
        "/runtimes/eu-prod/-/sgl-qwen3/",
        "overlaps",
        OVERLAPS,
        {"kind": CLUSTERED, "name": "vllm-qwen3", "models": 3, "ahead": 0, "behind": 3, "tied": 3},
    ),
    (f"{SERVICE}compare/?{PAIR}", "facts", FACTS, {"what": "Engine mode", "a": "passes", "b": "passes"}),
    (
        "/compare/services/?a=eu-prod/frontier/research-chat&b=eu-prod/frontier/disagg-chat",
        "facts",
        FACTS,
        {"what": "Outcome", "a": "auto-selected", "b": "named", "differs": True},
    ),
    (
        "/compare/models/?a=eu-prod/-/fathom-moe-480b&b=eu-prod/-/borealis-32b-chat",
        "facts",
        FACTS,
        {"what": "Qualified", "a": "1", "b": "2", "differs": True},
    ),
    (
        "/compare/runtimes/?a=eu-prod/-/sgl-fathom-multinode&b=eu-prod/-/sgl-fathom-pd",
        "facts",
        FACTS,
        {"what": "Takes part", "a": "in automatic selection", "b": "by name only", "differs": True},
    ),
    (
        "/migration/order/?cluster=eu-prod",
        "waves",
        WAVES,
        {"wave": "urgent", "service": "typo-chat", "state": "at-risk", "holds": ["nvidia.com/gpu=16"]},
    ),
    ("/migration/order/?cluster=eu-prod&wave=cleanup", "waves", WAVES, {"wave": "cleanup", "ready": True}),
    (
        "/migration/order/?cluster=eu-prod",
        "runtimes",
        TURNS,
        {"name": "sgl-fathom-multinode", "waiting": 3, "copy": "sgl-fathom-multinode-omenative"},
    ),
    (
        "/conflicts/?cluster=eu-prod",
        "modes",
        ("requested", "declared", "conflicts"),
        {"requested": "MultiNode", "declared": "MultiNode", "conflicts": 0},
    ),
    (SERVICE, "checks", CHECKS, {"check": "model-format", "arrive": 22, "removes": 18, "leaves": 4}),
    (
        SERVICE,
        "rules",
        RULES,
        {"component": "engine", "rule": "ComponentAnnotation", "state": "decides", "whose": "runtime"},
    ),
    (SERVICE, "workloads", WORKLOADS, {"component": "engine", "state": "agrees", "expected_kind": "LeaderWorkerSet"}),
    (
        "/runtimes/eu-prod/-/sgl-moe-preview/",
        "formats",
        ENTRIES,
        {"entry": 0, "framework_version": "V4.57.0", "framework_read_as": "unreadable", "matches": False},
    ),
    (
        "/runtimes/eu-prod/-/tei-embed/",
        "modes",
        PLACES,
        {"says": "RawDeployment", "in_selection": "metadata", "when_it_runs": "metadata"},
    ),
    (
        "/runtimes/eu-prod/-/sgl-fathom-multinode/",
        "references",
        REFERENCES,
        {"found": "$(LWS_LEADER_ADDRESS)", "remedy": "rename", "from": "sgl-fathom-multinode"},
    ),
    ("/runtimes/eu-prod/-/sgl-mistral/", "refused", REFUSED, {"service": "headline-writer", "outcome": "invalid"}),
    (
        "/runtimes/eu-prod/-/sgl-vision/",
        "inherited",
        INHERITED,
        {"name": "sgl-common-profile", "kind": CLUSTERED},
    ),
    ("/models/eu-prod/-/aurora-7b-instruct/", "elsewhere", ELSEWHERE, {"kind": "BaseModel", "namespace": "assistants"}),
    ("/", "clusters", CLUSTERS, {"cluster": "eu-prod", "ome_version": "1.3", "kinds_not_read": 0}),
    ("/migration/runtimes/eu-prod/-/sgl-fathom-pd/", "edits", EDITS, {"op": "replace"}),
    (
        "/migration/services/eu-prod/frontier/research-chat/",
        "outcome",
        OUTCOME,
        {"what": "Engine in the cluster", "now": "LeaderWorkerSet", "after": "InferenceReplica", "differs": True},
    ),
    (
        "/migration/services/eu-prod/frontier/research-chat/",
        "accelerators",
        NEEDS,
        {"component": "engine", "pods": 4, "accelerators": ["nvidia.com/gpu=32"]},
    ),
    ("/search/?q=fathom", "", ("kind", "cluster", "namespace", "name"), {"kind": CLUSTERED, "name": "sgl-fathom-pd"}),
    (
        "/matrix/?cluster=eu-prod&namespace=frontier",
        "",
        ("namespace", "services", "model", "named", "runtime_kind", "runtime_namespace", "runtime", "code", "rank"),
        {"model": "atlas-1t", "runtime": "sgl-fathom-pd", "code": "model-format"},
    ),
]


pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The demo fleet, loaded once for all of these tests: pages only read."""
    with django_db_blocker.unblock():
        named = str(connection.settings_dict["NAME"])
        assert "memory" in named or named.startswith("test_"), "this would flush a real database"
        try:
            call_command("demo", verbosity=0)
            yield
        finally:
            call_command("flush", interactive=False, verbosity=0)


def links(client: Client, page: str, table: str, form: str) -> list[str]:
    """The addresses on a page that export this table in this form."""
    response = client.get(page)
    found = (html.unescape(each) for each in re.findall(r'href="(\?[^"]*)" download', response.content.decode()))
    return [each for each in found if each.endswith(f"table={table}&format={form}" if table else f"format={form}")]


def sent(client: Client, page: str, query: str) -> tuple[str, str]:
    """The media type and the text of an export."""
    response = client.get(page.partition("?")[0] + query)
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment; ")
    return response["Content-Type"], response.getvalue().decode()


def same(text: str) -> str:
    """A moment by the second, since JSON tells it shorter than CSV; any other text as it is."""
    moment = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.\d]*(Z|\+00:00)", text)
    return moment[1] if moment else text


@pytest.mark.parametrize(("page", "table", "keys", "true"), TABLES)
def test_a_table_links_to_itself_as_csv_and_json(
    client: Client, demo: None, page: str, table: str, keys: tuple[str, ...], true: dict[str, Any]
) -> None:
    (as_json,) = links(client, page, table, "json")
    media, text = sent(client, page, as_json)
    rows = json.loads(text)
    assert media == "application/json"
    assert all(set(row) == set(keys) for row in rows)
    assert [row for row in rows if true.items() <= row.items()], rows

    (as_csv,) = links(client, page, table, "csv")
    media, text = sent(client, page, as_csv)
    header, *lines = csv.reader(io.StringIO(text))
    assert media == "text/csv; charset=utf-8"
    assert tuple(header) == keys
    assert [[same(each) for each in line] for line in lines] == [
        [same(str(cell(row[key]))) for key in keys] for row in rows
    ]


@pytest.mark.parametrize(
    ("page", "header"),
    [
        (SERVICE, CANDIDATES),
        (f"{SERVICE}candidates/-/sgl-fathom-pd/", CANDIDATES),
        (f"{SERVICE}compare/?{PAIR}", FACTS),
        ("/migration/order/?cluster=eu-prod", WAVES),
    ],
)
def test_csv_alone_is_the_table_that_a_page_without_a_list_is_about(
    client: Client, demo: None, page: str, header: tuple[str, ...]
) -> None:
    query = f"?{page.partition('?')[2]}&format=csv"
    assert sent(client, page, query)[1].splitlines()[0] == ",".join(header)


def test_an_export_has_the_rows_that_the_page_only_counts(
    client: Client, demo: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "/runtimes/eu-prod/-/vllm-llama/"
    whole = sent(client, page, "?table=overlaps&format=csv")[1]
    monkeypatch.setattr(families, "SHOWN", 1)
    assert "And 3 more." in client.get(page).content.decode()
    assert sent(client, page, "?table=overlaps&format=csv")[1] == whole
    assert len(whole.splitlines()) == 5


def test_the_conflicts_by_mode_are_those_that_the_filters_leave(client: Client, demo: None) -> None:
    every = json.loads(sent(client, "/conflicts/", "?table=modes&format=json")[1])
    lab = json.loads(sent(client, "/conflicts/", "?cluster=us-lab&table=modes&format=json")[1])
    assert 0 < sum(row["conflicts"] for row in lab) < sum(row["conflicts"] for row in every)
    assert client.get("/conflicts/?code=zzz&table=modes&format=csv").status_code == 400


@pytest.mark.parametrize("query", ["?format=xml", "?table=nothing&format=xml", "?table=candidates"])
def test_a_form_that_nobody_knows_is_answered_with_the_page_as_lists_do(client: Client, demo: None, query: str) -> None:
    for page in ("/services/", SERVICE):
        assert client.get(page + query)["Content-Type"].startswith("text/html")


class Tables(HTMLParser):
    """The tables of a page by what they call their export; None for one that neither names one nor is a list."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.depth = 0
        self.found: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "section":
            self.sections.append(told.get("class") or "")
        if tag == "table":
            self.depth += 1
            listed = any("list" in classes.split() for classes in self.sections)
            if self.depth == 1:  # a table in a row of another is exported with the row
                self.found.append(told.get("data-export", "" if listed else None))

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.sections.pop()
        if tag == "table":
            self.depth -= 1


#: Pages about the dashboard itself: who may use it, what it is set to, how programs ask. What they show is no part of
#: a fleet. Nor is what one is about to do with findings of the list, which exports them.
ABOUT_ITSELF = {"account", "account-of", "accounts", "api-docs", "rights", "severities", "together", "tokens"}


@pytest.mark.parametrize("path", [path for name, paths in PAGES.items() if name not in ABOUT_ITSELF for path in paths])
def test_no_table_of_any_page_is_without_an_export(client: Client, demo: None, path: str) -> None:
    page = client.get(path).content.decode()
    for table in set(Tables(page).found):
        assert table is not None, "a table doesn't say what exports it: data-export"
        for form in ("csv", "json"):
            query, *_ = links(client, path, table, form)
            assert len(sent(client, path, query)[1].splitlines()) > 1, (table, form)
