"""The server: what it refuses, and that it serves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from ome_dashboard.serve import Refused, refuse_open_address, server_options
from tests.project.test_settings import ROOT, SERVER, run


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "localhost", "::1"])
def test_a_loopback_address_is_accepted(host: str) -> None:
    refuse_open_address(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "192.0.2.7"])
def test_an_address_that_others_reach_is_refused(host: str) -> None:
    with pytest.raises(Refused, match="OME_DASHBOARD_MODE=server"):
        refuse_open_address(host)


def test_headers_of_a_proxy_are_believed_only_from_the_one_that_is_named() -> None:
    alone = server_options(host="0.0.0.0", port=8000, threads=4, trusted_proxy="")
    assert "trusted_proxy" not in alone
    assert alone["clear_untrusted_proxy_headers"] is True
    behind = server_options(host="0.0.0.0", port=8000, threads=4, trusted_proxy="10.0.0.2")
    assert behind["trusted_proxy"] == "10.0.0.2"
    assert behind["trusted_proxy_headers"] == {"x-forwarded-for", "x-forwarded-proto"}


def serve(tmp_path: Path, **variables: str) -> tuple[int, str]:
    """Exit code and last line of a server that is expected to refuse."""
    done = run(tmp_path, "-m", "ome_dashboard.serve", **variables)
    return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def test_local_mode_does_not_listen_where_others_reach_it(tmp_path: Path) -> None:
    code, line = serve(tmp_path, OME_DASHBOARD_HOST="0.0.0.0")
    assert code == 1
    assert line.startswith("In local mode nobody signs in, so it listens on 127.0.0.1 only, not on 0.0.0.0")


def test_a_database_without_tables_is_refused(tmp_path: Path) -> None:
    code, line = serve(tmp_path)
    assert code == 1
    assert "manage.py migrate" in line


def test_a_database_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    code, line = serve(tmp_path, DATABASE_URL="postgres://ann:hunter2@127.0.0.1:1/ome")
    assert code == 1
    assert line.startswith("The database can't be used")
    assert "hunter2" not in line


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a migrated database."""
    folder = tmp_path_factory.mktemp("data")
    done = run(folder, "manage.py", "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_port_in_use_is_refused_in_one_line(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, line = serve(data, OME_DASHBOARD_PORT=str(taken.getsockname()[1]))
    assert code == 1
    assert line.startswith("Can't listen on 127.0.0.1:")


class Answers(urllib.request.HTTPRedirectHandler):
    """Redirects are answers too."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def ask(port: int, path: str, form: Mapping[str, str] | None = None, **headers: str) -> tuple[int, dict[str, str]]:
    """Status and headers of one request, waiting for the server to come up; with a form it posts."""
    body = urllib.parse.urlencode(form).encode() if form is not None else None
    opener = urllib.request.build_opener(Answers)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    for _ in range(100):
        try:
            with opener.open(urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, named)) as response:
                return response.status, dict(response.headers)
        except urllib.error.HTTPError as answer:
            return answer.code, dict(answer.headers)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server didn't come up")


def started(data: Path, port: int, **variables: str) -> subprocess.Popen[bytes]:
    ours = ("OME_DASHBOARD_", "DATABASE_URL", "DJANGO_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"OME_DASHBOARD_DATA": str(data), "OME_DASHBOARD_PORT": str(port), **variables}
    return subprocess.Popen([sys.executable, "-m", "ome_dashboard.serve"], cwd=ROOT, env=environment)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_it_serves_until_it_is_told_to_stop(data: Path) -> None:
    port = free_port()
    server = started(data, port)
    try:
        status, headers = ask(port, "/static/django_htmx/htmx-2.min.js")
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert ask(port, "/", Host="evil.example")[0] == 400
    finally:
        server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=20) == 0


def test_server_mode_behind_its_proxy_asks_for_a_sign_in(data: Path) -> None:
    port = free_port()
    variables = {**SERVER, "OME_DASHBOARD_TRUSTED_PROXY": "127.0.0.1", "OME_DASHBOARD_HOST": "127.0.0.1"}
    server = started(data, port, **variables)
    try:
        name = SERVER["OME_DASHBOARD_ALLOWED_HOSTS"]
        status, headers = ask(port, "/services/", Host=name)
        assert (status, headers["Location"]) == (301, f"https://{name}/services/")
        status, headers = ask(port, "/login/", Host=name, X_Forwarded_Proto="https")
        assert status == 200
        assert headers["Strict-Transport-Security"] == "max-age=31536000"
        assert "Secure" in headers["Set-Cookie"]
        # Who fails to sign in is told apart by the address that the proxy tells.
        cookie = headers["Set-Cookie"].partition(";")[0]
        form = {"username": "mara", "password": "wrong", "csrfmiddlewaretoken": cookie.partition("=")[2]}
        told = {"Host": name, "X-Forwarded-Proto": "https", "Cookie": cookie, "Referer": f"https://{name}/login/"}
        tries = [ask(port, "/login/", form, **told, X_Forwarded_For="192.0.2.1")[0] for _ in range(6)]
        assert tries == [200, 200, 200, 200, 429, 429]
        assert ask(port, "/login/", form, **told, X_Forwarded_For="192.0.2.2")[0] == 200
    finally:
        server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=20) == 0
