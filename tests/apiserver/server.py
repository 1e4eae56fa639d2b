"""A real kube-apiserver with its etcd, on loopback, for tests: no kubelet, no controllers.

An object that is created stays as it was created (plus the defaults of its definition); nothing
reacts to it. Deleting works as usual.
"""

from __future__ import annotations

import base64
import json
import secrets
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, cast

from tests.apiserver.crds import CUSTOM, definitions, kind_of

__all__ = ["AlreadyThere", "ApiError", "ApiServer", "NotReady"]

Manifest = dict[str, Any]

#: Seconds. A start takes five to ten; a machine with busy cores more.
PATIENCE = 90.0


class NotReady(RuntimeError):
    """A process ended or did not answer in time; the message has the end of its log."""


class ApiError(RuntimeError):
    """The API server refused a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class AlreadyThere(ApiError):
    """An object of this name exists, or was changed in between."""


class ApiServer:
    """One API server. ``url``, ``ca_file`` and ``token`` are what a client needs.

    ``token`` belongs to a member of ``system:masters``, who may do everything. ``tokens`` has one
    for each user in ``users``, who may do nothing until a test binds a role to the user's name.
    """

    def __init__(self, binaries: Path, folder: Path, users: tuple[str, ...] = ("restricted",)) -> None:
        self.binaries = binaries
        self.folder = folder
        self.etcd_port, self.etcd_peer_port, self.port = _free_ports(3)
        self.url = f"https://127.0.0.1:{self.port}"
        self.ca_file = folder / "certificates" / "apiserver.crt"
        self.token = secrets.token_hex(16)
        self.tokens = {user: secrets.token_hex(16) for user in users}
        self._etcd: subprocess.Popen[bytes] | None = None
        self._apiserver: subprocess.Popen[bytes] | None = None
        self._defined = False
        self._write_credentials()

    # --- its life -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start what isn't running, on the same ports and data as before, and wait for ``/readyz``.

        Raises:
            NotReady: it does not come up.
        """
        if self._etcd is None:
            self._etcd = self._spawn("etcd", self._etcd_arguments())
        if self._apiserver is None:
            self._apiserver = self._spawn("kube-apiserver", self._apiserver_arguments())
        self._wait_until_ready()
        if self._defined:
            self._wait_until_served()

    def stop(self) -> None:
        """Let the API server die at once, as in an outage; its objects stay in etcd."""
        _kill(self._apiserver)
        self._apiserver = None

    def pause(self) -> None:
        """Let the API server hang: connections stay open, and nothing is answered until :meth:`resume`."""
        if self._apiserver is not None:
            self._apiserver.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after :meth:`pause`."""
        if self._apiserver is not None:
            self._apiserver.send_signal(signal.SIGCONT)

    def change_token(self, user: str) -> str:
        """Let a user's token end, as when it expires, and return the new one. Restarts the API server."""
        self.stop()
        self.tokens[user] = secrets.token_hex(16)
        self._write_tokens()
        self.start()
        return self.tokens[user]

    def close(self) -> None:
        """End everything."""
        self.stop()
        _kill(self._etcd)
        self._etcd = None

    def install_definitions(self) -> None:
        """Create the CustomResourceDefinitions that aren't there and wait until each of their kinds is served."""
        for definition in definitions():
            with suppress(AlreadyThere):
                self.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        self._defined = True
        self._wait_until_served()

    def compact(self) -> None:
        """Make etcd forget all history: lists go on from an old resourceVersion or token with 410 only.

        The history that watches start from is in the API server's memory: :meth:`stop` forgets that.
        """
        revision = self._ask_etcd("/v3/kv/range", {"key": base64.b64encode(b"\0").decode()})["header"]["revision"]
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})

    # --- its clients ----------------------------------------------------------------------------

    def kubeconfig(self, *, token: str | None = None, name: str = "test", namespace: str = "default") -> Path:
        """Write a kubeconfig with one context called ``name``; the administrator's unless ``token`` says."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [
                {"name": name, "cluster": {"server": self.url, "certificate-authority": str(self.ca_file)}},
            ],
            "users": [{"name": name, "user": {"token": token or self.token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
        }
        path = self.folder / f"kubeconfig-{secrets.token_hex(4)}"
        path.write_text(json.dumps(config))  # JSON is YAML
        path.chmod(0o600)
        return path

    def request(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Manifest:
        """Send one request and return the answer, parsed when it is one JSON object.

        Raises:
            ApiError: it was refused.
            OSError: the server isn't there.
        """
        with self._send(method, path, body, token or self.token) as response:
            answer = response.read()
        return cast(Manifest, json.loads(answer)) if answer.startswith(b"{") else {}

    def apply(self, manifest: Manifest) -> Manifest:
        """Create an object or replace it, its namespace first, its status too; return it as stored."""
        kind, metadata = kind_of(manifest), manifest["metadata"]
        namespace = metadata.get("namespace", "default" if kind.namespaced else "")
        if namespace and namespace != "default":
            with suppress(AlreadyThere):
                self.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        path = kind.path(namespace, metadata["name"])
        try:
            stored = self.request("POST", kind.path(namespace), manifest)
        except AlreadyThere:
            stored = self._replace(path, manifest)
        if kind.status and "status" in manifest:
            stored = self._replace(path + "/status", manifest)
        return stored

    def get(self, manifest: Manifest) -> Manifest:
        """The object that the manifest names, as stored now."""
        return self.request("GET", self._path(manifest))

    def delete(self, manifest: Manifest) -> None:
        """Delete the object that the manifest names."""
        self.request("DELETE", self._path(manifest))

    # --- inside ---------------------------------------------------------------------------------

    def _send(self, method: str, path: str, body: Any, token: str) -> HTTPResponse:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        context = ssl.create_default_context(cafile=str(self.ca_file))
        try:
            return cast(HTTPResponse, urllib.request.urlopen(request, context=context, timeout=30))
        except urllib.error.HTTPError as error:
            refusal = AlreadyThere if error.code == 409 else ApiError
            raise refusal(error.code, error.read().decode(errors="replace")[:2000]) from None

    def _replace(self, path: str, manifest: Manifest) -> Manifest:
        now = self.request("GET", path.removesuffix("/status"))["metadata"]["resourceVersion"]
        return self.request("PUT", path, {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": now}})

    def _path(self, manifest: Manifest) -> str:
        metadata = manifest["metadata"]
        return kind_of(manifest).path(metadata.get("namespace", "default"), metadata["name"])

    def _write_credentials(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "service-account.key").write_text(_ec_private_key())
        self._write_tokens()

    def _write_tokens(self) -> None:
        lines = [f'{self.token},admin,admin,"system:masters"']
        lines += [f"{token},{user},{user}" for user, token in self.tokens.items()]
        (self.folder / "tokens.csv").write_text("\n".join(lines) + "\n")

    def _etcd_arguments(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.etcd_peer_port}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            "--log-level=error",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        ]

    def _apiserver_arguments(self) -> list[str]:
        key = self.folder / "service-account.key"
        return [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self.folder / 'certificates'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://127.0.0.1",
            f"--service-account-signing-key-file={key}",
            f"--service-account-key-file={key}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            # Old states come from etcd, not from a copy in memory, so that compact() makes them go.
            "--feature-gates=ListFromCacheSnapshot=false",
        ]

    def _spawn(self, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [str(self.binaries / name), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            for name, process in (("etcd", self._etcd), ("kube-apiserver", self._apiserver)):
                if process is not None and process.poll() is not None:
                    raise NotReady(f"{name} ended with {process.returncode}: {self._end_of_log(name)}")
            with suppress(OSError, ApiError):  # the certificate may not be there yet, or the port, or the answer
                self.request("GET", "/readyz")
                return
            if time.monotonic() > deadline:
                raise NotReady(f"kube-apiserver is not ready after {PATIENCE:.0f} s: {self._end_of_log()}")
            time.sleep(0.2)

    def _wait_until_served(self) -> None:
        """Ready as it is, a server first fills its caches kind by kind, and refuses watches until then."""
        deadline = time.monotonic() + PATIENCE
        for kind in CUSTOM:
            while True:
                with suppress(ApiError):
                    self._send("GET", kind.path() + "?watch=1&resourceVersion=0", None, self.token).close()
                    break
                if time.monotonic() > deadline:
                    raise NotReady(f"{kind.plural} are not served after {PATIENCE:.0f} s")
                time.sleep(0.1)

    def _end_of_log(self, name: str = "kube-apiserver") -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-2000:]

    def _ask_etcd(self, path: str, body: Manifest) -> Manifest:
        request = urllib.request.Request(f"http://127.0.0.1:{self.etcd_port}{path}", data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as response:
            return cast(Manifest, json.load(response))


def _kill(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        process.kill()
        process.wait(timeout=30)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _ec_private_key() -> str:
    """A new P-256 private key as PEM (RFC 5915, without the optional public key).

    The API server needs a key to sign service account tokens with. This saves the tests a dependency.
    """
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    scalar = (secrets.randbelow(order - 1) + 1).to_bytes(32, "big")
    der = bytes.fromhex("30310201010420") + scalar + bytes.fromhex("a00a06082a8648ce3d030107")
    return f"-----BEGIN EC PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END EC PRIVATE KEY-----\n"
