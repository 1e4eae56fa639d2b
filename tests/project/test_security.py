"""What every response carries, and signing in."""

from __future__ import annotations

import gzip

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path
from pytest_django import Settings

from ome_dashboard import urls
from ome_dashboard.middleware import CompressionMiddleware

PAGES = ["/login/", "/no-such-page/"]


def page(request: HttpRequest) -> HttpResponse:
    """Any page of ours."""
    return HttpResponse("somebody is in")


#: With a page that is there whatever the other pages are.
urlpatterns = [path("a-page/", page), *urls.urlpatterns]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_every_response_carries_the_policy(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.django_db
def test_the_sign_in_page_has_nothing_inline_and_nothing_foreign(client: Client) -> None:
    page = client.get("/login/").content.decode()
    for forbidden in ("<style", " style=", "<script>", "onclick", "http://", "https://"):
        assert forbidden not in page


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_it_requires_login_in_server_mode(client: Client, server_mode: Settings) -> None:
    response = client.get("/a-page/")
    assert response.status_code == 302
    assert response.headers["Location"] == "/login/?next=/a-page/"


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_local_mode_asks_for_no_sign_in(client: Client) -> None:
    assert client.get("/a-page/").content == b"somebody is in"


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_a_user_signs_in_and_out(client: Client, server_mode: Settings) -> None:
    User.objects.create_user("alice", password="correct horse battery")
    wrong = client.post("/login/", {"username": "alice", "password": "wrong"})
    assert wrong.status_code == 200
    assert 'role="alert"' in wrong.content.decode()
    right = client.post("/login/", {"username": "alice", "password": "correct horse battery", "next": "/a-page/"})
    assert right.headers["Location"] == "/a-page/"
    assert client.get("/a-page/").status_code == 200
    out = client.post("/logout/")
    assert out.headers["Location"] == "/login/"
    assert client.get("/a-page/").status_code == 302


@pytest.mark.django_db
def test_signing_in_does_not_lead_to_another_site(client: Client) -> None:
    User.objects.create_user("alice", password="correct horse battery")
    form = {"username": "alice", "password": "correct horse battery", "next": "https://evil.example/"}
    assert client.post("/login/", form).headers["Location"] == "/"


@pytest.mark.django_db
def test_signing_in_needs_a_token_of_the_form() -> None:
    assert Client(enforce_csrf_checks=True).post("/login/", {"username": "a", "password": "b"}).status_code == 403


@pytest.mark.django_db
def test_text_is_compressed_for_who_takes_it(client: Client) -> None:
    page = client.get("/login/", headers={"Accept-Encoding": "gzip"})
    assert page.headers["Content-Encoding"] == "gzip"
    assert b"Sign in" in gzip.decompress(page.content)
    assert "Accept-Encoding" in page.headers["Vary"]
    assert "Content-Encoding" not in client.get("/login/").headers


@pytest.mark.parametrize(("status", "kind"), [(206, "text/css"), (200, "image/png")])
def test_parts_of_files_and_pictures_go_as_they_are(status: int, kind: str) -> None:
    answer = HttpResponse(b"x" * 5000, status=status, content_type=kind)
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip"})

    sent = CompressionMiddleware(lambda request: answer).process_response(request, answer)

    assert sent is answer
    assert "Content-Encoding" not in answer.headers
