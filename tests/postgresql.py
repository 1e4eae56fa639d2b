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
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

__all__ = ["NoPostgreSQL", "postgresql"]

#: Seconds to wait for a start; it takes one.
PATIENCE = 60.0


class NoPostgreSQL(RuntimeError):
    """Its programs are missing, or it didn't start; the message says which."""


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a server, give its ``DATABASE_URL``, and end it.

    Raises:
        NoPostgreSQL: there is none to start.
    """
    programs = _programs()
    # Short and in lower case: it is a socket's path and the host part of a URL.
    with tempfile.TemporaryDirectory(prefix="ome-pg-", dir="/tmp") as name:
        folder = Path(name)
        identity = _identity(folder)
        log = folder / "log"
        with log.open("ab") as output:
            quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "cwd": folder}
            made = subprocess.run(
                [
                    programs / "initdb",
                    "-D",
                    folder / "data",
                    "-U",
                    "ome",
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--locale=C.UTF-8",
                ],
                check=False,
                **quiet,
                **identity,
            )
            if made.returncode != 0:
                raise NoPostgreSQL(f"initdb failed: {log.read_text(errors='replace')[-2000:]}")
            settings = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "full_page_writes=off")
            options = [part for each in settings for part in ("-c", each)]
            server = subprocess.Popen([programs / "postgres", "-D", folder / "data", *options], **quiet, **identity)
        try:
            _wait(server, folder, log)
            yield f"postgres://ome@{quote(str(folder), safe='')}/ome"
        finally:
            server.send_signal(signal.SIGINT)  # its "fast" shutdown: clients don't hold it up
            server.wait(timeout=30)


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


def _wait(server: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with psycopg.connect(host=str(folder), user="ome", dbname="postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE ome")
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise NoPostgreSQL(f"postgres didn't start: {log.read_text(errors='replace')[-2000:]}") from None
            time.sleep(0.1)


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
