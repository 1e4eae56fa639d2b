"""A web server that answers what a test tells it to, a clock that doesn't wait, and connections to the former."""

from __future__ import annotations

import json
import ssl
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
from selection.cluster.stopping import Stop

__all__ = [
    "Answer",
    "Asked",
    "FakeApi",
    "FakeClock",
    "FakeServer",
    "FakeStop",
    "bookmark",
    "connect",
    "event",
    "items",
    "page",
    "status",
    "stream",
    "told",
]


@dataclass(frozen=True)
class Answer:
    """What to send back. ``cut`` sends only so many bytes of the body; ``hang_up`` nothing at all.

    ``wait`` is waited for after the body, or ``before`` anything is sent.

    ``parts`` are sent one after the other instead of a body, as the chunks of a stream: between them an event may be
    waited for. ``endless`` hangs up after them without the end that a stream has.
    """

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang_up: bool = False
    chunked: bool = False
    wait: threading.Event | None = None
    before: bool = False
    parts: tuple[bytes | threading.Event, ...] | None = None
    endless: bool = False

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True)
class Asked:
    """One request that came in; ``common_name`` is the client certificate's."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    client_port: int = 0
    common_name: str = ""


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up in the middle are what the tests are about."""


class FakeServer:
    """Answers by a function of what was asked, or with the answers of a list one after the other.

    ``tls`` is what it speaks TLS with; it asks for a client certificate if that does.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
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
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self._server.server_port}"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        name = _common_name(handler.connection)
        asked = Asked(parts.path, query, dict(handler.headers.items()), handler.client_address[1], name)
        self.asked.append(asked)
        answer = self.respond(asked) if self.respond else self.answers.pop(0)
        if answer.wait is not None and answer.before:
            answer.wait.wait(10)
        if answer.hang_up:
            handler.close_connection = True
            return
        if answer.parts is not None:
            _stream(handler, answer, answer.parts)
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
        if answer.wait is not None and not answer.before:
            answer.wait.wait(10)
        if answer.cut is not None:
            handler.close_connection = True


def _common_name(connection: Any) -> str:
    certificate = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    names = dict(pair for part in (certificate or {}).get("subject", ()) for pair in part)  # type: ignore[misc]
    return str(names.get("commonName", ""))


def _stream(handler: BaseHTTPRequestHandler, answer: Answer, parts: tuple[bytes | threading.Event, ...]) -> None:
    handler.send_response_only(answer.status)
    for name, value in {"Content-Type": "application/json", "Transfer-Encoding": "chunked", **answer.headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    for part in parts:
        if isinstance(part, threading.Event):
            part.wait(10)
        elif part:
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    if answer.endless:
        handler.close_connection = True
    else:
        handler.wfile.write(b"0\r\n\r\n")


class FakeApi:
    """Answers lists and watches on a fake server, each with the next of its own, and keeps what was asked apart.

    A watch for which there is no answer left is open and silent until ``close``; the last list is given again.
    """

    def __init__(self, server: FakeServer) -> None:
        self.lists: list[Answer] = []
        self.watches: list[Answer] = []
        self.others: dict[str, Answer] = {}
        self.listed: list[Asked] = []
        self.watched: list[Asked] = []
        self.doubted: list[Asked] = []
        self.newest = "999999"
        self._closed = threading.Event()
        self._lock = threading.Lock()
        server.respond = self.respond

    def respond(self, asked: Asked) -> Answer:
        """Answer one request."""
        with self._lock:
            if asked.path in self.others:
                return self.others[asked.path]
            if "watch" in asked.query:
                self.watched.append(asked)
                return self.watches.pop(0) if self.watches else Answer(parts=(self._closed,))
            if asked.query.get("limit") == "1":
                self.doubted.append(asked)
                return page([], version=self.newest)
            self.listed.append(asked)
            return self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]

    def close(self) -> None:
        """Let the watches that are open end."""
        self._closed.set()


class FakeStop(Stop):
    """A stop whose waits take no time; it remembers them, and moves the clock that it is."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []
        self.now = 0.0

    def wait(self, seconds: float, unless: Callable[[], bool] | None = None) -> bool:
        self.waited.append(seconds)
        self.now += seconds
        self.check()
        return unless is not None and unless()

    def clock(self) -> float:
        """The time, as far as it was waited for."""
        return self.now


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


def event(kind: Kind, word: str, name: str, version: int | str, **metadata: Any) -> dict[str, Any]:
    """One event of a watch, as the API server sends it: with the type of its object."""
    namespace = {"namespace": "ml"} if kind.namespaced else {}
    manifest = {"metadata": {"name": name, **namespace, "resourceVersion": str(version), **metadata}, "spec": {}}
    return {"type": word, "object": {"apiVersion": kind.api_version, "kind": kind.kind, **manifest}}


def bookmark(kind: Kind, version: int | str) -> dict[str, Any]:
    """A bookmark: a version and no object."""
    metadata = {"resourceVersion": str(version)}
    return {"type": "BOOKMARK", "object": {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}}


def told(code: int, message: str = "no", **details: Any) -> dict[str, Any]:
    """An error in the middle of a watch."""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return {"type": "ERROR", "object": {**status, "details": details} if details else status}


def stream(*events: dict[str, Any] | bytes | threading.Event, **more: Any) -> Answer:
    """The answer to a watch: events, bytes as they are, and what is waited for in between."""
    parts = tuple(json.dumps(each).encode() + b"\n" if isinstance(each, dict) else each for each in events)
    return Answer(parts=parts, **more)


def status(code: int, message: str = "no", **headers: str) -> Answer:
    """A refusal."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return Answer(body, code, {name.replace("_", "-"): value for name, value in headers.items()})
