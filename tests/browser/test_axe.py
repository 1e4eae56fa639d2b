"""axe finds nothing on any page that keeps somebody from using it: in light and dark, on a wide and a narrow screen."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from pytest_django import Settings

from selection.faces.urls import urlpatterns
from tests.browser.conftest import Visitor
from tests.browser.pages import PAGES, WITHOUT

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

#: WCAG 2 at the levels A and AA, and what axe calls best practice.
RULES: dict[str, Any] = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

#: What depends on the colours alone; all else is the same in the dark.
COLOURS: dict[str, Any] = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}

#: So many tests share the pages, and with them the workers.
PARTS = 4

#: A screen on which no page scrolls: what the strip at the foot covers is not out of reach, one scrolls to it.
TALL = 12_000


def complaints(page: Page, axe: Axe, options: dict[str, Any] = RULES) -> list[str]:
    """What axe finds on a page, one line for each element."""
    found: dict[str, Any] = axe.run(page, options=options).response
    return [
        f"{rule['id']}: {node['target']} {node['html'][:120]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def test_every_page_is_among_those_that_are_looked_at() -> None:
    assert {str(getattr(each, "name", "")) for each in urlpatterns} - WITHOUT == set(PAGES)


@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing(visitor: Visitor, part: int) -> None:
    axe = Axe()
    visitor.forgives = re.compile("404")  # one of the pages says that there is no such service
    page = visitor.opens("/", viewport={"width": 1280, "height": TALL}, bypass_csp=True)
    for path in list(itertools.chain.from_iterable(PAGES.values()))[part::PARTS]:
        page.set_viewport_size({"width": 1280, "height": TALL})
        page.emulate_media(color_scheme="light")
        page.goto(path)
        assert complaints(page, axe) == [], f"{path}, light, wide"
        page.set_viewport_size({"width": 380, "height": TALL})
        assert complaints(page, axe) == [], f"{path}, light, narrow"
        page.emulate_media(color_scheme="dark")
        assert complaints(page, axe, COLOURS) == [], f"{path}, dark, narrow"
        page.set_viewport_size({"width": 1280, "height": TALL})
        assert complaints(page, axe, COLOURS) == [], f"{path}, dark, wide"


def test_axe_finds_nothing_in_the_gallery(visitor: Visitor, settings: Settings) -> None:
    settings.DEBUG = True
    axe = Axe()
    for scheme, width in itertools.product(["light", "dark"], [1280, 380]):
        page = visitor.opens(
            "/gallery/", color_scheme=scheme, viewport={"width": width, "height": TALL}, bypass_csp=True
        )
        assert page.get_by_role("heading", level=1).inner_text().startswith("Gallery")
        assert complaints(page, axe) == [], (scheme, width)
