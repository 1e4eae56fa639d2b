"""A whole installation on this machine: the API server, a database, processes that follow it, and the web server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from tests.apiserver.server import ApiServer
from tests.faces.cli import ROOT, manage
from tests.store.databases import OwnDatabase

__all__ = ["Process", "World", "eventually", "synced_afresh", "world"]

CLUSTER = "east"


def eventually(holds: Callable[[], bool], what: str, *, seconds: float = 60.0, pause: float = 0.1) -> float:
    """Wait until something holds; return how long that took, in seconds.

    Raises:
        AssertionError: it doesn't, after so many seconds.
    """
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)
    return time.monotonic() - began


@dataclass
class Process:
    """A process of ours with its log."""

    popen: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """SIGKILL: no time to tidy up."""
        self.popen.kill()
        self.popen.wait(30)

    def end(self, seconds: float = 15.0) -> int:
        """SIGTERM, and its exit code.

        Raises:
            subprocess.TimeoutExpired: it doesn't end in time.
        """
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(seconds)

    def words(self) -> str:
        """What it said."""
        return self.log.read_text(errors="replace")

    def memory(self) -> float:
        """Its resident memory now, in MB."""
        for line in Path(f"/proc/{self.popen.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0


@dataclass
class World:
    """What a scenario plays with. ``folder`` is its own."""

    server: ApiServer
    database: OwnDatabase
    folder: Path
    processes: list[Process] = field(default_factory=list)
    port: int = 0

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of its processes."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("OME_DASHBOARD_")}
        return {**kept, **self.database.env, "OME_DASHBOARD_DATA": str(self.folder / "data"), "PYTHONUNBUFFERED": "1"}

    def start(self, name: str, *arguments: str, **variables: str) -> Process:
        """Start Python with these arguments."""
        log = self.folder / f"{name}-{len(self.processes)}.log"
        with log.open("ab") as output:
            popen = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**self.environment, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        process = Process(popen, log)
        self.processes.append(process)
        return process

    def follow(self, *, kubeconfig: Path | None = None) -> Process:
        """A process that follows the API server as the cluster ``east``."""
        config = kubeconfig or self.server.kubeconfig(name=CLUSTER)
        return self.start("watch", "manage.py", "sync", "--watch", "--kubeconfig", str(config), "--cluster", CLUSTER)

    def serve(self) -> Process:
        """The web server; :meth:`get` asks it."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        process = self.start("web", "-m", "ome_dashboard.serve", OME_DASHBOARD_PORT=str(self.port))
        eventually(lambda: self._answers(), "the web server answers", seconds=30)
        return process

    def get(self, path: str) -> urllib3.BaseHTTPResponse:
        """A page."""
        return _POOL.request("GET", f"http://127.0.0.1:{self.port}{path}", timeout=10.0, retries=False)

    def _answers(self) -> bool:
        with suppress(urllib3.exceptions.HTTPError):
            return self.get("/clusters/").status == 200
        return False

    def cluster(self, columns: str) -> tuple[Any, ...] | None:
        """Columns of the cluster's row, None while there is none."""
        return next(iter(self.database.ask(f"SELECT {columns} FROM store_cluster WHERE name = '{CLUSTER}'")), None)

    def is_live(self) -> bool:
        """Whether every kind that is served is watched, and everything stored is judged."""
        found = self.cluster("id, generation, evaluated_generation")
        if found is None or found[1] != found[2] or found[2] == 0:
            return False
        kinds = self.database.ask(f"SELECT watching, outcome FROM store_kindsync WHERE cluster_id = {found[0]}")
        return len(kinds) == 10 and all(watching or outcome == "not-served" for watching, outcome in kinds)

    def until_live(self, seconds: float = 120.0) -> float:
        """Wait for that; return the seconds it took."""
        return eventually(self.is_live, "the cluster is live", seconds=seconds)

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.processes:
            if process.popen.poll() is None:
                process.kill()


_POOL = urllib3.PoolManager(maxsize=16)


@contextmanager
def world(server: ApiServer, database: OwnDatabase, folder: Path) -> Iterator[World]:
    """An installation that ends with the block."""
    made = World(server, database, folder)
    try:
        yield made
    finally:
        made.end()


def synced_afresh(world: World, other: OwnDatabase) -> None:
    """Read the cluster once, into another database."""
    config = world.server.kubeconfig(name=CLUSTER)
    done = manage("sync", "--kubeconfig", config, "--cluster", CLUSTER, env=other.env)
    assert done.code == 0, done.err
