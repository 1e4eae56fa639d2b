"""ETags: an answer is sent again only when it may be another one."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from selection.faces.api.paths import read_segment, segment
from selection.store.models import Change
from tests.faces.history import felt
from tests.faces.small_fleet import load, service, small_fleet

pytestmark = pytest.mark.django_db

LIST = "/api/v1/services?limit=3"
ONE = "/api/v1/services/lab/apps/chat/explanation"


def tag_of(client: Client, path: str) -> str:
    """The ETag of an answer."""
    response = client.get(path)
    assert response.status_code == 200, response.content
    return str(response.headers["ETag"])


def status(client: Client, path: str, tag: str) -> int:
    """The status of an answer to somebody who has one with this ETag."""
    return client.get(path, headers={"If-None-Match": tag}).status_code


@pytest.mark.parametrize("path", [LIST, ONE, "/api/v1/", "/api/v1/schema", "/api/v1/clusters", "/api/v1/changes"])
def test_who_has_an_answer_isnt_sent_it_again(client: Client, path: str) -> None:
    load()
    response = client.get(path)
    tag = response.headers["ETag"]
    assert tag.startswith('W/"')
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert {"Accept", "Authorization", "Cookie"} <= {each.strip() for each in response.headers["Vary"].split(",")}
    for told in (tag, tag.removeprefix("W/"), f'"other", {tag}'):
        again = client.get(path, headers={"If-None-Match": told})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)


def test_a_head_is_a_get_without_its_body(client: Client) -> None:
    load()
    response = client.head(LIST)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["ETag"] == tag_of(client, LIST)


@pytest.mark.parametrize("tag", ["*", '"other"', "", "nonsense"])
def test_anything_else_is_answered(client: Client, tag: str) -> None:
    load()
    assert status(client, LIST, tag) == 200


def test_what_isnt_there_isnt_unchanged_either(client: Client) -> None:
    load()
    tag = tag_of(client, ONE)
    assert status(client, "/api/v1/services/lab/apps/gone/explanation", "*") == 404
    assert status(client, "/api/v1/services/lab/apps/gone/explanation", tag) == 404


def test_each_query_has_its_own(client: Client) -> None:
    load()
    assert len({tag_of(client, f"{LIST}{more}") for more in ("", "&fields=name", "&sort=name", "&q=chat")}) == 4


def test_an_answer_is_sent_anew_when_an_object_has_changed(client: Client) -> None:
    load()
    before = {path: tag_of(client, path) for path in (LIST, ONE)}
    load([*small_fleet(), service("newcomer", "apps", "llama-7b")])
    for path, tag in before.items():
        assert status(client, path, tag) == 200


def test_a_change_of_one_cluster_leaves_the_answers_about_others(client: Client) -> None:
    load()
    load(name="other")
    tag = tag_of(client, ONE)
    load([service("newcomer", "apps", "llama-7b")], name="other")
    assert status(client, ONE, tag) == 304


def test_how_reading_goes_is_sent_anew_when_it_goes_otherwise(client: Client) -> None:
    cluster = load()
    paths = ("/api/v1/clusters", "/api/v1/clusters/lab", "/api/v1/kinds", "/api/v1/kinds/lab/InferenceService")
    before = {path: tag_of(client, path) for path in paths}
    kind = cluster.kinds.get(kind="InferenceService")
    kind.events += 1
    kind.save()
    cluster.sync_error = "the server is on fire"
    cluster.save()
    assert [status(client, path, tag) for path, tag in before.items()] == [200] * 4


def test_changes_that_are_kept_no_longer_count_as_a_change(client: Client) -> None:
    cluster = load()
    oldest = felt(cluster, "chat", "outcome", "named", "no-runtime")
    felt(cluster, "chat", "outcome", "no-runtime", "named")
    tag = tag_of(client, "/api/v1/changes")
    Change.objects.filter(pk=oldest.pk).delete()
    assert status(client, "/api/v1/changes", tag) == 200


def test_what_counts_back_from_now_has_none(client: Client) -> None:
    load()
    assert "ETag" not in client.get("/api/v1/changes?since=24h").headers


def test_two_people_never_share_one(client: Client, server_mode: Settings) -> None:
    load()
    tags = []
    for name in ("alice", "bob"):
        client.force_login(User.objects.create_superuser(name))
        tags.append(tag_of(client, LIST))
    assert tags[0] != tags[1]


@pytest.mark.parametrize(
    "path",
    ["services", "runtimes", "models", "conflicts", "findings", "changes", "kinds", "objects", "migration/components"],
)
def test_a_list_takes_as_many_queries_for_many_rows_as_for_few(client: Client, path: str) -> None:
    load()
    counts = []
    for limit in (2, 200):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = json.loads(client.get(f"/api/v1/{path}?limit={limit}").content)
        assert path == "changes" or found["items"]
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 6


@pytest.mark.parametrize("name", ["a/b", "~", "~1", "a~0/b~1", "arn:aws:eks:eu:1:cluster/prod", "a%2Fb", "ü ?#&", "-"])
def test_a_cluster_may_be_called_anything(client: Client, name: str) -> None:
    load(name=name)
    assert read_segment(segment(name)) == name
    (row,) = json.loads(client.get("/api/v1/clusters").content)["items"]
    assert row["name"] == name
    assert json.loads(client.get(row["self"]).content)["name"] == name
    (found,) = json.loads(client.get("/api/v1/services", {"cluster": name, "q": "by-its-name"}).content)["items"]
    told = json.loads(client.get(f"{found['self']}/explanation").content)
    assert told["subject"] == {"kind": "InferenceService", "namespace": "apps", "name": "by-its-name"}


@pytest.mark.parametrize("wrong", ["~", "~2", "a~b", "%00"])
def test_a_segment_that_stands_for_no_name_leads_nowhere(client: Client, wrong: str) -> None:
    response = client.get(f"/api/v1/clusters/{wrong}")
    assert response.status_code == 404
    assert json.loads(response.content)["code"] == "not-found"
