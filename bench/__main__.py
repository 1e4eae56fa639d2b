"""``python -m bench``: measure on the fleet of the design, and with a tenth of its services."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from typing import Any

from bench.fleet import Size
from tests.postgresql import NoPostgreSQL, postgresql

__all__ = ["main", "run"]

Found = dict[str, Any]


def run(stage: str, size: Size, data: str, url: str = "") -> Found:
    """Run one stage in a process of its own.

    Args:
        stage: its name.
        size: of the fleet.
        data: the data folder, with the SQLite database.
        url: another database.

    Raises:
        subprocess.CalledProcessError: the stage broke.
    """
    environment = {**os.environ, "OME_DASHBOARD_DATA": data, "DJANGO_SETTINGS_MODULE": "ome_dashboard.settings"}
    environment["DATABASE_URL"] = url
    command = [sys.executable, "-m", "bench", stage, *map(str, astuple(size))]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def _inside(stage: str, *counts: str) -> None:
    import django

    django.setup()
    from bench.stages import STAGES

    print(json.dumps(STAGES[stage](Size(*map(int, counts)))))


@contextmanager
def _postgresql() -> Iterator[tuple[str, str]]:
    """The URL of a server of our own, or ``""`` and the reason why there is none."""
    try:
        server = postgresql()
        url = server.__enter__()
    except NoPostgreSQL as error:
        yield "", str(error)
        return
    try:
        yield url, ""
    finally:
        server.__exit__(None, None, None)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _stored(name: str, runs: int, size: Size, url: str) -> Found:
    """Every stage with a database, a fresh one."""
    with tempfile.TemporaryDirectory(prefix="ome-bench-") as data:
        found: Found = {"fill": run("fill", size, data, url)}
        _say(f"  {name}: filled")
        found["full"] = [run("full", size, data, url) for _ in range(runs)]
        _say(f"  {name}: evaluated {runs} times")
        for stage in ("history", "changes", "older", "written", "pages", "database"):
            found[stage] = run(stage, size, data, url)
            _say(f"  {name}: {stage}")
    return found


def measure(runs: int, size: Size) -> Found:
    """Everything, on one size of the fleet."""
    _say(f"{size.services:,} services")
    found: Found = {"rules": [run("rules", size, "") for _ in range(runs)]}
    _say(f"  rules: {runs} times")
    found["sqlite"] = _stored("SQLite", runs, size, "")
    with _postgresql() as (url, reason):
        found["postgresql"] = _stored("PostgreSQL", runs, size, url) if url else {"reason": reason}
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how often each full evaluation is measured (3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--quick", action="store_true", help="once, on a fiftieth of the fleet: to see that it works")
    parser.add_argument("--strict", action="store_true", help="fail where a limit is not kept")
    parser.add_argument("inside", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _inside(*options.inside)
        return
    runs, size = (1, Size().part(50)) if options.quick else (max(1, options.runs), Size())
    if options.quick:
        os.environ["BENCH_ROUNDS"] = "2"
    machine: Found = {
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
    }
    large, small = measure(runs, size), measure(runs, size.tenth())

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ome_dashboard.settings")
    import django

    django.setup()
    from bench.report import kept, report, text

    found = report(size, runs, large, small, machine)
    print(json.dumps(found, indent=2) if options.json else text(found))
    if options.strict and not kept(found):
        sys.exit("a limit is not kept")


if __name__ == "__main__":
    main()
