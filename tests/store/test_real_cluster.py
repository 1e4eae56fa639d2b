"""From a real API server into the database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from selection.cluster.config import Connection, from_kubeconfig
from selection.cluster.kinds import INFERENCE_SERVICE, KINDS, KindListing
from selection.cluster.listing import read_cluster
from selection.store.models import Cluster, KindSync, ServiceResult, StoredObject
from selection.store.sync import open_cluster, sync_cluster
from tests.apiserver.server import ApiServer
from tests.cluster.fakes import FakeClock
from tests.faces.cli import refused, run, run_json

from .builders import MODE, Manifest, model, rows, runtime, service, workload

pytestmark = [pytest.mark.apiserver, pytest.mark.django_db]

NAMESPACE = "of-the-store"


def bare(manifest: Manifest) -> Manifest:
    """A manifest as a person writes it: the API server sets the rest."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in {"uid", "resourceVersion"}}
    return {**manifest, "metadata": metadata}


ENTRY = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
RUNTIMES = [
    runtime("of-the-store-vllm", supportedModelFormats=[{**ENTRY, "priority": 2}]),
    runtime("of-the-store-multi", engineConfig={"annotations": {MODE: "MultiNode"}}),
]
CHAT = service("chat", NAMESPACE, model={"name": "of-the-store"}, deploymentMode="OMENative")
FLEET = [
    bare(each)
    for each in (
        model("of-the-store"),
        *RUNTIMES,
        runtime("broken", NAMESPACE, disabled="yes"),
        CHAT,
        service("named", NAMESPACE, model={"name": "of-the-store"}, runtime={"name": "of-the-store-multi"}),
        workload("InferenceReplica", "chat-engine", "chat", NAMESPACE, by="of-the-store-vllm"),
    )
]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"KUBECONFIG", "KUBERNETES_SERVICE_HOST"}:
            monkeypatch.delenv(name)


@pytest.fixture
def fleet(apiserver: ApiServer) -> Iterator[None]:
    for each in FLEET:
        apiserver.apply(each)
    yield
    for each in FLEET:
        apiserver.delete(each)


@pytest.fixture
def kubeconfig(apiserver: ApiServer) -> Path:
    return apiserver.kubeconfig(name="east")


@pytest.fixture
def connection(kubeconfig: Path) -> Iterator[Connection]:
    with from_kubeconfig(kubeconfig) as connection:
        yield connection


def sync(kubeconfig: Path, *arguments: str) -> Cluster:
    run("sync", "--kubeconfig", kubeconfig, *arguments)
    return Cluster.objects.latest("sync_finished_at")


def stored(cluster: Cluster, kind: str, namespace: str = NAMESPACE) -> dict[str, StoredObject]:
    return {row.name: row for row in StoredObject.objects.filter(cluster=cluster, kind=kind, namespace=namespace)}


@pytest.mark.usefixtures("fleet")
def test_a_fleet_comes_from_the_cluster_into_the_database(apiserver: ApiServer, kubeconfig: Path) -> None:
    cluster = sync(kubeconfig)
    assert (cluster.name, cluster.source, cluster.sync_error) == ("east", f"east at {apiserver.url}", "")
    chat = stored(cluster, "InferenceService")["chat"]
    live = apiserver.get(CHAT)
    assert (chat.uid, chat.resource_version) == (live["metadata"]["uid"], live["metadata"]["resourceVersion"])
    assert chat.manifest["spec"] == live["spec"]
    assert "managedFields" not in chat.manifest["metadata"]
    status = KindSync.objects.get(cluster=cluster, kind="InferenceService")
    assert status.outcome == "complete"
    assert int(status.resource_version) >= int(chat.resource_version)

    said = run_json("explain", "--cluster", "east", "--isvc", f"{NAMESPACE}/chat")
    assert said["selected"]["name"] == "of-the-store-vllm"
    assert said["modes"]["engine"]["running"]["mode"] == "OMENative"
    assert [each["kind"] for each in said["modes"]["engine"]["workloads"]] == ["InferenceReplica"]
    multi = next(each for each in said["candidates"] if each["name"] == "of-the-store-multi")
    assert multi["code"] == "engine-deployment-mode"
    named = ServiceResult.objects.get(cluster=cluster, namespace=NAMESPACE, name="named")
    assert (named.outcome, named.conflicts) == ("named", ["deprecated", "silent-takeover"])
    assert stored(cluster, "ServingRuntime")["broken"].problem_path == "spec.disabled"


@pytest.mark.usefixtures("fleet")
def test_a_second_sync_writes_nothing(kubeconfig: Path) -> None:
    cluster = sync(kubeconfig)
    before = rows(cluster)
    assert ", 0 changed, " in run("sync", "--kubeconfig", kubeconfig)
    after = rows(Cluster.objects.get(pk=cluster.pk))
    for table in (before, after):
        for row in table["KindSync"]:
            row.pop("resource_version")  # of the list: it grows with every change in the cluster
    assert after == before


@pytest.mark.usefixtures("fleet")
def test_an_object_that_is_deleted_and_made_again_is_another_one_in_the_same_place(
    apiserver: ApiServer, kubeconfig: Path
) -> None:
    before = stored(sync(kubeconfig), "InferenceService")["chat"]
    apiserver.delete(CHAT)
    assert "chat" not in stored(sync(kubeconfig), "InferenceService")
    apiserver.apply(bare(CHAT))
    again = stored(sync(kubeconfig), "InferenceService")["chat"]
    assert again.uid != before.uid
    apiserver.delete(CHAT)
    apiserver.apply(bare(CHAT))
    at_once = stored(sync(kubeconfig), "InferenceService")["chat"]
    assert at_once.uid != again.uid
    assert at_once.pk == again.pk


def create(connection: Connection, body: Manifest) -> None:
    """Create a service over a connection that stays open: there are many."""
    path = INFERENCE_SERVICE.path(NAMESPACE)
    request = connection.client.param_serialize("POST", path, body=body, auth_settings=["BearerToken"])
    method, url, headers, data, _ = request
    answer = connection.client.call_api(method, url, {**headers, "Content-Type": "application/json"}, data)
    assert answer.status == 201, answer.response.data
    answer.response.drain_conn()


@pytest.mark.usefixtures("fleet")
def test_1200_services_are_stored_and_judged(apiserver: ApiServer, kubeconfig: Path, connection: Connection) -> None:
    names = [f"many-{number:04}" for number in range(1200)]
    try:
        for name in names:
            create(connection, bare(service(name, NAMESPACE, model={"name": "of-the-store"})))
        cluster = sync(kubeconfig)
    finally:
        others = "metadata.name!=chat,metadata.name!=named"
        apiserver.request("DELETE", f"{INFERENCE_SERVICE.path(NAMESPACE)}?fieldSelector={others}")
    found = stored(cluster, "InferenceService")
    assert found.keys() == {*names, "chat", "named"}
    results = ServiceResult.objects.filter(cluster=cluster, name__startswith="many-")
    assert results.filter(outcome="auto-selected", selected_name="of-the-store-vllm", score=2).count() == 1200
    assert stored(sync(kubeconfig), "InferenceService").keys() == {"chat", "named"}
    assert not results.exists()


@pytest.fixture
def restricted(apiserver: ApiServer) -> Iterator[Path]:
    """The kubeconfig of a user who may list everything but InferenceReplicas."""
    rules = [
        {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": ["list"]}
        for kind in KINDS
        if kind.kind != "InferenceReplica"
    ]
    rbac = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": NAMESPACE}, "rules": rules}
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": NAMESPACE},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": NAMESPACE},
        "subjects": [{"apiGroup": rbac, "kind": "User", "name": "restricted"}],
    }
    for each in (role, binding):
        apiserver.apply(each)
    yield apiserver.kubeconfig(token=apiserver.tokens["restricted"], name="east")
    for each in (binding, role):
        apiserver.delete(each)


@pytest.mark.usefixtures("fleet")
def test_a_kind_that_one_may_not_list_keeps_its_old_objects_and_the_rest_is_read(
    apiserver: ApiServer, kubeconfig: Path, restricted: Path
) -> None:
    cluster = sync(kubeconfig)
    assert "chat-engine" in stored(cluster, "InferenceReplica")
    apiserver.delete(FLEET[-1])
    apiserver.delete(CHAT)
    try:
        sync(restricted)
    finally:
        apiserver.apply(bare(CHAT))
        apiserver.apply(FLEET[-1])
    status = KindSync.objects.get(cluster=cluster, kind="InferenceReplica")
    assert status.outcome == "forbidden"
    assert 'User "restricted" cannot list resource "inferencereplicas"' in status.reason
    assert status.listed_at is not None
    assert status.listed_at < status.attempted_at
    assert "chat-engine" in stored(cluster, "InferenceReplica")
    assert "chat" not in stored(cluster, "InferenceService")


def test_a_user_who_may_list_nothing_reads_nothing(apiserver: ApiServer) -> None:
    path = apiserver.kubeconfig(token=apiserver.tokens["restricted"], name="east")
    said = refused("sync", "--kubeconfig", path)
    assert said.startswith("east: acceleratorclasses.ome.io is forbidden: ")
    assert said.endswith("; what was stored before stays")
    assert Cluster.objects.get().sync_error.startswith("acceleratorclasses.ome.io is forbidden: ")


@pytest.mark.usefixtures("fleet")
def test_a_wrong_token_changes_nothing_and_is_said_on_the_cluster(apiserver: ApiServer, kubeconfig: Path) -> None:
    cluster = sync(kubeconfig)
    before = rows(cluster)
    said = refused("sync", "--kubeconfig", apiserver.kubeconfig(token="of-nobody", name="east"))
    cluster.refresh_from_db()
    assert said == f"east: {cluster.sync_error}"
    assert cluster.sync_error == f"{apiserver.url} does not accept the credentials of 'east' (HTTP 401)"
    assert rows(cluster) == before
    sync(kubeconfig)
    cluster.refresh_from_db()
    assert cluster.sync_error == ""


@pytest.mark.usefixtures("fleet")
def test_an_outage_in_the_middle_of_a_sync_leaves_whole_kinds_and_is_over_with_the_next(
    apiserver: ApiServer, kubeconfig: Path, connection: Connection
) -> None:
    cluster = sync(kubeconfig)
    before = rows(cluster)
    apiserver.apply(bare(runtime("of-the-store-vllm", supportedModelFormats=[{**ENTRY, "priority": 7}])))
    apiserver.apply(bare({**CHAT, "spec": {**CHAT["spec"], "deploymentMode": "RawDeployment"}}))

    def stop_after_the_runtimes(listing: KindListing) -> None:
        if listing.kind.kind == "ServingRuntime":
            apiserver.stop()

    try:
        listings = read_cluster(connection, retry=FakeClock().retry)
        report = sync_cluster(open_cluster("east"), listings, stop_after_the_runtimes)
    finally:
        apiserver.start()
    assert list(report.outcomes.values()) == ["complete"] * 5 + ["failed"] * 5
    assert report.reasons["InferenceService"] == f"{apiserver.url}: connection refused (4 attempts)"
    runtimes = {row.name: row for row in StoredObject.objects.filter(cluster=cluster, kind="ClusterServingRuntime")}
    assert runtimes["of-the-store-vllm"].manifest["spec"]["supportedModelFormats"][0]["priority"] == 7
    assert stored(cluster, "InferenceService")["chat"].manifest["spec"]["deploymentMode"] == "OMENative"
    chat = ServiceResult.objects.get(cluster=cluster, namespace=NAMESPACE, name="chat")
    assert chat.score == 7, "what was read is judged with what is stored of the rest"
    old = {row["kind"]: row for row in before["KindSync"]}
    for status in KindSync.objects.filter(cluster=cluster, outcome="failed"):
        assert status.resource_version == old[status.kind]["resource_version"]

    cluster = sync(kubeconfig)
    assert not KindSync.objects.filter(cluster=cluster).exclude(outcome="complete").exists()
    assert stored(cluster, "InferenceService")["chat"].manifest["spec"]["deploymentMode"] == "RawDeployment"


def test_a_cluster_that_is_down_is_said_in_one_line(apiserver: ApiServer, kubeconfig: Path, monkeypatch: Any) -> None:
    patient = read_cluster
    monkeypatch.setattr(
        "selection.faces.management.commands.sync.read_cluster",
        lambda connection, **options: patient(connection, **options, retry=FakeClock().retry),
    )
    apiserver.stop()
    try:
        said = refused("sync", "--kubeconfig", kubeconfig)
    finally:
        apiserver.start()
    assert said == f"east: {apiserver.url}: connection refused (4 attempts); what was stored before stays"
    assert Cluster.objects.get().sync_error == f"{apiserver.url}: connection refused (4 attempts)"


@pytest.mark.usefixtures("fleet")
def test_clusters_stand_side_by_side(apiserver: ApiServer, kubeconfig: Path) -> None:
    east = sync(kubeconfig)
    apiserver.apply(bare({**CHAT, "spec": {**CHAT["spec"], "deploymentMode": "RawDeployment"}}))
    west = sync(kubeconfig, "--cluster", "west", "--ome-version", "1.2")
    assert (east.name, west.name, west.ome_version) == ("east", "west", "1.2")
    modes = [stored(each, "InferenceService")["chat"].manifest["spec"]["deploymentMode"] for each in (east, west)]
    assert modes == ["OMENative", "RawDeployment"]
    with pytest.raises(CommandError, match="several clusters"):
        run("explain", "--isvc", f"{NAMESPACE}/chat")


@pytest.mark.usefixtures("fleet")
def test_no_credential_reaches_the_database(apiserver: ApiServer, kubeconfig: Path) -> None:
    cluster = sync(kubeconfig)
    everything = str(rows(cluster)) + str(list(Cluster.objects.values()))
    assert apiserver.token not in everything
