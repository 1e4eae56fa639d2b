"""The one list mechanism, tried on the list of runtimes."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from selection.faces.lists import PAGE_SIZE
from selection.store.models import Cluster, RuntimeResult

pytestmark = pytest.mark.django_db

MANY = PAGE_SIZE * 2 + 5


@pytest.fixture
def lab() -> Cluster:
    return Cluster.objects.create(name="lab")


@pytest.fixture
def many(lab: Cluster) -> Cluster:
    """More runtimes than two pages hold, in three namespaces."""
    RuntimeResult.objects.bulk_create(
        RuntimeResult(
            cluster=lab,
            kind="ServingRuntime",
            namespace=f"team-{number % 3}",
            name=f"runtime-{number:03}",
            formats="onnx" if number % 2 else "onnx, safetensors",
            references=number % 5,
        )
        for number in range(MANY)
    )
    return lab


def body(response: Any) -> str:
    text: bytes = response.getvalue() if isinstance(response, StreamingHttpResponse) else response.content
    return text.decode()


def exported(client: Client, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(body(client.get(f"/runtimes/?{query}&format=json")))
    return found


def test_it_shows_one_page_and_says_how_many_there_are(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/"))
    assert f"{MANY} runtimes, page 1 of 3" in text
    assert text.count('class="ref"') >= PAGE_SIZE
    assert "runtime-049" in text
    assert "runtime-050" not in text


def test_it_shows_the_last_page_when_there_are_not_so_many(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?page=99"))
    assert "page 3 of 3" in text
    assert f"runtime-{MANY - 1:03}" in text


@pytest.mark.parametrize("page", ["", "0", "-1", "x", "1e3"])
def test_it_survives_a_page_that_is_no_number(client: Client, many: Cluster, page: str) -> None:
    assert client.get("/runtimes/", {"page": page}).status_code == 200


def test_pages_do_not_share_a_row_when_many_sort_alike(client: Client, many: Cluster) -> None:
    seen: list[str] = []
    for page in (1, 2, 3):
        text = body(client.get(f"/runtimes/?sort=references&page={page}"))
        seen += [name for number in range(MANY) if (name := f"runtime-{number:03}") in text]
    assert len(seen) == len(set(seen)) == MANY


def test_it_sorts_by_columns_that_it_knows_and_both_ways(client: Client, many: Cluster) -> None:
    rising = [row["references"] for row in exported(client, "sort=references")]
    falling = [row["references"] for row in exported(client, "sort=-references")]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    text = body(client.get("/runtimes/?sort=-references"))
    assert 'aria-sort="descending"' in text


@pytest.mark.parametrize("sort", ["problem", "cluster__pk", "-password", "?", "cluster__objects_read__manifest"])
def test_it_sorts_by_nothing_else(client: Client, many: Cluster, sort: str) -> None:
    names = [row["name"] for row in exported(client, f"sort={sort}")]
    assert names == sorted(names)


def test_it_filters_and_keeps_everything_in_the_url(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?namespace=team-1&sort=-name"))
    assert f"35 of {MANY} runtimes" in text
    assert "?namespace=team-1&amp;sort=name" in text
    assert "Namespace: team-1" in text


def test_it_searches_for_every_word_in_any_field(client: Client, many: Cluster) -> None:
    assert [row["name"] for row in exported(client, "q=runtime-00+TEAM-2")] == [
        "runtime-002",
        "runtime-005",
        "runtime-008",
    ]


@pytest.mark.parametrize("address", ["/runtimes/?q=", "/runtimes/?namespace=", "/runtimes/?model_format="])
@pytest.mark.parametrize("text", ["a" * 60_000, "a+b+" * 1500])
def test_a_text_that_is_longer_than_a_database_takes_is_said(
    client: Client, many: Cluster, address: str, text: str
) -> None:
    response = client.get(f"{address}{text}")
    assert response.status_code == 200
    assert "Ensure this value has at most 600 characters" in body(response)


def test_words_that_are_many_are_searched_for_at_once(client: Client, many: Cluster) -> None:
    assert len(exported(client, f"q={'run+' * 140}001")) == 1


def test_it_takes_wildcards_literally(client: Client, many: Cluster) -> None:
    assert exported(client, "q=%25") == []
    assert exported(client, "q=runtime_00") == []


def test_it_finds_one_of_several_values_in_a_field(client: Client, many: Cluster) -> None:
    found = exported(client, "model_format=safetensors")
    assert len(found) == (MANY + 1) // 2
    assert len(exported(client, "model_format=onnx")) == MANY
    assert exported(client, "model_format=safe") == []


def test_an_unknown_name_has_no_rows_and_says_how_many_there_would_be(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?namespace=nope"))
    assert "No runtime matches" in text
    assert f"There are {MANY} without these filters" in text


def test_a_choice_that_does_not_exist_is_said_and_shows_nothing_instead_of_everything(
    client: Client, many: Cluster
) -> None:
    response = client.get("/runtimes/?disabled=perhaps")
    assert response.status_code == 200
    text = body(response)
    assert "Select a valid choice. perhaps is not one of the available choices." in text
    assert "runtime-001" not in text


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_with_a_filter_that_cannot_be_read_is_refused(client: Client, many: Cluster, form: str) -> None:
    response = client.get(f"/runtimes/?disabled=perhaps&format={form}")
    assert response.status_code == 400
    assert list(json.loads(body(response))["errors"]) == ["disabled"]


def test_csv_holds_every_filtered_row_and_its_header(client: Client, many: Cluster) -> None:
    response = client.get("/runtimes/?namespace=team-0&format=csv&page=2")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="runtimes.csv"'
    rows = list(csv.DictReader(io.StringIO(body(response))))
    assert len(rows) == 35
    assert rows[0]["name"] == "runtime-000"
    assert rows[0]["auto_select"] == "false"


def test_csv_cells_can_not_be_taken_for_formulas(client: Client, lab: Cluster) -> None:
    for number, name in enumerate(("=1+1", "+1", "-1", "@a", "\tx")):
        RuntimeResult.objects.create(cluster=lab, kind="ServingRuntime", namespace=f"n{number}", name=name)
    rows = list(csv.DictReader(io.StringIO(body(client.get("/runtimes/?format=csv")))))
    assert {row["name"] for row in rows} == {"'=1+1", "'+1", "'-1", "'@a", "'\tx"}


def test_json_of_nothing_is_an_empty_list(client: Client, db: None) -> None:
    assert exported(client, "q=x") == []


def test_an_export_takes_one_query_however_many_rows_there_are(client: Client, many: Cluster) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(exported(client, "sort=name")) == MANY
    assert len(queries) == 1


def test_groups_have_their_size_and_go_on_over_pages(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?group=scope&page=2"))
    assert "team-1" in text
    assert "35 runtimes, continued" in text


def test_a_group_that_begins_on_a_page_is_not_continued(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?group=scope"))
    assert "continued" not in text
    assert text.count('scope="rowgroup"') == 2


def test_htmx_gets_the_list_alone_with_its_count_and_a_clean_url(client: Client, many: Cluster) -> None:
    response = client.get(
        "/runtimes/?q=&namespace=team-1&sort=&disabled=",
        headers={"HX-Request": "true", "HX-Target": "list-runtimes"},
    )
    text = body(response)
    assert "<html" not in text
    assert text.lstrip().startswith('<section id="list-runtimes"')
    assert f'<div id="announce" hx-swap-oob="innerHTML">35 of {MANY} runtimes</div>' in text
    assert response.headers["HX-Push-Url"] == "/runtimes/?namespace=team-1"


def test_a_browser_that_restores_a_page_gets_the_whole_page(client: Client, many: Cluster) -> None:
    response = client.get("/runtimes/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in body(response)
    assert {"HX-Request", "HX-Target"} <= set(response.headers["Vary"].split(", "))


def test_it_needs_no_more_queries_for_more_rows(client: Client, lab: Cluster) -> None:
    RuntimeResult.objects.create(cluster=lab, kind="ServingRuntime", namespace="a", name="one")
    with CaptureQueriesContext(connection) as few:
        client.get("/runtimes/?q=o&group=scope")
    RuntimeResult.objects.bulk_create(
        RuntimeResult(cluster=lab, kind="ServingRuntime", namespace="b", name=f"more-{number}") for number in range(80)
    )
    with CaptureQueriesContext(connection) as many:
        client.get("/runtimes/?q=o&group=scope")
    assert len(many) <= len(few)


def test_the_form_carries_along_how_the_list_is_shown(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?group=scope&sort=-name&page=2&q=run"))
    assert '<input type="hidden" name="group" value="scope" form="list-runtimes-form">' in text
    assert '<input type="hidden" name="sort" value="-name" form="list-runtimes-form">' in text
    assert '<input type="hidden" name="page"' not in text


def test_what_the_url_says_is_escaped(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/", {"q": '"><script>', "namespace": "<b>", "x": "<i>"}))
    assert "<script>" not in text.replace("<script src=", "")
    assert "<b>" not in text
    assert "<i>" not in text


def test_only_get_is_answered(client: Client, many: Cluster) -> None:
    assert client.post("/runtimes/").status_code == 405


def test_the_link_to_copy_holds_the_whole_view(client: Client, many: Cluster) -> None:
    text = body(client.get("/runtimes/?q=o&sort=-name&group=scope&format="))

    assert 'data-copy-link="/runtimes/?q=o&amp;sort=-name&amp;group=scope"' in text
