"""Lists in pages, and every way they can end."""

from __future__ import annotations

from typing import Any

import pytest

from selection.cluster.errors import Unauthorized
from selection.cluster.kinds import (
    BASE_MODEL,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    KINDS,
    LEADER_WORKER_SET,
    Kind,
    KindListing,
)
from selection.cluster.listing import Page, read_cluster, read_kind
from tests.cluster.fakes import Answer, Asked, FakeClock, FakeServer, connect, items, page

LABELS = {"ome.io/inferenceservice": "chat"}


def read(server: FakeServer, clock: FakeClock, kind: Kind = BASE_MODEL, **options: Any) -> KindListing:
    with connect(server.url) as connection:
        return read_kind(connection, kind, retry=clock.retry, **options)


def names(listing: KindListing) -> list[str]:
    assert listing.objects is not None
    return [each["metadata"]["name"] for each in listing.objects]


def nothing(listing: KindListing) -> str:
    """Assert that a listing has no part of a list, and return its reason."""
    assert listing.objects is None
    assert listing.resource_version is None
    assert listing.reason
    return listing.reason


# --- pages -----------------------------------------------------------------------------------------


def test_it_follows_the_pages_to_the_end(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [
        page(items(BASE_MODEL, ["a", "b"]), "token-1", "41", remainingItemCount=3),
        page(items(BASE_MODEL, ["c", "d"]), "token-2", "41", remainingItemCount=1),
        page(items(BASE_MODEL, ["e"]), "", "41"),
    ]
    seen: list[Page] = []
    listing = read(server, clock, page_size=2, on_page=seen.append)
    assert names(listing) == ["a", "b", "c", "d", "e"]
    assert (listing.outcome, listing.reason, listing.resource_version, listing.pages) == ("complete", None, "41", 3)
    assert [asked.query for asked in server.asked] == [
        {"limit": "2"},
        {"limit": "2", "continue": "token-1"},
        {"limit": "2", "continue": "token-2"},
    ]
    assert [(each.pages, each.objects, each.remaining) for each in seen] == [(1, 2, 3), (2, 4, 1), (3, 5, None)]


def test_it_asks_for_500_at_a_time(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [page([])]
    read(server, clock)
    assert server.asked[0].query == {"limit": "500"}


def test_objects_say_what_they_are_and_lose_the_noise(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [page([{"metadata": {"name": "a", "uid": "u-1", "managedFields": []}, "spec": {"x": 1}}])]
    assert read(server, clock).objects == [
        {"apiVersion": "ome.io/v1beta1", "kind": "BaseModel", "metadata": {"name": "a", "uid": "u-1"}, "spec": {"x": 1}}
    ]


def test_an_empty_list_of_go_is_a_complete_one(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [page(None)]
    listing = read(server, clock)
    assert (listing.outcome, listing.objects) == ("complete", [])


def test_a_page_is_asked_for_again_when_the_server_is_in_trouble(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [
        page(items(BASE_MODEL, ["a"]), "token-1"),
        Answer("", status=429, headers={"Retry-After": "2"}),
        Answer({"a": "x" * 100}, cut=10),
        page(items(BASE_MODEL, ["b"])),
    ]
    assert names(read(server, clock)) == ["a", "b"]
    assert clock.slept == [2.0, 0.5]
    assert [asked.query.get("continue") for asked in server.asked] == [None, "token-1", "token-1", "token-1"]


def test_an_expired_page_token_begins_the_list_again(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [
        page(items(BASE_MODEL, ["old", "gone"]), "token-1", "41"),
        Answer({"kind": "Status", "message": "too old", "reason": "Expired"}, status=410),
        page(items(BASE_MODEL, ["old"]), "token-2", "99"),
        page(items(BASE_MODEL, ["new"]), "", "99"),
    ]
    listing = read(server, clock)
    assert names(listing) == ["old", "new"]
    assert (listing.resource_version, listing.pages) == ("99", 2)


def test_a_page_token_that_always_expires_is_given_up(server: FakeServer, clock: FakeClock) -> None:
    def respond(asked: Asked) -> Answer:
        if "continue" in asked.query:
            return Answer({"kind": "Status", "message": "too old"}, status=410)
        return page(items(BASE_MODEL, ["a"]), "token")

    server.respond = respond
    listing = read(server, clock)
    assert listing.outcome == "failed"
    assert nothing(listing).endswith("its page token expired 4 times (HTTP 410)")
    assert len(server.asked) == 8


def test_a_list_that_repeats_its_page_token_is_given_up(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: page(items(BASE_MODEL, ["a"]), "token")
    assert nothing(read(server, clock)).endswith("the list does not end: it repeats its page token")


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (Answer("", status=500), "HTTP 500 (5 attempts)"),
        (Answer(hang_up=True), "the connection was closed before the answer was complete (4 attempts)"),
        (Answer("{"), "the answer is not JSON (application/json); is this a Kubernetes API server?"),
        (Answer({"kind": "Status"}), "the answer is not a list of objects"),
    ],
)
def test_a_failure_between_pages_leaves_nothing(
    server: FakeServer, clock: FakeClock, second: Answer, reason: str
) -> None:
    server.respond = lambda asked: second if "continue" in asked.query else page(items(BASE_MODEL, ["a"]), "token")
    listing = read(server, clock)
    assert (listing.outcome, nothing(listing)) == ("failed", f"{server.url}: {reason}")


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {}},
        {"items": []},
        {"items": [], "metadata": []},
        {"items": {}, "metadata": {}},
        {"items": "x", "metadata": {}},
        {"items": [1], "metadata": {}},
        {"items": [{"spec": {}}], "metadata": {}},
    ],
)
def test_an_answer_that_is_no_list_is_refused(server: FakeServer, clock: FakeClock, body: Any) -> None:
    server.answers = [Answer(body)]
    assert nothing(read(server, clock)).endswith("the answer is not a list of objects")


# --- what is asked for -----------------------------------------------------------------------------


def test_workloads_are_asked_for_by_label(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [page([{"metadata": {"name": "lws-chat-engine", "labels": LABELS}}])]
    assert names(read(server, clock, LEADER_WORKER_SET)) == ["lws-chat-engine"]
    assert server.asked[0].path == "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
    assert server.asked[0].query["labelSelector"] == "ome.io/inferenceservice"


def test_the_manager_of_ome_is_read_with_the_deployments(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [
        page([{"metadata": {"name": "chat-engine", "namespace": "ml", "labels": LABELS}}], version="5"),
        page([{"metadata": {"name": "ome-controller-manager", "namespace": "ome-system"}}], version="6"),
    ]
    listing = read(server, clock, DEPLOYMENT, ome_namespace="ome-system")
    assert names(listing) == ["chat-engine", "ome-controller-manager"]
    assert (listing.resource_version, listing.pages) == ("5", 2)
    second = server.asked[1]
    assert second.path == "/apis/apps/v1/namespaces/ome-system/deployments"
    assert second.query["fieldSelector"] == "metadata.name=ome-controller-manager"


def test_a_manager_that_has_the_label_too_is_there_once(server: FakeServer, clock: FakeClock) -> None:
    manager = {"metadata": {"name": "ome-controller-manager", "namespace": "ome", "labels": LABELS}}
    server.answers = [page([manager]), page([manager])]
    assert names(read(server, clock, DEPLOYMENT)) == ["ome-controller-manager"]


def test_deployments_without_the_manager_are_nothing(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: Answer("", status=500) if "fieldSelector" in asked.query else page([])
    assert nothing(read(server, clock, DEPLOYMENT)).endswith("HTTP 500 (5 attempts)")


def test_only_revisions_of_runtimes_are_kept_of_one_namespace(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [
        page([{"metadata": {"name": "ome-model-agent-7d9c8b6f5"}}], "token"),
        page([{"metadata": {"name": "cr-vllm-0a1b2c3d"}}]),
    ]
    listing = read(server, clock, CONTROLLER_REVISION)
    assert (names(listing), listing.pages) == (["cr-vllm-0a1b2c3d"], 2)
    assert server.asked[0].path == "/apis/apps/v1/namespaces/ome/controllerrevisions"


# --- kinds that can't be had -----------------------------------------------------------------------


def test_a_list_that_may_not_be_read_is_forbidden(server: FakeServer, clock: FakeClock) -> None:
    message = 'basemodels.ome.io is forbidden: User "eve" cannot list resource "basemodels" in API group "ome.io"'
    server.answers = [Answer({"kind": "Status", "message": message}, status=403)]
    listing = read(server, clock)
    assert (listing.outcome, nothing(listing)) == ("forbidden", message)
    assert clock.slept == []


GROUPS = {"kind": "APIGroupList", "groups": []}


@pytest.mark.parametrize(
    ("served", "outcome", "reason"),
    [
        ({"/apis": GROUPS}, "not-served", "the cluster does not serve the API group ome.io"),
        (
            {"/apis": GROUPS, "/apis/ome.io": {"versions": [{"version": "v1"}, {"version": "v2"}]}},
            "not-served",
            "the cluster serves ome.io in v1, v2, not in v1beta1",
        ),
        (
            {"/apis/ome.io/v1beta1": {"resources": [{"name": "inferenceservices"}]}},
            "not-served",
            "the cluster serves ome.io/v1beta1, but not BaseModel",
        ),
        # What isn't a Kubernetes API server must not look like a cluster without OME.
        ({}, "failed", "{url} does not answer as a Kubernetes API server (HTTP 404)"),
        ({"/apis": {"hello": "world"}}, "failed", "{url} does not answer as a Kubernetes API server (HTTP 404)"),
        (
            {"/apis/ome.io/v1beta1": {"resources": [{"name": "basemodels"}]}},
            "failed",
            "{url} says that it serves BaseModel, and then that it doesn't (HTTP 404)",
        ),
    ],
)
def test_a_list_that_is_not_found_is_looked_into(
    server: FakeServer, clock: FakeClock, served: dict[str, Any], outcome: str, reason: str
) -> None:
    server.respond = lambda asked: (
        Answer(served[asked.path]) if asked.path in served else Answer("404 page not found\n", status=404)
    )
    listing = read(server, clock)
    assert (listing.outcome, nothing(listing)) == (outcome, reason.format(url=server.url))


def test_a_list_that_is_not_found_for_an_unknown_reason_has_failed(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: Answer("", status=500 if asked.path == "/apis/ome.io" else 404)
    listing = read(server, clock)
    assert (listing.outcome, nothing(listing)) == ("failed", f"{server.url}: HTTP 500 (5 attempts)")


# --- the whole cluster -----------------------------------------------------------------------------


def test_kinds_are_read_one_after_the_other_when_asked_for(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: page([])
    with connect(server.url) as connection:
        reading = read_cluster(connection, retry=clock.retry)
        assert server.asked == []
        assert next(reading).kind == KINDS[0]
        assert len(server.asked) == 1
        assert [listing.kind for listing in reading] == list(KINDS[1:])


def test_a_kind_that_fails_does_not_stop_the_others(server: FakeServer, clock: FakeClock) -> None:
    def respond(asked: Asked) -> Answer:
        if asked.path.endswith("/basemodels"):
            return Answer("", status=500)
        if asked.path.endswith("/inferencereplicas"):
            return Answer({"message": "no"}, status=403)
        return page([])

    server.respond = respond
    with connect(server.url) as connection:
        outcomes = {each.kind.kind: each.outcome for each in read_cluster(connection, retry=clock.retry)}
    assert outcomes == {
        **{kind.kind: "complete" for kind in KINDS},
        "BaseModel": "failed",
        "InferenceReplica": "forbidden",
    }


def test_a_cluster_out_of_reach_is_waited_for_only_once(clock: FakeClock, server: FakeServer) -> None:
    server.respond = lambda asked: Answer(hang_up=True)
    with connect(server.url) as connection:
        listings = list(read_cluster(connection, retry=clock.retry))
    assert {listing.outcome for listing in listings} == {"failed"}
    assert len(listings) == len(KINDS)
    assert len(server.asked) == 4 + len(KINDS) - 1
    assert len(clock.slept) == 3


def test_a_cluster_that_is_back_is_waited_for_again(clock: FakeClock, server: FakeServer) -> None:
    broken = Answer(hang_up=True)
    empty = page([])
    server.answers = [broken] * 4 + [empty, broken, empty]
    with connect(server.url) as connection:
        reading = read_cluster(connection, kinds=[BASE_MODEL, INFERENCE_SERVICE, BASE_MODEL], retry=clock.retry)
        assert [listing.outcome for listing in reading] == ["failed", "complete", "complete"]


def test_unknown_credentials_end_the_reading(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: Answer({"message": "Unauthorized"}, status=401)
    with connect(server.url) as connection, pytest.raises(Unauthorized):
        list(read_cluster(connection, retry=clock.retry))
    assert len(server.asked) == 1
