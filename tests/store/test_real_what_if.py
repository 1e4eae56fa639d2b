"""What-if against a real API server: what it says of manifests is what comes of applying them and syncing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.pasted import read_pasted
from selection.rules.explain import explain_service
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.what_if_answer import Standing
from selection.rules.what_if_changes import standing_of
from selection.store.fleets import fleet_of
from selection.store.models import Cluster
from selection.store.what_if import suppose
from tests.apiserver.server import ApiError, ApiServer
from tests.faces.cli import as_yaml, run

from .builders import MODE, Manifest, model, runtime, service, workload

pytestmark = [pytest.mark.apiserver, pytest.mark.django_db]

NAMESPACE = "of-what-if"
MODEL = {"name": "of-what-if"}


def bare(manifest: Manifest) -> Manifest:
    """A manifest as a person writes it: the API server sets the rest."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in {"uid", "resourceVersion"}}
    return {**manifest, "metadata": metadata}


def a_runtime(name: str, namespace: str = "", *, priority: int = 1, **spec: Any) -> Manifest:
    """A runtime that serves the model of these tests alone."""
    entry = {
        "modelFormat": {"name": "safetensors"},
        "modelArchitecture": "OfWhatIf",
        "autoSelect": True,
        "priority": priority,
    }
    return bare(runtime(f"of-what-if-{name}", namespace, supportedModelFormats=[entry], **spec))


def a_service(name: str, **spec: Any) -> Manifest:
    return bare(service(name, NAMESPACE, **{"model": MODEL, **spec}))


MULTI = {"annotations": {MODE: "MultiNode"}}
NATIVE = {"annotations": {MODE: "OMENative"}}
THERE = [
    bare(model("of-what-if", modelArchitecture="OfWhatIf")),
    a_runtime("one", priority=3),
    a_runtime("two", priority=2, engineConfig=MULTI),
    a_runtime("parent", disabled=True, engineConfig={"minReplicas": 1}),
    a_service("auto"),
    a_service("asks", engine=MULTI),
    a_service("named", runtime={"name": "of-what-if-two"}),
    a_service("missing", runtime={"name": "of-what-if-later"}),
    a_service("pinned", runtime={"name": "of-what-if-one", "autoSync": False}),
    a_service("leaves"),
    bare(workload("InferenceReplica", "auto-engine", "auto", NAMESPACE, by="of-what-if-one")),
]
"""What is there before; ``pinned`` has a status by then."""

SETS: dict[str, tuple[list[Manifest], list[Manifest]]] = {
    "a runtime deleted": ([], [THERE[1]]),
    "a runtime that comes first": ([a_runtime("three", NAMESPACE, engineConfig=NATIVE)], []),
    "a runtime changed": ([a_runtime("two", priority=9, engineConfig=NATIVE)], []),
    "a runtime that somebody waits for": ([a_runtime("later")], []),
    "a model of the namespace": ([bare(model("of-what-if", NAMESPACE, modelArchitecture="Another"))], []),
    "the model deleted": ([], [THERE[0]]),
    "services added, changed and deleted": (
        [a_service("new", decoder={}), a_service("auto", engine=NATIVE), a_service("pinned", runtime=None)],
        [a_service("leaves")],
    ),
    "inheritance": (
        [
            bare(
                runtime("of-what-if-two", annotations={"ome.io/inherit-from": "of-what-if-parent"}, engineConfig=NATIVE)
            ),
            a_service("heir", runtime={"name": "of-what-if-two"}),
        ],
        [],
    ),
    "an object that can't be read": ([a_runtime("one", disabled="yes"), a_service("odd", engine=7)], []),
    "a workload of the service": (
        [bare(workload("LeaderWorkerSet", "auto-engine", "auto", NAMESPACE, by="of-what-if-two"))],
        [],
    ),
    "what is there, given again": (THERE, []),
    "all at once": (
        [
            a_runtime("three", NAMESPACE, priority=1),
            a_runtime("two", priority=9, modelSizeRange={"min": "1B", "max": "2B"}),
            a_service("new", runtime={"name": "of-what-if-three", "kind": "ServingRuntime"}),
            a_service("asks"),
        ],
        [THERE[1], a_service("leaves"), a_service("named")],
    ),
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"KUBECONFIG", "KUBERNETES_SERVICE_HOST"}:
            monkeypatch.delenv(name)


@pytest.fixture
def server(apiserver: ApiServer) -> Iterator[ApiServer]:
    """An API server on which everything is as at the beginning."""
    for each in THERE:
        apiserver.apply(each)
    pinned = apiserver.get(a_service("pinned"))
    status = {"pinnedRevisionName": "cr-of-what-if-one-0123abcd"}
    path = f"/apis/ome.io/v1beta1/namespaces/{NAMESPACE}/inferenceservices/pinned/status"
    apiserver.request("PUT", path, {**pinned, "status": status})
    yield apiserver
    every = [*THERE, *(each for put, _ in SETS.values() for each in put)]
    for each in {ref_of(each): each for each in every}.values():
        with suppress(ApiError):  # most of it isn't there
            apiserver.delete(each)


def synced(kubeconfig: Path) -> Cluster:
    run("sync", "--kubeconfig", kubeconfig)
    return Cluster.objects.latest("sync_finished_at")


def standings(fleet: Fleet) -> dict[ObjectRef, Standing]:
    unread = {(ref.namespace, ref.name) for ref in fleet.problems if ref.kind == "InferenceService"}
    keys = fleet.services.keys() | unread
    return {ObjectRef("InferenceService", *key): standing_of(explain_service(fleet, *key, brief=True)) for key in keys}


@pytest.mark.parametrize("name", SETS)
def test_it_says_what_comes_of_applying_the_manifests_and_syncing(server: ApiServer, name: str) -> None:
    put, gone = SETS[name]
    kubeconfig = server.kubeconfig(name="what-if")
    cluster = synced(kubeconfig)
    before = standings(fleet_of(cluster))
    pasted = read_pasted(as_yaml(*put) if put else "")
    supposed = suppose(cluster, pasted, [ref_of(each) for each in gone])
    answer = supposed.answer
    assert answer is not None
    assert standings(answer.before) == before
    supposed_after = standings(answer.after)
    for each in put:
        server.apply(each)
    for each in gone:
        server.delete(each)
    real = fleet_of(synced(kubeconfig))
    after = standings(real)
    assert supposed_after == after
    told = {row.service: (row.before, row.after) for row in answer.services}
    every = before.keys() | after.keys()
    differing = {ref: (before.get(ref), after.get(ref)) for ref in every if before.get(ref) != after.get(ref)}
    assert differing.items() <= told.items()
    assert {ref: problem.path for ref, problem in answer.after.problems.items()} == {
        ref: problem.path for ref, problem in real.problems.items()
    }


def test_what_is_there_given_again_is_unchanged(server: ApiServer) -> None:
    cluster = synced(server.kubeconfig(name="what-if"))
    supposed = suppose(cluster, read_pasted(as_yaml(*THERE)))
    assert supposed.answer is not None
    assert {each.act for each in supposed.answer.given} == {"unchanged"}
    assert supposed.answer.services == ()
