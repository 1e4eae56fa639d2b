"""The page of one runtime."""

from __future__ import annotations

import json
import re

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster
from tests.faces.small_fleet import HOSTILE, MODE, load, model, runtime, service

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, name: str, scope: str = "-", query: str = "") -> str:
    response = client.get(f"/runtimes/lab/{scope}/{name}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def words(text: str) -> str:
    """The text without its markup, in one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("small", "1 service gets it by automatic selection; none names it."),
        ("multi-node", "3 services name it. Automatic selection gives it to none."),
        ("by-name", "1 service names it. Automatic selection never picks it: no entry has autoSelect: true ."),
        ("off", "It is disabled, so no service gets it."),
        ("base-profile", "A profile: other runtimes inherit from it, and no service gets it itself."),
        ("orphan", "Its inheritance is broken. A service that names it is refused"),
        ("unreadable", "It can't be read , by OME or here, so no service gets it."),
        ("qwen", "No service gets it. Automatic selection may pick it;"),
        ("misspelt", "No service gets it. Automatic selection never picks it,"),
    ],
)
def test_it_begins_with_who_gets_it(client: Client, fleet: Cluster, name: str, verdict: str) -> None:
    assert verdict in words(page(client, name))


def test_an_inherited_disabled_is_said(client: Client, db: None) -> None:
    parent = runtime("parent", disabled=True)
    load([parent, runtime("child", annotations={"ome.io/inherit-from": "parent"})])
    assert "It inherits disabled: true : a service that names it is refused" in words(page(client, "child"))


def test_a_namespaced_runtime_has_its_own_page(client: Client, fleet: Cluster) -> None:
    assert "ServingRuntime in team, lab" in page(client, "team-own", "team")


@pytest.mark.parametrize("address", ["lab/-/team-own", "lab/team/small", "other/-/small", "lab/-/smal"])
def test_an_unknown_runtime_is_404_and_names_near_ones(client: Client, fleet: Cluster, address: str) -> None:
    response = client.get(f"/runtimes/{address}/")
    assert response.status_code == 404
    expected = "team-own" if "team-own" in address else "small"
    assert f"/{expected}/" in response.content.decode()


def test_it_lists_the_services_that_get_it(client: Client, fleet: Cluster) -> None:
    text = page(client, "multi-node")
    for name in ("long", "long-raw", "long-native"):
        assert f"/services/lab/apps/{name}/" in text
    response = client.get("/runtimes/lab/-/multi-node/?format=json&q=raw")
    assert isinstance(response, StreamingHttpResponse)
    assert [row["name"] for row in json.loads(response.getvalue())] == ["long-raw"]


def test_it_lists_the_services_that_name_it_and_are_refused(client: Client, fleet: Cluster) -> None:
    text = page(client, "orphan")
    assert "1 service names it and does not get it" in words(text)
    assert "/services/lab/apps/orphaned/" in text


def test_each_entry_says_how_it_is_read(client: Client, db: None) -> None:
    load(
        [
            runtime("plain"),
            runtime("none", entry={"modelFormat": None}),
            runtime("odd", entry={"modelFormat": {"name": "safetensors", "version": "V1"}}),
            runtime("below", entry={"modelFormat": {"name": "onnx", "version": "1.16.0", "operator": "GreaterThan"}}),
            runtime("zero", entry={"modelFormat": {"name": "onnx", "weight": 0}, "modelFramework": None}),
        ]
    )
    assert (
        "Models in safetensors 1.0.0 exactly, of transformers up to 4.51.0, "
        "of architecture LlamaForCausalLM, not quantized." in words(page(client, "plain"))
    )
    assert "(1 + 1) × 1 = 2" in words(page(client, "plain"))
    assert "so it matches no model" in words(page(client, "none"))
    assert "V1 is no version that OME can read, so it matches no model." in words(page(client, "odd"))
    assert "Models in onnx below 1.16.0," in words(page(client, "below"))
    zero = words(page(client, "zero"))
    assert "Models in onnx without a version, without a framework," in zero
    assert "Weight 0 counts as 10." in zero
    assert "10 × 1 = 10" in zero


def test_each_place_of_a_mode_says_whether_it_counts(client: Client, db: None) -> None:
    load(
        [
            runtime(
                "modes",
                annotations={MODE: "OMENative"},
                engineConfig={"annotations": {MODE: "MultiNode"}, "leader": {}, "worker": {}},
                decoderConfig={"annotations": {MODE: "Multinode"}},
                routerConfig={"annotations": {MODE: "MultiNode"}},
            )
        ]
    )
    text = words(page(client, "modes"))
    assert "Compared: a service that asks for another mode for its engine doesn't get this runtime." in text
    assert "No mode: the value doesn't count." in text
    assert "Not compared: a router's mode never is. Can't be reconciled" in text
    assert "The annotation above comes first." in text
    assert "Not read here." in text


def test_on_version_1_2_a_decoders_mode_is_compared_and_runs_nothing(client: Client, db: None) -> None:
    load([runtime("old", decoderConfig={"annotations": {MODE: "MultiNode"}})], ome_version="1.2")
    text = words(page(client, "old"))
    assert "Compared: a service that asks for another mode for its decoder doesn't get this runtime." in text
    assert "OME v1.2 doesn't read it." in text
    assert "OME v1.2 knows no inheritance." in text


def test_an_inherited_mode_counts_only_for_services_that_name_it(client: Client, fleet: Cluster) -> None:
    text = words(page(client, "heir"))
    assert "inherited OMENative Not in automatic selection" in text
    assert "only for a service that names the runtime" in text


def test_it_shows_the_chain_the_children_and_who_set_what(client: Client, fleet: Cluster) -> None:
    heir = page(client, "heir")
    assert "base-profile profile disabled heir Root first;" in words(heir)
    assert "spec.engineConfig" in heir[heir.index("What the merge took from whom") :]
    assert "minReplicas: 2" in heir[heir.index("The merged spec") :]
    assert "1 runtime inherits from it: heir" in words(page(client, "base-profile"))


def test_a_child_is_that_of_the_nearest_namesake(client: Client, db: None) -> None:
    load(
        [
            runtime("base"),
            runtime("base", "team"),
            runtime("mine", "team", annotations={"ome.io/inherit-from": "base"}),
        ]
    )
    assert "1 runtime inherits from it: team/ mine" in words(page(client, "base", "team"))
    assert "nothing inherits from it" in words(page(client, "base"))


def test_the_whole_family_is_drawn_as_a_tree_of_lists(client: Client, db: None) -> None:
    inherit = "ome.io/inherit-from"
    load(
        [
            runtime("root", disabled=True, annotations={"ome.io/runtime-profile": "true"}),
            runtime("left", annotations={inherit: "root"}, disabled=False),
            runtime("right", annotations={inherit: "root"}),
            runtime("leaf", annotations={inherit: "left"}, disabled=False),
            runtime("ring", annotations={inherit: "gnir"}),
            runtime("gnir", annotations={inherit: "ring"}),
        ]
    )
    assert "root profile disabled left leaf right disabled Root first;" in words(page(client, "leaf"))
    assert '<li aria-current="true"><strong class="ref">leaf</strong></li>' in page(client, "leaf")
    assert "gnir InheritanceCycle ring InheritanceCycle" in words(page(client, "ring"))


def test_a_large_family_is_cut_and_counted(client: Client, db: None) -> None:
    heirs = [runtime(f"heir-{number:03}", annotations={"ome.io/inherit-from": "root"}) for number in range(80)]
    load([runtime("root"), *heirs])
    text = words(page(client, "heir-079"))
    assert "And 21 more that inherit from these." in text
    assert "heir-079" in text.partition("Inheritance")[2].partition("And 21 more")[0]


def test_it_says_who_would_lose_it_and_what_they_would_get(client: Client, db: None) -> None:
    load(
        [
            model("m"),
            runtime("first", entry={"priority": 3}),
            runtime("second"),
            runtime("heir", annotations={"ome.io/inherit-from": "first"}, entry={"autoSelect": False}),
            *(service(f"s-{number}", "apps", "m") for number in range(5)),
            service("by-name", "apps", "m", "first"),
            service("by-heir", "apps", "m", "heir"),
        ]
    )
    text = words(page(client, "first")).partition("Were it gone")[2]
    assert "5 : apps/ s-0 , apps/ s-1 , apps/ s-2 and 2 more selected second" in text
    assert "1 : apps/ by-name named No runtime" in text
    assert "1 : apps/ by-heir name a runtime that inherits from it Refused: the chain breaks" in text
    assert "No service would notice" in words(page(client, "second"))


def test_it_says_whom_it_could_win_and_what_it_would_take(client: Client, db: None) -> None:
    load([model("m"), runtime("first", entry={"priority": 3}), runtime("second"), service("s", "apps", "m")])
    second = page(client, "second")
    assert "1 : apps/ s first it scores 6, this one 2 What it would take for s" in words(second)
    assert client.get("/services/lab/apps/s/candidates/-/second/").status_code == 200
    assert 'href="/services/lab/apps/s/candidates/-/second/"' in second
    assert "there is no service for which it qualifies and another goes before it" in words(page(client, "first"))


def test_overlaps_say_who_goes_before_and_where_only_names_decide(client: Client, db: None) -> None:
    load([model("m"), runtime("first"), runtime("second"), service("s", "apps", "m")])
    text = words(page(client, "second")).partition("others that qualify for the same models")[2]
    assert "first 1 1 0 1" in text


def test_an_item_of_two_kinds_is_a_finding(client: Client, db: None) -> None:
    parent = runtime("parent", volumes=[{"name": "shm", "emptyDir": {}}])
    child = runtime(
        "child",
        annotations={"ome.io/inherit-from": "parent"},
        volumes=[{"name": "shm", "hostPath": {"path": "/dev/shm"}}],
    )
    load([parent, child])
    assert "ends with 2 kinds, which Kubernetes refuses: emptyDir from parent, hostPath from child" in words(
        page(client, "child")
    )


def test_it_says_what_the_webhook_would_say(client: Client, db: None) -> None:
    load([runtime("wants", acceleratorRequirements={"acceleratorClasses": ["h100"]}), runtime("fine")])
    text = words(page(client, "wants"))
    assert "OME's webhook would reject it today" in text
    assert "unknown accelerator classes referenced in AcceleratorRequirements: [h100]" in text
    assert "OME's webhook would admit it." in words(page(client, "fine"))


def test_references_are_listed_with_their_remedy(client: Client, fleet: Cluster) -> None:
    text = page(client, "multi-node")
    assert "3 LeaderWorkerSet references" in text
    assert "Write <code>$(OME_LEADER_ADDRESS)</code>." in text
    assert "It needs no copy to run in OMENative." in page(client, "small")


def test_hostile_values_are_escaped(client: Client, db: None) -> None:
    entry = {
        "modelArchitecture": HOSTILE,
        "quantization": HOSTILE,
        "modelFormat": {"name": HOSTILE, "version": HOSTILE},
    }
    load(
        [
            runtime("bad", entry=entry, modelSizeRange={"min": HOSTILE}, engineConfig={"annotations": {MODE: HOSTILE}}),
            runtime("child", annotations={"ome.io/inherit-from": "bad"}),
            model("llama-7b"),
            service("chat", "apps", "llama-7b", "child"),
        ]
    )
    assert HOSTILE not in page(client, "bad")
    assert HOSTILE not in page(client, "child")


def test_the_number_of_queries_is_the_same_for_many_services(
    client: Client, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    users = [service(f"s{number}", "apps", "llama-7b", "small") for number in range(60)]
    load([runtime("small"), model("llama-7b"), *users])
    page(client, "small")
    with django_assert_max_num_queries(15 + 2):  # the discussion: what was said, and what was done
        assert "page 1 of 2" in page(client, "small")


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/runtimes/lab/-/small/").status_code == 302


def test_it_says_whose_rules_judged(client: Client, fleet: Cluster) -> None:
    assert "Judged by OME v1.3 set by hand" in words(page(client, "small"))
