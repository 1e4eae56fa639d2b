"""Runs a program that ends when whoever started it is gone, however that came to be.

``python -m ome_dashboard.tied FD -m some.module arguments`` or ``... FD script.py arguments``. ``FD`` is the reading
end of a pipe whose other end only the parent has. The kernel closes that end with the parent, also when it was killed.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from pathlib import Path

__all__ = ["main"]

GRACE = 5.0
"""Seconds to end cleanly in."""


def _wait_for_the_end(pipe: int) -> None:
    while os.read(pipe, 1):
        pass  # nobody writes; only the end of the pipe means something
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run what the command line names, as if Python had been started with it."""
    pipe, *arguments = sys.argv[1:]
    threading.Thread(target=_wait_for_the_end, args=(int(pipe),), daemon=True).start()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
