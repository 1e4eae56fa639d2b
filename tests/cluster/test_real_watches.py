"""Following a real API server: what happens there is told in order, whatever happens to the API server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from selection.cluster import following, watching
from selection.cluster.config import from_kubeconfig
from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.following import FollowedCluster, follow
from selection.cluster.kinds import (
    ACCELERATOR_CLASS,
    BASE_MODEL,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    INFERENCE_REPLICA,
    KINDS,
    LEADER_WORKER_SET,
    SERVING_RUNTIME,
    Kind,
)
from selection.cluster.listing import read_kind
from tests.apiserver.server import ApiServer
from tests.cluster.hearing import Hearing

pytestmark = [pytest.mark.apiserver, pytest.mark.usefixtures("bare_environment")]

Manifest = dict[str, Any]
Start = Callable[..., FollowedCluster]
NAMESPACE = "of-real-watches"
LABELS = {"ome.io/inferenceservice": "chat"}
MANAGER = "ome-controller-manager"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC = "rbac.authorization.k8s.io"
SOON = 1.0
#: An API server that was killed needs some seconds to start and to fill its caches, and longer on busy cores.
RECOVERY = 90.0


def manifest(kind: Kind, name: str, *, namespace: str = NAMESPACE, **more: Any) -> Manifest:
    metadata: Manifest = {"name": name} | ({"namespace": namespace} if kind.namespaced else {})
    metadata |= more.pop("metadata", {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": {}, **more}


def deployment(name: str, labels: dict[str, str], namespace: str = NAMESPACE, image: str = "a") -> Manifest:
    pods = {"app": name}
    template = {"metadata": {"labels": pods}, "spec": {"containers": [{"name": "main", "image": image}]}}
    spec = {"selector": {"matchLabels": pods}, "template": template}
    return manifest(DEPLOYMENT, name, namespace=namespace, metadata={"labels": labels}, spec=spec)


@pytest.fixture
def hearing() -> Hearing:
    return Hearing()


@pytest.fixture
def start(apiserver: ApiServer, hearing: Hearing) -> Iterator[Start]:
    """Follow kinds of the API server, as the administrator unless a kubeconfig says otherwise, until the test ends."""
    running: list[FollowedCluster] = []

    def begin(*kinds: Kind, kubeconfig: Path | None = None) -> FollowedCluster:
        path = kubeconfig or apiserver.kubeconfig()
        cluster = follow(lambda: from_kubeconfig(path), kinds=kinds)
        running.append(cluster)
        cluster.start(hearing.tell)
        return cluster

    yield begin
    for each in running:
        each.stop()
    assert [each for each in running if not each.join(10)] == []


@pytest.fixture
def tidy(apiserver: ApiServer) -> Iterator[None]:
    """Delete what a test leaves in its namespace."""
    yield
    for kind in (BASE_MODEL, SERVING_RUNTIME, INFERENCE_REPLICA, LEADER_WORKER_SET, DEPLOYMENT):
        apiserver.request("DELETE", kind.path(NAMESPACE))


def standing(apiserver: ApiServer, kind: Kind) -> dict[tuple[str, str], str]:
    """The objects of a kind as the API server lists them now."""
    with from_kubeconfig(apiserver.kubeconfig()) as connection:
        heard = Hearing()
        heard.tell(Listed(read_kind(connection, kind), 0.0))
    return heard.state(kind)


def named(name: str, type: str = "put") -> Callable[[Happening], bool]:
    return lambda each: isinstance(each, Event) and (each.type, each.manifest["metadata"]["name"]) == (type, name)


def settle(apiserver: ApiServer, hearing: Hearing, kind: Kind, within: float = RECOVERY) -> None:
    """Wait until what was told of a kind is what the API server has."""
    until = time.monotonic() + within
    while hearing.state(kind) != standing(apiserver, kind):
        assert time.monotonic() < until, (hearing.of(kind)[-5:], standing(apiserver, kind))
        time.sleep(0.2)


@pytest.mark.usefixtures("tidy")
def test_what_happens_to_objects_is_told_in_order(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    apiserver.apply(manifest(BASE_MODEL, "before"))
    start(BASE_MODEL)
    hearing.watching(BASE_MODEL)
    apiserver.apply(manifest(BASE_MODEL, "a", spec={"n": 1}))
    apiserver.apply(manifest(BASE_MODEL, "a", spec={"n": 2}))
    apiserver.apply(manifest(BASE_MODEL, "b"))
    apiserver.delete(manifest(BASE_MODEL, "a"))
    apiserver.delete(manifest(BASE_MODEL, "before"))
    hearing.wait_for(named("before", "gone"))
    assert hearing.changes(BASE_MODEL) == [
        ("put", "a"),
        ("put", "a"),
        ("put", "b"),
        ("gone", "a"),
        ("gone", "before"),
    ]
    events = [each for each in hearing.all if isinstance(each, Event)]
    assert [each.manifest["spec"].get("n") for each in events[:2]] == [1, 2]
    versions = [int(each.resource_version) for each in events]
    assert versions == sorted(set(versions))
    for each in events:
        assert (each.manifest["apiVersion"], each.manifest["kind"]) == ("ome.io/v1beta1", "BaseModel")
        assert each.manifest["metadata"]["uid"]
        assert "managedFields" not in each.manifest["metadata"]
    assert not any(isinstance(each, Lost) for each in hearing.all)
    settle(apiserver, hearing, BASE_MODEL)


@pytest.mark.usefixtures("tidy")
def test_a_change_is_heard_in_less_than_half_a_second(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    start(*KINDS)
    for kind in KINDS:
        hearing.watching(kind)
    took = []
    for number in range(20):
        apiserver.apply(manifest(BASE_MODEL, f"m{number}"))
        written = time.monotonic()
        took.append(hearing.wait_for(named(f"m{number}")).received - written)
    assert sorted(took)[-2] < 0.5


@pytest.mark.usefixtures("tidy")
def test_objects_that_lose_their_label_are_gone(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    start(LEADER_WORKER_SET)
    hearing.watching(LEADER_WORKER_SET)
    apiserver.apply(manifest(LEADER_WORKER_SET, "other"))
    apiserver.apply(manifest(LEADER_WORKER_SET, "chat", metadata={"labels": LABELS}))
    apiserver.apply(manifest(LEADER_WORKER_SET, "chat"))
    hearing.wait_for(named("chat", "gone"))
    assert hearing.changes(LEADER_WORKER_SET) == [("put", "chat"), ("gone", "chat")]


@pytest.mark.usefixtures("tidy")
def test_the_manager_of_ome_is_watched_beside_what_services_run_as(
    apiserver: ApiServer, hearing: Hearing, start: Start
) -> None:
    manager = deployment(MANAGER, {}, namespace="ome", image="ome:v1.2")
    apiserver.apply(manager)
    start(DEPLOYMENT)
    hearing.watching(DEPLOYMENT)
    apiserver.apply(deployment("web", {"app": "web"}))
    apiserver.apply(deployment("chat", LABELS))
    apiserver.apply(deployment(MANAGER, LABELS, namespace="ome", image="ome:v1.3"))
    apiserver.apply(deployment(MANAGER, {}, namespace="ome", image="ome:v1.4"))
    apiserver.delete(manager)
    hearing.wait_for(named(MANAGER, "gone"))
    changes = hearing.changes(DEPLOYMENT)
    assert [change for change in changes if change[1] == MANAGER] == [
        ("put", MANAGER),
        ("put", MANAGER),
        ("gone", MANAGER),
    ]
    hearing.wait_for(named("chat"))
    assert ("put", "web") not in changes
    settle(apiserver, hearing, DEPLOYMENT)


def test_only_revisions_of_runtimes_are_told(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    start(CONTROLLER_REVISION)
    hearing.watching(CONTROLLER_REVISION)
    made = []
    for name, namespace in (("ome-agent-7d9c8b6f5", "ome"), ("cr-x-0a1b2c3d", NAMESPACE), ("cr-x-0a1b2c3d", "ome")):
        each = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1, "data": {}}
        made.append({**each, "metadata": {"name": name, "namespace": namespace}})
        apiserver.apply(made[-1])
    for each in made:
        apiserver.delete(each)
    hearing.wait_for(named("cr-x-0a1b2c3d", "gone"))
    assert hearing.changes(CONTROLLER_REVISION) == [("put", "cr-x-0a1b2c3d"), ("gone", "cr-x-0a1b2c3d")]


@pytest.mark.usefixtures("tidy")
def test_calls_follow_each_other_from_bookmarks(
    apiserver: ApiServer, hearing: Hearing, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SHORTEST", 4.0)
    monkeypatch.setattr(watching, "LONGEST", 4.0)
    start(BASE_MODEL)
    opened = hearing.watching(BASE_MODEL)
    apiserver.apply(manifest(BASE_MODEL, "a"))
    apiserver.delete(manifest(BASE_MODEL, "a"))
    gone = hearing.wait_for(named("a", "gone"))
    assert isinstance(opened, Watching)
    assert isinstance(gone, Event)
    after = hearing.mark
    # A bookmark comes two seconds before the end of a call at the latest; then the next call begins there.
    bookmark = hearing.watching(BASE_MODEL, after=after)
    assert isinstance(bookmark, Watching)
    assert int(bookmark.resource_version) >= int(gone.resource_version) > int(opened.resource_version)
    after = hearing.mark
    again = hearing.watching(BASE_MODEL, after=after)
    assert isinstance(again, Watching)
    assert int(again.resource_version) >= int(bookmark.resource_version)
    apiserver.apply(manifest(BASE_MODEL, "b"))
    hearing.wait_for(named("b"))
    assert not any(isinstance(each, Lost) for each in hearing.all)
    assert len([each for each in hearing.all if isinstance(each, Listed)]) == 1


@pytest.mark.usefixtures("tidy")
def test_an_api_server_that_is_killed_is_followed_on_without_loss(
    apiserver: ApiServer, hearing: Hearing, start: Start
) -> None:
    apiserver.apply(manifest(BASE_MODEL, "stays"))
    apiserver.apply(manifest(BASE_MODEL, "goes"))
    start(BASE_MODEL, DEPLOYMENT, ACCELERATOR_CLASS)
    for kind in (BASE_MODEL, DEPLOYMENT, ACCELERATOR_CLASS):
        hearing.watching(kind)
    for number in range(3):
        after = hearing.mark
        apiserver.apply(manifest(BASE_MODEL, f"before-{number}"))
        apiserver.stop()
        lost = hearing.wait_for(lambda each: isinstance(each, Lost), after=after)
        assert isinstance(lost, Lost)
        assert lost.trouble == "connection"
        apiserver.start()
        apiserver.apply(manifest(BASE_MODEL, f"after-{number}"))
        apiserver.apply(deployment("chat", LABELS, image=str(number)))
        if number == 1:
            apiserver.delete(manifest(BASE_MODEL, "goes"))
        settle(apiserver, hearing, BASE_MODEL)
        settle(apiserver, hearing, DEPLOYMENT)
    assert {name for _, name in hearing.state(BASE_MODEL)} >= {"stays", *(f"after-{n}" for n in range(3))}
    for kind in (BASE_MODEL, DEPLOYMENT, ACCELERATOR_CLASS):
        hearing.watching(kind, after=after, within=RECOVERY)


@pytest.mark.usefixtures("tidy")
def test_history_that_was_compacted_is_listed_again(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    apiserver.apply(manifest(BASE_MODEL, "old"))
    start(BASE_MODEL)
    hearing.watching(BASE_MODEL)
    after = hearing.mark
    apiserver.delete(manifest(BASE_MODEL, "old"))
    apiserver.apply(manifest(BASE_MODEL, "new"))
    apiserver.compact()
    apiserver.stop()
    apiserver.start()
    listed = hearing.wait_for(lambda each: isinstance(each, Listed), after=after, within=RECOVERY)
    assert any(isinstance(each, Lost) and each.trouble == "gone" for each in hearing.all[after:])
    assert isinstance(listed, Listed)
    assert listed.listing.outcome == "complete"
    hearing.watching(BASE_MODEL, after=hearing.all.index(listed))
    settle(apiserver, hearing, BASE_MODEL)


@pytest.mark.usefixtures("tidy")
def test_a_definition_that_is_deleted_and_made_again(
    apiserver: ApiServer, hearing: Hearing, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "ASK_AGAIN", 0.5)
    apiserver.apply(manifest(INFERENCE_REPLICA, "a"))
    start(INFERENCE_REPLICA, BASE_MODEL)
    hearing.watching(INFERENCE_REPLICA)
    assert len(hearing.state(INFERENCE_REPLICA)) >= 1
    try:
        apiserver.request("DELETE", f"{DEFINITIONS}/{INFERENCE_REPLICA.plural}.ome.io")
        hearing.wait_for(lambda each: isinstance(each, Listed) and each.listing.outcome == "not-served", within=30)
        assert hearing.state(INFERENCE_REPLICA) == {}
        time.sleep(1.5)
        outcomes = [each.listing.outcome for each in hearing.of(INFERENCE_REPLICA) if isinstance(each, Listed)]
        assert outcomes == ["complete", "not-served"], "it is told once"
        after = hearing.mark
    finally:
        apiserver.install_definitions()
    hearing.watching(INFERENCE_REPLICA, after=after, within=30)
    apiserver.apply(manifest(INFERENCE_REPLICA, "b"))
    hearing.wait_for(named("b"), after=after)
    assert {name for _, name in hearing.state(INFERENCE_REPLICA)} == {"b"}
    assert not any(isinstance(each, Lost) for each in hearing.of(BASE_MODEL))


@pytest.fixture
def role(apiserver: ApiServer) -> Iterator[Callable[..., None]]:
    """Give the restricted user these rights on every kind, instead of those before."""
    about = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": NAMESPACE}}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": NAMESPACE}
    subject = {"apiGroup": RBAC, "kind": "User", "name": "restricted"}
    binding = {**about, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}

    def allow(*verbs: str) -> None:
        rules = [{"apiGroups": ["ome.io"], "resources": ["*"], "verbs": list(verbs)}] if verbs else []
        apiserver.apply({**about, "kind": "ClusterRole", "rules": rules})

    allow()
    apiserver.apply(binding)
    yield allow
    apiserver.delete(binding)
    apiserver.delete({**about, "kind": "ClusterRole"})


@pytest.mark.usefixtures("tidy")
def test_rights_that_are_withdrawn_and_granted_again(
    apiserver: ApiServer,
    hearing: Hearing,
    start: Start,
    role: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "ASK_AGAIN", 0.5)
    monkeypatch.setattr(watching, "FORBIDDEN_WAIT", 1.0)
    monkeypatch.setattr(watching, "SHORTEST", 2.0)
    monkeypatch.setattr(watching, "LONGEST", 2.0)
    start(BASE_MODEL, kubeconfig=apiserver.kubeconfig(token=apiserver.tokens["restricted"]))
    listed = hearing.wait_for(lambda each: isinstance(each, Listed))
    assert isinstance(listed, Listed)
    assert listed.listing.outcome == "forbidden"
    # Only listing: told as a watch that is forbidden, and the lists keep the data fresh.
    role("list")
    lost = hearing.wait_for(lambda each: isinstance(each, Lost) and each.trouble == "forbidden")
    assert isinstance(lost, Lost)
    assert 'cannot watch resource "basemodels"' in lost.reason
    apiserver.apply(manifest(BASE_MODEL, "a"))
    settle(apiserver, hearing, BASE_MODEL, within=10)
    role("list", "watch")
    hearing.watching(BASE_MODEL)
    apiserver.apply(manifest(BASE_MODEL, "b"))
    hearing.wait_for(named("b"))
    after = hearing.mark
    role()
    hearing.wait_for(
        lambda each: isinstance(each, Listed) and each.listing.outcome == "forbidden", after=after, within=20
    )
    apiserver.delete(manifest(BASE_MODEL, "b"))
    after = hearing.mark
    role("list", "watch")
    hearing.watching(BASE_MODEL, after=after, within=20)
    settle(apiserver, hearing, BASE_MODEL, within=10)
    assert "b" not in {name for _, name in hearing.state(BASE_MODEL)}


@pytest.mark.usefixtures("tidy")
def test_a_token_that_expired_is_read_again_from_its_file(
    apiserver: ApiServer, hearing: Hearing, start: Start, role: Callable[..., None], tmp_path: Path
) -> None:
    role("list", "watch")
    token = tmp_path / "token"
    token.write_text(apiserver.tokens["restricted"])
    path = apiserver.kubeconfig()
    config = json.loads(path.read_text())
    config["users"][0]["user"] = {"tokenFile": str(token)}
    path.write_text(json.dumps(config))
    start(BASE_MODEL, SERVING_RUNTIME, kubeconfig=path)
    hearing.watching(BASE_MODEL)
    hearing.watching(SERVING_RUNTIME)
    renewed = apiserver.change_token("restricted")
    lost = hearing.wait_for(lambda each: isinstance(each, Lost) and each.trouble == "unauthorized", within=RECOVERY)
    assert isinstance(lost, Lost)
    assert lost.reason == f"{apiserver.url} does not accept the credentials of 'test' (HTTP 401)"
    token.write_text(renewed)
    after = hearing.mark
    for kind in (BASE_MODEL, SERVING_RUNTIME):
        hearing.watching(kind, after=after, within=RECOVERY)
    apiserver.apply(manifest(BASE_MODEL, "a"))
    settle(apiserver, hearing, BASE_MODEL)
    assert "a" in {name for _, name in hearing.state(BASE_MODEL)}


@pytest.mark.usefixtures("tidy")
def test_an_api_server_that_hangs_is_noticed_and_followed_on(
    apiserver: ApiServer, hearing: Hearing, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SILENCE", 1.0)
    start(BASE_MODEL)
    hearing.watching(BASE_MODEL)
    apiserver.pause()
    try:
        lost = hearing.wait_for(lambda each: isinstance(each, Lost), within=15)
    finally:
        apiserver.resume()
    assert isinstance(lost, Lost)
    assert lost.trouble == "connection"
    after = hearing.mark
    hearing.watching(BASE_MODEL, after=after, within=RECOVERY)
    apiserver.apply(manifest(BASE_MODEL, "a"))
    settle(apiserver, hearing, BASE_MODEL)


def test_it_ends_within_a_second_when_the_api_server_hangs(
    apiserver: ApiServer, hearing: Hearing, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(following, "ASK_AGAIN", 0.0)
    unheard = [Kind("ome.io", "v1beta1", f"unheards{n}", "Unheard", namespaced=True) for n in range(4)]
    # Some are in the middle of a watch, others of a list.
    cluster = start(BASE_MODEL, DEPLOYMENT, *unheard)
    hearing.watching(BASE_MODEL)
    hearing.watching(DEPLOYMENT)
    apiserver.pause()
    try:
        time.sleep(0.5)
        started = time.monotonic()
        cluster.stop()
        assert cluster.join(10)
        assert time.monotonic() - started < SOON
    finally:
        apiserver.resume()
    assert [record.getMessage() for record in caplog.records if record.name == following.__name__] == []


def test_it_ends_within_a_second_over_tls(apiserver: ApiServer, hearing: Hearing, start: Start) -> None:
    cluster = start(*KINDS)
    for kind in KINDS:
        hearing.watching(kind)
    time.sleep(0.2)
    started = time.monotonic()
    cluster.stop()
    assert cluster.join(10)
    assert time.monotonic() - started < SOON
