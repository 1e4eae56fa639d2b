"""Kubeconfigs for tests, and what becomes of them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import certifi
import pytest
import yaml

from selection.cluster.config import from_kubeconfig
from selection.cluster.errors import ConfigurationError
from selection.cluster.transport import server_version
from tests.cluster.fakes import Answer, FakeServer

__all__ = ["CA", "SECRET", "asked_with", "encoded", "kubeconfig", "refusal"]

SECRET = "s3cr3t-t0ken"
CA = Path(certifi.where())


def kubeconfig(
    path: Path,
    *,
    server: str | None = "https://127.0.0.1:6443",
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    name: str = "east",
    **more: Any,
) -> Path:
    """Write a kubeconfig with one context whose parts are named after it."""
    address = {} if server is None else {"server": server}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": f"{name}-cluster", "cluster": {**address, **(cluster or {})}}],
        "users": [{"name": f"{name}-user", "user": {"token": SECRET} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": f"{name}-cluster", "user": f"{name}-user"}}],
        **more,
    }
    path.write_text(yaml.safe_dump(config))
    return path


def refusal(path: Path | str | list[str | Path], context: str | None = None) -> str:
    with pytest.raises(ConfigurationError) as refused:
        from_kubeconfig(path, context).close()
    message = str(refused.value)
    assert SECRET not in message
    assert "\n" not in message
    return message


def asked_with(server: FakeServer, path: Path, context: str | None = None) -> str | None:
    """Ask for the version through a kubeconfig; return the Authorization header that arrived."""
    server.answers = [Answer({"gitVersion": "v1.33.0"})]
    with from_kubeconfig(path, context) as connection:
        assert server_version(connection) == "v1.33.0"
    return {name.lower(): value for name, value in server.asked[-1].headers.items()}.get("authorization")


def encoded(text: str) -> str:
    """Text as base64, as kubeconfigs hold data."""
    return base64.b64encode(text.encode()).decode()
