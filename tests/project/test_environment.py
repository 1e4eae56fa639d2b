"""Reading the environment: wrong values are collected, never raised, never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from ome_dashboard.databases import database
from ome_dashboard.environment import Environment
from ome_dashboard.secret import local_secret_key


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("Yes", True), (" on ", True), ("0", False), ("", True)])
def test_a_switch_is_on_or_off_or_its_default(value: str, expected: bool) -> None:
    environment = Environment({"A": value})
    assert environment.switch("A", True) is expected
    assert not environment.problems


@pytest.mark.parametrize("value", ["maybe", "2", "true!"])
def test_a_switch_that_is_neither_is_a_problem(value: str) -> None:
    environment = Environment({"A": value})
    assert environment.switch("A", False) is False
    assert [problem.id for problem in environment.problems] == ["ome_dashboard.E002"]


@pytest.mark.parametrize("value", ["-1", "0", "65536", "8.5", "x", "٣", "9" * 400])
def test_a_number_out_of_bounds_is_a_problem(value: str) -> None:
    environment = Environment({"A": value})
    assert environment.number("A", 8000, least=1, most=65535) == 8000
    assert len(environment.problems) == 1


def test_a_message_does_not_repeat_the_value() -> None:
    environment = Environment({"A": "hunter2"})
    environment.choice("A", ["x", "y"], "x")
    environment.number("A", 1, least=1, most=2)
    environment.switch("A", False)
    assert len(environment.problems) == 3
    assert "hunter2" not in repr(environment.problems)


def test_a_list_has_no_blanks() -> None:
    assert Environment({"A": " a.example, ,b.example,"}).names("A") == ["a.example", "b.example"]


def test_it_knows_the_names_that_nobody_asked_for() -> None:
    environment = Environment({"OURS_A": "1", "OURS_B": "1", "PATH": "/bin"})
    environment.text("OURS_A")
    assert environment.unknown("OURS_") == ["OURS_B"]


def test_sqlite_is_the_default_and_waits_for_its_turn(tmp_path: Path) -> None:
    settings = database("", tmp_path / "db")
    assert settings["ENGINE"] == "django.db.backends.sqlite3"
    assert settings["NAME"] == tmp_path / "db"
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert settings["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in settings["OPTIONS"]["init_command"]


def test_a_sqlite_url_gets_the_same_options(tmp_path: Path) -> None:
    settings = database(f"sqlite:///{tmp_path}/other", tmp_path / "db")
    assert settings["NAME"] == f"{tmp_path}/other"
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_is_named_by_its_url(scheme: str, tmp_path: Path) -> None:
    settings = database(f"{scheme}://ann:p%40ss@db:5433/ome?sslmode=require", tmp_path / "db")
    assert settings["ENGINE"] == "django.db.backends.postgresql"
    assert (settings["USER"], settings["PASSWORD"], settings["HOST"], settings["PORT"]) == ("ann", "p@ss", "db", 5433)
    assert settings["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize(
    "url",
    ["mysql://ann:hunter2@db/ome", "hunter2", "postgres://ann:hunter2@db:port/ome", "postgres://ann:hunter2@db", "://"],
)
def test_another_url_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="DATABASE_URL") as refused:
        database(url, tmp_path / "db")
    assert "hunter2" not in str(refused.value)


def test_a_key_is_made_once_and_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "secret-key"
    key = local_secret_key(path)
    assert len(key) >= 50
    assert path.stat().st_mode & 0o777 == 0o600
    assert local_secret_key(path) == key
    assert [each.name for each in path.parent.iterdir()] == ["secret-key"]


def test_an_empty_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret-key").touch()
    with pytest.raises(ValueError, match="empty"):
        local_secret_key(tmp_path / "secret-key")
