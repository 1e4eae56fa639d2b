"""Fixtures of the cluster tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cluster.fakes import FakeApi, FakeClock, FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A web server on loopback that answers as the test says."""
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def api(server: FakeServer) -> Iterator[FakeApi]:
    """Lists and watches on that server."""
    fake = FakeApi(server)
    yield fake
    fake.close()


@pytest.fixture
def clock() -> FakeClock:
    """A clock that doesn't wait; its ``retry`` waits on it."""
    return FakeClock()


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no proxy, no kubeconfig and no cluster."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"KUBECONFIG", "KUBERNETES_SERVICE_HOST"}:
            monkeypatch.delenv(name)
