"""The page of the migration from MultiNode."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.rules.migration import STATES
from selection.rules.references import find_references
from selection.store.models import Cluster, ReferenceRow, RuntimeResult
from tests.faces.small_fleet import HOSTILE, MODE, load, runtime

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/migration/{query}")
    assert response.status_code == 200
    return response.content.decode()


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/migration/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def board(text: str) -> dict[str, int]:
    return {
        state: int(number)
        for state, number in re.findall(r'href="\?state=([a-z-]+)[^"]*"[^>]*><span class="count">(\d+)</span>', text)
    }


def test_it_says_how_far_the_fleet_is(client: Client, fleet: Cluster) -> None:
    text = page(client)
    assert "1 of 3 multi-node components is off MultiNode, with something left to do. " in text
    assert "<strong>1 at risk</strong>" in text


def test_thousands_are_set_apart() -> None:
    counts = {"components": 1953, "off": 1740, "done": 1040, "at_risk": 1116, "runtimes_count": 137}
    text = render_to_string("migration/base.html", counts)
    assert "1,740 of 1,953 multi-node components are off MultiNode, 1,040 of them with nothing left to do." in text
    assert "<strong>1,116 at risk</strong>" in text


def test_the_board_counts_every_state_and_leads_to_its_components(client: Client, fleet: Cluster) -> None:
    counts = board(page(client))
    assert list(counts) == list(STATES)
    assert {state: number for state, number in counts.items() if number} == {"at-risk": 1, "not-started": 2}
    for state, number in counts.items():
        assert len(rows(client, f"state={state}")) == number


def test_groups_of_states_are_in_that_order_and_in_words(client: Client, fleet: Cluster) -> None:
    text = page(client, "?group=state")
    assert text.index('scope="rowgroup">At risk') < text.index('scope="rowgroup">Not started')


def test_what_needs_a_person_comes_first(client: Client, fleet: Cluster) -> None:
    assert [row["service"] for row in rows(client)] == ["long-native", "long", "long-raw"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("running=OMENative", {"long-native"}),
        ("q=raw", {"long-raw"}),
        ("runtime=multi-node", {"long", "long-raw", "long-native"}),
        ("component=decoder", set()),
        ("namespace=team", set()),
    ],
)
def test_it_filters(client: Client, fleet: Cluster, query: str, expected: set[str]) -> None:
    assert {row["service"] for row in rows(client, query)} == expected


def test_runtimes_are_listed_with_every_reference_its_path_token_and_remedy(client: Client, fleet: Cluster) -> None:
    text = page(client, "?view=runtimes")
    assert "3 places to change" in text
    assert "spec.engineConfig.leader.runner.command[1]" in text
    assert "$(LWS_LEADER_ADDRESS)" in text
    assert "Write <code>$(OME_LEADER_ADDRESS)</code>." in text
    assert "OME sets its variables in containers only, not in init containers" in text


def test_the_export_of_runtimes_holds_their_references(client: Client, fleet: Cluster) -> None:
    found = {row["runtime"]: row["found"] for row in rows(client, "view=runtimes")}
    assert [each["remedy"] for each in found["multi-node"]] == ["rename", "rework", "rename"]


def test_a_reference_that_is_inherited_says_from_whom(client: Client, db: None) -> None:
    parent = runtime("parent", engineConfig={"runner": {"name": "main", "args": ["$(LWS_GROUP_SIZE)"]}})
    load([parent, runtime("child", annotations={"ome.io/inherit-from": "parent"})])
    text = page(client, "?view=runtimes&q=child")
    assert "/objects/lab/ClusterServingRuntime/-/parent/?mark=spec.engineConfig.runner.args" in text
    assert ">parent</a>" in text


def test_a_runtime_that_only_declares_multi_node_needs_no_copy(client: Client, db: None) -> None:
    load([runtime("plain", engineConfig={"annotations": {MODE: "MultiNode"}})])
    assert "so no copy is needed" in page(client, "?view=runtimes")


def test_every_remedy_that_a_scan_can_find_has_its_words(client: Client, fleet: Cluster) -> None:
    spec = {
        "engineConfig": {
            "annotations": {"leaderworkerset.sigs.k8s.io/size": "2"},
            "runner": {"name": "m", "args": ["$$(LWS_GROUP_SIZE)", "$((LWS_GROUP_SIZE * 8))", "$LWS_NEW"]},
        },
        "routerConfig": {"runner": {"name": "r", "args": ["$(LWS_LEADER_ADDRESS)"]}},
    }
    codes = {found.explanation for found in find_references(spec)}
    assert {"no-counterpart", "escaped", "arithmetic", "unknown-variable", "router"} <= codes
    row = RuntimeResult.objects.get(name="small")
    for number, code in enumerate(sorted(codes)):
        ReferenceRow.objects.create(runtime=row, path=f"p{number}", token="t", remedy="rework", code=code)
    RuntimeResult.objects.filter(pk=row.pk).update(references=len(codes))
    text = page(client, "?view=runtimes&q=small")
    assert text.count('</span> <span class="muted">') >= len(codes)


def test_an_empty_fleet_teaches_what_would_be_listed(client: Client, db: None) -> None:
    load([])
    assert "Nothing to migrate" in page(client)
    assert "No runtime to move" in page(client, "?view=runtimes")


def test_hostile_text_is_escaped(client: Client, fleet: Cluster) -> None:
    ReferenceRow.objects.update(token=HOSTILE, container=HOSTILE, replacement=HOSTILE)
    row = RuntimeResult.objects.get(name="multi-node")
    ReferenceRow.objects.create(runtime=row, path=HOSTILE, token="t", remedy="rename", code=HOSTILE)
    assert HOSTILE not in page(client, "?view=runtimes")


@pytest.mark.parametrize("view", ["components", "runtimes"])
def test_the_number_of_queries_does_not_grow(
    client: Client, fleet: Cluster, view: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        load(name=f"more-{number}")
    with django_assert_max_num_queries(12):
        page(client, f"?view={view}")


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/migration/").status_code == 302
