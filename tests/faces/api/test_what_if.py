"""``POST /api/v1/what-if``: the answer, its parts, and every way to be refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client

from selection.faces.supposing import MOST_DELETIONS
from selection.store import what_if
from selection.store.models import Cluster, StoredObject
from selection.store.sight import Place, Sight
from tests.cluster.hostile import HOSTILE
from tests.faces.small_fleet import load, model, runtime, service

from .test_problems import problem

pytestmark = pytest.mark.django_db

URL = "/api/v1/what-if"
TALK = """apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: talk, namespace: ml}
spec: {model: {name: llama}, engine: {}}
"""


@pytest.fixture
def cluster() -> Cluster:
    """A model, a runtime and a service."""
    return load([model("llama"), runtime("fast"), service("chat", "ml", "llama")], "prod")


def post(client: Client, body: Any, query: str = "") -> HttpResponseBase:
    data = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return client.post(f"{URL}{query}", data, content_type="application/json")


def answered(client: Client, body: Any, query: str = "") -> Any:
    response = post(client, body, query)
    assert response.status_code == 200, getattr(response, "content", b"")
    return json.loads(getattr(response, "content", b""))


def test_it_says_what_would_be(client: Client, cluster: Cluster) -> None:
    gone = [{"kind": "ClusterServingRuntime", "name": "fast"}]
    told = answered(client, {"cluster": "prod", "manifests": TALK, "delete": gone})
    assert (told["cluster"], told["ome_version"], told["worse"]) == ("prod", "1.3", True)
    assert (told["services_before"], told["services_after"], told["services_changed"]) == (1, 2, 2)
    assert {row["service"]["name"]: row["changes"][0]["code"] for row in told["services"]} == {
        "chat": "loses-runtime",
        "talk": "refused-now",
    }
    talk, fast = told["objects"]
    assert (talk["act"], fast["act"]) == ("added", "deleted")
    assert talk["explanation"]["outcome"] == "no-runtime"
    assert fast["effects"][0] == {"code": "loses-runtime", "tendency": "worse", "count": 1}


def test_objects_and_text_are_taken_alike(client: Client, cluster: Cluster) -> None:
    value = service("talk", "ml", "llama")
    one = answered(client, {"cluster": "prod", "manifests": [value]})
    other = answered(client, {"cluster": "prod", "manifests": json.dumps(value)})
    assert one == other
    assert one["services"][0]["changes"][0]["code"] == "added"


def test_without_a_cluster_it_is_on_nothing_by_the_release_asked_for(client: Client) -> None:
    told = answered(client, {"ome_version": "1.2", "manifests": TALK})
    assert (told["cluster"], told["ome_version"], told["services_before"]) == (None, "1.2", 0)


def test_nothing_given_is_nothing_told(client: Client, cluster: Cluster) -> None:
    told = answered(client, {"cluster": "prod"})
    assert (told["objects"], told["services"], told["told"], told["worse"]) == ([], [], [], False)


def test_what_should_be_known_is_told(client: Client, cluster: Cluster) -> None:
    text = TALK.replace(", namespace: ml", "") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    told = answered(client, {"cluster": "prod", "manifests": text, "delete": [{"kind": "BaseModel", "name": "a"}]})
    assert [(each["code"], each["names"]) for each in told["told"]] == [
        ("ignored", ["1 ConfigMap"]),
        ("default-namespace", ["InferenceService default/talk"]),
        ("default-namespace", ["BaseModel default/a"]),
        ("not-there", ["BaseModel default/a"]),
    ]


def test_services_come_in_parts(client: Client) -> None:
    load([model("llama"), runtime("fast"), *(service(f"chat-{n}", "ml", "llama") for n in range(5))], "prod")
    body = {"cluster": "prod", "delete": [{"kind": "ClusterServingRuntime", "name": "fast"}]}
    names = []
    for offset in (0, 2, 4):
        told = answered(client, body, f"?limit=2&offset={offset}")
        assert told["services_changed"] == 5
        names += [row["service"]["name"] for row in told["services"]]
    assert names == [f"chat-{n}" for n in range(5)]


def test_as_many_are_explained_as_asked_for(client: Client, cluster: Cluster) -> None:
    body = {"cluster": "prod", "manifests": f"{TALK}---\n{TALK.replace('talk', 'said')}"}
    told = answered(client, body, "?explain=1")["objects"]
    assert [each["explanation"] is not None for each in told] == [True, False]
    assert all(each["admission"]["allowed"] for each in told)


def test_nothing_is_stored(client: Client, cluster: Cluster) -> None:
    before = (StoredObject.objects.count(), Cluster.objects.get().generation)
    answered(client, {"cluster": "prod", "manifests": TALK})
    assert (StoredObject.objects.count(), Cluster.objects.get().generation) == before


def test_no_secret_comes_back_or_is_logged(client: Client, cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    secret = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    env = [{"name": "HF_TOKEN", "value": secret}]
    value = service("talk", "ml", "llama", engine={"runner": {"name": "x", "image": "y", "env": env}})
    twice = {"cluster": "prod", "manifests": [value, value]}
    for body in ({"cluster": "prod", "manifests": [value]}, twice, {"cluster": "prod", "manifests": f"{secret}: ["}):
        response = post(client, body)
        assert secret not in getattr(response, "content", b"").decode()
    assert secret not in caplog.text


# --- refused ------------------------------------------------------------------------------------------------


def test_each_place_that_is_wrong_is_named(client: Client, cluster: Cluster) -> None:
    body = {
        "cluster": "prod",
        "manifests": f"{TALK}---\n{TALK}---\n- 1\n",
        "delete": [{"kind": "BaseModel", "name": "a"}, {"kind": "ConfigMap", "name": "a"}],
    }
    found = problem(post(client, body), 422)
    assert found["code"] == "refused"
    assert [(each["pointer"], each["code"], each["detail"]) for each in found["errors"]] == [
        (
            "/manifests",
            "twice",
            "document 2, line 6: InferenceService ml/talk is given twice, first in document 1, line 1",
        ),
        ("/manifests", "object", "document 3, line 11: not an object but a list"),
        ("/delete/1", "delete", "to delete: 'ConfigMap' is no kind that is read"),
    ]


def test_an_object_of_a_list_is_named_by_its_place(client: Client) -> None:
    found = problem(post(client, {"manifests": [service("talk", "ml", "llama"), 7]}), 422)
    assert [each["pointer"] for each in found["errors"]] == ["/manifests/1"]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ("{", 400, "isn't|can't be used"),
        ("[]", 400, "body"),
        ('{"a": 1}', 400, "There is no such field here."),
        ({"manifests": 7}, 400, "It is neither a text nor a list of objects."),
        ({"manifests": None}, 400, "null"),
        ({"ome_version": "9.9"}, 400, "9.9"),
        ({"delete": [{"name": "a"}]}, 400, "/delete/0/kind"),
        ({"cluster": "nowhere"}, 404, "There is no cluster nowhere."),
        ({"cluster": "prod", "ome_version": "1.2"}, 400, "A cluster is judged by its own release."),
        ('{"cluster": "prod", "cluster": "lab"}', 400, 'the key "cluster" is given twice'),
        ({"delete": [{"kind": "BaseModel", "name": f"a{n}"} for n in range(MOST_DELETIONS + 1)]}, 422, "more than"),
    ],
)
def test_a_body_that_isnt_right_is_refused_in_words(
    client: Client, cluster: Cluster, body: Any, status: int, told: str
) -> None:
    response = post(client, body)
    found = json.dumps(problem(response, status))
    assert any(each in found.replace('\\"', '"') for each in told.split("|"))


@pytest.mark.parametrize("query", ["?limit=0", "?limit=x", "?offset=-1", "?explain=101", "?nothing=1"])
def test_a_parameter_that_cant_be_read_is_refused(client: Client, query: str) -> None:
    problem(post(client, {}, query), 400)


def test_only_posting_asks(client: Client) -> None:
    assert problem(client.get(URL), 405)["code"] == "method-not-allowed"
    response = client.post(URL, "a: b", content_type="application/yaml")
    problem(response, 415)


def test_more_bytes_than_the_settings_say_are_too_large(client: Client, settings: Any) -> None:
    settings.WHAT_IF_BYTES = 1_000
    found = problem(post(client, {"manifests": "#" * 1_001}), 413)
    assert found["detail"] == "The body has more than 1,000 bytes."


def test_a_namespace_that_isnt_seen_is_refused_by_name(
    client: Client, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = Sight((Place(cluster.pk, "prod", frozenset({"ml"})),))
    monkeypatch.setattr(what_if, "current_sight", lambda: some)
    body = {"cluster": "prod", "manifests": TALK.replace("namespace: ml", "namespace: hr")}
    found = problem(post(client, body), 422)
    assert found["errors"][0]["detail"] == "document 1, line 1: you don't see the namespace hr of this cluster"


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_gets_a_4xx(client: Client, name: str) -> None:
    data = HOSTILE[name]()
    text = data if isinstance(data, str) else data.decode("latin-1")
    found = post(client, {"manifests": text.encode("utf-8", "replace").decode()})
    assert 400 <= found.status_code < 500


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_bodies_get_a_4xx(client: Client, name: str) -> None:
    data = HOSTILE[name]()
    body = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    assert 400 <= post(client, body).status_code < 500


def test_a_cycle_of_hundreds_is_refused_by_the_webhook_and_judged_in_time(client: Client, cluster: Cluster) -> None:
    ring = [
        runtime(f"r{number}", annotations={"ome.io/inherit-from": f"r{(number + 1) % 400}"}, disabled=True)
        for number in range(400)
    ]
    started = time.process_time()
    told = answered(client, {"cluster": "prod", "manifests": ring})
    assert time.process_time() - started < 5
    assert not any(each["admission"]["allowed"] for each in told["objects"])
    assert told["services"] == []
