"""One watch call: what is asked, and what is told of what comes."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from selection.cluster.connections import Connections
from selection.cluster.errors import ApiError, Unauthorized
from selection.cluster.events import Event, Watching
from selection.cluster.kinds import BASE_MODEL, CONTROLLER_REVISION, DEPLOYMENT, LEADER_WORKER_SET, Kind
from selection.cluster.objects import LAST_APPLIED
from selection.cluster.retry import Backoff, Retry
from selection.cluster.stopping import Stop
from selection.cluster.watching import Stream, streams_of, watch
from tests.cluster.fakes import Answer, FakeApi, FakeServer, bookmark, connect, event, status, stream, told

LABELS = {"labels": {"ome.io/inferenceservice": "chat"}}


def happenings(
    server: FakeServer, kind: Kind | Stream = BASE_MODEL, version: str = "7", jitter: float = 0.5, **more: Any
) -> Iterator[Event | Watching]:
    each = kind if isinstance(kind, Stream) else streams_of(kind, "ome")[0]
    backoff = Backoff(Retry(jitter=lambda: jitter))
    connections = Connections(lambda: connect(server.url))
    return watch(connections, each, version, stop=Stop(), backoff=backoff, **more)


def short(happening: Event | Watching) -> tuple[str, ...]:
    if isinstance(happening, Watching):
        return ("watching", happening.resource_version)
    return (happening.type, happening.manifest["metadata"]["name"], happening.resource_version)


def test_it_asks_for_events_and_bookmarks_from_a_version_on(server: FakeServer, api: FakeApi) -> None:
    api.watches = [stream()]
    list(happenings(server, version="41", jitter=0.25))
    assert [asked.path for asked in api.watched] == [BASE_MODEL.path()]
    assert api.watched[0].query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "41",
        "timeoutSeconds": "255",
    }


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, "240"), (1.0, "300")])
def test_calls_last_differently_so_that_kinds_do_not_come_back_together(
    server: FakeServer, api: FakeApi, jitter: float, seconds: str
) -> None:
    api.watches = [stream()]
    list(happenings(server, jitter=jitter))
    assert api.watched[0].query["timeoutSeconds"] == seconds


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (BASE_MODEL, [(BASE_MODEL.path(), {})]),
        (LEADER_WORKER_SET, [(LEADER_WORKER_SET.path(), {"labelSelector": "ome.io/inferenceservice"})]),
        (CONTROLLER_REVISION, [(CONTROLLER_REVISION.path("ome-system"), {})]),
        (
            DEPLOYMENT,
            [
                (DEPLOYMENT.path(), {"labelSelector": "ome.io/inferenceservice"}),
                (DEPLOYMENT.path("ome-system"), {"fieldSelector": "metadata.name=ome-controller-manager"}),
            ],
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Kind) else "",
)
def test_a_kind_is_watched_where_it_is_listed(kind: Kind, asked: list[tuple[str, dict[str, str]]]) -> None:
    assert [(each.path, dict(each.selector)) for each in streams_of(kind, "ome-system")] == asked


def test_it_tells_what_came_changed_and_went(server: FakeServer, api: FakeApi) -> None:
    api.watches = [
        stream(
            event(BASE_MODEL, "ADDED", "a", 8),
            event(BASE_MODEL, "MODIFIED", "a", 9),
            bookmark(BASE_MODEL, 12),
            event(BASE_MODEL, "DELETED", "a", 13),
        )
    ]
    before = time.monotonic()
    found = list(happenings(server))
    assert [short(each) for each in found] == [
        ("watching", "7"),
        ("put", "a", "8"),
        ("put", "a", "9"),
        ("watching", "12"),
        ("gone", "a", "13"),
    ]
    assert before <= found[0].received <= found[-1].received <= time.monotonic()
    assert {each.kind for each in found} == {BASE_MODEL}


def test_it_tells_that_it_watches_before_anything_happens(server: FakeServer, api: FakeApi) -> None:
    found = happenings(server)
    assert short(next(found)) == ("watching", "7")


def test_an_object_has_its_type_and_no_noise(server: FakeServer, api: FakeApi) -> None:
    noisy = event(BASE_MODEL, "ADDED", "a", 8, managedFields=[{}], annotations={LAST_APPLIED: "{}"})
    del noisy["object"]["apiVersion"], noisy["object"]["kind"]
    api.watches = [stream(noisy)]
    [_, found] = happenings(server)
    assert isinstance(found, Event)
    assert found.manifest == {
        "apiVersion": "ome.io/v1beta1",
        "kind": "BaseModel",
        "metadata": {"name": "a", "namespace": "ml", "resourceVersion": "8"},
        "spec": {},
    }


def test_an_object_that_does_not_matter_any_more_is_gone(server: FakeServer, api: FakeApi) -> None:
    api.watches = [
        stream(event(LEADER_WORKER_SET, "ADDED", "a", 8, **LABELS), event(LEADER_WORKER_SET, "MODIFIED", "a", 9))
    ]
    assert [short(each) for each in happenings(server, LEADER_WORKER_SET)][1:] == [
        ("put", "a", "8"),
        ("gone", "a", "9"),
    ]


def test_an_object_whose_name_never_mattered_is_not_told(server: FakeServer, api: FakeApi) -> None:
    api.watches = [
        stream(
            event(CONTROLLER_REVISION, "ADDED", "ome-model-agent-7d9c8b6f5", 8),
            event(CONTROLLER_REVISION, "ADDED", "cr-vllm-0a1b2c3d", 9),
        )
    ]
    assert [short(each) for each in happenings(server, CONTROLLER_REVISION)][1:] == [("put", "cr-vllm-0a1b2c3d", "9")]


def test_each_object_belongs_to_one_of_two_streams(server: FakeServer, api: FakeApi) -> None:
    everything, named = streams_of(DEPLOYMENT, "ome")
    ours = {"namespace": "ome", **LABELS}
    sent = [
        event(DEPLOYMENT, "ADDED", "chat", 8, **LABELS),
        event(DEPLOYMENT, "ADDED", "ome-controller-manager", 9, **ours),
        event(DEPLOYMENT, "DELETED", "ome-controller-manager", 10, namespace="ome"),
    ]
    api.watches = [stream(*sent), stream(*sent[1:])]
    assert [short(each) for each in happenings(server, everything)][1:] == [("put", "chat", "8")]
    assert [short(each) for each in happenings(server, named)][1:] == [
        ("put", "ome-controller-manager", "9"),
        ("gone", "ome-controller-manager", "10"),
    ]


def test_events_come_in_pieces_and_several_at_once(server: FakeServer, api: FakeApi) -> None:
    lines = b"".join(stream(*(event(BASE_MODEL, "ADDED", f"m{n}", n) for n in range(20))).parts or ())  # type: ignore[arg-type]
    pieces = [lines[at : at + 37] for at in range(0, len(lines), 37)]
    api.watches = [stream(*pieces), stream(lines), stream(lines[:-1] + b"\r\n\n \n")]
    for _ in range(3):
        assert [short(each) for each in happenings(server)][1:] == [("put", f"m{n}", str(n)) for n in range(20)]


def test_an_event_is_told_when_it_arrives(server: FakeServer, api: FakeApi) -> None:
    more = threading.Event()
    api.watches = [stream(event(BASE_MODEL, "ADDED", "a", 8), more, event(BASE_MODEL, "ADDED", "b", 9))]
    found = happenings(server)
    assert [short(next(found)), short(next(found))] == [("watching", "7"), ("put", "a", "8")]
    more.set()
    assert [short(each) for each in found] == [("put", "b", "9")]


def test_a_compressed_stream_is_read_too(server: FakeServer, api: FakeApi) -> None:
    lines = b"".join(stream(event(BASE_MODEL, "ADDED", "a", 8), bookmark(BASE_MODEL, 9)).parts or ())  # type: ignore[arg-type]
    packed = gzip.compress(lines)
    api.watches = [stream(packed[:20], packed[20:], headers={"Content-Encoding": "gzip"})]
    assert [short(each) for each in happenings(server)] == [("watching", "7"), ("put", "a", "8"), ("watching", "9")]
    assert {name.lower(): value for name, value in api.watched[0].headers.items()}["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("sent", "code", "trouble", "retry_after", "words"),
    [
        (told(410, "too old resource version: 7 (12)"), 410, None, None, "too old resource version: 7 (12)"),
        (told(429, retryAfterSeconds=3), 429, "throttled", 3.0, "no"),
        (told(500, "etcd\nfailed"), 500, "server", None, "etcd failed"),
        (told(403), 403, None, None, "no"),
        ({"type": "ERROR", "object": {"code": True, "message": 7}}, 500, "server", None, "no reason given"),
    ],
)
def test_an_error_in_the_middle_has_its_status(
    server: FakeServer, api: FakeApi, sent: Any, code: int, trouble: str, retry_after: float, words: str
) -> None:
    api.watches = [stream(event(BASE_MODEL, "ADDED", "a", 8), sent)]
    found = happenings(server)
    assert len([next(found), next(found)]) == 2
    with pytest.raises(ApiError) as refused:
        next(found)
    error = refused.value
    assert (error.status, error.trouble, error.retry_after) == (code, trouble, retry_after)
    assert str(error) == f"{server.url}: the watch failed: {words}"


def test_a_refusal_has_its_status_and_what_to_wait(server: FakeServer, api: FakeApi) -> None:
    api.watches = [status(429, "slow down", Retry_After="4"), status(401), status(401)]
    with pytest.raises(ApiError) as refused:
        next(happenings(server))
    assert (refused.value.status, refused.value.retry_after) == (429, 4.0)
    with pytest.raises(Unauthorized):
        next(happenings(server))


def test_a_version_in_doubt_is_compared_with_the_newest(server: FakeServer, api: FakeApi) -> None:
    api.watches = [stream()]
    assert len(list(happenings(server, version="999999", doubtful=True))) == 1
    with pytest.raises(ApiError) as refused:
        next(happenings(server, version="1000000", doubtful=True))
    assert refused.value.status == 410
    assert [asked.query for asked in api.doubted] == [{"limit": "1"}] * 2
    assert len(api.watched) == 1


def test_versions_that_are_no_numbers_are_not_doubted(server: FakeServer, api: FakeApi) -> None:
    api.newest = "abc"
    api.watches = [stream()]
    assert len(list(happenings(server, version="1000000", doubtful=True))) == 1


def test_an_answer_that_is_not_200_is_no_stream(server: FakeServer, api: FakeApi) -> None:
    api.watches = [Answer("moved", 302, {"Location": "https://elsewhere/"})]
    with pytest.raises(ApiError, match="redirected to another address"):
        next(happenings(server))
