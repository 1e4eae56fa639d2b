"""Users of a kubeconfig: what they sign in with, and the words when they can't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import Configuration

from selection.cluster.config import from_kubeconfig
from selection.cluster.credentials import refresh_from_file
from tests.cluster.fakes import FakeServer
from tests.cluster.kubeconfigs import SECRET, asked_with, encoded, kubeconfig, refusal

pytestmark = pytest.mark.usefixtures("bare_environment")


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (
            {"client-certificate": "a.crt", "client-key": "a.key"},
            "client-certificate names {folder}/a.crt, which is not",
        ),
        ({"client-certificate-data": "%", "client-key-data": "%"}, "client-certificate-data is not base64"),
        ({"client-certificate-data": encoded("x")}, "has a client-certificate but no client-key"),
        ({"client-key-data": encoded("x")}, "has a client-key but no client-certificate"),
        (
            {"client-certificate-data": encoded("x"), "client-key-data": encoded(SECRET)},
            "client certificate and key can't be used: they must be PEM",
        ),
        ({"token": 5}, "token is not a string"),
        ({"token": f"{SECRET}\nX-Evil: 1"}, "token holds characters that no token has"),
        ({"tokenFile": "nowhere"}, "tokenFile names {folder}/nowhere, which is not there"),
        ({"username": "a", "password": 5}, "password is not a string"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "exec names no command"),
        ({"exec": {"command": "kubelogin"}}, "exec has no apiVersion"),
        ({"exec": "kubelogin"}, "exec names no command"),
        (
            {"exec": {"command": "no-such-plugin", "apiVersion": "v1", "installHint": "Get it\nfrom the shop."}},
            "its exec plugin no-such-plugin is not installed (Get it from the shop.)",
        ),
        ({"exec": {"command": "false", "apiVersion": "v1"}}, "its exec plugin false gave no credentials"),
        ({"exec": {"command": "true", "apiVersion": "v1"}}, "its exec plugin true gave no credentials"),
        ({"auth-provider": {"name": "azure"}}, "auth-provider 'azure' is not supported; use an exec plugin"),
        ({"auth-provider": "gcp"}, "auth-provider 'None' is not supported"),
        ({"auth-provider": {"name": "oidc"}}, "its auth-provider gave no token"),
        ({"token": SECRET, "as": "somebody"}, "impersonates somebody (as), which is not supported"),
    ],
)
def test_a_user_that_is_wrong_is_told_what(tmp_path: Path, user: dict[str, Any], message: str) -> None:
    path = kubeconfig(tmp_path / "config", user=user)
    told = refusal(path)
    assert f"{path}: user 'east-user'" in told
    assert message.format(folder=tmp_path) in told


def test_what_the_official_loader_chokes_on_is_told_without_its_words(tmp_path: Path) -> None:
    provider = {"name": "oidc", "config": {"id-token": f"a.{encoded(SECRET)}.b"}}
    path = kubeconfig(tmp_path / "config", user={"auth-provider": provider})
    assert f"{path}: context 'east' can't be used: " in refusal(path)


def test_a_user_without_credentials_is_nobody(server: FakeServer, tmp_path: Path) -> None:
    assert asked_with(server, kubeconfig(tmp_path / "config", server=server.url, user={})) is None


def test_a_password_is_sent(server: FakeServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", server=server.url, user={"username": "a", "password": "b"})
    assert asked_with(server, path) == "Basic " + encoded("a:b")


def test_a_token_file_wins_over_a_token(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-the-file\n")
    path = kubeconfig(tmp_path / "config", server=server.url, user={"token": "other", "tokenFile": "token"})
    assert asked_with(server, path) == "Bearer of-the-file"
    with from_kubeconfig(path) as connection:
        assert connection.client.configuration.refresh_api_key_hook is not None


def test_a_token_file_is_read_again_after_a_minute(tmp_path: Path) -> None:
    path = tmp_path / "token"
    sent = []
    now = [0.0]
    configuration = Configuration(api_key={"BearerToken": "Bearer first"})
    refresh_from_file(configuration, path, lambda: now[0])
    # While a token is being replaced the old one stays.
    for now[0], content in ((59.0, "second"), (60.0, "third\n"), (120.0, ""), (180.0, "fifth")):
        path.write_text(content)
        sent.append(configuration.get_api_key_with_prefix("BearerToken"))
    assert sent == ["Bearer first", "Bearer third", "Bearer third", "Bearer fifth"]


def test_an_empty_token_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" \n")
    path = kubeconfig(tmp_path / "config", user={"tokenFile": "token"})
    assert refusal(path) == f"{path}: user 'east-user': the token file {tmp_path}/token is empty"


def test_an_exec_plugin_beside_the_kubeconfig_is_run(server: FakeServer, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    answer = (
        '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "of-exec"}}'
    )
    plugin.write_text(f"#!/bin/sh\necho '{answer}'\n")
    plugin.chmod(0o755)
    user = {"exec": {"command": "./plugin", "apiVersion": "client.authentication.k8s.io/v1"}}
    assert asked_with(server, kubeconfig(tmp_path / "config", server=server.url, user=user)) == "Bearer of-exec"


@pytest.mark.parametrize("script", [f"echo {SECRET} >&2; exit 1", f"echo {SECRET}"])
def test_what_a_plugin_says_is_not_logged(
    tmp_path: Path, script: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\n{script}\n")
    plugin.chmod(0o755)
    user = {"exec": {"command": str(plugin), "apiVersion": "client.authentication.k8s.io/v1"}}
    assert "gave no credentials; run it by hand" in refusal(kubeconfig(tmp_path / "config", user=user))
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_a_kubeconfig_is_never_written(server: FakeServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", server=server.url)
    path.chmod(0o400)
    before = path.read_bytes()
    asked_with(server, path)
    assert path.read_bytes() == before
