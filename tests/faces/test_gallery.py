"""The gallery: every component, in one place, for those who change one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.pages.gallery import COLOURS, COLOURS_OF_STATES
from selection.faces.words import FAMILIES
from tests.faces.clusters import text_of

pytestmark = pytest.mark.django_db

TEMPLATES, STATIC = Path(django_settings.BASE_DIR) / "templates", Path(django_settings.BASE_DIR) / "static"


@pytest.fixture
def page(client: Client, settings: Settings) -> str:
    settings.DEBUG = True
    response = client.get("/gallery/")
    assert response.status_code == 200
    return response.content.decode()


def test_without_debugging_there_is_no_such_page(client: Client) -> None:
    response = client.get("/gallery/")

    assert response.status_code == 404
    assert "OME_DASHBOARD_DEBUG" in text_of(response)


def test_it_shows_every_component(page: str) -> None:
    shown = {name for names in re.findall(r'data-component="([^"]+)"', page) for name in names.split()}

    assert {path.stem for path in (TEMPLATES / "components").glob("*.html")} == shown - {"base"}


def test_it_shows_every_word_that_a_badge_can_say(page: str) -> None:
    plain = page.replace("&#x27;", "'")
    for words in FAMILIES.values():
        for word in words.values():
            assert f">{word.label}<" in re.sub(r"<svg.*?</svg>", ">", plain, flags=re.DOTALL), word.label


def test_it_shows_every_colour(page: str) -> None:
    tokens = (STATIC / "css" / "tokens.css").read_text()
    named = set(re.findall(r"--([a-z-]+): light-dark", tokens))

    assert set(COLOURS + COLOURS_OF_STATES) | {"on-accent"} == named
    for name in COLOURS + COLOURS_OF_STATES:
        assert f'class="of-{name}"' in page


def test_colours_have_their_names_in_one_place() -> None:
    for path in (STATIC / "css").glob("*.css"):
        if path.name not in {"tokens.css", "print.css"}:
            assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", path.read_text()), path.name


def test_badges_are_drawn_by_the_component_and_nowhere_else() -> None:
    for path in TEMPLATES.rglob("*.html"):
        if path.parent.name != "components":
            assert not re.search(r'class="badge[ "]', path.read_text()), path.name


def test_each_component_says_at_its_top_how_it_is_drawn() -> None:
    for path in (TEMPLATES / "components").glob("*.html"):
        assert path.read_text().startswith("{# {% "), path.name


def test_it_asks_the_database_for_no_more_than_the_frame_does(
    client: Client, settings: Settings, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    settings.DEBUG = True
    with django_assert_max_num_queries(1):
        client.get("/gallery/")
