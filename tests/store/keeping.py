"""A process that keeps what is declared followed, with made-up lines: ``python -m tests.store.keeping``.

Each line tells a fleet, then a change of one service every tenth of a second, named after the process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import django

__all__ = ["main"]


def main() -> None:
    """Run until SIGTERM."""
    django.setup()
    from selection.cluster.events import Happening
    from selection.store.following import Line
    from selection.store.keeper import Keeper
    from selection.store.models import Cluster
    from tests.store.builders import model, runtime, service
    from tests.store.telling import FakeLine, everything, put

    class Busy(FakeLine):
        """Goes on telling in a thread of its own."""

        def start(self, tell: Callable[[Happening], None]) -> None:
            super().start(tell)
            threading.Thread(target=self.work, daemon=True).start()

        def work(self) -> None:
            number = 0
            pause = threading.Event()
            while not self.stopped:
                number += 1
                self.tell(put(service(f"by-{os.getpid()}", number=number)))
                pause.wait(0.1)

    def open_line(cluster: Cluster) -> Line:
        return Busy(*everything([model(), runtime("vllm"), service(f"first-of-{os.getpid()}")]))

    keeper = Keeper(open_line)

    def end(number: int, frame: object) -> None:
        keeper.stopping = True

    signal.signal(signal.SIGTERM, end)
    keeper.run()


if __name__ == "__main__":
    main()
