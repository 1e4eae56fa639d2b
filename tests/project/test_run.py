"""The pages and what follows the clusters as two processes of one command: started, ended and left together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.project.test_serve import ask, free_port
from tests.project.test_settings import ROOT, run

#: A program that says that it is there and goes on until it is told to end.
LASTS = """
import os, signal, sys, time
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
while True:
    time.sleep(0.05)
"""
DEAF = LASTS.replace("lambda *_: sys.exit(0)", "signal.SIG_IGN")
ENDS = """
import os, sys
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
sys.exit(3)
"""
SUPERVISE = """
import sys
import ome_dashboard.run as run
run.GRACE = 1.0
sys.exit(run.Supervisor(pages=[sys.argv[1], sys.argv[2]], watch=[sys.argv[3], sys.argv[4]], pauses=(0.3, 0.6)).run())
"""


class Both:
    """A supervisor of two programs, and the processes that each of them has had."""

    def __init__(self, folder: Path, pages: str, watch: str) -> None:
        self.folder = folder
        arguments = []
        for name, program in (("pages", pages), ("watch", watch)):
            (folder / f"{name}.py").write_text(program)
            arguments += [str(folder / f"{name}.py"), str(folder / name)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )

    def numbers(self, name: str) -> list[int]:
        file = self.folder / name
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    @property
    def running(self) -> list[int]:
        return [number for name in ("pages", "watch") for number in self.numbers(name) if is_there(number)]


def is_there(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(what: Callable[[], object], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it didn't come to be"
        time.sleep(0.05)


Start = Callable[[str, str], Both]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[Both] = []

    def begin(pages: str, watch: str) -> Both:
        made.append(Both(tmp_path, pages, watch))
        return made[-1]

    yield begin
    for each in made:
        for number in [each.process.pid, *each.running]:
            if is_there(number):
                os.kill(number, signal.SIGKILL)
        each.process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
class TestTwoProcesses:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_both_end_when_it_is_told_to(self, start: Start, number: signal.Signals) -> None:
        both = start(LASTS, LASTS)
        until(lambda: len(both.running) == 2)
        began = time.monotonic()
        both.process.send_signal(number)
        assert both.process.wait(timeout=30) == 0
        assert time.monotonic() - began < 3
        assert not both.running

    def test_one_that_does_not_listen_is_killed(self, start: Start) -> None:
        both = start(LASTS, DEAF)
        until(lambda: len(both.running) == 2)
        both.process.send_signal(signal.SIGTERM)
        assert both.process.wait(timeout=30) == 0
        assert not both.running

    def test_both_end_when_the_pages_end_and_the_status_is_theirs(self, start: Start) -> None:
        both = start(ENDS, LASTS)
        assert both.process.wait(timeout=30) == 3
        assert not both.running

    def test_pages_that_are_killed_are_told_by_the_status(self, start: Start) -> None:
        both = start(LASTS, LASTS)
        until(lambda: len(both.running) == 2)
        os.kill(both.numbers("pages")[0], signal.SIGKILL)
        assert both.process.wait(timeout=30) == 128 + signal.SIGKILL
        assert not both.running

    def test_following_that_cannot_start_is_tried_again_while_the_pages_stay(self, start: Start) -> None:
        both = start(LASTS, ENDS)
        until(lambda: len(both.numbers("watch")) >= 3)
        assert both.numbers("pages")[0] in both.running
        both.process.send_signal(signal.SIGTERM)
        told = both.process.communicate(timeout=30)[1].splitlines()
        assert told[0] == (
            "ome-dashboard: following the clusters ended with status 3; the pages go on, and it is tried again in 0.3 s"
        )
        assert told[1].endswith("in 0.6 s")

    def test_following_that_is_killed_is_started_again(self, start: Start) -> None:
        both = start(LASTS, LASTS)
        until(lambda: len(both.running) == 2)
        os.kill(both.numbers("watch")[0], signal.SIGKILL)
        until(lambda: len(both.numbers("watch")) == 2)
        assert len(both.running) == 2

    def test_nothing_is_left_when_it_is_killed_itself(self, start: Start) -> None:
        both = start(LASTS, LASTS)
        until(lambda: len(both.running) == 2)
        both.process.kill()
        until(lambda: not both.running, 8)


def test_the_real_two_serve_and_follow_and_end(tmp_path: Path) -> None:
    assert run(tmp_path, "manage.py", "migrate", "--verbosity", "0").returncode == 0
    port = free_port()
    ours = ("OME_DASHBOARD_", "DATABASE_URL", "DJANGO_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"OME_DASHBOARD_DATA": str(tmp_path), "OME_DASHBOARD_PORT": str(port), "KUBECONFIG": "/dev/null"}
    command = [sys.executable, "-m", "ome_dashboard.run", "--declared-only", "--alive", str(tmp_path / "alive")]
    both = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert ask(port, "/readyz")[0] == 200
        assert ask(port, "/")[0] == 200
        until((tmp_path / "alive").exists)
    finally:
        both.send_signal(signal.SIGINT)
        told = both.communicate(timeout=20)[1]
    assert both.returncode == 0, told
    assert "Traceback" not in told
    assert "ended" not in told, "following lasted"
