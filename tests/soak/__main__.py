"""Play the long forms and print their numbers: ``python -m tests.soak [--only NAME] [--database sqlite] [--short]``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.fleet import Size
from tests.apiserver.build import NoApiServer, assets, kubectl
from tests.apiserver.server import ApiServer
from tests.faces.cli import manage
from tests.postgresql import NoPostgreSQL, own_server
from tests.soak import scenarios
from tests.soak.client import Client
from tests.soak.herd import Herd
from tests.soak.world import World, world
from tests.store.databases import OwnDatabase

__all__ = ["main"]

LARGE = Size(services=4_800)
"""With what they run as, some 11,500 objects."""
SMALL = Size(services=400, runtimes=150, models=60, namespaces=6)
TINY = Size(services=60, runtimes=30, models=20, namespaces=3)

Numbers = dict[str, float]


@dataclass
class Stage:
    """What a scenario plays on."""

    world: World
    herd: Herd
    client: Client
    other: OwnDatabase
    folder: Path
    short: bool
    stop_database: Callable[[], None] | None
    start_database: Callable[[], None] | None


def _first_sync(stage: Stage) -> Numbers:
    return scenarios.first_sync(stage.world, len(stage.herd.everything), kubectl(), stage.folder)


def _change_to_page(stage: Stage) -> Numbers:
    process = stage.world.follow()
    stage.world.serve()
    stage.world.until_live(600)
    numbers = scenarios.change_to_page(stage.world, stage.herd, stage.client, changes=20 if stage.short else 200)
    stored = stage.world.database.ask("SELECT count(*) FROM store_storedobject")[0][0]
    return {"objects": stored, **numbers, "memory_mb": process.memory()}


def _storm(stage: Stage) -> Numbers:
    changes, seconds = (500, 2.0) if stage.short else (5000, 10.0)
    return scenarios.storm(stage.world, stage.herd, stage.client, stage.other, changes=changes, seconds=seconds)


def _killed(stage: Stage) -> Numbers:
    times = 3 if stage.short else 50
    return scenarios.killed_and_killed(stage.world, stage.herd, stage.client, stage.other, times=times)


def _api_server(stage: Stage) -> Numbers:
    times = 2 if stage.short else 10
    return scenarios.api_server_killed(stage.world, stage.herd, stage.client, stage.other, times=times)


def _permissions(stage: Stage) -> Numbers:
    return scenarios.permissions_withdrawn(stage.world, stage.herd, stage.client, stage.other)


def _definition(stage: Stage) -> Numbers:
    return scenarios.definition_deleted(stage.world, stage.herd, stage.client, stage.other)


def _two(stage: Stage) -> Numbers:
    return scenarios.two_processes(stage.world, stage.herd, stage.client, stage.other)


def _database(stage: Stage) -> Numbers:
    if stage.stop_database is None or stage.start_database is None:
        return {}  # a SQLite file doesn't go away
    return scenarios.database_gone(
        stage.world,
        stage.herd,
        stage.client,
        stage.other,
        stop=stage.stop_database,
        start=stage.start_database,
        seconds=5 if stage.short else 30,
    )


SCENARIOS: dict[str, tuple[Size, Callable[[Stage], Numbers]]] = {
    "first-sync": (LARGE, _first_sync),
    "change-to-page": (LARGE, _change_to_page),
    "storm": (LARGE, _storm),
    "follower-killed": (SMALL, _killed),
    "api-server-killed": (SMALL, _api_server),
    "database-gone": (SMALL, _database),
    "permissions": (SMALL, _permissions),
    "definition": (SMALL, _definition),
    "two-processes": (SMALL, _two),
}


@contextmanager
def _databases(
    kind: str, folder: Path
) -> Iterator[tuple[OwnDatabase, OwnDatabase, Callable[[], None] | None, Callable[[], None] | None]]:
    """Two migrated databases, and how to stop and start the server that has the first."""
    with ExitStack() as stack:
        if kind == "sqlite":
            found = [OwnDatabase(f"sqlite:///{file}", file) for file in (folder / "a.sqlite3", folder / "b.sqlite3")]
            stop = start = None
        else:
            servers = [stack.enter_context(own_server()) for _ in range(2)]
            found = [OwnDatabase(server.url) for server in servers]
            stop, start = servers[0].stop, servers[0].start
        for each in found:
            done = manage("migrate", "--verbosity", "0", env=each.env)
            assert done.code == 0, done.err
        yield found[0], found[1], stop, start


def _play(name: str, kind: str, *, short: bool) -> Numbers:
    size, scenario = SCENARIOS[name]
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        server = ApiServer(assets(), folder / "apiserver")
        stack.callback(server.close)
        server.start()
        server.install_definitions()
        herd = Herd.of(TINY if short else size)
        client = Client(server)
        client.fill(herd.everything)
        database, other, stop, start = stack.enter_context(_databases(kind, folder))
        played = stack.enter_context(world(server, database, folder))
        return scenario(Stage(played, herd, client, other, folder, short, stop, start))


def main() -> None:
    """Play what is asked for; leave with 1 when something didn't hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=SCENARIOS, help="this scenario; may be given again")
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"], help="on this database")
    parser.add_argument("--short", action="store_true", help="few objects and few kills: to see that it works")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    told: dict[str, dict[str, Numbers | str]] = {}
    failed = False
    for kind in options.database or ["sqlite", "postgresql"]:
        for name in options.only or SCENARIOS:
            began = time.monotonic()
            try:
                numbers = _play(name, kind, short=options.short)
                words = scenarios.as_lines(numbers) or "nothing to play"
                told.setdefault(kind, {})[name] = numbers
            except AssertionError as failure:
                failed = True
                words = f"DOES NOT HOLD: {failure}"
                told.setdefault(kind, {})[name] = str(failure)
            print(f"{kind} {name} ({time.monotonic() - began:.0f} s): {words}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(told, indent=2))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except (NoApiServer, NoPostgreSQL) as error:
        sys.exit(str(error))
