"""``python -m bench [--divisor N] [STAGE...]``: run the stages, print the table, fail where a limit isn't kept."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict

from bench.fleet import Size
from bench.measure import Measurement, table

__all__ = ["main", "run"]


def run(stage: str, divisor: int, data: str) -> list[Measurement]:
    """Run one stage in a process of its own, with the data folder ``data``.

    Raises:
        subprocess.CalledProcessError: the stage broke.
    """
    environment = {**os.environ, "OME_DASHBOARD_DATA": data, "DJANGO_SETTINGS_MODULE": "ome_dashboard.settings"}
    command = [sys.executable, "-m", "bench", "--inside", f"--divisor={divisor}", stage]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [Measurement(**each) for each in json.loads(done.stdout.splitlines()[-1])]


def _inside(stage: str, divisor: int) -> None:
    import django

    django.setup()
    from bench.stages import STAGES

    print(json.dumps([asdict(each) for each in STAGES[stage](Size().part(divisor))]))


def main() -> None:
    """Run what the arguments name; everything when they name nothing."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="only these; they build on the ones before")
    parser.add_argument("--divisor", type=int, default=1, help="a smaller fleet: 10 has a tenth of everything")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _inside(options.stages[0], options.divisor)
        return
    stages = options.stages or ["rules", "first_sync", "from_scratch", "one_change", "pages", "database_size"]
    size = Size().part(options.divisor)
    print(
        f"{size.services:,} services, {size.runtimes:,} runtimes, {size.models:,} models, {size.namespaces} namespaces"
    )
    measured: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="ome-bench-") as data:
        for stage in stages:
            found = run(stage, options.divisor, data)
            print(table(found), flush=True)
            measured += found
    if not all(each.kept for each in measured):
        sys.exit("a limit is not kept")


if __name__ == "__main__":
    main()
