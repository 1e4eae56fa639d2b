"""Whatever goes wrong under /api/v1/ is a problem (RFC 9457), and tells nothing that it shouldn't."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponseBase
from django.test import Client
from pytest_django import Settings

from selection.faces.api import services
from selection.faces.api.problems import BadRequest, TooLarge
from selection.faces.api.rendering import BodyParser

pytestmark = pytest.mark.django_db


def problem(response: HttpResponseBase, status: int) -> dict[str, Any]:
    """The problem that an answer is."""
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(getattr(response, "content", b""))
    assert found["status"] == status
    assert found["type"] == "about:blank"
    return found


def test_an_address_that_nobody_knows_is_a_problem(client: Client) -> None:
    found = problem(client.get("/api/v1/no/such/thing"), 404)
    assert found["code"] == "not-found"
    assert found["instance"] == "/api/v1/no/such/thing"


def test_what_isnt_there_is_named(client: Client) -> None:
    found = problem(client.get("/api/v1/services/prod/apps/chat"), 404)
    assert found["detail"] == "There is no InferenceService apps/chat in prod."


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_is_written_here(client: Client, method: str) -> None:
    response = getattr(client, method)("/api/v1/services")
    assert problem(response, 405)["code"] == "method-not-allowed"
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_form_that_there_isnt_is_refused(client: Client) -> None:
    assert problem(client.get("/api/v1/services", headers={"Accept": "text/html"}), 406)["code"] == "not-acceptable"


def test_every_parameter_that_nobody_knows_is_named(client: Client) -> None:
    found = problem(client.get("/api/v1/services?outcom=named&page=2"), 400)
    assert found["code"] == "unknown-parameter"
    assert [each["parameter"] for each in found["errors"]] == ["outcom", "page"]


def test_a_parameter_that_is_given_twice_is_refused(client: Client) -> None:
    found = problem(client.get("/api/v1/services?limit=1&limit=2"), 400)
    assert found["code"] == "repeated-parameter"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("outcome=gone", "outcome"),
        ("outcome=", "outcome"),
        ("q=%00", "q"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=ten", "limit"),
        ("limit=%D9%A1", "limit"),
        ("sort=message", "sort"),
        ("sort=--name", "sort"),
        ("fields=name,nothing", "fields"),
        ("fields=", "fields"),
        ("cursor=", "cursor"),
        ("cursor=e30:abc", "cursor"),
    ],
)
def test_a_parameter_that_cant_be_read_is_named(client: Client, query: str, parameter: str) -> None:
    found = problem(client.get(f"/api/v1/services?{query}"), 400)
    assert [each["parameter"] for each in found["errors"]] == [parameter]


def test_every_filter_that_cant_be_read_is_named_at_once(client: Client) -> None:
    found = problem(client.get("/api/v1/services?outcome=gone&mode=gone"), 400)
    assert {each["parameter"] for each in found["errors"]} == {"outcome", "mode"}


def test_a_stranger_is_told_to_sign_in_and_not_what_there_is(client: Client, server_mode: Settings) -> None:
    for path in ("/api/v1/services", "/api/v1/services?nonsense=1", "/api/v1/services/prod/apps/chat"):
        response = client.get(path)
        assert problem(response, 401)["code"] == "not-authenticated"
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_fault_of_ours_tells_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(services, "find_cluster", fails)
    response = client.get("/api/v1/services/prod/apps/chat/explanation")
    found = problem(response, 500)
    assert found["code"] == "server-error"
    assert "swordfish" not in response.content.decode()


def test_what_goes_wrong_outside_of_a_view_is_a_problem_too(client: Client) -> None:
    assert problem(client.get("/api/v1/services", SERVER_NAME="elsewhere.example"), 400)["code"] == "bad-request"


def test_a_write_by_session_needs_the_token_of_a_form(server_mode: Settings) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("alice"))
    response = client.post("/api/v1/what-if", "{}", content_type="application/json")
    assert problem(response, 403)["code"] == "forbidden"
    assert client.get("/api/v1/services").status_code == 200


def test_a_body_of_another_kind_is_refused(client: Client) -> None:
    response = client.post("/api/v1/what-if", "a: 1", content_type="application/xml")
    assert problem(response, 415)["code"] == "unsupported-media-type"


def test_options_say_what_may_be_done_and_need_no_body(client: Client) -> None:
    response = client.options("/api/v1/services")
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


class Body:
    """A body that is sent."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, size: int) -> bytes:
        """As much of it as is asked for."""
        return self.content[:size]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "line 1, column 2"),
        (b"\xff", "isn't UTF-8"),
        (b"[NaN]", "NaN is no number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "isn't JSON"),
        (b"", "isn't JSON"),
    ],
)
def test_a_body_that_cant_be_read_says_why(content: bytes, told: str) -> None:
    with pytest.raises(BadRequest, match=told) as caught:
        BodyParser().parse(Body(content))
    assert caught.value.get_codes() == "bad-json"


def test_a_body_is_read_up_to_its_limit_and_no_further() -> None:
    with pytest.raises(TooLarge, match="more than 16,777,216 bytes"):
        BodyParser().parse(Body(b"1" * (16 * 1024 * 1024 + 1)))
