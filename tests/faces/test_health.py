"""The probes: whether the process is alive, and whether it can serve."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import Settings

from selection.faces.pages import health
from selection.store import readiness
from selection.store.readiness import Readiness


@pytest.fixture(autouse=True)
def a_fresh_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_readiness", Readiness())


def test_being_alive_asks_the_database_for_nothing(client: Client) -> None:  # without the db fixture
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response.headers["Cache-Control"] == "no-store"


def test_ready_is_a_database_with_all_tables(client: Client, db: None) -> None:
    response = client.get("/readyz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_is_not_applied_is_counted(client: Client) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("store", "0001_initial")
    try:
        response = client.get("/readyz")
    finally:
        recorder.record_applied("store", "0001_initial")
    assert (response.status_code, response.content) == (503, b"1 migration not applied: run manage.py migrate\n")


def test_a_database_that_is_gone_is_said_in_one_line_without_its_address(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*arguments: object) -> None:
        raise OperationalError('connection to "10.1.2.3" failed\npassword=hunter2')

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", gone)
    response = client.get("/readyz")
    assert (response.status_code, response.content) == (503, b"the database doesn't answer: OperationalError\n")


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A database that says nothing until the event is set."""
    answers = threading.Event()
    monkeypatch.setattr(readiness, "WITHIN", 0.1)
    monkeypatch.setattr(readiness, "why_not_ready", lambda: "" if answers.wait(20) else "never")
    return answers


def test_a_database_that_hangs_keeps_nobody_waiting(client: Client, hanging: threading.Event) -> None:
    began = time.monotonic()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.content.startswith(b"the database hasn't answered for ")
    assert time.monotonic() - began < 2
    hanging.set()
    for _ in range(100):
        if client.get("/readyz").status_code == 200:
            return
        time.sleep(0.05)
    pytest.fail("it answers again, and nobody noticed")


def test_a_database_that_hangs_for_long_does_not_take_ever_more_threads(hanging: threading.Event) -> None:
    asked, before = Readiness(), set(threading.enumerate())
    until = time.monotonic() + 12 * readiness.WITHIN * Readiness.MOST
    while time.monotonic() < until:
        assert asked.why_not()
    assert len(set(threading.enumerate()) - before) == Readiness.MOST + 1
    hanging.set()


def test_whoever_asks_often_costs_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def look() -> str:
        looks.append("a look")
        return ""

    monkeypatch.setattr(readiness, "why_not_ready", look)
    asked = Readiness()
    assert [asked.why_not() for _ in range(50)] == [""] * 50
    assert len(looks) == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_kubelet_asks_by_address_over_http_and_without_a_sign_in(
    client: Client, db: None, server_mode: Settings, settings: Settings, path: str
) -> None:
    settings.ALLOWED_HOSTS = ["ome.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/login/", headers={"host": "10.244.1.7:8000"}).status_code == 400
    assert client.get(path, headers={"host": "10.244.1.7:8000"}).status_code == 200


def test_a_probe_only_asks(client: Client, db: None) -> None:
    assert client.head("/healthz").status_code == 200
    assert client.post("/healthz").status_code == 404
