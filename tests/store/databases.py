"""A migrated database of a test's own, for processes that share it: a SQLite file, or one on PostgreSQL."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings

from tests.faces.cli import manage

__all__ = ["OwnDatabase", "copied", "own_database", "template_database"]

_numbers = itertools.count(1)


@dataclass(frozen=True)
class OwnDatabase:
    """``url`` is for ``DATABASE_URL``; ``file`` is None on PostgreSQL."""

    url: str
    file: Path | None = None

    @property
    def env(self) -> dict[str, str]:
        """The environment of a process that uses it."""
        return {"DATABASE_URL": self.url}

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        if self.file is not None:
            with closing(sqlite3.connect(self.file)) as connection:
                return list(connection.execute(sql))
        with psycopg.connect(self.url.replace("postgres://", "postgresql://", 1)) as connection:
            return list(connection.execute(sql.encode()))

    def everything(self) -> bytes:
        """All that it holds: every byte of the files, or every row of every table as text."""
        if self.file is not None:
            return b"".join(path.read_bytes() for path in self.file.parent.glob(self.file.name + "*"))
        tables = self.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return "\n".join(str(self.ask(f'SELECT t::text FROM "{name}" t')) for (name,) in tables).encode()


def _server() -> dict[str, Any]:
    database = settings.DATABASES["default"]
    return {
        name: database[key] for name, key in (("host", "HOST"), ("port", "PORT"), ("user", "USER")) if database[key]
    } | ({"password": database["PASSWORD"]} if database["PASSWORD"] else {})


def _url(name: str) -> str:
    server = {key: quote(str(value), safe="") for key, value in _server().items()}
    password = f":{server['password']}" if "password" in server else ""
    port = f":{server['port']}" if "port" in server else ""
    return f"postgres://{server.get('user', '')}{password}@{server.get('host', '')}{port}/{name}"


def _administer(*statements: str) -> None:
    with psycopg.connect(**_server(), dbname="postgres", autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@contextmanager
def _on_postgresql(name: str, template: str = "") -> Iterator[OwnDatabase]:
    _administer(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
    try:
        yield OwnDatabase(_url(name))
    finally:
        _administer(f'DROP DATABASE "{name}" WITH (FORCE)')


def _migrated(database: OwnDatabase) -> OwnDatabase:
    done = manage("migrate", "--verbosity", "0", env=database.env)
    assert done.code == 0, done.err
    return database


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDatabase]:
    """A migrated, empty database to copy."""
    if "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        file = tmp_path_factory.mktemp("template") / "template.sqlite3"
        yield _migrated(OwnDatabase(f"sqlite:///{file}", file))
        return
    with _on_postgresql(f"ome_template_{os.getpid()}_{next(_numbers)}") as database:
        yield _migrated(database)


@contextmanager
def copied(template: OwnDatabase, folder: Path) -> Iterator[OwnDatabase]:
    """A copy of a database that nobody uses at the moment."""
    number = next(_numbers)
    if template.file is not None:
        file = folder / f"own-{number}.sqlite3"
        shutil.copy(template.file, file)
        yield OwnDatabase(f"sqlite:///{file}", file)
        return
    with _on_postgresql(f"ome_own_{os.getpid()}_{number}", template.url.rsplit("/", 1)[1]) as database:
        yield database


@pytest.fixture
def own_database(template_database: OwnDatabase, tmp_path: Path) -> Iterator[OwnDatabase]:
    """A migrated database that no other test sees."""
    with copied(template_database, tmp_path) as database:
        yield database
