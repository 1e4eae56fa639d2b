"""``manage.py check`` on top of a cluster or a snapshot: what the input refers to is there, and others are reached."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.kinds import CLUSTER_SERVING_RUNTIME, DEPLOYMENT, KINDS, LEADER_WORKER_SET, OME_NAMESPACE
from selection.cluster.snapshots import SnapshotHead, write_snapshot
from tests.cluster.fakes import Answer, FakeServer, page
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

from .cli import as_yaml
from .test_command_check import checked, refused

Manifest = Mapping[str, Any]

CLUSTER = [
    a_model(),
    a_runtime("fast", None, an_entry(priority=2)),
    a_service("chat"),
    a_service("broken", model={"name": "nobody"}),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with ``cluster.yaml`` for the cluster; the input is ``input.yaml``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.yaml").write_text(as_yaml(*CLUSTER))
    return tmp_path


def told(*manifests: Manifest, on: str = "cluster.yaml", more: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The problems of these manifests on top of the cluster."""
    Path("input.yaml").write_text(as_yaml(*manifests))
    found: list[dict[str, Any]] = json.loads(checked("input.yaml", "--on", on, *more, "-o", "json")[1])["problems"]
    return found


def said(*manifests: Manifest, more: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(each["code"], each["object"]["name"]) for each in told(*manifests, more=more)]


def test_what_the_input_refers_to_is_found_in_the_cluster(here: Path) -> None:
    assert said(a_service("new")) == []
    assert said(a_service("new", model={"name": "other"})) == [("invalid", "new")]


def test_what_is_wrong_in_the_cluster_is_told_only_when_asked_for(here: Path) -> None:
    assert said(a_model(), more=("--all",)) == [("invalid", "broken")]
    [of_cluster] = told(a_model(), more=("--all",))
    assert (of_cluster["file"], of_cluster["line"]) == (None, None)
    text = checked("input.yaml", "--on", "cluster.yaml", "--all")[1].splitlines()
    assert text[0].startswith("cluster: error invalid InferenceService team/broken: ")
    log = json.loads(checked("input.yaml", "--on", "cluster.yaml", "--all", "-o", "sarif")[1])
    assert log["runs"][0]["results"] == []
    [note] = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "stand in no file: 1." in note["message"]["text"]


OTHERS: dict[str, tuple[list[Manifest], list[tuple[str, str]]]] = {
    "a runtime that another one loses its service to": (
        [a_runtime("faster", None, an_entry(priority=3))],
        [("other-another-runtime", "chat"), ("shadowed", "fast")],
    ),
    "a runtime that doesn't fit any more": (
        [a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"}))],
        [("other-loses-runtime", "chat"), ("other-refused-now", "chat")],
    ),
    "a runtime that takes the mode over": (
        [a_runtime("fast", None, an_entry(priority=2), engineConfig=moded("MultiNode"))],
        [
            ("deprecated", "fast"),
            ("other-conflict-appears", "chat"),
            ("other-conflict-appears", "chat"),
            ("other-mode-changes", "chat"),
            ("other-spec-differs", "chat"),
        ],
    ),
    "a model that was missing": (
        [a_model("nobody")],
        [("other-admitted-now", "broken"), ("other-gets-runtime", "broken"), ("other-model-differs", "broken")],
    ),
    "a model that is another one then": (
        [a_model("llama", "team")],
        [("other-model-differs", "chat")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_what_the_input_does_to_others_is_told_where_it_stands(case: str, here: Path) -> None:
    manifests, expected = OTHERS[case]

    found = told(*manifests)

    assert sorted((each["code"], each["object"]["name"]) for each in found) == sorted(expected)
    for each in found:
        assert each["file"] == "input.yaml"
        if each["object"]["name"] in {"chat", "broken"}:
            assert each["line"] == 1
            assert each["cause"]["name"] == manifests[0]["metadata"]["name"]
            assert each["message"].startswith(f"InferenceService team/{each['object']['name']}: ")


def test_of_many_services_that_change_alike_the_first_are_told_and_the_rest_counted(here: Path) -> None:
    many = [a_service(f"chat-{number:03}") for number in range(100)]
    Path("cluster.yaml").write_text(as_yaml(*CLUSTER[:2], *many))

    found = [
        each
        for each in told(a_runtime("faster", None, an_entry(priority=3)))
        if each["code"] == "other-another-runtime"
    ]

    assert len(found) == 21
    assert [each["message"] for each in found if each["object"]["name"] == "faster"] == [
        "ClusterServingRuntime faster: Another service's runtime changes: 80 more like the ones that are told"
    ]


def test_nothing_is_done_by_what_is_there_already(here: Path) -> None:
    assert said(*CLUSTER[:3]) == []


def test_a_snapshot_says_which_release_it_is_of(here: Path) -> None:
    with Path("prod.ome-snapshot.gz").open("wb") as file:
        write_snapshot(file, SnapshotHead("prod", "1.2", "ome", "2026-01-01T00:00:00Z"), CLUSTER)
    Path("input.yaml").write_text(as_yaml(a_service("new", engine={"leader": {}, "worker": {}})))

    _, text = checked("input.yaml", "--on", "prod.ome-snapshot.gz")

    assert "warning moves-by-shape InferenceService team/new: " in text
    assert text.splitlines()[-1].endswith("1 object in 1 file on top of prod.ome-snapshot.gz, by OME 1.2")
    assert checked("input.yaml", "--on", "prod.ome-snapshot.gz", "--ome-version", "1.3")[1].endswith("by OME 1.3\n")
    assert checked("prod.ome-snapshot.gz")[1].endswith("by OME 1.2\n")


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("none.yaml", "none.yaml: no such file or directory"),
        ("empty.yaml", "empty.yaml: no object of a kind that OME knows"),
    ],
)
def test_nothing_to_stand_on_ends_with_2(on: str, words: str, here: Path) -> None:
    Path("empty.yaml").write_text("")

    assert refused("cluster.yaml", "--on", on) == words


@pytest.mark.django_db
def test_a_cluster_of_the_database_is_stood_on_by_its_own_release(here: Path) -> None:
    store(*CLUSTER, name="prod", version="1.2")
    Path("input.yaml").write_text(as_yaml(a_service("new")))

    assert checked("input.yaml", "--cluster", "prod")[1] == (
        "no problems; 1 object in 1 file on top of cluster prod, by OME 1.2\n"
    )
    assert refused("input.yaml", "--cluster", "prd") == "there is no cluster 'prd'; did you mean prod?"


@pytest.fixture
def api(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """An API server that lists the cluster, and a kubeconfig that leads to it, with the context ``prod``."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    server = FakeServer()
    answers = {
        kind.path(OME_NAMESPACE if kind.namespace_scope == "ome" else None): page(
            [dict(manifest) for manifest in CLUSTER if manifest["kind"] == kind.kind]
        )
        for kind in KINDS
    }
    del answers[LEADER_WORKER_SET.path()]
    answers["/apis"] = Answer({"kind": "APIGroupList", "groups": []})
    answers[DEPLOYMENT.path()] = Answer({"message": "no right to list it"}, 403)
    server.respond = lambda asked: answers.get(asked.path) or Answer({"message": "no such group"}, 404)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "clusters": [{"name": "prod", "cluster": {"server": server.url}}],
        "users": [{"name": "me", "user": {"token": "x"}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
    }
    (here / "config").write_text(json.dumps(config))
    yield server
    server.close()


@pytest.mark.parametrize("how", [("--on-cluster",), ("--context", "prod")])
def test_a_live_cluster_is_read_and_stood_on(how: tuple[str, ...], api: FakeServer) -> None:
    Path("input.yaml").write_text(as_yaml(a_service("new")))

    lines = checked("input.yaml", *how, "--kubeconfig", "config")[1].splitlines()

    assert len(lines) == 2
    assert lines[0].startswith("cluster prod: Deployment: forbidden: ")
    assert lines[0].endswith("; judged without")
    assert lines[1] == "no problems; 1 object in 1 file on top of cluster prod, by OME 1.3"


def test_a_kind_that_decides_has_to_be_read(api: FakeServer) -> None:
    listed = api.respond
    assert listed is not None
    forbidden = CLUSTER_SERVING_RUNTIME.path()
    api.respond = lambda asked: Answer({"message": "no"}, 403) if asked.path == forbidden else listed(asked)

    told = refused("cluster.yaml", "--on-cluster", "--kubeconfig", "config")

    assert told.startswith("cluster prod: ClusterServingRuntime: forbidden: ")


def test_a_cluster_out_of_reach_ends_with_2(api: FakeServer) -> None:
    api.respond = lambda _: Answer({"message": "who are you"}, 401)

    assert refused("cluster.yaml", "--on-cluster", "--kubeconfig", "config")


def test_outside_of_a_cluster_there_is_none_to_be_in(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    assert refused("cluster.yaml", "--in-cluster")
