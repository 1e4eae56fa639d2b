"""The pages and what follows the clusters, together: ``python -m ome_dashboard.run [options of sync --watch]``.

Two processes, for they fail differently. The pages are what people look at: when they end, everything ends. Following
may fail (no kubeconfig, a cluster that is gone): then it is started again, after longer and longer pauses, while the
pages go on showing what is stored. Ctrl-C and SIGTERM end both; when this process is killed, they end by themselves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Supervisor", "main"]

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("-m", "ome_dashboard.serve")
WATCH = ("manage.py", "sync", "--watch")

GRACE = 8.0
"""Seconds to end cleanly in, before a process is killed."""
PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds before following is started again, each time it ended soon."""
LONG = 120.0
"""Seconds after which it had been running well: the pauses begin anew."""
LOOK = 0.2


def _say(line: str) -> None:
    print(f"ome-dashboard: {line}", file=sys.stderr, flush=True)


@dataclass
class Supervisor:
    """Runs two programs of this Python until the first ends or somebody stops it.

    Attributes:
        pages: arguments of Python for the program that must go on.
        watch: those for the one that is started again.
        pauses: seconds before it is, the first time, the second, and so on.
    """

    pages: Sequence[str] = PAGES
    watch: Sequence[str] = WATCH
    pauses: Sequence[float] = PAUSES
    clock: Callable[[], float] = time.monotonic
    _children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _asked: int = 0
    _failures: int = 0
    _began: float = 0.0
    _again_at: float | None = None

    def run(self) -> int:
        """Run both; return the status to exit with: 0 when it was asked to end, otherwise that of the pages."""
        pipe, held = os.pipe()  # nobody inherits the second one: it closes with this process
        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            self._start("pages", self.pages, pipe)
            self._start("watch", self.watch, pipe)
            while (status := self._children["pages"].poll()) is None and not self._asked:
                self._look_after_watch(pipe)
                time.sleep(LOOK)
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(pipe)
            os.close(held)
        if status is None:
            return 0
        return status if status >= 0 else 128 - status

    def _stop(self, number: int, frame: object) -> None:
        self._asked += 1

    def _start(self, name: str, arguments: Sequence[str], pipe: int) -> None:
        command = [sys.executable, "-m", "ome_dashboard.tied", str(pipe), *arguments]
        # A session of its own: Ctrl-C reaches this process alone, which then ends the others in order.
        self._children[name] = subprocess.Popen(  # noqa: S603 -- the words are ours
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sys.stderr, pass_fds=[pipe], start_new_session=True
        )
        if name == "watch":
            self._began, self._again_at = self.clock(), None

    def _look_after_watch(self, pipe: int) -> None:
        now, status = self.clock(), self._children["watch"].poll()
        if status is None:
            return
        if self._again_at is None:
            self._failures = 0 if now - self._began > LONG else self._failures
            pause = self.pauses[min(self._failures, len(self.pauses) - 1)]
            self._failures += 1
            self._again_at = now + pause
            how = f"with status {status}" if status >= 0 else f"by signal {-status}"
            _say(f"following the clusters ended {how}; the pages go on, and it is tried again in {pause:g} s")
        elif now >= self._again_at:
            self._start("watch", self.watch, pipe)

    def _end(self) -> None:
        """End both, kindly first. Asking once more is for those who can't wait."""
        until, asked = self.clock() + GRACE, self._asked
        for child in self._children.values():
            child.terminate()
        while any(child.poll() is None for child in self._children.values()):
            if self.clock() > until or self._asked > max(1, asked):
                for child in self._children.values():
                    child.kill()
            time.sleep(LOOK / 4)


def main() -> None:
    """Run both until told to end; the options are those of ``manage.py sync --watch``."""
    sys.exit(Supervisor(watch=(*WATCH, *sys.argv[1:])).run())


if __name__ == "__main__":
    main()
