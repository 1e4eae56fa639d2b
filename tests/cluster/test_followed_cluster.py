"""A whole cluster that is followed: its threads, their end, and what nobody thought of."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from selection.cluster import following
from selection.cluster.config import Connection
from selection.cluster.connections import Connections
from selection.cluster.errors import ConfigurationError
from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.following import FollowedCluster, follow
from selection.cluster.kinds import BASE_MODEL, DEPLOYMENT, KINDS, SERVING_RUNTIME
from selection.cluster.listing import list_kind
from selection.cluster.retry import Retry
from selection.cluster.watching import watch_on
from tests.cluster.fakes import Answer, FakeApi, FakeServer, connect, event, items, page, stream
from tests.cluster.hearing import Hearing
from tests.cluster.kubeconfigs import SECRET

QUICK = Retry(first_wait=0.05, longest_wait=0.2)
SOON = 1.0


@pytest.fixture
def hearing() -> Hearing:
    return Hearing()


Start = Callable[..., FollowedCluster]


@pytest.fixture
def start(server: FakeServer, hearing: Hearing) -> Iterator[Start]:
    """Follow the fake server; it is stopped after the test."""
    running: list[FollowedCluster] = []

    def begin(*kinds: object, tell: Callable[[Happening], None] | None = None, **more: object) -> FollowedCluster:
        opener = more.pop("open", lambda: connect(server.url, read_timeout=60.0))
        cluster = follow(opener, kinds=kinds, retry=QUICK, **more)  # type: ignore[arg-type]
        running.append(cluster)
        cluster.start(tell or hearing.tell)
        return cluster

    yield begin
    for each in running:
        each.stop()
    assert [each for each in running if not each.join(5)] == []


def test_every_kind_is_listed_and_watched(server: FakeServer, api: FakeApi, hearing: Hearing, start: Start) -> None:
    api.lists = [page([])]
    cluster = start(*KINDS)
    for kind in KINDS:
        hearing.watching(kind)
        assert isinstance(hearing.of(kind)[0], Listed)
    assert cluster.alive()


def test_nothing_is_asked_before_it_is_started(server: FakeServer, api: FakeApi) -> None:
    cluster = follow(lambda: connect(server.url))
    assert server.asked == []
    assert not cluster.alive()
    cluster.stop()
    assert cluster.join(0)


def test_it_looks_in_the_namespace_of_ome(server: FakeServer, api: FakeApi, hearing: Hearing, start: Start) -> None:
    api.lists = [page([])]
    start(DEPLOYMENT, ome_namespace="ome-system")
    hearing.wait_for(lambda each: isinstance(each, Watching))
    assert {asked.path for asked in api.watched} == {DEPLOYMENT.path(), DEPLOYMENT.path("ome-system")}


@pytest.mark.parametrize("silent", ["list", "watch", "nobody"])
def test_it_ends_within_a_second(server: FakeServer, api: FakeApi, hearing: Hearing, start: Start, silent: str) -> None:
    never = threading.Event()
    api.lists = [Answer(wait=never, before=True) if silent == "list" else page([])]
    if silent == "nobody":
        cluster = start(BASE_MODEL, DEPLOYMENT, open=lambda: connect("http://127.0.0.1:1"))
        hearing.wait_for(lambda each: isinstance(each, Lost))
    elif silent == "watch":
        cluster = start(BASE_MODEL, DEPLOYMENT)
        hearing.watching(BASE_MODEL)
        hearing.watching(DEPLOYMENT)
    else:
        cluster = start(BASE_MODEL, DEPLOYMENT)
        time.sleep(0.3)
    started = time.monotonic()
    cluster.stop()
    assert time.monotonic() - started < 0.2, "stop doesn't wait"
    assert cluster.join(5)
    assert time.monotonic() - started < SOON
    assert not cluster.alive()
    never.set()


def test_nothing_is_told_after_the_end(server: FakeServer, api: FakeApi, hearing: Hearing, start: Start) -> None:
    more = threading.Event()
    api.lists = [page([])]
    api.watches = [stream(more, event(BASE_MODEL, "ADDED", "a", 8))]
    cluster = start(BASE_MODEL)
    hearing.wait_for(lambda each: isinstance(each, Watching))
    cluster.stop()
    more.set()
    assert cluster.join(5)
    assert not any(isinstance(each, Event | Lost) for each in hearing.all)


def test_a_listener_that_takes_its_time_holds_the_stream_back(server: FakeServer, api: FakeApi, start: Start) -> None:
    api.lists = [page([])]
    api.watches = [stream(*(event(BASE_MODEL, "ADDED", f"m{n}", n) for n in range(10, 2010)))]
    heard: list[Happening] = []
    goes_on = threading.Event()

    def tell(happening: Happening) -> None:
        heard.append(happening)
        if isinstance(happening, Event):
            goes_on.wait(10)

    start(BASE_MODEL, tell=tell)
    time.sleep(0.5)
    assert len(heard) == 3
    goes_on.set()
    until = time.monotonic() + 10
    while len(heard) < 2002 and time.monotonic() < until:
        time.sleep(0.02)
    assert [each.manifest["metadata"]["name"] for each in heard if isinstance(each, Event)] == [
        f"m{n}" for n in range(10, 2010)
    ]


def test_a_plugin_that_fails_is_told_plainly_and_tried_again(
    server: FakeServer, api: FakeApi, hearing: Hearing, start: Start
) -> None:
    api.lists = [page([])]
    fails = [True]

    def opener() -> Connection:
        if fails:
            raise ConfigurationError("user 'a': its exec plugin gave no credentials; run it by hand to see why")
        return connect(server.url)

    start(BASE_MODEL, open=opener)
    lost = hearing.wait_for(lambda each: isinstance(each, Lost))
    assert isinstance(lost, Lost)
    assert (lost.reason, lost.trouble) == (
        "user 'a': its exec plugin gave no credentials; run it by hand to see why",
        "other",
    )
    fails.clear()
    hearing.wait_for(lambda each: isinstance(each, Watching))


def test_kinds_that_wait_for_a_cluster_that_is_down_go_on_when_one_of_them_reaches_it(
    server: FakeServer, api: FakeApi, hearing: Hearing
) -> None:
    api.lists = [page([])]
    address = ["http://127.0.0.1:1"]

    def jitter() -> float:
        """One kind comes back in a second, all others would in a minute."""
        return 1 / 30 - 1 if threading.current_thread().name == f"follow {BASE_MODEL.plural}" else 1.0

    retry = Retry(first_wait=60.0, longest_wait=60.0, jitter=jitter)
    connections = Connections(lambda: connect(address[0]), retry=Retry(first_wait=0.01, longest_wait=0.01))
    cluster = FollowedCluster(connections, kinds=KINDS, retry=retry)
    cluster.start(hearing.tell)
    for kind in KINDS:
        hearing.lost(kind)
    address[0] = server.url
    for kind in KINDS:
        hearing.watching(kind, within=5)
    cluster.stop()
    assert cluster.join(5)


def test_what_nobody_thought_of_is_logged_without_its_words_and_gone_on_from(
    server: FakeServer,
    api: FakeApi,
    hearing: Hearing,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    api.lists = [page(items(BASE_MODEL, ["a"]))]
    fails = [True, True]

    def surprising(*args: object, **more: object) -> object:
        if fails:
            fails.pop()
            raise ZeroDivisionError(f"Authorization: Bearer {SECRET}")
        return list_kind(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(following, "list_kind", surprising)
    with caplog.at_level(logging.DEBUG, "selection"):
        start(BASE_MODEL)
        hearing.wait_for(lambda each: isinstance(each, Watching))
    assert [type(each).__name__ for each in hearing.all] == ["Lost", "Lost", "Listed", "Watching"]
    lost = hearing.all[0]
    assert isinstance(lost, Lost)
    assert lost.reason == "an unexpected error (ZeroDivisionError); the log says where"
    records = [record for record in caplog.records if record.name == following.__name__]
    assert len(records) == 2
    assert records[0].__dict__["error"] == "ZeroDivisionError"
    assert records[0].__dict__["kind"] == "BaseModel"
    assert records[0].__dict__["at"].startswith("test_followed_cluster.py:")
    assert SECRET not in caplog.text + str([record.__dict__ for record in caplog.records])


def test_a_listener_that_fails_is_told_everything_anew(server: FakeServer, api: FakeApi, start: Start) -> None:
    api.lists = [page(items(SERVING_RUNTIME, ["a"]))]
    api.watches = [stream(event(SERVING_RUNTIME, "ADDED", "b", 8))]
    heard: list[str] = []

    def tell(happening: Happening) -> None:
        heard.append(type(happening).__name__)
        if len(heard) in {3, 4}:
            raise RuntimeError("the listener")

    start(SERVING_RUNTIME, tell=tell)
    until = time.monotonic() + 5
    while len(heard) < 6 and time.monotonic() < until:
        time.sleep(0.02)
    assert heard == ["Listed", "Watching", "Event", "Lost", "Listed", "Watching"]


def test_the_second_stream_of_a_kind_fails_like_the_first(
    server: FakeServer, api: FakeApi, hearing: Hearing, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.lists = [page([])]
    failed = threading.Event()

    def surprising(connections: object, stream_: object, *args: object, **more: object) -> object:
        if stream_.named and not failed.is_set():  # type: ignore[attr-defined]
            failed.set()
            raise ZeroDivisionError
        return watch_on(connections, stream_, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(following, "watch_on", surprising)
    start(DEPLOYMENT)
    hearing.wait_for(lambda each: isinstance(each, Lost) and "ZeroDivisionError" in each.reason)
    hearing.wait_for(lambda each: isinstance(each, Watching))
