"""The API server that other tests stand on does what they rely on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apiserver.crds import KINDS
from tests.apiserver.server import ApiError, ApiServer

pytestmark = pytest.mark.apiserver

OME = "ome.io/v1beta1"
Manifest = dict[str, Any]


@pytest.fixture
def runtime(apiserver: ApiServer) -> Iterator[Manifest]:
    manifest = {
        "apiVersion": OME,
        "kind": "ServingRuntime",
        "metadata": {"name": "vllm", "namespace": "of-the-server"},
        "spec": {"supportedModelFormats": [{"name": "x", "modelFormat": {"name": "safetensors"}}], "unheard": 1},
    }
    apiserver.apply(manifest)
    yield manifest
    apiserver.delete(manifest)


def test_it_answers_readyz(apiserver: ApiServer) -> None:
    apiserver.request("GET", "/readyz")


def test_it_writes_the_defaults_of_formats(apiserver: ApiServer, runtime: Manifest) -> None:
    (entry,) = apiserver.get(runtime)["spec"]["supportedModelFormats"]
    assert entry["modelFormat"] == {"name": "safetensors", "weight": 1, "operator": "Equal"}
    assert "modelFramework" not in entry


def test_it_writes_the_defaults_of_references(apiserver: ApiServer) -> None:
    service = {
        "apiVersion": OME,
        "kind": "InferenceService",
        "metadata": {"name": "chat", "namespace": "of-the-server"},
        "spec": {"model": {"name": "llama"}, "runtime": {"name": "vllm"}},
    }
    stored = apiserver.apply(service)
    assert stored["spec"]["model"] == {"name": "llama", "kind": "ClusterBaseModel", "apiGroup": "ome.io"}
    assert stored["spec"]["runtime"]["kind"] == "ClusterServingRuntime"
    apiserver.delete(service)


def test_it_stores_a_status_too(apiserver: ApiServer) -> None:
    model = {
        "apiVersion": OME,
        "kind": "ClusterBaseModel",
        "metadata": {"name": "of-the-server"},
        "spec": {},
        "status": {"state": "Ready"},
    }
    assert apiserver.apply(model)["status"] == {"state": "Ready"}
    assert apiserver.apply({**model, "status": {"state": "Failed"}})["status"] == {"state": "Failed"}
    apiserver.delete(model)


def test_it_keeps_fields_it_does_not_know(apiserver: ApiServer, runtime: Manifest) -> None:
    assert apiserver.get(runtime)["spec"]["unheard"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_it_serves(apiserver: ApiServer, kind: str) -> None:
    assert apiserver.request("GET", KINDS[kind].path())["kind"] == f"{kind}List"


def test_a_user_without_a_role_may_not_list(apiserver: ApiServer) -> None:
    with pytest.raises(ApiError) as refused:
        apiserver.request("GET", KINDS["ServingRuntime"].path(), token=apiserver.tokens["restricted"])
    assert refused.value.status == 403


def test_a_wrong_token_is_not_accepted(apiserver: ApiServer) -> None:
    with pytest.raises(ApiError) as refused:
        apiserver.request("GET", KINDS["ServingRuntime"].path(), token="wrong")
    assert refused.value.status == 401


def test_a_kubeconfig_names_its_context_and_user(apiserver: ApiServer) -> None:
    path = apiserver.kubeconfig(token="of-somebody", name="east", namespace="ml")
    config = json.loads(path.read_text())
    assert config["current-context"] == "east"
    assert config["users"][0]["user"] == {"token": "of-somebody"}
    assert config["contexts"][0]["context"]["namespace"] == "ml"


def test_it_comes_back_with_its_objects_after_an_outage(apiserver: ApiServer, runtime: Manifest) -> None:
    before = apiserver.get(runtime)["metadata"]["uid"]
    apiserver.stop()
    try:
        with pytest.raises(OSError, match="refused"):
            apiserver.request("GET", "/readyz")
    finally:
        apiserver.start()
    assert apiserver.get(runtime)["metadata"]["uid"] == before


def test_a_resource_version_from_before_a_compaction_is_gone(apiserver: ApiServer, runtime: Manifest) -> None:
    path = KINDS["ServingRuntime"].path("of-the-server")
    old = apiserver.get(runtime)["metadata"]["resourceVersion"]
    apiserver.apply({**runtime, "metadata": {"name": "later", "namespace": "of-the-server"}})
    apiserver.delete({**runtime, "metadata": {"name": "later", "namespace": "of-the-server"}})
    apiserver.compact()
    with pytest.raises(ApiError) as gone:
        apiserver.request("GET", f"{path}?limit=1&resourceVersion={old}&resourceVersionMatch=Exact")
    assert gone.value.status == 410


def test_a_continue_token_from_before_a_compaction_is_gone(apiserver: ApiServer, runtime: Manifest) -> None:
    second = {**runtime, "metadata": {"name": "second", "namespace": "of-the-server"}}
    apiserver.apply(second)
    path = KINDS["ServingRuntime"].path("of-the-server")
    token = apiserver.request("GET", f"{path}?limit=1")["metadata"]["continue"]
    apiserver.delete(second)
    apiserver.compact()
    with pytest.raises(ApiError) as gone:
        apiserver.request("GET", f"{path}?limit=1&continue={token}")
    assert gone.value.status == 410


def test_a_watch_from_before_an_outage_is_told_to_list_again(apiserver: ApiServer, runtime: Manifest) -> None:
    old = apiserver.get(runtime)["metadata"]["resourceVersion"]
    apiserver.apply({**runtime, "spec": {}})
    apiserver.stop()
    apiserver.start()
    path = KINDS["ServingRuntime"].path("of-the-server")
    event = apiserver.request("GET", f"{path}?watch=1&timeoutSeconds=2&resourceVersion={old}")
    assert event["type"] == "ERROR"
    assert event["object"]["code"] == 410
