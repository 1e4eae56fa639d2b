"""Kubeconfigs, contexts and service accounts: what works, and the words when something doesn't."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.config import contexts, from_kubeconfig, in_cluster, kubeconfig_paths, runs_in_cluster
from selection.cluster.errors import ConfigurationError
from tests.cluster.fakes import FakeServer
from tests.cluster.kubeconfigs import CA, SECRET, asked_with, kubeconfig, refusal

pytestmark = pytest.mark.usefixtures("bare_environment")

# --- finding and choosing --------------------------------------------------------------------------


def test_the_current_context_is_used(server: FakeServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", server=server.url)
    assert asked_with(server, path) == f"Bearer {SECRET}"
    with from_kubeconfig(path) as connection:
        assert (connection.name, connection.server) == ("east", server.url)
        assert (connection.connect_timeout, connection.read_timeout) == (5.0, 60.0)
        assert SECRET not in repr(connection)


def test_several_files_are_merged_and_the_first_wins(server: FakeServer, tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "a", name="east", server=server.url)
    second = kubeconfig(tmp_path / "b", name="west", user={"token": "of-west"}, server=server.url)
    third = kubeconfig(tmp_path / "c", name="east", user={"token": "other"}, server="https://other")
    both = os.pathsep.join(str(path) for path in (first, tmp_path / "missing", second, third))
    found = contexts(both)
    assert [(each.name, each.current, each.file) for each in found] == [
        ("east", True, str(first)),
        ("west", False, str(second)),
    ]
    assert (found[0].cluster, found[0].user, found[0].server) == ("east-cluster", "east-user", server.url)
    with from_kubeconfig(both, "west") as connection:
        assert connection.name == "west"
    with from_kubeconfig(both) as connection:
        assert connection.server == server.url


def test_kubeconfig_names_the_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kubeconfig_paths() == [tmp_path / ".kube" / "config"]
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/a{os.pathsep}{os.pathsep}~/b")
    assert kubeconfig_paths() == [tmp_path / "a", tmp_path / "b"]
    assert kubeconfig_paths("c") == [Path("c")]
    assert kubeconfig_paths(Path("a:b")) == [Path("a:b")]
    assert kubeconfig_paths(["a:b", Path("c")]) == [Path("a:b"), Path("c")]


def test_a_context_can_be_listed_before_it_works(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", contexts=[{"name": "x", "context": {"namespace": "ml"}}, {"name": "y"}])
    assert [(each.name, each.namespace, each.server, each.current) for each in contexts(path)] == [
        ("x", "ml", None, False),
        ("y", None, None, False),
    ]


def test_addresses_are_shown_without_credentials(tmp_path: Path) -> None:
    server = f"https://me:{SECRET}@api.example.com:6443?token={SECRET}#{SECRET}"
    path = kubeconfig(tmp_path / "config", server=server)
    assert contexts(path)[0].server == "https://api.example.com:6443"
    with from_kubeconfig(path) as connection:
        assert connection.server == "https://api.example.com:6443"


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(tmp_path / "none") == f"no kubeconfig: {tmp_path}/none not found"
    assert refusal("") == "no kubeconfig: no file named not found"
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"\.kube/config not found"):
        contexts()


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: is a directory"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: [", ":1:5: not YAML"),
        (b"clusters:\n- name: x\n token: s3cr3t-t0ken: y", ":3:"),
        (b"\xff\xfe\x00", "not YAML"),
        (b"a: \x00", "not YAML"),
        (b"[" * 500, "not YAML"),
        (b"- a", "not a kubeconfig: it holds no mapping"),
        (b"kind: Pod", "not a kubeconfig: its kind is 'Pod', not 'Config'"),
        (b"", "no contexts in it"),
        (b"contexts: {}", "contexts is not a list"),
        (b"contexts: [{}]", "contexts[0] has no name"),
        (b"contexts: [{name: a, context: {}}, x]", "contexts[1] has no name"),
        (b"contexts: [{name: a, context: x}]", "context 'a' is not a mapping"),
        (b"contexts: [{name: a}]", "no current-context; name one of a"),
        (b"contexts: [{name: a}]\ncurrent-context: ''", "no current-context; name one of a"),
        (b"contexts: [{name: a}]\ncurrent-context: b", "the current-context is missing: 'b'; there are a"),
        (b"contexts: [{name: a}]\ncurrent-context: a", "context 'a' names no cluster"),
        (b"contexts: [{name: a, context: {cluster: [x]}}]\ncurrent-context: a", "context 'a': cluster is not a string"),
        (
            b"contexts: [{name: a, context: {cluster: c}}]\ncurrent-context: a",
            "context 'a' names cluster 'c', which is not in ",
        ),
        (
            b"contexts: [{name: a, context: {cluster: c, user: u}}]\ncurrent-context: a\n"
            b"clusters: [{name: c, cluster: {server: 'https://x'}}]",
            "context 'a' names user 'u', which is not in ",
        ),
    ],
)
def test_a_file_that_is_no_whole_kubeconfig_is_told_what_it_lacks(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(text)
    told = refusal(path)
    assert told.startswith(str(path))
    assert message in told


def test_a_context_that_is_not_there_is_told_with_near_names(tmp_path: Path) -> None:
    names = [{"name": f"cluster-{number:02}", "context": {}} for number in range(15)]
    path = kubeconfig(tmp_path / "config", contexts=[*names, {"name": "prod-east", "context": {}}])
    assert refusal(path, "prod-eats") == f"{path}: no context 'prod-eats'; did you mean prod-east?"
    assert refusal(path, "zzz").startswith(f"{path}: no context 'zzz'; there are cluster-00, cluster-01, ")
    assert refusal(path, "zzz").endswith("cluster-09 and 6 more")


# --- the cluster -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "cluster", "message"),
    [
        (None, {}, "has no server"),
        ("", {}, "has no server"),
        ("api.example.com:6443", {}, "server is not an http:// or https:// address"),
        ("https://", {}, "server is not an http:// or https:// address"),
        ("https://[::1", {}, "server is not an http:// or https:// address"),
        ("https://x:port", {}, "server is not an http:// or https:// address"),
        ("https://x", {"insecure-skip-tls-verify": "yes"}, "insecure-skip-tls-verify is not true or false"),
        ("https://x", {"certificate-authority": "ca.crt"}, "certificate-authority names {folder}/ca.crt, which is not"),
        ("https://x", {"certificate-authority-data": "%%%"}, "certificate-authority-data is not base64"),
        ("https://x", {"certificate-authority-data": 5}, "certificate-authority-data is not a string"),
        (
            "https://x",
            {"certificate-authority-data": base64.b64encode(b"no PEM").decode()},
            "certificate-authority holds no PEM certificate",
        ),
        ("https://x", {"tls-server-name": ["x"]}, "tls-server-name is not a string"),
        ("https://x", {"proxy-url": 5}, "proxy-url is not a string"),
    ],
)
def test_a_cluster_that_is_wrong_is_told_what(
    tmp_path: Path, server: str | None, cluster: dict[str, Any], message: str
) -> None:
    path = kubeconfig(tmp_path / "config", server=server, cluster=cluster)
    assert f"{path}: cluster 'east-cluster'" in refusal(path)
    assert message.format(folder=tmp_path) in refusal(path)


def test_a_proxy_that_is_none_is_told(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", cluster={"proxy-url": "gopher://x"})
    assert refusal(path) == "east: its proxy or its certificates can't be used"


def test_paths_are_meant_from_the_folder_of_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").write_bytes(CA.read_bytes())
    (tmp_path / "elsewhere").mkdir()
    path = kubeconfig(tmp_path / "config", cluster={"certificate-authority": "ca.pem"})
    monkeypatch.chdir(tmp_path / "elsewhere")
    with from_kubeconfig(path) as connection:
        assert connection.client.configuration.ssl_ca_cert == str(tmp_path / "ca.pem")


def test_data_wins_over_a_file_that_is_not_there(tmp_path: Path) -> None:
    data = base64.encodebytes(CA.read_bytes()).decode()
    cluster = {"certificate-authority": "nowhere", "certificate-authority-data": data, "insecure-skip-tls-verify": True}
    with from_kubeconfig(kubeconfig(tmp_path / "config", cluster=cluster)) as connection:
        assert connection.client.configuration.verify_ssl is False
        ca_file = connection.client.configuration.ssl_ca_cert
        assert stat.S_IMODE(Path(ca_file).stat().st_mode) == 0o600


def test_a_proxy_of_the_environment_is_used(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kubeconfig(tmp_path / "config", server="http://api.invalid:6443")
    monkeypatch.setenv("http_proxy", server.url)
    asked_with(server, path)
    monkeypatch.setenv("no_proxy", "api.invalid")
    with from_kubeconfig(path) as connection:
        assert type(connection.client.rest_client.pool_manager).__name__ == "PoolManager"


def test_a_proxy_of_the_kubeconfig_is_used(server: FakeServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", server="http://api.invalid:6443", cluster={"proxy-url": server.url})
    asked_with(server, path)


# --- in the cluster --------------------------------------------------------------------------------


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text(f"{SECRET}\n")
    return {"token_file": tmp_path / "token", "ca_file": CA}


def test_a_pod_uses_its_service_account(pod: dict[str, Path]) -> None:
    with in_cluster(token_file=pod["token_file"], ca_file=pod["ca_file"]) as connection:
        assert (connection.name, connection.server) == ("in-cluster", "https://10.0.0.1:443")
        assert connection.client.configuration.ssl_ca_cert == str(CA)


@pytest.mark.parametrize(
    ("lacks", "message"),
    [
        ("KUBERNETES_SERVICE_HOST", "Service host/port is not set"),
        ("token_file", "Service token file does not exist"),
        ("ca_file", "Service certification file does not exist"),
    ],
)
def test_a_pod_without_a_service_account_is_told(
    pod: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, message: str
) -> None:
    if lacks in pod:
        pod[lacks] = tmp_path / "nowhere"
    else:
        monkeypatch.delenv(lacks)
    with pytest.raises(ConfigurationError) as refused:
        in_cluster(token_file=pod["token_file"], ca_file=pod["ca_file"])
    assert str(refused.value) == f"not in a cluster, or without a service account: {message}"


def test_it_knows_when_it_does_not_run_in_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not runs_in_cluster()
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_TOKEN_FILENAME", str(CA))
    assert runs_in_cluster()
