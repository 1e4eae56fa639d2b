"""A connection that is shared, and opened anew once for all when what it was opened with may be what fails."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from kubernetes.client import Configuration

from selection.cluster.config import Connection, from_kubeconfig
from selection.cluster.connections import Connections
from selection.cluster.credentials import renew_one_at_a_time
from selection.cluster.errors import ApiError, ClusterError, ConfigurationError, Unauthorized
from selection.cluster.retry import Retry
from selection.cluster.stopping import Stop, Stopped
from selection.cluster.transport import get_json
from tests.cluster.fakes import Answer, Asked, FakeClock, FakeServer, connect, status
from tests.cluster.kubeconfigs import SECRET, kubeconfig

Once = Retry(connection=1, server=1, throttled=1)


class Opener:
    """Opens connections to one server with the token of the moment, and counts them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.token = "old"
        self.opened: list[str] = []
        self.error: ConfigurationError | None = None

    def __call__(self) -> Connection:
        self.opened.append(self.token)
        if self.error is not None:
            raise self.error
        return connect(self.url, token=self.token)


def wants(server: FakeServer, token: str) -> None:
    """Let the server accept one token only."""

    def respond(asked: Asked) -> Answer:
        given = {name.lower(): value for name, value in asked.headers.items()}.get("authorization")
        return Answer({"token": token}) if given == f"Bearer {token}" else status(401)

    server.respond = respond


def ask(connection: Connection) -> dict[str, object]:
    return get_json(connection, "/", retry=Once)


def test_it_is_opened_once_and_used_by_all(server: FakeServer) -> None:
    wants(server, "old")
    opener = Opener(server.url)
    connections = Connections(opener)
    assert opener.opened == []
    threads = [threading.Thread(target=connections.use, args=(ask, Stop())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert opener.opened == ["old"]
    connections.close()


def test_a_token_that_expired_is_read_again_without_a_word(server: FakeServer) -> None:
    wants(server, "old")
    opener = Opener(server.url)
    connections = Connections(opener)
    connections.use(ask, Stop())
    opener.token = "new"
    wants(server, "new")
    assert connections.use(ask, Stop()) == {"token": "new"}
    assert opener.opened == ["old", "new"]


def test_all_who_find_a_token_expired_share_the_new_one(server: FakeServer) -> None:
    wants(server, "old")
    opener = Opener(server.url)
    connections = Connections(opener)
    connections.use(ask, Stop())
    opener.token = "new"
    wants(server, "new")
    together = threading.Barrier(8)
    answers = []

    def asks_first(connection: Connection) -> dict[str, object]:
        if opener.opened == ["old"]:
            together.wait(5)  # all of them have the old one
        return ask(connection)

    threads = [threading.Thread(target=lambda: answers.append(connections.use(asks_first, Stop()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert answers == [{"token": "new"}] * 8
    assert opener.opened == ["old", "new"]


def test_credentials_that_stay_wrong_are_read_less_and_less_often(server: FakeServer, clock: FakeClock) -> None:
    wants(server, "another")
    opener = Opener(server.url)
    connections = Connections(opener, retry=clock.retry, clock=lambda: clock.now)
    for _ in range(100):
        with pytest.raises(Unauthorized):
            connections.use(ask, Stop())
        clock.now += 3
    assert 15 < len(opener.opened) < 30, "in five minutes"


def test_a_server_that_moved_is_found(server: FakeServer) -> None:
    wants(server, "old")
    opener = Opener("http://127.0.0.1:1")
    connections = Connections(opener)
    with pytest.raises(ApiError, match="connection refused"):
        connections.use(ask, Stop())
    opener.url = server.url
    time.sleep(1.1)
    assert connections.use(ask, Stop()) == {"token": "old"}


@pytest.mark.parametrize("code", [403, 404, 410, 429, 500])
def test_an_answer_of_the_server_is_no_reason_to_open_anew(server: FakeServer, code: int) -> None:
    server.respond = lambda asked: status(code)
    opener = Opener(server.url)
    connections = Connections(opener)
    for _ in range(2):
        with pytest.raises(ApiError):
            connections.use(ask, Stop())
    assert opener.opened == ["old"]


def test_a_way_that_is_not_known_is_told_and_tried_again_later(server: FakeServer, clock: FakeClock) -> None:
    wants(server, "old")
    opener = Opener(server.url)
    opener.error = ConfigurationError("its exec plugin gave no credentials")
    connections = Connections(opener, retry=clock.retry, clock=lambda: clock.now)
    for _ in range(5):
        with pytest.raises(ConfigurationError, match="its exec plugin gave no credentials"):
            connections.use(ask, Stop())
    assert len(opener.opened) == 1, "the plugin isn't run for each who asks"
    opener.error = None
    clock.now += 60
    assert connections.use(ask, Stop()) == {"token": "old"}


def test_a_plugin_that_fails_when_a_token_expired_is_the_reason(server: FakeServer) -> None:
    wants(server, "old")
    opener = Opener(server.url)
    connections = Connections(opener)
    connections.use(ask, Stop())
    wants(server, "new")
    opener.error = ConfigurationError("its exec plugin gave no credentials")
    with pytest.raises(ConfigurationError, match="its exec plugin gave no credentials"):
        connections.use(ask, Stop())
    wants(server, "old")
    assert connections.use(ask, Stop()) == {"token": "old"}, "the old one is still there"


def test_who_waits_for_a_plugin_can_be_stopped() -> None:
    runs, ends = threading.Event(), threading.Event()

    def slow() -> Connection:
        runs.set()
        ends.wait(10)
        raise ConfigurationError("no")

    connections = Connections(slow)

    def first() -> None:
        with pytest.raises(ConfigurationError):
            connections.use(ask, Stop())

    thread = threading.Thread(target=first)
    thread.start()
    runs.wait(5)
    stop = Stop()
    threading.Timer(0.2, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Stopped):
        connections.use(ask, stop)
    assert time.monotonic() - started < 2
    ends.set()
    thread.join(5)


def test_a_plugin_that_hangs_is_told_by_those_who_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selection.cluster.connections.OPENING", 0.3)
    runs, ends = threading.Event(), threading.Event()

    def hangs() -> Connection:
        runs.set()
        ends.wait(10)
        raise ConfigurationError("no")

    connections = Connections(hangs)

    def first() -> None:
        with pytest.raises(ConfigurationError):
            connections.use(ask, Stop())

    thread = threading.Thread(target=first)
    thread.start()
    runs.wait(5)
    with pytest.raises(ClusterError, match="does its plugin hang"):
        connections.use(ask, Stop())
    ends.set()
    thread.join(5)


def test_a_kubeconfig_that_was_replaced_is_read_again(
    server: FakeServer, tmp_path: Path, bare_environment: None
) -> None:
    path = kubeconfig(tmp_path / "config", server=server.url, user={"token": "old"})
    wants(server, "old")
    connections = Connections(lambda: from_kubeconfig(path))
    connections.use(ask, Stop())
    kubeconfig(path, server=server.url, user={"token": "new"})
    wants(server, "new")
    assert connections.use(ask, Stop()) == {"token": "new"}


def test_a_token_file_that_was_replaced_is_read_again(
    server: FakeServer, tmp_path: Path, bare_environment: None
) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    path = kubeconfig(tmp_path / "config", server=server.url, user={"tokenFile": str(token)})
    wants(server, "old")
    connections = Connections(lambda: from_kubeconfig(path))
    connections.use(ask, Stop())
    token.write_text("new\n")
    wants(server, "new")
    assert connections.use(ask, Stop()) == {"token": "new"}


def plugin(folder: Path, token: str | None) -> dict[str, object]:
    """An exec plugin that gives a token, or fails with words that nobody may see."""
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    script = folder / "plugin"
    body = f"cat <<'END'\n{json.dumps(credential)}\nEND\n"
    if token is None:
        body = f"echo {SECRET} >&2\nexit 1\n"
    script.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n{body}")
    script.chmod(0o755)
    return {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script), "interactiveMode": "Never"}


def test_an_exec_plugin_is_run_again_when_its_token_expired(
    server: FakeServer, tmp_path: Path, bare_environment: None
) -> None:
    path = kubeconfig(tmp_path / "config", server=server.url, user={"exec": plugin(tmp_path, "old")})
    wants(server, "old")
    connections = Connections(lambda: from_kubeconfig(path))
    connections.use(ask, Stop())
    plugin(tmp_path, "new")
    wants(server, "new")
    assert connections.use(ask, Stop()) == {"token": "new"}
    assert (tmp_path / "runs").read_text().count("run") == 2
    plugin(tmp_path, None)
    wants(server, "newer")
    time.sleep(1.1)
    with pytest.raises(ConfigurationError) as refused:
        connections.use(ask, Stop())
    assert "its exec plugin" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_it_counts_how_often_the_cluster_came_back(server: FakeServer) -> None:
    hang_up, answer = Answer(hang_up=True), Answer({})
    server.answers = [answer, hang_up, hang_up, hang_up, status(503), answer, answer, status(500), answer]
    connections = Connections(lambda: connect(server.url))
    counts = []
    while server.answers:
        with suppress(ApiError):
            connections.use(ask, Stop())
        counts.append(connections.recoveries)
    assert counts == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_plugin_is_not_run_for_each_request_of_each_thread(clock: FakeClock) -> None:
    runs: list[float] = []
    configuration = Configuration()
    configuration.refresh_api_key_hook = lambda current: runs.append(clock.now)  # type: ignore[assignment]
    renew_one_at_a_time(configuration, lambda: clock.now)
    for _ in range(50):
        configuration.get_api_key_with_prefix("BearerToken")
        clock.now += 1
    assert runs == [0, 10, 20, 30, 40]


def test_a_renewal_that_fails_is_not_made_again_at_once(clock: FakeClock) -> None:
    runs: list[float] = []

    def fails(current: Configuration) -> None:
        runs.append(clock.now)
        raise OSError

    configuration = Configuration()
    configuration.refresh_api_key_hook = fails  # type: ignore[assignment]
    renew_one_at_a_time(configuration, lambda: clock.now)
    with pytest.raises(OSError):  # noqa: PT011
        configuration.get_api_key_with_prefix("BearerToken")
    configuration.get_api_key_with_prefix("BearerToken")
    assert runs == [0]
