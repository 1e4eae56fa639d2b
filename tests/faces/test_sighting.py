"""A request is answered under the sight of whoever asks: what is shared, what is streamed, and what that costs."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from selection.faces.sharing import HEADER
from selection.faces.sighting import SightMiddleware
from selection.people.models import Role
from selection.people.tokens import create_token
from selection.store.models import Cluster
from selection.store.sight import current_sight
from tests.faces.small_fleet import load
from tests.people.cast import somebody
from tests.people.writers import by

pytestmark = pytest.mark.django_db

LIVE = {HEADER: "1"}
PAGES = (
    "/",
    "/services/",
    "/runtimes/",
    "/models/",
    "/conflicts/",
    "/findings/",
    "/changes/",
    "/clusters/",
    "/services/lab/apps/chat/",
    "/runtimes/lab/-/small/",
    "/models/lab/-/llama-7b/",
    "/search/?q=chat",
)


@pytest.fixture
def lab(server_mode: Settings) -> Cluster:
    return load()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_page_that_is_drawn_once_for_many_is_not_shared_with_who_sees_otherwise(lab: Cluster) -> None:
    everybody = [
        (somebody("all"), {"apps", "team"}),
        (somebody("ann", cluster="lab", namespace="apps"), {"apps"}),
        (somebody("tim", cluster="lab", namespace="team"), {"team"}),
        (somebody("kim", cluster="lab", namespace="apps"), {"apps"}),
    ]
    for _ in range(2):
        for user, namespaces in everybody:
            page = client_of(user).get("/services/", headers=LIVE).content.decode()
            assert {name for name in ("apps", "team") if f"/services/lab/{name}/chat/" in page} == namespaces, user


def test_a_page_with_buttons_is_not_shared_with_who_has_none(lab: Cluster) -> None:
    for user, may in ((somebody("root", Role.ADMIN), True), (somebody("ann"), False), (somebody("kim"), False)):
        page = client_of(user).get("/clusters/", headers=LIVE).content.decode()
        assert ('href="/clusters/lab/settings/"' in page) is may


def test_what_was_given_holds_from_the_next_request_on(lab: Cluster) -> None:
    client = client_of(somebody("ann", cluster="lab", namespace="team"))
    assert client.get("/services/lab/apps/chat/").status_code == 404
    somebody("ann", cluster="lab", namespace="apps")
    assert client.get("/services/lab/apps/chat/").status_code == 200


def test_a_token_sees_what_its_user_sees(lab: Cluster) -> None:
    _, secret = create_token(somebody("ann", cluster="lab", namespace="team"), "nightly", days=1, by=by("a test"))
    rows = Client().get("/api/v1/services", headers={"authorization": f"Bearer {secret}"}).json()["items"]
    assert {row["namespace"] for row in rows} == {"team"}


def test_an_etag_is_another_ones_for_who_sees_otherwise(lab: Cluster) -> None:
    def tag(user: User) -> str:
        return client_of(user).get("/api/v1/services").headers["ETag"]

    ann = somebody("ann", cluster="lab", namespace="apps")
    before = tag(ann)
    assert tag(ann) == before
    assert tag(somebody("ann", cluster="lab", namespace="team")) != before


def test_an_answer_is_streamed_under_its_sight(lab: Cluster) -> None:
    def answer(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(str(current_sight().whole(lab.pk)) for _ in range(2))

    request = RequestFactory().get("/")
    request.user = somebody("ann", cluster="lab", namespace="apps")
    response = SightMiddleware(answer)(request)
    assert isinstance(response, StreamingHttpResponse)
    assert response.getvalue() == b"FalseFalse"
    assert current_sight().everything


def test_in_local_mode_nobody_is_asked_for(client: Client) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        return HttpResponse(str(current_sight().everything))

    request = RequestFactory().get("/")  # it has no user
    response = SightMiddleware(answer)(request)
    assert isinstance(response, HttpResponse)
    assert response.content == b"True"


def queries(user: User, address: str) -> int:
    client = client_of(user)
    client.get(address)  # the fleet is read once
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.parametrize("address", PAGES)
def test_a_narrow_sight_costs_one_query_and_no_more_for_more_of_it(lab: Cluster, address: str) -> None:
    root, everything = User.objects.create_superuser("root"), somebody("all")
    narrow = somebody("ann", cluster="lab", namespace="apps")
    plain = queries(root, address)
    assert queries(everything, address) == plain + 1  # the grants
    costs = queries(narrow, address)
    assert costs <= plain + 2  # and the clusters
    for number in range(20):
        somebody("ann", cluster="lab", namespace=f"n{number}")
        somebody("ann", cluster=f"other-{number}")
    assert queries(narrow, address) == costs
