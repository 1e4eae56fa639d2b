"""A whole move, step by step on a real API server: the board follows it, and so do the next plan's steps."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.build import NoApiServer, kubectl
from tests.apiserver.server import ApiError, ApiServer
from tests.faces.cli import manage

from .builders import MODE, Manifest, model, runtime, service, workload
from .databases import OwnDatabase
from .test_real_cluster import bare
from .test_real_following import Watch, eventually

pytestmark = [pytest.mark.apiserver]

NAMESPACE = "moved"
MULTI = "moved-multi"
POD = {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}
PARTS: dict[str, Any] = {"leader": POD, "worker": {"size": 1, **POD}, "annotations": {MODE: "MultiNode"}}
FLEET = [
    bare(each)
    for each in (
        model("moved"),
        runtime(MULTI, engineConfig=PARTS),
        service("chat", NAMESPACE, model={"name": "moved"}, runtime={"name": MULTI}),
        workload("LeaderWorkerSet", "lws-chat-engine", "chat", NAMESPACE, by=MULTI),
    )
]
REPLICA = bare(workload("InferenceReplica", "chat-engine", "chat", NAMESPACE, by=f"{MULTI}-omenative"))
COPY = bare(runtime(f"{MULTI}-omenative"))


class Mover:
    """Who carries a plan out, and looks at the board."""

    def __init__(self, watch: Watch, kubeconfig: Path, folder: Path) -> None:
        self.watch, self.kubeconfig, self.folder = watch, kubeconfig, folder
        self.binary = kubectl()

    def asked(self, *arguments: str) -> str:
        done = manage("migrate-plan", "--cluster", "east", *arguments, env=self.watch.database.env)
        assert done.code == 0, done.err
        return done.out

    def steps(self) -> dict[str, Any]:
        """The plan's steps by purpose, made of what is stored now."""
        plan = json.loads(self.asked("--isvc", f"{NAMESPACE}/chat", "-o", "json"))
        return {step["purpose"]: step for step in plan["steps"]}

    def run(self, commands: list[str]) -> None:
        path = f"{self.binary.parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": path}
        for each in commands:
            done = subprocess.run(["sh", "-c", each], cwd=self.folder, env=env, capture_output=True, check=False)
            assert done.returncode == 0, f"{each}: {done.stderr.decode()}"

    def board(self) -> list[tuple[str, str, str]]:
        """State, mode and workloads of the service's components."""
        query = "SELECT migration, running, workloads FROM store_componentresult c JOIN store_serviceresult s"
        return self.watch.database.ask(f"{query} ON c.result_id = s.id WHERE s.namespace = '{NAMESPACE}'")

    def sees(self, *row: str) -> bool:
        return eventually(lambda: self.board() == [row])


@pytest.fixture
def mover(
    apiserver: ApiServer, own_database: OwnDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Mover]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    kubeconfig = apiserver.kubeconfig(name="east")
    for each in FLEET:
        apiserver.apply(each)
    watch = Watch(own_database, tmp_path / "log", "--kubeconfig", kubeconfig)
    try:
        yield Mover(watch, kubeconfig, tmp_path)
    except NoApiServer as error:
        pytest.skip(f"no kubectl: {error}")
    finally:
        watch.end()
        for each in (*FLEET, REPLICA, COPY):
            with suppress(ApiError):  # what the plan deleted is gone
                apiserver.delete(each)


def test_the_board_follows_a_move_step_by_step_and_back(apiserver: ApiServer, mover: Mover) -> None:
    assert mover.sees("not-started", "MultiNode", "LeaderWorkerSet")
    steps = mover.steps()
    assert list(steps) == ["create-runtime", "move", "free-accelerators", "wait", "delete-leftovers"]

    file: Manifest = steps["create-runtime"]["facts"]
    (mover.folder / str(file["file"])).write_text(mover.asked("--runtime", MULTI, "-o", "yaml"))
    mover.run(steps["create-runtime"]["commands"])
    assert eventually(lambda: "create-runtime" not in mover.steps())

    mover.run(steps["move"]["commands"])
    assert mover.sees("not-started", "OMENative", "LeaderWorkerSet")  # OME hasn't acted yet
    assert "move" not in mover.steps()

    apiserver.apply(REPLICA)  # as OME does
    assert mover.sees("cleanup-due", "OMENative", "InferenceReplica, LeaderWorkerSet")
    assert list(mover.steps()) == ["wait", "delete-leftovers"]

    mover.run(steps["delete-leftovers"]["commands"])
    assert mover.sees("done", "OMENative", "InferenceReplica")
    assert mover.steps() == {}

    mover.run(steps["move"]["back"])
    assert mover.sees("not-started", "MultiNode", "")
    assert "move" in mover.steps()
