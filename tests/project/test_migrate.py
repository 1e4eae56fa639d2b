"""Bringing the tables up to date, also when several start together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgresql import NoPostgreSQL, postgresql
from tests.project.test_settings import ROOT, run


def test_it_makes_the_tables_once(tmp_path: Path) -> None:
    first, second = (run(tmp_path, "-m", "ome_dashboard.migrate") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "Applying store.0001_initial... OK" in first.stdout
    assert "No migrations to apply" in second.stdout


def test_a_database_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "ome_dashboard.migrate", DATABASE_URL="postgres://ann:hunter2@127.0.0.1:1/ome")
    assert done.returncode == 1
    assert done.stderr.startswith("The tables can't be brought up to date: ")
    assert len(done.stderr.splitlines()) == 1
    assert "hunter2" not in done.stderr


def test_of_those_that_start_together_one_does_it_and_the_others_wait(tmp_path: Path) -> None:
    try:
        server = postgresql()
        url = server.__enter__()
    except NoPostgreSQL as error:
        pytest.skip(str(error))
    try:
        environment = {**os.environ, "OME_DASHBOARD_DATA": str(tmp_path), "DATABASE_URL": url}
        together = [
            subprocess.Popen(
                [sys.executable, "-m", "ome_dashboard.migrate"],
                cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for _ in range(3)
        ]  # fmt: skip
        told = [each.communicate(timeout=120) for each in together]
        assert [each.returncode for each in together] == [0, 0, 0], told
        assert sorted("No migrations to apply" in out for out, _ in told) == [False, True, True]
    finally:
        server.__exit__(None, None, None)
