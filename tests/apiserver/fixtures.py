"""The fixture that gives tests a real API server. Mark them ``@pytest.mark.apiserver``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.apiserver.build import NoApiServer, assets
from tests.apiserver.server import ApiServer

__all__ = ["apiserver"]


@pytest.fixture(scope="session")
def apiserver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A running API server with OME's kinds on it, the same for all tests of a run.

    A test uses namespaces and names of its own, or deletes what it made, and starts again what it
    stopped. Without a server to start, the test is skipped, with the reason; in CI it fails.
    """
    try:
        try:
            binaries = assets(build=False)
        except NoApiServer:
            _tell(request.config, "building kube-apiserver and etcd, once: this takes about ten minutes")
            binaries = assets()
    except NoApiServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"no API server: {error}")
        pytest.skip(f"no API server: {error}")
    server = ApiServer(binaries, tmp_path_factory.mktemp("apiserver"))
    try:
        server.start()
        server.install_definitions()
        yield server
    finally:
        server.close()


def _tell(config: pytest.Config, message: str) -> None:
    """Print past pytest's capturing: who waits for ten minutes wants to know why."""
    manager = config.pluginmanager.getplugin("capturemanager")
    with manager.global_and_fixture_disabled():
        print(f"\n{message}", file=sys.stderr, flush=True)
