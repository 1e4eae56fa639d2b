"""Exactly one process follows a cluster, and another one soon after it died, however it died."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from selection.store import claims, keepalives
from selection.store.claims import open_locks
from selection.store.declarations import Declaration
from selection.store.declared import declare
from selection.store.models import Cluster
from tests.faces.cli import ROOT
from tests.postgresql import NoPostgreSQL, own_server

from .databases import OwnDatabase
from .shared import shared_database

__all__ = ["shared_database"]

TAKEN_OVER_WITHIN = 30.0
"""Seconds; what is promised."""


class Process:
    """A process that keeps declared clusters followed."""

    def __init__(self, env: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as output:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "tests.store.keeping"],
                cwd=ROOT,
                env={
                    **os.environ,
                    **env,
                    "DJANGO_SETTINGS_MODULE": "ome_dashboard.settings",
                    "OME_DASHBOARD_LOG_FORMAT": "json",
                },
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        return self.popen.pid

    def told(self) -> list[dict[str, Any]]:
        """Its log."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def says(self, message: str) -> bool:
        return any(each["message"] == message for each in self.told())

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait(timeout=30)


@pytest.fixture
def started(own_database: OwnDatabase, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    with ExitStack() as stack:

        def start(env: dict[str, str] | None = None) -> Process:
            process = Process(env or own_database.env, tmp_path / f"log-{time.monotonic_ns()}")
            stack.callback(process.end)
            return process

        yield start


def holder(database: OwnDatabase) -> tuple[Any, ...]:
    found = database.ask("SELECT holder, claim FROM store_cluster WHERE name = 'east'")
    return found[0] if found else ("", 0)


def held_by(database: OwnDatabase, process: Process) -> bool:
    return str(holder(database)[0]).endswith(f":{process.pid}")


def writes(database: OwnDatabase, process: Process) -> bool:
    query = "SELECT name FROM store_storedobject"
    return (f"by-{process.pid}",) in database.ask(query)


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def east(shared_database: OwnDatabase) -> OwnDatabase:
    """A database with a declared cluster."""
    declare(Declaration("east", context="east"), Cluster.DeclaredBy.PAGE)
    connection.close()
    return shared_database


def test_another_process_takes_over_when_the_holder_is_killed(
    east: OwnDatabase, started: Callable[..., Process]
) -> None:
    first = started()
    assert eventually(lambda: held_by(east, first) and writes(east, first))
    second = started()
    assert eventually(lambda: second.says("another process follows: waiting to take over"))
    assert held_by(east, first)
    first.popen.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    assert eventually(lambda: held_by(east, second) and writes(east, second), TAKEN_OVER_WITHIN)
    assert time.monotonic() - killed < TAKEN_OVER_WITHIN
    assert second.says("taken over")
    assert holder(east)[1] == 2
    names = {name for (name,) in east.ask("SELECT name FROM store_storedobject")}
    assert f"by-{first.pid}" not in names, "what the first had told is not in the lists of the second"


def test_a_process_that_is_told_to_end_gives_back_its_claim(east: OwnDatabase, started: Callable[..., Process]) -> None:
    first = started()
    assert eventually(lambda: writes(east, first))
    began = time.monotonic()
    first.popen.send_signal(signal.SIGTERM)
    assert first.popen.wait(timeout=30) == 0
    assert time.monotonic() - began < 5
    assert holder(east) == ("", 1)
    assert east.ask("SELECT count(*) FROM store_kindsync WHERE watching")[0] == (0,)
    second = started()
    assert eventually(lambda: held_by(east, second))
    assert second.says("claimed")
    assert not second.says("taken over")


@pytest.mark.postgresql
def test_a_holder_that_was_cut_off_writes_nothing_any_more(east: OwnDatabase, started: Callable[..., Process]) -> None:
    first = started()
    assert eventually(lambda: writes(east, first))
    second = started()
    assert eventually(lambda: second.says("another process follows: waiting to take over"))
    first.popen.send_signal(signal.SIGSTOP)
    # Its host is gone, as far as the server knows: the claim's session, and one that stopped amid a transaction.
    east.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
    amid = "state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'"
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND {amid}"
    assert eventually(lambda: bool(east.ask(ended)) or (held_by(east, second) and writes(east, second)))
    assert eventually(lambda: held_by(east, second) and writes(east, second))
    first.popen.send_signal(signal.SIGCONT)
    assert eventually(lambda: first.says("left"))
    assert held_by(east, second)
    assert holder(east)[1] == 2
    assert not writes(east, first)


@pytest.mark.postgresql
def test_processes_share_the_clusters(east: OwnDatabase, started: Callable[..., Process]) -> None:
    for name in ("north", "south", "west"):
        declare(Declaration(name, context=name), Cluster.DeclaredBy.PAGE)
    connection.close()
    both = [started(), started()]
    query = "SELECT holder FROM store_cluster"
    assert eventually(lambda: ("",) not in east.ask(query))
    holders = {int(name.rsplit(":", 1)[1]) for (name,) in east.ask(query)}
    assert holders == {each.pid for each in both}


def test_it_outlasts_the_database_server(started: Callable[..., Process]) -> None:
    try:
        with own_server() as server:
            database = OwnDatabase(server.url)
            migrated = subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
                cwd=ROOT, env={**os.environ, **database.env}, check=False,
            )  # fmt: skip
            assert migrated.returncode == 0
            process = started({**database.env, "OME_DASHBOARD_CLUSTERS": "east=east"})
            assert eventually(lambda: held_by(database, process) and writes(database, process))
            server.stop()
            assert eventually(lambda: process.says("the database is gone"))
            time.sleep(3)
            server.start()
            assert eventually(lambda: holder(database)[1] >= 2)
            query = "SELECT events FROM store_kindsync WHERE kind = 'InferenceService'"
            [(before,)] = database.ask(query)
            assert eventually(lambda: database.ask(query)[0][0] > before)
            process.popen.send_signal(signal.SIGTERM)
            assert process.popen.wait(timeout=30) == 0
    except NoPostgreSQL as error:
        pytest.skip(f"no PostgreSQL: {error}")


# --- locks -------------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.usefixtures("shared_database")
def test_a_lock_goes_with_its_connection() -> None:
    cluster = declare(Declaration("east", context="east"), Cluster.DeclaredBy.PAGE)
    one, other = open_locks(), open_locks()
    assert one.take(cluster)
    assert not other.take(cluster)
    one.give(cluster.pk)
    assert other.take(cluster)
    assert not one.take(cluster)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
    with pytest.raises(DatabaseError):
        other.take(cluster)
    assert not other.alive()
    assert one.take(cluster)
    assert one.alive()
    assert not other.take(cluster)
    one.close()
    assert other.take(cluster)
    other.close()


@pytest.mark.postgresql
@pytest.mark.usefixtures("shared_database")
def test_both_sides_of_the_connection_notice_soon_that_the_other_is_gone() -> None:
    session = claims._session()
    try:
        ours = session.connection.info.get_parameters()
        assert {name: int(ours[name]) for name in claims._CLIENT} == claims._CLIENT
        _asks_for_keepalives(session)
    finally:
        session.close()


@pytest.mark.postgresql
@pytest.mark.usefixtures("shared_database")
def test_also_a_connection_that_writes_is_given_up_soon() -> None:
    writing = connection.copy()
    try:
        writing.ensure_connection()
        _asks_for_keepalives(writing)
    finally:
        writing.close()


def _asks_for_keepalives(session: BaseDatabaseWrapper) -> None:
    with session.cursor() as cursor:
        for name in keepalives.SETTINGS:
            cursor.execute("SELECT source, context FROM pg_settings WHERE name = %s", [name])
            assert cursor.fetchone() == ("session", "user")


def test_one_file_stands_for_all_clusters_of_a_sqlite_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "ome.sqlite3"))
    east, west = Cluster(pk=1, name="east"), Cluster(pk=2, name="west")
    one, other = claims._FileLock(), claims._FileLock()
    assert one.take(east)
    assert one.take(west)
    assert not other.take(west)
    one.close()
    assert other.take(west)
    other.close()
