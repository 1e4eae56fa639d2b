"""Lists from a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest

from selection.cluster.config import Connection, from_kubeconfig
from selection.cluster.errors import ConfigurationError, Unauthorized
from selection.cluster.kinds import (
    ACCELERATOR_CLASS,
    BASE_MODEL,
    CLUSTER_BASE_MODEL,
    CLUSTER_SERVING_RUNTIME,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    INFERENCE_REPLICA,
    INFERENCE_SERVICE,
    KINDS,
    LEADER_WORKER_SET,
    SERVING_RUNTIME,
    Kind,
    KindListing,
)
from selection.cluster.listing import Page, read_cluster, read_kind
from selection.cluster.transport import server_version
from tests.apiserver.build import KUBERNETES
from tests.apiserver.server import ApiServer
from tests.cluster.fakes import FakeClock
from tests.cluster.kubeconfigs import encoded

pytestmark = [pytest.mark.apiserver, pytest.mark.usefixtures("bare_environment")]

Manifest = dict[str, Any]
NAMESPACE = "of-real-lists"


def manifest(kind: Kind, name: str, *, namespace: str = NAMESPACE, **more: Any) -> Manifest:
    metadata: Manifest = {"name": name} | ({"namespace": namespace} if kind.namespaced else {})
    metadata |= more.pop("metadata", {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}


def deployment(name: str, labels: dict[str, str], namespace: str = NAMESPACE) -> Manifest:
    pods = {"app": name}
    template = {"metadata": {"labels": pods}, "spec": {"containers": [{"name": "main", "image": "ome:v1.2.2"}]}}
    spec = {"selector": {"matchLabels": pods}, "template": template}
    return manifest(DEPLOYMENT, name, namespace=namespace, metadata={"labels": labels}, spec=spec)


LABELS = {"ome.io/inferenceservice": "chat", "component": "engine", "serving-runtime": "vllm"}
FLEET = [
    manifest(ACCELERATOR_CLASS, "nvidia-h100", spec={}),
    manifest(CLUSTER_BASE_MODEL, "llama", spec={"modelFormat": {"name": "safetensors"}}),
    manifest(BASE_MODEL, "tuned", spec={}),
    manifest(CLUSTER_SERVING_RUNTIME, "vllm", spec={}),
    manifest(SERVING_RUNTIME, "vllm", spec={}),
    manifest(INFERENCE_SERVICE, "chat", spec={"model": {"name": "llama"}}, metadata={"annotations": {"a": "b"}}),
    manifest(INFERENCE_REPLICA, "chat-engine", spec={}),
    manifest(LEADER_WORKER_SET, "lws-chat-engine", metadata={"labels": LABELS}, spec={}),
    manifest(LEADER_WORKER_SET, "training", spec={}),
    deployment("chat-router", LABELS),
    deployment("web", {"app": "web"}),
    deployment("ome-controller-manager", {}, namespace="ome"),
    manifest(CONTROLLER_REVISION, "cr-vllm-0a1b2c3d", namespace="ome", revision=1, data={"spec": {}}),
    manifest(CONTROLLER_REVISION, "ome-model-agent-7d9c8b6f5", namespace="ome", revision=1, data={}),
    manifest(CONTROLLER_REVISION, "cr-vllm-00000000", revision=1, data={}),
]
NOT_WANTED = {"training", "web", "ome-model-agent-7d9c8b6f5", "cr-vllm-00000000"}


@pytest.fixture
def connection(apiserver: ApiServer) -> Iterator[Connection]:
    with from_kubeconfig(apiserver.kubeconfig()) as connection:
        yield connection


@pytest.fixture
def fleet(apiserver: ApiServer) -> Iterator[list[Manifest]]:
    for each in FLEET:
        apiserver.apply(each)
    yield FLEET
    for each in FLEET:
        apiserver.delete(each)


@pytest.fixture
def models(apiserver: ApiServer) -> Iterator[list[str]]:
    """Eight models in a namespace."""
    names = [f"model-{number}" for number in range(8)]
    for name in names:
        apiserver.apply(manifest(BASE_MODEL, name, spec={}))
    yield names
    apiserver.request("DELETE", BASE_MODEL.path(NAMESPACE))


def ours(listing: KindListing) -> set[str]:
    """The names in a listing, of the namespaces that this module uses."""
    assert listing.outcome == "complete", listing.reason
    found = [each["metadata"] for each in listing.objects or []]
    return {each["name"] for each in found if each.get("namespace", NAMESPACE) in {NAMESPACE, "ome"}}


def create(connection: Connection, body: Manifest) -> None:
    """Create a cluster-scoped object over a connection that stays open: there are many."""
    client = connection.client
    request = client.param_serialize("POST", ACCELERATOR_CLASS.path(), body=body, auth_settings=["BearerToken"])
    method, url, headers, data, _ = request
    answer = client.call_api(method, url, {**headers, "Content-Type": "application/json"}, data)
    assert answer.status == 201, answer.response.data
    answer.response.drain_conn()


def test_it_knows_the_version(connection: Connection) -> None:
    assert server_version(connection) == KUBERNETES


def test_a_small_fleet_is_read_as_it_stands(connection: Connection, fleet: list[Manifest]) -> None:
    listings = {listing.kind: listing for listing in read_cluster(connection)}
    assert tuple(listings) == KINDS
    for kind, listing in listings.items():
        expected = {each["metadata"]["name"] for each in fleet if each["kind"] == kind.kind} - NOT_WANTED
        assert expected <= ours(listing)
        assert not NOT_WANTED & ours(listing)
        assert listing.resource_version
        for each in listing.objects or []:
            assert (each["apiVersion"], each["kind"]) == (kind.api_version, kind.kind)
            assert each["metadata"]["uid"]
            assert "managedFields" not in each["metadata"]
    [chat] = [each for each in listings[INFERENCE_SERVICE].objects or [] if each["metadata"]["name"] == "chat"]
    assert chat["metadata"]["annotations"] == {"a": "b"}
    assert chat["spec"]["model"]["kind"] == "ClusterBaseModel", "the API server's defaults are in it"


def test_1200_objects_come_in_pages(apiserver: ApiServer, connection: Connection) -> None:
    for number in range(1200):
        create(connection, manifest(ACCELERATOR_CLASS, f"class-{number:04}", spec={"text": "x" * 200}))
    seen: list[Page] = []
    try:
        listing = read_kind(connection, ACCELERATOR_CLASS, on_page=seen.append)
    finally:
        apiserver.request("DELETE", ACCELERATOR_CLASS.path())
    found = [each["metadata"]["name"] for each in listing.objects or []]
    assert [name for name in found if name.startswith("class-")] == [f"class-{number:04}" for number in range(1200)]
    assert len(found) == len(set(found))
    assert listing.pages == len(seen) == -(-len(found) // 500)
    assert [(each.objects, each.remaining) for each in seen[:2]] == [(500, len(found) - 500), (1000, len(found) - 1000)]


def test_a_user_sees_what_is_allowed_and_is_told_what_is_not(apiserver: ApiServer, fleet: list[Manifest]) -> None:
    rules = [
        {"apiGroups": ["ome.io"], "resources": [kind.plural], "verbs": ["list"]}
        for kind in KINDS
        if kind.group == "ome.io" and kind is not INFERENCE_REPLICA
    ]
    rules.append({"apiGroups": ["apps", "leaderworkerset.x-k8s.io"], "resources": ["*"], "verbs": ["list"]})
    rbac = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": NAMESPACE}, "rules": rules}
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAMESPACE},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": NAMESPACE},
        "subjects": [{"apiGroup": rbac, "kind": "User", "name": "restricted"}],
    }
    apiserver.apply(role)
    apiserver.apply(binding)
    try:
        with from_kubeconfig(apiserver.kubeconfig(token=apiserver.tokens["restricted"])) as connection:
            listings = {listing.kind: listing for listing in read_cluster(connection)}
    finally:
        apiserver.delete(binding)
        apiserver.delete(role)
    refused = listings.pop(INFERENCE_REPLICA)
    assert (refused.outcome, refused.objects) == ("forbidden", None)
    assert refused.reason is not None
    assert refused.reason.startswith(
        'inferencereplicas.ome.io is forbidden: User "restricted" cannot list resource "inferencereplicas"'
    )
    assert {listing.outcome for listing in listings.values()} == {"complete"}
    assert "chat" in ours(listings[INFERENCE_SERVICE])


def test_an_object_that_is_made_again_is_another_one(apiserver: ApiServer, connection: Connection) -> None:
    model = manifest(BASE_MODEL, "again", spec={})
    uids = []
    for _ in range(2):
        apiserver.apply(model)
        objects = read_kind(connection, BASE_MODEL).objects or []
        uids += [each["metadata"]["uid"] for each in objects if each["metadata"]["name"] == "again"]
        apiserver.delete(model)
    assert len(set(uids)) == 2
    assert "again" not in ours(read_kind(connection, BASE_MODEL))


def test_an_outage_in_the_middle_of_a_list_leaves_nothing_and_is_over_with_it(
    apiserver: ApiServer, connection: Connection, models: list[str]
) -> None:
    def stop_after_the_first(page: Page) -> None:
        if page.pages == 1:
            apiserver.stop()

    clock = FakeClock()
    try:
        listing = read_kind(connection, BASE_MODEL, page_size=3, on_page=stop_after_the_first, retry=clock.retry)
        assert (listing.outcome, listing.objects, listing.resource_version) == ("failed", None, None)
        assert listing.reason == f"{apiserver.url}: connection refused (4 attempts)"
        assert [each.outcome for each in read_cluster(connection, retry=clock.retry)] == ["failed"] * len(KINDS)
    finally:
        apiserver.start()
    again = read_kind(connection, BASE_MODEL, page_size=3)
    assert set(models) <= ours(again)
    assert again.pages >= 3


def test_a_list_that_expires_in_the_middle_is_read_again(
    apiserver: ApiServer, connection: Connection, models: list[str]
) -> None:
    pages: list[int] = []

    def change_and_forget(page: Page) -> None:
        pages.append(page.pages)
        if len(pages) == 2:
            apiserver.delete(manifest(BASE_MODEL, "model-7"))
            apiserver.compact()

    listing = read_kind(connection, BASE_MODEL, page_size=3, on_page=change_and_forget)
    assert pages[:3] == [1, 2, 1], "the list began again"
    assert listing.pages == pages[-1]
    assert set(models) & ours(listing) == set(models) - {"model-7"}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (
            Kind("ome.io", "v1beta1", "unheards", "Unheard", namespaced=True),
            "the cluster serves ome.io/v1beta1, but not Unheard",
        ),
        (
            Kind("ome.io", "v9", "basemodels", "BaseModel", namespaced=True),
            "the cluster serves ome.io in v1beta1, not in v9",
        ),
        (
            Kind("unheard.example.com", "v1", "things", "Thing", namespaced=False),
            "the cluster does not serve the API group unheard.example.com",
        ),
    ],
)
def test_a_kind_that_is_not_served_is_told_as_such(connection: Connection, kind: Kind, reason: str) -> None:
    listing = read_kind(connection, kind)
    assert (listing.outcome, listing.reason, listing.objects) == ("not-served", reason, None)


def test_a_wrong_token_ends_the_reading(apiserver: ApiServer) -> None:
    path = apiserver.kubeconfig(token="of-nobody")
    with from_kubeconfig(path) as connection, pytest.raises(Unauthorized) as refused:
        list(read_cluster(connection))
    assert str(refused.value) == f"{apiserver.url} does not accept the credentials of 'test' (HTTP 401)"


def edited(apiserver: ApiServer, *, cluster: Manifest | None = None, user: Manifest | None = None) -> Path:
    """The administrator's kubeconfig with another cluster or user."""
    path = apiserver.kubeconfig()
    config = json.loads(path.read_text())
    config["clusters"][0]["cluster"] = cluster or config["clusters"][0]["cluster"]
    config["users"][0]["user"] = user or config["users"][0]["user"]
    path.write_text(json.dumps(config))
    return path


def test_a_certificate_of_a_stranger_is_not_trusted(apiserver: ApiServer) -> None:
    path = edited(apiserver, cluster={"server": apiserver.url, "certificate-authority": certifi.where()})
    with from_kubeconfig(path) as connection:
        listing = read_kind(connection, BASE_MODEL)
    assert listing.outcome == "failed"
    assert listing.reason is not None
    assert listing.reason.startswith(f"{apiserver.url}: TLS failure: the server's certificate is not trusted: ")


def test_certificates_may_be_data(apiserver: ApiServer) -> None:
    data = encoded(apiserver.ca_file.read_text())
    path = edited(apiserver, cluster={"server": apiserver.url, "certificate-authority-data": data})
    with from_kubeconfig(path) as connection:
        assert server_version(connection) == KUBERNETES


def test_a_plain_request_to_a_server_with_tls_is_told_as_such(apiserver: ApiServer) -> None:
    url = apiserver.url.replace("https:", "http:")
    with from_kubeconfig(edited(apiserver, cluster={"server": url})) as connection:
        listing = read_kind(connection, BASE_MODEL)
    assert listing.reason == f"{url}: HTTP 400: Client sent an HTTP request to an HTTPS server."


def test_a_key_must_belong_to_its_certificate(apiserver: ApiServer) -> None:
    key = apiserver.folder / "service-account.key"
    path = edited(apiserver, user={"client-certificate": str(apiserver.ca_file), "client-key": str(key)})
    with pytest.raises(ConfigurationError, match="client certificate and key don't belong together"):
        from_kubeconfig(path)
