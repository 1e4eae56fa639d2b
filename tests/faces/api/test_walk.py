"""A client that knows nothing but the OpenAPI document reads whole lists while they change, and misses nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest
from django.core.signing import Signer
from django.db import connection
from django.test import Client

from selection.faces.api import urls
from selection.faces.api.lists import ListView
from tests.faces.api.contract import address_of
from tests.faces.api.written import names, write_about
from tests.faces.history import felt
from tests.faces.small_fleet import Manifest, load, model, runtime, service, small_fleet

pytestmark = pytest.mark.django_db

SERVICES = 2000
NAMESPACES = 20


class Reader:
    """Reads lists by what the document says of them, as a client of somebody else would."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.document = self._get("/api/v1/schema")

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        response = self.client.get(path, query or {}, headers={"Accept": "application/json"})
        assert response.status_code == 200, response.content
        return json.loads(response.content)

    def pages(self, operation: str, **query: Any) -> Iterator[list[dict[str, Any]]]:
        """The pages of a list: the cursor of the next one is in ``next_cursor``, and null at the end."""
        path = next(path for path, methods in self.document["paths"].items() if self._is(methods, operation))
        while True:
            page = self._get(path, query)
            yield page["items"]
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    def _is(self, methods: Mapping[str, Any], operation: str) -> bool:
        return bool(methods.get("get", {}).get("operationId") == operation)


def fleet(numbers: Any, size: str = "7B") -> list[Manifest]:
    """Services of these numbers, and what they need."""
    few = [model("llama", modelParameterSize=size), model("twin"), runtime("small"), runtime("by-name")]
    services = [
        service(f"chat-{number:05}", f"team-{number % NAMESPACES:02}", "twin" if number % 3 else "llama", "by-name")
        if number % 5 == 0
        else service(f"chat-{number:05}", f"team-{number % NAMESPACES:02}", "twin" if number % 3 else "llama")
        for number in numbers
    ]
    return [*few, *services]


@pytest.mark.parametrize("sort", [None, "-name"])
def test_a_walk_while_syncs_come_misses_and_repeats_nothing(client: Client, sort: str | None) -> None:
    numbers = set(range(SERVICES))
    stays = {number for number in numbers if number % 7}
    load(fleet(numbers))
    met: Counter[tuple[str, str]] = Counter()
    query = {"limit": 150, "fields": "namespace,name", **({"sort": sort} if sort else {})}
    for place, page in enumerate(Reader(client).pages("listServices", **query)):
        met.update((row["namespace"], row["name"]) for row in page)
        if place % 3 == 1:
            # Some go, others come, before and behind the place that was reached, and those that stay get other answers.
            numbers = stays | {number for number in range(SERVICES, SERVICES + 300) if number % (place + 2)}
            load(fleet(numbers, size=f"{place + 2}B"))
    assert {name for name, count in met.items() if count > 1} == set()
    staying = {(f"team-{number % NAMESPACES:02}", f"chat-{number:05}") for number in stays}
    assert staying - set(met) == set()


def test_a_walk_through_changes_meets_each_once_while_others_come(client: Client) -> None:
    cluster = load([])
    before = [felt(cluster, f"chat-{number}", "outcome", "named", "no-runtime").pk for number in range(60)]
    met: list[int] = []
    for page in Reader(client).pages("listChanges", limit=7):
        met += [row["id"] for row in page]
        felt(cluster, "newcomer", "outcome", "no-runtime", "named")
    assert met == before[::-1]


def sorts() -> Iterator[tuple[str, str]]:
    """Every list, by every column that it sorts by, both ways."""
    for each in urls.urlpatterns:
        view: Any = getattr(each.callback, "view_class", object)
        if issubclass(view, ListView):
            keys = [column.key for column in view.listing.columns if column.order]
            yield from product([view.operation], ["", *keys, *(f"-{key}" for key in keys)])


@pytest.fixture
def both(request: pytest.FixtureRequest) -> None:
    """Two clusters that hold the same, and things that happened, so that many rows sort alike."""
    for name in ("lab", "twin"):
        cluster = load([*small_fleet()], name=name)
        for number in range(9):
            felt(cluster, f"chat-{number % 4}", ("outcome", "mode")[number % 2], "named", "no-runtime")
        write_about(name, "apps", "chat")


def test_pages_of_every_sort_of_every_list_are_parts_of_one(client: Client, both: None) -> None:
    for operation, sort in sorts():
        name = {"listServicesOfModel": "llama-7b"}.get(operation, "multi-node")
        path = address_of(operation, **names(), cluster="lab", scope="-", name=name)
        query = {"sort": sort} if sort else {}
        whole = json.loads(client.get(path, {**query, "limit": "500"}).content)
        assert whole["next"] is None, operation
        parts: list[Any] = []
        limit = len(whole["items"]) // 3 + 1
        following: str | None = f"{path}?limit={limit}" + (f"&sort={sort}" if sort else "")
        while following:
            page = json.loads(client.get(following).content)
            parts += page["items"]
            following = page["next"]
        assert parts == whole["items"], (operation, sort)
        assert len(parts) > 1 or operation in {"listServicesOfRuntime"}, operation


def test_a_cursor_is_of_one_list_sort_and_filter(client: Client, both: None) -> None:
    asked = {"limit": "2", "namespace": "apps"}
    cursor = json.loads(client.get("/api/v1/services", asked).content)["next_cursor"]
    for query in (asked, {"limit": "9", "namespace": "apps", "fields": "name"}):
        assert client.get("/api/v1/services", {**query, "cursor": cursor}).status_code == 200
    for path, query in (
        ("/api/v1/services", {}),
        ("/api/v1/services", {"namespace": "team"}),
        ("/api/v1/services", {"namespace": "apps", "sort": "name"}),
        ("/api/v1/runtimes", {"namespace": "apps"}),
    ):
        response = client.get(path, {**query, "cursor": cursor})
        assert response.status_code == 400, path
        assert json.loads(response.content)["code"] == "bad-cursor"


@pytest.mark.parametrize("value", [{"k": ["a"], "of": "x"}, {"k": 1}, [], None, "text", {"of": "x"}])
def test_a_cursor_that_is_signed_and_says_nothing_is_refused(client: Client, value: Any) -> None:
    forged = Signer(salt="selection.faces.api.cursors").sign_object(value)
    response = client.get("/api/v1/services", {"cursor": forged})
    assert response.status_code == 400
    assert json.loads(response.content)["code"] == "bad-cursor"


def test_a_cursor_of_another_key_is_refused(client: Client) -> None:
    forged = Signer(key="another", salt="selection.faces.api.cursors").sign_object({"k": ["a"], "of": "x"})
    assert client.get("/api/v1/services", {"cursor": forged}).status_code == 400


def test_a_list_is_read_by_one_query_so_that_no_row_slips_between_two(client: Client, both: None) -> None:
    seen: list[str] = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        client.get("/api/v1/services?limit=2")
    assert sum('FROM "store_serviceresult"' in sql for sql in seen) == 1, seen
