"""Streams that break, and streams of what isn't an event: each ends the call with a reason in one line."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from selection.cluster import transport, watching
from selection.cluster.connections import Connections
from selection.cluster.errors import ApiError
from selection.cluster.events import Event, Watching
from selection.cluster.kinds import BASE_MODEL
from selection.cluster.retry import Backoff
from selection.cluster.stopping import Stop
from selection.cluster.transport import Silence
from selection.cluster.watching import streams_of, watch
from tests.cluster.fakes import Answer, FakeApi, FakeServer, connect, event, stream

UNVERSIONED = "an event's object has no resourceVersion"
GOOD = event(BASE_MODEL, "ADDED", "good", 8)


def broken(server: FakeServer, api: FakeApi, answer: Answer) -> tuple[list[Event | Watching], ApiError]:
    """Watch until it breaks; return what was told before, without the opening, and the error."""
    api.watches = [answer]
    found: list[Event | Watching] = []
    events = streams_of(BASE_MODEL, "ome")[0]
    happenings = watch(Connections(lambda: connect(server.url)), events, "7", stop=Stop(), backoff=Backoff())
    with pytest.raises(ApiError) as failure:
        found.extend(happenings)
    message = str(failure.value)
    assert message.startswith(f"{server.url}: ")
    assert "\n" not in message
    assert len(message) < 600
    return found[1:], failure.value


def with_object(**more: Any) -> dict[str, Any]:
    return {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "9"}, **more}}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense\n", "an event is not JSON"),
        (b'{"type": "ADDED", "object": \n', "an event is not JSON"),
        (b"\0\0\0\0\n", "an event is not JSON"),
        (b'{"type": "ADDED\xff\xfe"}\n', "an event is not JSON"),
        (b'{"type": "ADDED", "object": {"metadata": {"weight": NaN}}}\n', "an event is not JSON"),
        (b"[" * 100_000 + b"\n", "an event is not JSON"),
        (b"[]\n", "an event is not a JSON object"),
        (b"null\n", "an event is not a JSON object"),
        (b"<html><body>Bad gateway</body></html>\n", "an event is not JSON"),
        (b"{}\n", "an event is without its object"),
        (b'{"type": "ADDED", "object": []}\n', "an event is without its object"),
        (b'{"type": "ADDED", "object": {}}\n', UNVERSIONED),
        (b'{"type": "ADDED", "object": {"metadata": {"resourceVersion": 7}}}\n', UNVERSIONED),
        (b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": ""}}}\n', UNVERSIONED),
        (json.dumps({**with_object(), "type": "REPLACED"}).encode() + b"\n", "an event is of an unknown type"),
        (json.dumps({**with_object(), "type": ["ADDED"]}).encode() + b"\n", "an event is of an unknown type"),
        (json.dumps({**with_object(), "type": None}).encode() + b"\n", "an event is of an unknown type"),
    ],
)
def test_what_is_no_event_ends_the_call(server: FakeServer, api: FakeApi, line: bytes, reason: str) -> None:
    before, error = broken(server, api, stream(GOOD, line, event(BASE_MODEL, "ADDED", "later", 10)))
    assert [each.resource_version for each in before] == ["8"]
    assert (str(error), error.status, error.trouble) == (f"{server.url}: {reason}", None, None)


def test_half_a_line_at_the_end_is_no_event(server: FakeServer, api: FakeApi) -> None:
    before, error = broken(server, api, stream(GOOD, b'{"type": "DELETED", "object": {"metadata": {"name": "good"'))
    assert len(before) == 1
    assert (str(error), error.trouble) == (f"{server.url}: the last event was cut off", "connection")


def test_a_whole_event_without_its_line_end_is_not_trusted(server: FakeServer, api: FakeApi) -> None:
    before, error = broken(server, api, stream(GOOD, json.dumps(with_object()).encode()))
    assert len(before) == 1
    assert error.trouble == "connection"


def test_a_connection_that_is_cut_off_keeps_what_came_before(server: FakeServer, api: FakeApi) -> None:
    before, error = broken(server, api, stream(GOOD, endless=True))
    assert len(before) == 1
    assert (str(error), error.trouble) == (f"{server.url}: the answer was cut off", "connection")


def test_a_broken_compression_is_a_broken_line(server: FakeServer, api: FakeApi) -> None:
    before, error = broken(server, api, stream(b"no gzip at all", headers={"Content-Encoding": "gzip"}))
    assert before == []
    assert (str(error), error.trouble) == (f"{server.url}: the answer was cut off or damaged", "connection")


def test_a_line_has_a_limit(server: FakeServer, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_LINE", 1024 * 1024)
    big = [b"x" * 400_000] * 6
    before, error = broken(server, api, stream(GOOD, b'{"type": "', *big))
    assert len(before) == 1
    assert str(error) == f"{server.url}: an event is longer than 1 MiB"


def test_a_large_object_is_no_problem(server: FakeServer, api: FakeApi) -> None:
    large = event(BASE_MODEL, "ADDED", "large", 9)
    large["object"]["spec"] = {"text": "x" * 3_000_000}
    before, _ = broken(server, api, stream(large, endless=True))
    assert isinstance(before[0], Event)
    assert len(before[0].manifest["spec"]["text"]) == 3_000_000


def test_characters_that_no_database_keeps_are_replaced(server: FakeServer, api: FakeApi) -> None:
    line = b'{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"9"},"spec":{"a":"x\\u0000\\ud800"}}}\n'
    before, _ = broken(server, api, stream(line, endless=True))
    assert isinstance(before[0], Event)
    assert before[0].manifest["spec"] == {"a": "x\ufffd\ufffd"}


def test_a_line_where_nothing_comes_is_not_waited_for_without_end(
    server: FakeServer, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SILENCE", 0.3)
    never = threading.Event()
    before, error = broken(server, api, stream(GOOD, never))
    never.set()
    assert len(before) == 1
    assert isinstance(error, Silence)
    assert str(error) == f"{server.url}: nothing came for 0.3 s"


def test_a_server_that_accepts_and_says_nothing_is_given_up(
    server: FakeServer, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SILENCE", 0.3)
    never = threading.Event()
    api.others = {BASE_MODEL.path(): Answer(wait=never, before=True)}
    before, error = broken(server, api, stream())
    never.set()
    assert before == []
    assert (str(error), error.trouble) == (f"{server.url}: no answer within 0.3 s", "connection")
