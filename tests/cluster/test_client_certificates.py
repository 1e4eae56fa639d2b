"""Client certificates that are replaced on disk, with TLS as it is."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from selection.cluster.config import Connection, from_kubeconfig
from selection.cluster.connections import Connections
from selection.cluster.errors import ConfigurationError
from selection.cluster.stopping import Stop
from selection.cluster.transport import get_json
from tests.cluster.fakes import Answer, Asked, FakeServer, status
from tests.cluster.kubeconfigs import kubeconfig

pytestmark = pytest.mark.usefixtures("bare_environment")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority and what it signed: certificates of the server and of clients ``old`` and ``new``."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("certificates")
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=authority")
    for name, more in (("server", "subjectAltName=IP:127.0.0.1"), ("old", ""), ("new", "")):
        (folder / "more").write_text(more)
        openssl("req", *new, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "more"]
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.crt")
    return folder


@pytest.fixture
def tls_server(certificates: Path) -> Iterator[FakeServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    context.load_verify_locations(certificates / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    server = FakeServer(context)
    yield server
    server.close()


def ask(connection: Connection) -> dict[str, object]:
    return get_json(connection, "/")


def test_a_certificate_that_was_replaced_is_read_again(
    tls_server: FakeServer, certificates: Path, tmp_path: Path
) -> None:
    accepted = ["old"]

    def respond(asked: Asked) -> Answer:
        return Answer({"name": asked.common_name}) if asked.common_name in accepted else status(401)

    def place(name: str) -> None:
        for end in ("crt", "key"):
            shutil.copy(certificates / f"{name}.{end}", tmp_path / f"client.{end}")

    tls_server.respond = respond
    place("old")
    path = kubeconfig(
        tmp_path / "config",
        server=tls_server.url,
        cluster={"certificate-authority": str(certificates / "ca.crt")},
        user={"client-certificate": "client.crt", "client-key": "client.key"},
    )
    connections = Connections(lambda: from_kubeconfig(path))
    assert connections.use(ask, Stop()) == {"name": "old"}
    place("new")
    assert connections.use(ask, Stop()) == {"name": "old"}, "it does as long as the server lets it"
    accepted[:] = ["new"]
    assert connections.use(ask, Stop()) == {"name": "new"}
    (tmp_path / "client.key").unlink()
    accepted[:] = ["newer"]
    with pytest.raises(ConfigurationError, match=r"client-key names .*client\.key, which is not there"):
        connections.use(ask, Stop())
    connections.close()
