"""Who gets past the door of the REST interface: by session or token, within a scope, and not too often."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ome_dashboard import urls
from selection.people.models import Token
from selection.people.persons import person_of
from selection.people.scopes import Scope
from selection.people.tokens import create_token, revoke
from tests.people.writers import by

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


class Who(APIView):  # type: ignore[misc]  # the base has no types
    """Says who asks."""

    def get(self, request: Request) -> Response:
        return Response(str(person_of(request)))

    def post(self, request: Request) -> Response:
        return Response(str(person_of(request)))

    def delete(self, request: Request) -> Response:
        return Response(str(person_of(request)))


class Asking(Who):
    """Posting only asks here, deleting administers, and it has a limit of its own."""

    token_scopes = {"POST": Scope.READ, "DELETE": Scope.ADMIN}
    throttle_scope = "what-if"


def page(request: Any) -> HttpResponse:
    """A page for people."""
    return HttpResponse(request.user.get_username())


urlpatterns = [
    path("api/v1/who", Who.as_view()),
    path("api/v1/asking", Asking.as_view()),
    path("a-page/", page),
    *urls.urlpatterns,
]
WHO = "/api/v1/who"
ASKING = "/api/v1/asking"


@pytest.fixture(autouse=True)
def _nothing_is_counted_yet() -> Iterator[None]:
    caches["limits"].clear()
    yield
    caches["limits"].clear()


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password="correct horse battery")


def bearer(user: User, scope: Scope = Scope.READ, name: str = "nightly") -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(user, name, scope=scope, days=30, by=by('alice'))[1]}"}


def test_a_token_acts_for_its_user(client: Client, server_mode: Settings, alice: User) -> None:
    response = client.get(WHO, headers=bearer(alice))
    assert response.status_code == 200
    assert response.json() == "alice (token nightly)"
    assert Token.objects.get().last_used_at is not None


def test_a_session_does_too(client: Client, server_mode: Settings, alice: User) -> None:
    client.force_login(alice)
    assert client.get(WHO).json() == "alice"


def test_a_session_that_writes_needs_the_token_of_a_form(server_mode: Settings, alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post(WHO).status_code == 403
    assert client.post(WHO, headers=bearer(alice, Scope.REVIEW)).json() == "alice (token nightly)"


def test_a_stranger_gets_401_and_no_page(client: Client, server_mode: Settings) -> None:
    response = client.get(WHO)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="ome-dashboard"'
    assert "json" in response.headers["Content-Type"]


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer a b", "Bearer omedash_ABCDEFGH_" + 43 * "x", "bearer " + "\xff" * 50_000]
)
def test_a_token_that_is_none_gets_401(client: Client, server_mode: Settings, header: str) -> None:
    response = client.get(WHO, headers={"Authorization": header})
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]
    assert "There is no such token." in response.content.decode()


@pytest.mark.parametrize("header", ["Basic YWxpY2U6aHVudGVyMg==", "Token abc", ""])
def test_no_other_scheme_counts(client: Client, server_mode: Settings, alice: User, header: str) -> None:
    assert client.get(WHO, headers={"Authorization": header}).status_code == 401


def _expired(token: Token) -> None:
    Token.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def _revoked(token: Token) -> None:
    revoke(token, by("bob"))


def _inactive(token: Token) -> None:
    User.objects.filter(pk=token.user_id).update(is_active=False)


@pytest.mark.parametrize(("end", "told"), [(_expired, "expired"), (_revoked, "revoked"), (_inactive, "isn't active")])
def test_a_token_that_ended_gets_401_and_is_told_why(
    client: Client, server_mode: Settings, alice: User, end: Any, told: str
) -> None:
    headers = bearer(alice)
    end(Token.objects.get())
    response = client.get(WHO, headers=headers)
    assert response.status_code == 401
    assert told in response.content.decode()
    assert told in response.headers["WWW-Authenticate"]
    assert Token.objects.get().last_used_at is None


def test_a_token_that_is_not_taken_does_not_fall_back_to_the_session(
    client: Client, server_mode: Settings, alice: User
) -> None:
    client.force_login(alice)
    assert client.get(WHO, headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_a_token_goes_before_the_session(client: Client, server_mode: Settings, alice: User) -> None:
    client.force_login(alice)
    assert client.get(WHO, headers=bearer(User.objects.create_user("bot"))).json() == "bot (token nightly)"


def test_finding_out_who_asks_takes_one_query(
    client: Client, server_mode: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    headers = bearer(User.objects.create_superuser("root"))
    client.get(WHO, headers=headers)  # notes the use
    with django_assert_num_queries(1):
        client.get(WHO, headers=headers)


def test_pages_take_no_token(client: Client, server_mode: Settings, alice: User) -> None:
    response = client.get("/a-page/", headers=bearer(alice, Scope.ADMIN))
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_a_token_leaves_no_session(client: Client, server_mode: Settings, alice: User) -> None:
    assert not client.get(WHO, headers=bearer(alice)).cookies
    assert client.get(WHO).status_code == 401


@pytest.mark.parametrize(
    ("address", "method", "scope", "status"),
    [
        (WHO, "get", Scope.READ, 200),
        (WHO, "head", Scope.READ, 200),
        (WHO, "post", Scope.READ, 403),
        (WHO, "post", Scope.REVIEW, 200),
        (WHO, "delete", Scope.READ, 403),
        (WHO, "delete", Scope.ADMIN, 200),
        (ASKING, "post", Scope.READ, 200),
        (ASKING, "delete", Scope.REVIEW, 403),
        (ASKING, "delete", Scope.ADMIN, 200),
    ],
)
def test_a_token_may_what_its_scope_holds(
    client: Client, server_mode: Settings, alice: User, address: str, method: str, scope: Scope, status: int
) -> None:
    response = getattr(client, method)(address, headers=bearer(alice, scope))
    assert response.status_code == status
    if status == 403:
        assert response.json()["code"] == "token-scope"
        assert "needs a token of the scope" in response.json()["detail"]


def test_in_local_mode_no_token_is_needed(client: Client, settings: Settings) -> None:
    settings.LOCAL_NAME = "Mara"
    assert client.get(WHO).json() == "Mara"
    assert client.post(WHO).json() == "Mara"


REAL = "/api/v1/clusters"


def test_the_interface_itself_answers_strangers_with_a_problem(client: Client, server_mode: Settings) -> None:
    for address in (REAL, "/api/v1/no-such-thing"):
        response = client.get(address)
        assert response.headers["Content-Type"] == "application/problem+json", address
        assert response.status_code in (401, 404)
    assert client.get(REAL).json()["code"] == "not-authenticated"


def test_a_program_is_told_by_a_code_what_is_wrong_with_its_token(
    client: Client, server_mode: Settings, alice: User
) -> None:
    headers = bearer(alice)
    assert client.get(REAL, headers=headers).status_code == 200
    limits(server_mode, person=1)
    assert client.get(REAL, headers=headers).json()["code"] == "throttled"
    revoke(Token.objects.get(), by("bob"))
    assert client.get(REAL, headers=headers).json()["code"] == "token-revoked"
    assert client.get(REAL, headers={"Authorization": "Bearer x"}).json()["code"] == "token-unknown"


# How often one may ask


def limits(settings: Settings, **limits: int) -> None:
    settings.API_LIMITS = {**settings.API_LIMITS, **{name.replace("_", "-"): each for name, each in limits.items()}}


def test_who_asks_too_often_is_told_when_to_come_back(client: Client, server_mode: Settings, alice: User) -> None:
    limits(server_mode, person=2)
    headers = bearer(alice)
    assert [client.get(WHO, headers=headers).status_code for _ in range(3)] == [200, 200, 429]
    assert 1 <= int(client.get(WHO, headers=headers).headers["Retry-After"]) <= 60


def test_each_token_is_counted_for_itself(client: Client, server_mode: Settings, alice: User) -> None:
    limits(server_mode, person=1)
    one, other = bearer(alice), bearer(alice, name="hourly")
    assert [client.get(WHO, headers=each).status_code for each in (one, other, one)] == [200, 200, 429]
    client.force_login(alice)
    assert [client.get(WHO).status_code for _ in range(2)] == [200, 429]


def test_what_costs_more_has_a_limit_of_its_own(client: Client, server_mode: Settings, alice: User) -> None:
    limits(server_mode, person=3, what_if=1)
    headers = bearer(alice)
    assert [client.post(ASKING, headers=headers).status_code for _ in range(2)] == [200, 429]
    assert client.get(WHO, headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}])
def test_strangers_are_counted_by_address_whatever_header_they_send(
    client: Client, server_mode: Settings, alice: User, headers: dict[str, str]
) -> None:
    limits(server_mode, stranger=2)
    sent = [{**headers, "X-Forwarded-For": f"10.0.0.{number}"} for number in range(3)]
    assert [client.get(WHO, headers=each).status_code for each in sent] == [401, 401, 429]
    assert client.get(WHO, headers=headers, REMOTE_ADDR="192.0.2.9").status_code == 401
    assert client.get(WHO, headers=bearer(alice)).status_code == 200


def test_zero_is_no_limit(client: Client, server_mode: Settings, alice: User) -> None:
    limits(server_mode, person=0, what_if=0, stranger=0)
    headers = bearer(alice)
    assert {client.post(ASKING, headers=headers).status_code for _ in range(70)} == {200}
    assert {client.get(WHO).status_code for _ in range(70)} == {401}


def test_in_local_mode_there_is_no_limit(client: Client, settings: Settings) -> None:
    limits(settings, person=1, what_if=1)
    assert {client.post(ASKING).status_code for _ in range(3)} == {200}


# Other sites


ORIGIN = "https://portal.example.com"


@pytest.fixture
def portal(settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    settings.MIDDLEWARE = ["corsheaders.middleware.CorsMiddleware", *settings.MIDDLEWARE]


def test_by_default_no_other_site_is_let_in(client: Client) -> None:
    answer = client.get(WHO, headers={"Origin": ORIGIN})
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_a_site_that_is_named_may_read_but_never_with_cookies(client: Client, portal: None) -> None:
    answer = client.get(WHO, headers={"Origin": ORIGIN})
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "origin" in answer.headers["Vary"].lower()
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    before = client.options(WHO, headers=asked)
    assert before.status_code == 200
    assert "authorization" in before.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://portal.example.com.evil.example"])
def test_another_site_may_not(client: Client, portal: None, origin: str) -> None:
    assert "Access-Control-Allow-Origin" not in client.get(WHO, headers={"Origin": origin}).headers


def test_pages_stay_closed(client: Client, portal: None) -> None:
    assert "Access-Control-Allow-Origin" not in client.get("/login/", headers={"Origin": ORIGIN}).headers
