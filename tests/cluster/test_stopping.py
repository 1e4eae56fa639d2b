"""Ending what a thread waits for or reads, from another thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from selection.cluster.kinds import BASE_MODEL
from selection.cluster.stopping import Stop, Stopped, make_interruptible
from selection.cluster.transport import get_json, open_lines
from tests.cluster.fakes import Answer, FakeApi, FakeServer, connect, event, page, stream

SOON = 1.0


class Worker:
    """A thread that does something under a stop."""

    def __init__(self, stop: Stop, work: Callable[[], object]) -> None:
        self.began = threading.Event()
        self.error: BaseException | None = None
        self._stop = stop
        self._work = work
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            with self._stop:
                self.began.set()
                self._work()
        except BaseException as error:
            self.error = error

    def seconds_to_end(self) -> float:
        """Set the stop, and return how long the thread took to end."""
        self.began.wait(5)
        time.sleep(0.2)  # so that it is in the middle of it
        started = time.monotonic()
        self._stop.set()
        self.thread.join(5)
        assert not self.thread.is_alive()
        return time.monotonic() - started


def test_a_wait_ends_at_once() -> None:
    stop = Stop()
    worker = Worker(stop, lambda: stop.wait(60))
    assert worker.seconds_to_end() < SOON
    assert isinstance(worker.error, Stopped)


def test_a_wait_ends_early_when_there_is_nothing_left_to_wait_for() -> None:
    stop, over = Stop(), threading.Event()
    threading.Timer(0.2, over.set).start()
    started = time.monotonic()
    assert stop.wait(60, over.is_set)
    assert time.monotonic() - started < SOON
    assert not stop.wait(0.01, lambda: False)
    assert not stop.wait(0.01)


def test_nothing_is_waited_for_afterwards() -> None:
    stop = Stop()
    stop.wait(0)
    stop.check()
    stop.set()
    stop.set()
    with pytest.raises(Stopped):
        stop.wait(60)
    with pytest.raises(Stopped):
        stop.check()


@pytest.mark.parametrize("silent_from", ["the first byte", "the middle of a page", "the middle of a stream"])
def test_a_read_ends_at_once(server: FakeServer, silent_from: str) -> None:
    never = threading.Event()
    answer = {
        "the first byte": Answer(wait=never, before=True),
        "the middle of a page": Answer("x" * 100, cut=50, wait=never),
        "the middle of a stream": stream(event(BASE_MODEL, "ADDED", "a", 8), never),
    }[silent_from]
    server.answers = [answer]
    with connect(server.url, read_timeout=60.0) as connection:
        make_interruptible(connection.client)

        def read() -> None:
            with open_lines(connection, "/", [], silence=60.0) as lines:
                list(lines)

        asks = read if "stream" in silent_from else lambda: get_json(connection, "/")
        worker = Worker(Stop(), asks)
        assert worker.seconds_to_end() < SOON
    never.set()
    assert worker.error is not None


def test_nothing_is_read_afterwards(server: FakeServer) -> None:
    stop = Stop()
    stop.set()
    server.answers = [page([])]
    with connect(server.url) as connection, stop:
        make_interruptible(connection.client)
        with pytest.raises(Stopped):
            get_json(connection, "/")


def test_a_part_ends_alone(server: FakeServer, api: FakeApi) -> None:
    whole = Stop()
    part, other = whole.child(), whole.child()
    worker = Worker(part, lambda: part.wait(60))
    assert worker.seconds_to_end() < SOON
    assert not whole.is_set()
    assert not other.is_set()


def test_a_part_ends_with_the_whole() -> None:
    whole = Stop()
    part = whole.child()
    worker = Worker(part, lambda: part.wait(60))
    worker.began.wait(5)
    whole.set()
    worker.thread.join(SOON)
    assert isinstance(worker.error, Stopped)
    assert whole.child().is_set()


def test_an_answer_that_was_read_leaves_its_connection_to_others(server: FakeServer) -> None:
    server.answers = [page([]), page([])]
    stop = Stop()
    with connect(server.url) as connection:
        make_interruptible(connection.client)
        with stop:
            get_json(connection, "/")
        stop.set()
        get_json(connection, "/")
    assert server.asked[0].client_port == server.asked[1].client_port
