"""Run a command with a PostgreSQL of its own: ``python -m tests.postgresql pytest tests/store``.

The server lives in a temporary folder, listens on a socket there and nowhere else, trades safety
for speed, and is gone afterwards. The command finds it in ``DATABASE_URL``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

__all__ = ["NoPostgreSQL", "PostgreSQL", "own_server", "postgresql"]

#: Seconds to wait for a start; it takes one.
PATIENCE = 60.0


class NoPostgreSQL(RuntimeError):
    """Its programs are missing, or it didn't start; the message says which."""


class PostgreSQL:
    """A server that can be stopped and started again, on the same data and socket. ``url`` is its ``DATABASE_URL``."""

    def __init__(self, folder: Path) -> None:
        self._programs = _programs()
        self._folder = folder
        self._identity = _identity(folder)
        self._log = folder / "log"
        self._server: subprocess.Popen[bytes] | None = None
        self.url = f"postgres://ome@{quote(str(folder), safe='')}/ome"
        made = self._run("initdb", "-U", "ome", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        if made.wait() != 0:
            raise NoPostgreSQL(f"initdb failed: {self._end_of_log()}")

    def start(self) -> None:
        """Start it and wait until it answers; the first time its database is made.

        Raises:
            NoPostgreSQL: it doesn't answer in time, or ended.
        """
        settings = (
            "listen_addresses=",
            f"unix_socket_directories={self._folder}",
            "fsync=off",
            "full_page_writes=off",
        )
        self._server = self._run("postgres", *(part for each in settings for part in ("-c", each)))
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with (
                    psycopg.connect(
                        host=str(self._folder), user="ome", dbname="postgres", autocommit=True
                    ) as connection,
                    suppress(psycopg.errors.DuplicateDatabase),
                ):
                    connection.execute("CREATE DATABASE ome")
                return
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise NoPostgreSQL(f"postgres didn't start: {self._end_of_log()}") from None
                time.sleep(0.1)

    def stop(self) -> None:
        """End it as its "fast" shutdown does: clients don't hold it up."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(timeout=30)
            self._server = None

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [self._programs / program, "-D", self._folder / "data", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                **self._identity,
            )

    def _end_of_log(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


@contextmanager
def own_server() -> Iterator[PostgreSQL]:
    """A server of one's own, started, and gone with the block.

    Raises:
        NoPostgreSQL: there is none to start.
    """
    # Short and in lower case: it is a socket's path and the host part of a URL.
    with tempfile.TemporaryDirectory(prefix="ome-pg-", dir="/tmp") as name:
        server = PostgreSQL(Path(name))
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server, give its ``DATABASE_URL``, and end it.

    Raises:
        NoPostgreSQL: there is none to start.
    """
    with own_server() as server:
        yield server.url


def _programs() -> Path:
    """The folder with ``initdb`` and ``postgres``: on the path, or where Debian puts the newest."""
    found = [Path(path).resolve().parent for name in ("initdb", "postgres") if (path := shutil.which(name))]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name.zfill(4), reverse=True)
    for folder in found:
        if all((folder / name).is_file() for name in ("initdb", "postgres")):
            return folder
    raise NoPostgreSQL("initdb and postgres are not installed; on Debian: apt-get install postgresql")


def _identity(folder: Path) -> dict[str, Any]:
    """As root, who may not run a PostgreSQL server, somebody else; and the folder is theirs."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    somebody = names.get("postgres") or names["nobody"]
    os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    return {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}


def main() -> None:
    """Run the arguments as a command and leave with its status."""
    if not sys.argv[1:]:
        sys.exit("usage: python -m tests.postgresql COMMAND [ARGUMENT]...")
    try:
        with postgresql() as url:
            done = subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": url}, check=False)
    except NoPostgreSQL as error:
        sys.exit(f"no PostgreSQL: {error}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
