"""Search across everything: the page, and the panel under the field."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.nav import KEYS, NAVIGATION
from tests.faces.clusters import store, text_of
from tests.rules.manifests import a_model, a_runtime, a_service

pytestmark = pytest.mark.django_db

PANEL = {"HX-Request": "true", "HX-Target": "search-results"}


def test_it_finds_by_pieces_of_names_and_links_to_the_pages(client: Client) -> None:
    store(a_model("chat-model"), a_runtime("chat-runtime"), a_service("my-chat", "apps"))

    page = client.get("/search/?q=chat").content.decode()

    for address in ("/services/prod/apps/my-chat/", "/runtimes/prod/-/chat-runtime/", "/models/prod/-/chat-model/"):
        assert f'href="{address}"' in page
    assert "<title>chat – search – ome-dashboard</title>" in page


def test_the_group_of_the_exact_name_comes_first(client: Client) -> None:
    store(a_model("chat"), a_runtime("chat-runtime"), a_service("chat-bot"))

    page = client.get("/search/?q=chat").content.decode()

    assert page.index(">Models<") < page.index(">Services<", page.index("found-groups"))


def test_it_finds_clusters_namespaces_pages_and_the_lists_of_a_code(client: Client) -> None:
    store(a_service("chat", "apps"))

    assert 'href="/services/?cluster=prod&amp;namespace=apps"' in client.get("/search/?q=apps").content.decode()
    assert 'href="/?cluster=prod"' in client.get("/search/?q=prod").content.decode()
    assert 'href="/findings/?code=overlap"' in client.get("/search/?q=overlap").content.decode()
    assert 'href="/migration/?state=at-risk"' in client.get("/search/?q=at+risk").content.decode()
    assert 'href="/services/?mode=OMENative"' in client.get("/search/?q=omenative").content.decode()
    assert 'href="/conflicts/"' in client.get("/search/?q=kind:page+mode+conflicts").content.decode()


def test_the_panel_is_a_part_of_the_page_and_announces_how_many(client: Client) -> None:
    store(a_service("chat"))

    response = client.get("/search/?q=chat", headers=PANEL)
    page = response.content.decode()

    assert "<html" not in page
    assert "data-found" in page
    assert 'id="announce" hx-swap-oob="innerHTML">1 found' in page
    assert "HX-Target" in response.headers["Vary"]
    assert "HX-Push-Url" not in response.headers


def test_an_emptied_field_empties_the_panel(client: Client) -> None:
    store(a_service("chat"))

    assert "data-found" not in client.get("/search/?q=", headers=PANEL).content.decode()


def test_what_is_more_than_fits_is_a_link_to_its_list(client: Client) -> None:
    store(*(a_service(f"chat-{number}") for number in range(9)))

    page = client.get("/search/?q=chat", headers=PANEL).content.decode()

    assert page.count("/services/prod/team/chat-") == 6
    assert '<a href="/services/?q=chat" data-found>All 9</a>' in page


def test_more_of_a_kind_without_a_list_is_a_search_of_that_kind(client: Client) -> None:
    store(*(a_service(f"chat-{number}") for number in range(9)))

    page = client.get("/search/?q=ns:team+chat", headers=PANEL).content.decode()

    assert '<a href="/search/?q=kind%3Aservices+ns%3Ateam+chat" data-found>All 9</a>' in page


def test_nothing_found_teaches_what_it_understands(client: Client) -> None:
    store(a_service("chat"))

    page = text_of(client.get("/search/?q=banana"))

    assert "Nothing is called that." in page
    assert "kind:runtime" in page


def test_without_a_word_it_says_what_to_type(client: Client) -> None:
    assert "Type a piece of a name" in text_of(client.get("/search/"))


def test_hostile_words_are_only_text(client: Client) -> None:
    page = client.get("/search/", {"q": '"><script>alert(1)</script>'}).content.decode()

    assert "<script>alert" not in page


def test_every_page_has_the_field_and_works_without_scripts(client: Client) -> None:
    store(a_service("chat"))
    for path in ("/", "/services/", "/services/prod/team/chat/", "/nowhere/"):
        page = client.get(path).content.decode()
        assert '<form method="get" action="/search/">' in page, path


def test_signing_in_has_no_search(client: Client, server_mode: Settings) -> None:
    assert "/search/" not in client.get("/login/").content.decode()


def test_it_takes_few_queries(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    store(a_runtime("a-r"), a_model("a-m"), *(a_service(f"a-{number}", f"a-{number % 7}") for number in range(60)))

    with django_assert_max_num_queries(9):
        client.get("/search/?q=a", headers=PANEL)


def test_every_page_of_the_rail_has_a_key_of_its_own(client: Client) -> None:
    names = {entry.url_name for _, entries in NAVIGATION for entry in entries}

    assert set(KEYS) == names
    assert len(set(KEYS.values())) == len(KEYS)
    page = client.get("/nowhere/").content.decode()
    for key in KEYS.values():
        assert f'data-go="{key}"' in page


def test_it_requires_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    assert client.get("/search/?q=a").status_code == 302


def test_it_only_reads(client: Client) -> None:
    assert client.post("/search/").status_code == 405


@pytest.mark.parametrize(("asked", "code"), [("only the name decides", "overlap"), ("breaks-lws", "breaks-lws")])
def test_every_finding_is_found_by_its_word_and_its_code(client: Client, asked: str, code: str) -> None:
    page = client.get("/search/", {"q": asked}).content.decode()
    assert f'href="/findings/?code={code}"' in page
