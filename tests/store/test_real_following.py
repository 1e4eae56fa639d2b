"""``sync --watch`` on a real API server: what happens there is in the database soon, whatever comes between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.kinds import KINDS
from tests.apiserver import server as server_module
from tests.apiserver.crds import definitions
from tests.apiserver.server import ApiServer
from tests.faces.cli import ROOT, manage

from .builders import MODE, Manifest, model, runtime, service
from .databases import OwnDatabase
from .test_real_cluster import bare

pytestmark = [pytest.mark.apiserver]

NAMESPACE = "followed"
RUNTIMES = ("followed-vllm", "followed-multi")
ENTRY = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
FLEET = [
    bare(each)
    for each in (
        model("followed"),
        runtime("followed-vllm", NAMESPACE),
        service("chat", NAMESPACE, model={"name": "followed"}),
        service("search", NAMESPACE, model={"name": "followed"}),
    )
]


class Watch:
    """A ``sync --watch`` with its log."""

    def __init__(self, database: OwnDatabase, log: Path, *arguments: str | Path, **env: str) -> None:
        self.database = database
        self.log = log
        clean = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        with log.open("wb") as output:
            self.popen = subprocess.Popen(
                [sys.executable, "manage.py", "sync", "--watch", *(str(each) for each in arguments)],
                cwd=ROOT,
                env={**clean, **database.env, "OME_DASHBOARD_LOG_FORMAT": "json", "HOME": str(log.parent), **env},
                stdout=output,
                stderr=output,
            )

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def says(self, message: str) -> bool:
        return any(each["message"] == message for each in self.told())

    def selected(self) -> dict[str, str]:
        """By service, the runtime that it gets."""
        query = f"SELECT name, selected_name FROM store_serviceresult WHERE namespace = '{NAMESPACE}'"
        return dict(self.database.ask(query))

    def kind(self, kind: str) -> tuple[Any, ...]:
        """Outcome, whether it is watched, and how many objects it has."""
        query = f"SELECT outcome, watching, object_count FROM store_kindsync WHERE kind = '{kind}'"
        return next(iter(self.database.ask(query)), ("", False, 0))

    @property
    def live(self) -> bool:
        """Whether each kind has a watch open."""
        return len(self.database.ask("SELECT kind FROM store_kindsync WHERE watching")) == len(KINDS)

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait(timeout=30)


def eventually(condition: Callable[[], bool], seconds: float = 40.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def fleet(apiserver: ApiServer) -> Iterator[None]:
    for each in FLEET:
        apiserver.apply(each)
    yield
    for each in FLEET:
        with suppress(server_module.ApiError):  # some tests delete one
            apiserver.delete(each)


@pytest.fixture
def watch(own_database: OwnDatabase, tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    with ExitStack() as stack:

        def start(*arguments: str | Path, **env: str) -> Watch:
            started = Watch(own_database, tmp_path / f"log-{time.monotonic_ns()}", *arguments, **env)
            stack.callback(started.end)
            return started

        yield start


@pytest.fixture
def kubeconfig(apiserver: ApiServer) -> Path:
    return apiserver.kubeconfig(name="east")


@pytest.fixture
def east(fleet: None, kubeconfig: Path, watch: Callable[..., Watch]) -> Watch:
    """A watch that has read the fleet."""
    started = watch("--kubeconfig", kubeconfig)
    assert eventually(lambda: started.selected() == {"chat": "followed-vllm", "search": "followed-vllm"})
    assert eventually(lambda: started.live)
    return started


def content(database: OwnDatabase, cluster: str) -> set[tuple[Any, ...]]:
    """All that is stored of a cluster."""
    query = (
        "SELECT kind, namespace, o.name, digest FROM store_storedobject o JOIN store_cluster c ON o.cluster_id = c.id"
    )
    return set(database.ask(f"{query} WHERE c.name = '{cluster}'"))


def as_fresh(watch: Watch, kubeconfig: Path) -> bool:
    """Whether what is stored is what a sync of now stores under another name."""
    done = manage("sync", "--kubeconfig", kubeconfig, "--cluster", "fresh", env=watch.database.env)
    assert done.code == 0, done.err
    return content(watch.database, "fresh") == content(watch.database, "east")


def test_what_happens_in_the_cluster_is_in_the_database_soon(
    apiserver: ApiServer, kubeconfig: Path, east: Watch
) -> None:
    changed = runtime("followed-vllm", NAMESPACE, engineConfig={"annotations": {MODE: "OMENative"}})
    chat = bare(service("chat", NAMESPACE, model={"name": "followed"}, deploymentMode="RawDeployment"))
    began = time.monotonic()
    apiserver.apply(bare(changed))
    apiserver.apply(chat)
    assert eventually(lambda: east.selected() == {"chat": "", "search": "followed-vllm"})
    assert time.monotonic() - began < 5
    apiserver.delete(FLEET[3])
    assert eventually(lambda: east.selected() == {"chat": ""})
    apiserver.apply(FLEET[3])
    assert eventually(lambda: east.selected() == {"chat": "", "search": "followed-vllm"})
    assert as_fresh(east, kubeconfig)
    [(lag,)] = east.database.ask("SELECT lag_ms FROM store_cluster WHERE name = 'east'")
    assert 0 < lag < 5000


def test_it_ends_within_seconds_and_leaves_what_it_read(east: Watch) -> None:
    began = time.monotonic()
    east.popen.send_signal(signal.SIGTERM)
    assert east.popen.wait(timeout=30) == 0
    assert time.monotonic() - began < 5
    assert east.database.ask("SELECT kind FROM store_kindsync WHERE watching") == []
    assert east.database.ask("SELECT holder, followed FROM store_cluster") in ([("", 0)], [("", False)])
    assert east.selected().keys() == {"chat", "search"}
    assert "Traceback" not in east.log.read_text()
    assert [each["message"] for each in east.told()] == ["claimed", "listed", "left"]


def test_a_plain_sync_leaves_a_followed_cluster_alone(kubeconfig: Path, east: Watch) -> None:
    done = manage("sync", "--kubeconfig", kubeconfig, env=east.database.env)
    assert done.code == 0
    assert done.out.startswith("east: ")
    assert done.out.endswith("follows it: there is nothing to do\n")


def test_an_api_server_that_restarts_is_followed_on(apiserver: ApiServer, kubeconfig: Path, east: Watch) -> None:
    apiserver.stop()
    try:
        assert eventually(lambda: east.says("lost"))
        query = "SELECT sync_error FROM store_cluster"
        assert eventually(lambda: "connection refused" in east.database.ask(query)[0][0])
        assert east.selected().keys() == {"chat", "search"}
    finally:
        apiserver.start()
    apiserver.apply(bare(service("after", NAMESPACE, model={"name": "followed"})))
    try:
        assert eventually(lambda: "after" in east.selected())
    finally:
        apiserver.delete(bare(service("after", NAMESPACE)))
    assert eventually(lambda: east.live and east.selected().keys() == {"chat", "search"})
    assert eventually(lambda: east.says("resumed"))
    assert east.database.ask("SELECT sync_error FROM store_cluster") == [("",)]


def test_what_vanished_while_nobody_could_tell_goes(apiserver: ApiServer, kubeconfig: Path, east: Watch) -> None:
    east.popen.send_signal(signal.SIGSTOP)
    apiserver.delete(FLEET[3])
    apiserver.compact()
    apiserver.stop()
    east.popen.send_signal(signal.SIGCONT)
    apiserver.start()
    assert eventually(lambda: east.selected().keys() == {"chat"})
    assert eventually(lambda: east.live)
    assert as_fresh(east, kubeconfig)


def _definition(kind: str) -> Manifest:
    return next(each for each in definitions() if each["spec"]["names"]["kind"] == kind)


def test_a_definition_that_is_deleted_takes_its_objects_and_brings_new_ones(
    apiserver: ApiServer, kubeconfig: Path, east: Watch
) -> None:
    definition = _definition("ServingRuntime")
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
    apiserver.request("DELETE", path)
    try:
        assert eventually(lambda: east.kind("ServingRuntime")[0] == "not-served", 60)
        assert eventually(lambda: set(east.selected().values()) == {""})
    finally:
        _recreate(apiserver, definition)
    apiserver.apply(FLEET[1])
    assert eventually(lambda: set(east.selected().values()) == {"followed-vllm"}, 60)
    assert eventually(lambda: east.live, 60)
    assert as_fresh(east, kubeconfig)


def _recreate(apiserver: ApiServer, definition: Manifest) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            apiserver.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
            break
        except server_module.ApiError:  # the old one isn't quite gone yet
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    while time.monotonic() < until:
        with suppress(server_module.ApiError):
            apiserver.request("GET", "/apis/ome.io/v1beta1/servingruntimes")
            return
        time.sleep(0.2)


def test_rights_that_are_withdrawn_and_granted_again(
    apiserver: ApiServer, fleet: None, watch: Callable[..., Watch]
) -> None:
    groups = ["ome.io", "apps", "leaderworkerset.x-k8s.io"]
    role: Manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "followed-reader"},
        "rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "watch"]}],
    }
    binding: Manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "followed-reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "followed-reader"},
        "subjects": [{"kind": "User", "name": "restricted", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    apiserver.apply(role)
    apiserver.apply(binding)
    try:
        started = watch("--kubeconfig", apiserver.kubeconfig(token=apiserver.tokens["restricted"], name="east"))
        assert eventually(lambda: started.selected().keys() == {"chat", "search"})
        fewer = {**role, "rules": [{**role["rules"][0], "resources": ["servingruntimes", "clusterbasemodels"]}]}
        apiserver.apply(fewer)
        # An open watch goes on; the next list is refused.
        apiserver.stop()
        apiserver.start()
        assert eventually(lambda: started.kind("InferenceService")[0] == "forbidden", 60)
        assert started.selected().keys() == {"chat", "search"}, "what was read stays"
        apiserver.apply(role)
        assert eventually(lambda: started.live, 60)
        assert started.kind("InferenceService")[:1] == ("complete",)
    finally:
        apiserver.delete(binding)
        apiserver.delete(role)


def test_declared_clusters_are_followed_without_options(
    fleet: None, kubeconfig: Path, watch: Callable[..., Watch], tmp_path: Path
) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text("[]\n")
    started = watch(OME_DASHBOARD_CLUSTERS_FILE=str(file))
    assert eventually(lambda: started.says("no cluster is declared: waiting for one"))
    file.write_text(f"- name: from-the-file\n  kubeconfig: {kubeconfig}\n")
    assert eventually(lambda: started.selected().keys() == {"chat", "search"})
    file.write_text("[]\n")
    assert eventually(lambda: started.says("left"))
    [(followed, holder)] = started.database.ask("SELECT followed, holder FROM store_cluster")
    assert (bool(followed), holder) == (False, "")
    assert started.selected().keys() == {"chat", "search"}


def test_the_current_context_is_followed_when_nothing_is_declared(
    fleet: None, kubeconfig: Path, watch: Callable[..., Watch]
) -> None:
    started = watch(KUBECONFIG=str(kubeconfig))
    assert eventually(lambda: started.selected().keys() == {"chat", "search"})
    [(name, by)] = started.database.ask("SELECT name, declared_by FROM store_cluster")
    assert (name, by) == ("east", "command")


def test_a_cluster_that_is_down_does_not_hold_up_the_others(
    fleet: None, kubeconfig: Path, watch: Callable[..., Watch], tmp_path: Path
) -> None:
    down = json.loads(kubeconfig.read_text())
    down["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    other = tmp_path / "down"
    other.write_text(json.dumps(down))
    file = tmp_path / "clusters.yaml"
    file.write_text(
        f"- {{name: down, kubeconfig: {other}}}\n"
        f"- {{name: east, kubeconfig: {kubeconfig}}}\n"
        f"- {{name: nowhere, kubeconfig: {kubeconfig}, context: nowhere}}\n"
    )
    started = watch(OME_DASHBOARD_CLUSTERS_FILE=str(file))
    assert eventually(lambda: started.selected().keys() == {"chat", "search"})

    def errors() -> dict[str, str]:
        return dict(started.database.ask("SELECT name, sync_error FROM store_cluster"))

    assert eventually(lambda: "connection refused" in errors()["down"])
    assert eventually(lambda: "nowhere" in errors()["nowhere"])
    assert errors()["east"] == ""
