"""A web server that answers what a test tells it to, a clock that doesn't wait, and connections to the former."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubernetes.client import ApiClient, Configuration

from selection.cluster.config import Connection
from selection.cluster.kinds import Kind
from selection.cluster.retry import Retry

__all__ = ["Answer", "Asked", "FakeClock", "FakeServer", "connect", "items", "page"]


@dataclass(frozen=True)
class Answer:
    """What to send back. ``cut`` sends only so many bytes of the body; ``hang_up`` nothing at all."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang_up: bool = False
    chunked: bool = False
    wait: threading.Event | None = None

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True)
class Asked:
    """One request that came in."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    client_port: int = 0


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up in the middle are what the tests are about."""


class FakeServer:
    """Answers by a function of what was asked, or with the answers of a list one after the other."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []
        self.respond: Callable[[Asked], Answer] | None = None
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        asked = Asked(parts.path, query, dict(handler.headers.items()), handler.client_address[1])
        self.asked.append(asked)
        answer = self.respond(asked) if self.respond else self.answers.pop(0)
        if answer.hang_up:
            handler.close_connection = True
            return
        data = answer.data
        handler.send_response_only(answer.status)
        headers = {"Content-Type": "application/json", **answer.headers}
        if not answer.chunked:
            headers["Content-Length"] = str(len(data))
        else:
            headers["Transfer-Encoding"] = "chunked"
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n0\r\n\r\n"
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[: answer.cut])
        if answer.wait is not None:
            answer.wait.wait(10)
        if answer.cut is not None:
            handler.close_connection = True


class FakeClock:
    """A clock that only its own ``sleep`` moves."""

    def __init__(self, jitter: float = 0.0) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.retry = Retry(sleep=self.sleep, clock=lambda: self.now, jitter=lambda: jitter)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def connect(url: str, *, token: str | None = None, read_timeout: float = 5.0) -> Connection:
    """A connection to an address, past any kubeconfig and proxy."""
    configuration = Configuration(host=url, no_proxy="*")
    configuration.retries = False
    if token is not None:
        configuration.api_key["BearerToken"] = f"Bearer {token}"
    return Connection("test", url, ApiClient(configuration), connect_timeout=2.0, read_timeout=read_timeout)


def items(kind: Kind, names: Iterable[str]) -> list[dict[str, Any]]:
    """Objects as they stand in a list: without their type."""
    namespace = {"namespace": "ml"} if kind.namespaced else {}
    return [{"metadata": {"name": name, **namespace}, "spec": {}} for name in names]


def page(objects: list[dict[str, Any]] | None, following: str = "", version: str = "7", **metadata: Any) -> Answer:
    """One page of a list."""
    return Answer({"metadata": {"resourceVersion": version, "continue": following, **metadata}, "items": objects})
