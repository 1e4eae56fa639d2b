"""A watch that resumes: from where, after how long a wait, and when it leaves to a new list."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from selection.cluster import watching
from selection.cluster.connections import Connections
from selection.cluster.events import Event, Lost, Watching
from selection.cluster.kinds import BASE_MODEL
from selection.cluster.retry import Backoff, Retry
from selection.cluster.stopping import Stopped
from selection.cluster.watching import streams_of, watch_on
from tests.cluster.fakes import (
    Answer,
    FakeApi,
    FakeServer,
    FakeStop,
    bookmark,
    connect,
    event,
    status,
    stream,
    told,
)

A = event(BASE_MODEL, "ADDED", "a", 8)
B = event(BASE_MODEL, "ADDED", "b", 9)


@pytest.fixture
def stop() -> FakeStop:
    return FakeStop()


def watched(
    server: FakeServer, stop: FakeStop, *, jitter: float = 1.0, version: str = "7"
) -> Iterator[Event | Watching | Lost]:
    backoff = Backoff(Retry(jitter=lambda: jitter))
    connections = Connections(lambda: connect(server.url))
    return watch_on(connections, streams_of(BASE_MODEL, "ome")[0], version, stop=stop, backoff=backoff)


def take(happenings: Iterator[Event | Watching | Lost], number: int) -> list[str]:
    """The next happenings in short; a ``Lost`` by its trouble and its wait."""
    found = []
    for _ in range(number):
        each = next(happenings)
        if isinstance(each, Lost):
            found.append(f"lost: {each.trouble} {each.wait:g}")
        elif isinstance(each, Watching):
            found.append(f"watching {each.resource_version}")
        else:
            found.append(f"{each.type} {each.manifest['metadata']['name']}")
    return found


def asked(api: FakeApi) -> list[str]:
    return [each.query["resourceVersion"] for each in api.watched]


def test_a_call_that_ends_is_followed_by_the_next_without_a_word(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [stream(A), stream(bookmark(BASE_MODEL, 20)), stream(B)]
    assert take(watched(server, stop), 7) == [
        "watching 7",
        "put a",
        "watching 8",
        "watching 20",
        "watching 20",
        "put b",
        "watching 9",
    ]
    assert asked(api) == ["7", "8", "20", "9"]
    assert stop.waited == []
    assert api.doubted == []


def test_a_broken_line_resumes_from_the_last_event(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A, endless=True), stream(B)]
    assert take(watched(server, stop), 5) == ["watching 7", "put a", "lost: connection 0.5", "watching 8", "put b"]
    assert asked(api) == ["7", "8"]
    assert stop.waited == [0.5]


def test_a_broken_line_resumes_from_the_last_bookmark(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A, bookmark(BASE_MODEL, 30), endless=True)]
    assert take(watched(server, stop), 5)[-1] == "watching 30"


def test_half_an_event_is_asked_for_again(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A, b'{"type": "ADDED", "obj', endless=True), stream(B)]
    assert take(watched(server, stop), 5)[-2:] == ["watching 8", "put b"]


def test_waits_grow_and_have_a_limit(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [Answer(hang_up=True)] * 40
    found = take(watched(server, stop), 9)
    assert found == [f"lost: connection {wait:g}" for wait in (0.5, 1, 2, 4, 8, 16, 30, 30, 30)]
    assert stop.waited == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_waits_begin_anew_after_something_came(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [*[Answer(hang_up=True)] * 6, stream(A, endless=True), Answer(hang_up=True)]
    found = watched(server, stop)
    before: list[str] = []
    while before[-1:] != ["put a"]:
        before += take(found, 1)
    assert before[-3:] == [f"lost: connection {stop.waited[-1]:g}", "watching 7", "put a"]
    assert stop.waited[-1] > 2
    assert take(found, 1) == ["lost: connection 0.5"]


def test_a_watch_that_opens_and_breaks_without_a_word_does_not_count_as_success(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [stream(endless=True) for _ in range(3)]
    assert take(watched(server, stop), 6)[1::2] == [f"lost: connection {wait:g}" for wait in (0.5, 1, 2)]


def test_a_watch_that_is_ended_at_once_again_and_again_is_waited_for(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [stream()] * 2
    assert take(watched(server, stop), 4)[1::2] == ["lost: server 0.5", "lost: server 1"]


def test_what_was_asked_to_wait_is_waited(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [
        status(429, Retry_After="7"),
        status(503, Retry_After="60"),
        status(429, Retry_After="86400"),
        stream(told(429, retryAfterSeconds=20)),
    ]
    assert take(watched(server, stop, jitter=0.0), 5) == [
        "lost: throttled 7",
        "lost: server 60",
        "lost: throttled 300",
        "watching 7",
        "lost: throttled 20",
    ]


def test_a_version_that_is_gone_needs_a_list_at_once(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A, told(410, "too old resource version: 8 (12)"))]
    found = watched(server, stop)
    assert take(found, 3) == ["watching 7", "put a", "lost: gone 0"]
    assert list(found) == []


def test_a_version_that_is_gone_after_an_outage_needs_a_list_at_once(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [stream(endless=True), stream(told(410))]
    found = watched(server, stop)
    assert take(found, 4) == ["watching 7", "lost: connection 0.5", "watching 7", "lost: gone 0"]
    assert list(found) == []


def test_a_version_that_is_gone_before_anything_came_needs_a_list_later(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [status(410, "Expired")]
    found = watched(server, stop)
    assert take(found, 1) == ["lost: gone 0.5"]
    assert list(found) == []
    assert stop.waited == [0.5]


def test_a_kind_that_may_be_listed_but_not_watched_is_listed_now_and_then(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.watches = [status(403, "cannot watch")]
    [lost] = list(watched(server, stop, jitter=0.5))
    assert isinstance(lost, Lost)
    assert (lost.trouble, lost.wait, lost.reason) == ("forbidden", 30.0, "cannot watch")
    assert stop.waited == [30.0]


def test_a_right_that_is_withdrawn_is_seen_by_a_list_at_once(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A), status(403, "cannot watch")]
    found = watched(server, stop)
    assert take(found, 3) == ["watching 7", "put a", "lost: forbidden 0"]
    assert list(found) == []


def test_a_kind_that_is_served_no_more_is_left_to_the_list(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A), status(404)]
    assert len(list(watched(server, stop))) == 2


def test_a_watch_that_is_not_found_though_the_list_is_waits(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [status(404)]
    [lost] = list(watched(server, stop))
    assert isinstance(lost, Lost)
    assert (lost.trouble, stop.waited) == ("other", [0.5])


@pytest.mark.parametrize("answer", [stream(b"nonsense\n"), status(400, "bad"), status(500), stream(told(500))])
def test_a_version_that_cannot_be_gone_on_from_is_left_after_three_attempts(
    server: FakeServer, api: FakeApi, stop: FakeStop, answer: Answer
) -> None:
    api.watches = [stream(A), *[answer] * 3]
    found = [each for each in watched(server, stop) if isinstance(each, Lost)]
    assert [each.wait for each in found] == [0.5, 1.0, 2.0]
    assert asked(api) == ["7", "8", "8", "8"]


def test_a_line_that_is_down_is_not_left(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [*[Answer(hang_up=True)] * 20, stream(A)]
    found = watched(server, stop)
    while take(found, 1) != ["put a"]:
        pass
    assert set(asked(api)) == {"7"}


def test_a_restored_cluster_is_listed_again(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(event(BASE_MODEL, "ADDED", "a", 5000), endless=True)]
    api.newest = "4000"
    found = watched(server, stop)
    assert take(found, 4) == ["watching 7", "put a", "lost: connection 0.5", "lost: gone 0"]
    assert list(found) == []
    assert asked(api) == ["7"]


def test_silence_is_followed_by_a_new_call_without_a_word(
    server: FakeServer, api: FakeApi, stop: FakeStop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SILENCE", 0.2)
    started = time.monotonic()
    assert take(watched(server, stop), 3) == ["watching 7"] * 3
    assert time.monotonic() - started >= 0.4
    assert stop.waited == []


def test_it_ends_when_it_is_asked_to(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.watches = [stream(A, B)]
    found = watched(server, stop)
    take(found, 2)
    stop.set()
    with pytest.raises(Stopped):
        next(found)
