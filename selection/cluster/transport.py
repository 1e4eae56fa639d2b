"""One request to an API server, and what its answer or silence means in plain words.

Objects stay as they were sent: the official client signs the request and carries it, its models aren't used.
Nothing of a request or an object is logged, and no reason quotes what an exception says by itself: that could
be a header with a token.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from http.client import IncompleteRead
from types import TracebackType
from typing import Any

import urllib3
from kubernetes.client.exceptions import ApiException
from urllib3 import exceptions as wire

from selection.cluster.config import Connection
from selection.cluster.errors import ApiError, ClusterError, Trouble, Unauthorized
from selection.cluster.jsontext import printable
from selection.cluster.retry import Retry
from selection.cluster.stopping import release

__all__ = ["TROUBLES", "Lines", "Silence", "get_json", "open_lines", "parse_object", "server_version"]

LONGEST_ANSWER = 512 * 1024 * 1024
"""Bytes; a page of 500 objects at the size limit of etcd stays below."""
LONGEST_ANSWER_TIME = 300.0
"""Seconds for one whole answer, so that a server that sends a byte now and then can't hold us for ever."""
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one event; etcd keeps objects of a few MiB at most."""
LONGEST_MESSAGE = 500
CHUNK = 256 * 1024

DEEPEST = 100
"""Levels of objects and lists that are read where there are too many to read them all; no spec has half as many."""
TOO_DEEP = '"«nested too deep»"'.encode()

UNPRINTABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
TROUBLES: dict[int, Trouble] = {429: "throttled", 500: "server", 502: "server", 503: "server", 504: "server"}
"""The statuses after which asking again may help, and why."""
STRING_OR_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]', re.DOTALL)
VERIFICATION = re.compile(r"certificate verify failed: ([^(\n]+)")


def get_json(
    connection: Connection, path: str, query: Sequence[tuple[str, str]] = (), *, retry: Retry | None = None
) -> dict[str, Any]:
    """Return the JSON object that the API server answers a GET with.

    Raises:
        Unauthorized: HTTP 401.
        ApiError: any other failure, after trying again where that may help.
    """
    return (retry or Retry()).call(lambda: _get(connection, path, query))


def server_version(connection: Connection, *, retry: Retry | None = None) -> str:
    """Return the version of Kubernetes that the cluster runs, such as ``v1.33.2``.

    Raises:
        ClusterError: it can't be asked, or the answer isn't that of an API server.
    """
    version = get_json(connection, "/version", retry=retry).get("gitVersion")
    if not isinstance(version, str):
        raise ClusterError(f"{connection.server} does not answer as a Kubernetes API server")
    return version


class Silence(ApiError):
    """An answer that doesn't end brought nothing for a while. The server may have nothing to say, or be gone."""


class Lines:
    """The lines of an answer that doesn't end, without the empty ones, as they arrive. To be closed.

    Iterating raises ApiError when the answer is cut off, when nothing comes for too long, or when a line has no end.
    """

    def __init__(self, connection: Connection, response: urllib3.BaseHTTPResponse, silence: float) -> None:
        self._connection = connection
        self._response = response
        self._silence = silence

    def __iter__(self) -> Iterator[bytes]:
        pending = bytearray()
        while part := self._part():
            searched = len(pending)
            pending += part
            while (end := pending.find(b"\n", searched)) >= 0:
                line = bytes(pending[:end]).strip()
                del pending[: end + 1]
                searched = 0
                if line:
                    yield line
            if len(pending) > LONGEST_LINE:
                raise ApiError(f"{self._connection.server}: an event is longer than {LONGEST_LINE // 1024 // 1024} MiB")
        if pending.strip():
            raise ApiError(f"{self._connection.server}: the last event was cut off", trouble="connection")

    def _part(self) -> bytes:
        try:
            return self._response.read1(CHUNK, decode_content=True)
        except wire.ReadTimeoutError:
            words = f"{self._connection.server}: nothing came for {self._silence:g} s"
            raise Silence(words, trouble="connection") from None
        except (OSError, ValueError, AttributeError, wire.HTTPError) as error:
            # Values and attributes: a socket that another thread shuts down is gone while it is read.
            raise _failure(self._connection, error) from None

    def close(self) -> None:
        """Hang up."""
        release()
        self._response.close()

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_lines(connection: Connection, path: str, query: Sequence[tuple[str, str]], *, silence: float) -> Lines:
    """Ask once for an answer that comes line by line, and return it when it begins.

    ``silence`` is the number of seconds without a byte after which the line is taken for dead.

    Raises:
        Unauthorized: HTTP 401.
        ApiError: any other failure.
    """
    response: urllib3.BaseHTTPResponse | None = None
    try:
        # Not compressed: a compressor holds an event back until it has enough of them.
        response = _send(connection, path, query, encoding="identity", read_timeout=silence)
        if response.status == 200:
            return Lines(connection, response, silence)
        body = _read(response)
    except wire.ReadTimeoutError:
        raise ApiError(f"{connection.server}: no answer within {silence:g} s", trouble="connection") from None
    except (OSError, wire.HTTPError, ApiException) as error:
        raise _failure(connection, error) from None
    finally:
        if response is not None and response.status != 200:
            release()
            response.close()
    raise _refusal(connection, response, body)


def _get(connection: Connection, path: str, query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    response: urllib3.BaseHTTPResponse | None = None
    try:
        response = _send(connection, path, query)
        body = _read(response)
    except (OSError, wire.HTTPError, ApiException) as error:
        raise _failure(connection, error) from None
    finally:
        release()
        if response is not None:
            response.close()  # a connection that was read to its end is back in the pool, and stays open
    if response.status == 200:
        return _decode(connection, response, body)
    raise _refusal(connection, response, body)


def _send(
    connection: Connection,
    path: str,
    query: Sequence[tuple[str, str]],
    *,
    encoding: str = "gzip",
    read_timeout: float | None = None,
) -> urllib3.BaseHTTPResponse:
    client = connection.client
    try:
        method, url, headers, _, _ = client.param_serialize(
            "GET",
            path,
            query_params=list(query),
            header_params={"Accept": "application/json", "Accept-Encoding": encoding},
            auth_settings=["BearerToken"],
        )
    except Exception as error:  # renewing a token runs plugins, reads files and asks identity providers
        raise ApiError(f"the credentials could not be renewed ({type(error).__name__})") from None
    headers = {name: str(value).strip() for name, value in headers.items()}
    timeouts = (connection.connect_timeout, connection.read_timeout if read_timeout is None else read_timeout)
    try:
        answer = client.call_api(method, url, header_params=headers, _request_timeout=timeouts)
    except ValueError as error:
        if isinstance(error, wire.HTTPError):
            raise
        raise ApiError("the address or the token holds characters that a request can't carry") from None
    response: urllib3.BaseHTTPResponse = answer.response
    return response


def _read(response: urllib3.BaseHTTPResponse, clock: Callable[[], float] = time.monotonic) -> bytes:
    """Read an answer to its end, within limits of size and time."""
    deadline = clock() + LONGEST_ANSWER_TIME
    parts, size = [], 0
    while part := response.read1(CHUNK, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > LONGEST_ANSWER:
            raise ApiError(f"the answer is longer than {LONGEST_ANSWER // 1024 // 1024} MiB")
        if clock() > deadline:
            raise ApiError(f"the answer took longer than {LONGEST_ANSWER_TIME:.0f} s")
    return b"".join(parts)


def parse_object(text: bytes) -> dict[str, Any]:
    """Return the JSON object that this is, without characters that no database keeps.

    What is nested deeper than can be read is cut: an API server takes 10,000 levels where a definition lets unknown
    fields through, and one such object is not to keep a whole kind from being read.

    Raises:
        ValueError: it is no JSON, or no object; the message quotes nothing of it.
    """
    try:
        try:
            value = _parse(text)
        except RecursionError:
            value = _parse(_cut(text))
    except ValueError:
        raise ValueError("not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _parse(text: bytes) -> Any:
    value = json.loads(text, parse_constant=_no_constant)
    return printable(value) if UNPRINTABLE.search(text) else value


def _cut(text: bytes) -> bytes:
    """The same JSON with :data:`TOO_DEEP` in place of what is nested deeper than :data:`DEEPEST`."""
    parts: list[bytes] = []
    depth = kept = 0
    for found in STRING_OR_BRACKET.finditer(text):
        if found[0] in (b"{", b"["):
            depth += 1
            if depth == DEEPEST + 1:
                parts += (text[kept : found.start()], TOO_DEEP)
        elif found[0] in (b"}", b"]"):
            if depth == DEEPEST + 1:
                kept = found.end()
            depth -= 1
    if depth:
        raise ValueError
    return b"".join((*parts, text[kept:]))


def _decode(connection: Connection, response: urllib3.BaseHTTPResponse, body: bytes) -> dict[str, Any]:
    try:
        return parse_object(body)
    except ValueError as error:
        of = response.headers.get("Content-Type", "no content type").split(";")[0][:80]
        what = f"{error} ({of})" if str(error) == "not JSON" else error
        raise ApiError(f"{connection.server}: the answer is {what}; is this a Kubernetes API server?") from None


def _no_constant(text: str) -> float:
    raise ValueError(text)


def _refusal(connection: Connection, response: urllib3.BaseHTTPResponse, body: bytes) -> ClusterError:
    """Return the error for an answer that isn't 200, with the API server's own words when it has some."""
    status, message = response.status, _message(body)
    if status == 401:
        return Unauthorized(f"{connection.server} does not accept the credentials of {connection.name!r} (HTTP 401)")
    if status == 407:
        message = "a proxy on the way asks for a sign-in"
    elif 300 <= status < 400:
        message = "redirected to another address; is this a Kubernetes API server?"
    if status == 403 and message:
        return ApiError(message, status=status)
    reason = f"{connection.server}: HTTP {status}{f': {message}' if message else ''}"
    return ApiError(reason, status=status, trouble=TROUBLES.get(status), retry_after=_retry_after(response.headers))


def _message(body: bytes) -> str:
    """Return the message of a Kubernetes Status, or a short plain text; "" for pages and anything else."""
    try:
        status = json.loads(body)
    except (ValueError, RecursionError):
        text = body[: LONGEST_MESSAGE + 1].decode("utf-8", "replace").strip()
        return "" if len(text) > LONGEST_MESSAGE or "<" in text else " ".join(text.split())
    message = status.get("message") if isinstance(status, dict) else None
    if not isinstance(message, str):
        return ""
    message = " ".join(message.split())
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a server asks for; a date is counted from the answer's own date."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _failure(connection: Connection, error: Exception) -> ApiError:
    """Return the error for a request that got no answer, or only a part of one."""
    words, again = _words(connection, error)
    return ApiError(f"{connection.server}: {words}", trouble="connection" if again else None)


def _words(connection: Connection, error: Exception) -> tuple[str, bool]:
    """Return what happened, and whether trying again may help."""
    if isinstance(error, wire.SSLError | ApiException):
        return _tls_words(str(error)), False
    if isinstance(error, wire.ProxyError):
        words, again = _words(connection, error.original_error)
        return f"through the proxy: {words}", again
    if isinstance(error, wire.NameResolutionError):
        return "the host's name can't be resolved", True
    if isinstance(error, wire.NewConnectionError):
        cause = error.__cause__
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused", True
        detail = cause.strerror if isinstance(cause, OSError) and cause.strerror else "no reason given"
        return f"can't connect: {detail.lower()}", True
    if isinstance(error, wire.ConnectTimeoutError):
        return f"no connection within {connection.connect_timeout:g} s", True
    if isinstance(error, wire.ReadTimeoutError):
        return f"no answer within {connection.read_timeout:g} s", True
    if isinstance(error, wire.ProtocolError):
        cause = error.args[1] if len(error.args) > 1 else None
        cut = isinstance(error, wire.IncompleteRead) or isinstance(cause, wire.IncompleteRead | IncompleteRead)
        return "the answer was cut off" if cut else "the connection was closed before the answer was complete", True
    if isinstance(error, wire.DecodeError):
        return "the answer was cut off or damaged", True
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower(), False
    return f"the request failed ({type(error).__name__})", False


def _tls_words(text: str) -> str:
    verification = VERIFICATION.search(text)
    if verification:
        return f"TLS failure: the server's certificate is not trusted: {verification[1].strip().rstrip('.')}"
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return "TLS failure: the server does not speak TLS there; is its address http://?"
    if "CERTIFICATE" in text.upper():
        return "TLS failure: the server does not accept the client certificate"
    return "TLS failure"
