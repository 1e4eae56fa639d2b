"""Following one kind: lists and watches in turn, and what is told of a kind that can't be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from selection.cluster.connections import Connections
from selection.cluster.events import Happening, Listed, Lost, Watching
from selection.cluster.following import follow_kind
from selection.cluster.kinds import BASE_MODEL, CONTROLLER_REVISION, DEPLOYMENT, Kind
from selection.cluster.retry import Retry
from tests.cluster.fakes import (
    Answer,
    Asked,
    FakeApi,
    FakeServer,
    FakeStop,
    bookmark,
    connect,
    event,
    items,
    page,
    status,
    stream,
    told,
)

GROUPS = Answer({"kind": "APIGroupList", "groups": []})
MANAGER = "ome-controller-manager"


@pytest.fixture
def stop() -> Iterator[FakeStop]:
    stop = FakeStop()
    yield stop
    stop.set()


def followed(server: FakeServer, stop: FakeStop, kind: Kind = BASE_MODEL, jitter: float = 1.0) -> Iterator[Happening]:
    connections = Connections(lambda: connect(server.url))
    return follow_kind(connections, kind, stop=stop, retry=Retry(jitter=lambda: jitter), clock=stop.clock)


def short(each: Happening) -> str:
    match each:
        case Listed(listing=listing):
            names = [str(item["metadata"]["name"]) for item in listing.objects or []]
            return f"listed {listing.outcome} {','.join(names)}".strip()
        case Watching(resource_version=version):
            return f"watching {version}"
        case Lost(trouble=trouble, wait=wait):
            return f"lost {trouble} {wait:g}"
    return f"{each.type} {each.manifest['metadata']['name']} {each.resource_version}"


def take(happenings: Iterator[Happening], number: int) -> list[str]:
    return [short(next(happenings)) for _ in range(number)]


def until(happenings: Iterator[Happening], last: str) -> list[str]:
    found: list[str] = []
    while not found or found[-1] != last:
        found += take(happenings, 1)
        assert len(found) < 100, found
    return found


# --- lists and watches -------------------------------------------------------------------------------


def test_a_watch_begins_where_the_list_ends(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [page(items(BASE_MODEL, ["a", "b"]), version="41")]
    api.watches = [stream(event(BASE_MODEL, "DELETED", "a", 42))]
    assert take(followed(server, stop), 4) == ["listed complete a,b", "watching 41", "gone a 42", "watching 42"]
    assert [asked.query["resourceVersion"] for asked in api.watched] == ["41", "42"]


def test_a_kind_in_one_namespace_is_watched_there(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [page([])]
    take(followed(server, stop, CONTROLLER_REVISION), 2)
    assert {asked.path for asked in api.listed + api.watched} == {CONTROLLER_REVISION.path("ome")}


def test_what_is_gone_from_history_is_listed_again(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [page(items(BASE_MODEL, ["a"]), version="41"), page(items(BASE_MODEL, ["b"]), version="90")]
    api.watches = [stream(bookmark(BASE_MODEL, 50), told(410, "too old resource version"))]
    assert take(followed(server, stop), 6) == [
        "listed complete a",
        "watching 41",
        "watching 50",
        "lost gone 0",
        "listed complete b",
        "watching 90",
    ]


def test_a_server_that_calls_every_version_gone_is_not_hammered(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.lists = [page([], version="41")]
    api.watches = [status(410)] * 8
    found = take(followed(server, stop), 16)
    assert found[1::2] == [f"lost gone {wait:g}" for wait in (0.5, 1, 2, 4, 8, 16, 30, 30)]


def test_a_list_without_a_version_cannot_be_followed(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [Answer({"metadata": {}, "items": []})]
    assert take(followed(server, stop), 2) == ["listed failed", "lost other 0.5"]


# --- kinds that can't be read ------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "outcome"), [(status(404), "not-served"), (status(403, "no"), "forbidden")])
def test_a_kind_that_cannot_be_read_is_asked_for_again_and_told_once_a_minute(
    server: FakeServer, api: FakeApi, stop: FakeStop, answer: Answer, outcome: str
) -> None:
    api.lists = [answer]
    api.others = {"/apis/ome.io/v1beta1": status(404), "/apis/ome.io": status(404), "/apis": GROUPS}
    found = followed(server, stop, jitter=0.5)
    assert take(found, 3) == [f"listed {outcome}"] * 3
    assert stop.waited == [15.0] * 8
    assert len(api.listed) == 9


def test_a_reason_that_changes_is_told_at_once(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [status(403, "no"), status(403, "not you"), page([])]
    assert take(followed(server, stop), 4) == ["listed forbidden", "listed forbidden", "listed complete", "watching 7"]


def test_a_kind_that_is_served_no_more_ends_so_and_comes_back(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [page([], version="41"), status(404), page(items(BASE_MODEL, ["a"]), version="50")]
    api.others = {"/apis/ome.io/v1beta1": Answer({"resources": []})}
    api.watches = [stream(event(BASE_MODEL, "DELETED", "a", 42)), status(404)]
    assert until(followed(server, stop), "watching 50") == [
        "listed complete",
        "watching 41",
        "gone a 42",
        "listed not-served",
        "listed complete a",
        "watching 50",
    ]


def test_a_list_that_fails_is_told_with_what_is_done_about_it(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [status(500), status(500), page([])]
    assert take(followed(server, stop), 5) == [
        "listed failed",
        "lost server 0.5",
        "lost server 1",
        "listed complete",
        "watching 7",
    ]


def test_a_list_that_is_throttled_waits_as_long_as_it_was_asked_to(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.lists = [status(429, Retry_After="6"), status(429, Retry_After="120"), page([])]
    assert take(followed(server, stop, jitter=0.0), 4) == [
        "listed failed",
        "lost throttled 120",
        "listed complete",
        "watching 7",
    ]
    assert stop.waited == [6.0, 120.0]


def test_a_kind_that_may_not_be_watched_is_listed_each_half_minute(
    server: FakeServer, api: FakeApi, stop: FakeStop
) -> None:
    api.lists = [page(items(BASE_MODEL, ["a"])), page(items(BASE_MODEL, ["b"]))]
    api.watches = [status(403, "cannot watch")] * 3
    found = take(followed(server, stop, jitter=0.5), 6)
    assert found == ["listed complete a", "lost forbidden 30", *["listed complete b", "lost forbidden 30"] * 2]
    assert stop.waited == [30.0, 30.0]


def test_who_is_unknown_is_told_so(server: FakeServer, api: FakeApi, stop: FakeStop) -> None:
    api.lists = [status(401)]
    assert take(followed(server, stop), 3) == ["listed failed", "lost unauthorized 0.5", "lost unauthorized 1"]


# --- two streams -------------------------------------------------------------------------------------


class Two:
    """Deployments: the answers of the stream of services' and of the one of OME's manager."""

    def __init__(self, api: FakeApi) -> None:
        self.api = api
        self.services: list[Answer] = []
        self.manager: list[Answer] = []
        self.asked: list[tuple[str, str]] = []
        self.never = threading.Event()

    def respond(self, asked: Asked) -> Answer:
        if "watch" not in asked.query:
            return self.api.respond(asked)
        named = "fieldSelector" in asked.query
        self.asked.append(("manager" if named else "services", asked.query["resourceVersion"]))
        answers = self.manager if named else self.services
        return answers.pop(0) if answers else Answer(parts=(self.never,))


@pytest.fixture
def two(server: FakeServer, api: FakeApi) -> Iterator[Two]:
    two = Two(api)
    server.respond = two.respond
    yield two
    two.never.set()


def deployment(word: str, name: str, version: int) -> dict[str, Any]:
    namespace = "ome" if name == MANAGER else "ml"
    return event(DEPLOYMENT, word, name, version, namespace=namespace, labels={"ome.io/inferenceservice": "chat"})


def test_both_streams_of_a_kind_begin_at_its_list(server: FakeServer, two: Two, stop: FakeStop) -> None:
    two.api.lists = [page([], version="41")]
    two.services = [stream(deployment("ADDED", "chat", 42), two.never)]
    two.manager = [stream(deployment("ADDED", MANAGER, 43), two.never)]
    found = take(followed(server, stop, DEPLOYMENT), 4)
    assert found[0] == "listed complete"
    assert set(found[1:]) == {"watching 41", "put chat 42", f"put {MANAGER} 43"}
    assert sorted(two.asked) == [("manager", "41"), ("services", "41")]


def test_a_kind_is_watched_when_all_its_streams_are(server: FakeServer, two: Two, stop: FakeStop) -> None:
    two.api.lists = [page([], version="41")]
    opens = threading.Event()
    two.services = [stream(bookmark(DEPLOYMENT, 42), deployment("ADDED", "chat", 43), two.never)]
    two.manager = [Answer(wait=opens, before=True, parts=(two.never,))]
    found = followed(server, stop, DEPLOYMENT)
    assert take(found, 2) == ["listed complete", "put chat 43"]
    opens.set()
    assert take(found, 1) == ["watching 41"]


def test_a_kind_is_not_watched_while_one_of_its_streams_is_lost(server: FakeServer, two: Two, stop: FakeStop) -> None:
    two.api.lists = [page([], version="41")]
    breaks, goes_on, opens = threading.Event(), threading.Event(), threading.Event()
    later = deployment("ADDED", "chat", 43)
    two.services = [stream(goes_on, bookmark(DEPLOYMENT, 42), later, two.never)]
    two.manager = [stream(breaks, endless=True), Answer(wait=opens, before=True, parts=(two.never,))]
    found = followed(server, stop, DEPLOYMENT)
    assert take(found, 2) == ["listed complete", "watching 41"]
    breaks.set()
    assert take(found, 1) == ["lost connection 0.5"]
    goes_on.set()
    assert take(found, 1) == ["put chat 43"]
    opens.set()
    assert take(found, 1) == ["watching 41"]


@pytest.mark.parametrize("which", ["services", "manager"])
def test_history_that_is_gone_for_one_stream_lists_the_kind_again(
    server: FakeServer, two: Two, stop: FakeStop, which: str
) -> None:
    two.api.lists = [page([], version="41"), page([], version="41"), page([], version="90")]
    go = threading.Event()
    setattr(two, which, [stream(bookmark(DEPLOYMENT, 50), go, told(410))])
    found = followed(server, stop, DEPLOYMENT)
    until(found, "watching 41")
    go.set()
    assert until(found, "watching 90")[-3:] == ["lost gone 0", "listed complete", "watching 90"]
    assert {("services", "90"), ("manager", "90")} <= set(two.asked)


def test_streams_of_a_kind_end_with_it(server: FakeServer, two: Two, stop: FakeStop) -> None:
    two.api.lists = [page([])]
    found = followed(server, stop, DEPLOYMENT)
    take(found, 2)
    stop.set()
    assert list(found) == []
    assert not [each for each in threading.enumerate() if each.name.endswith(MANAGER)]
