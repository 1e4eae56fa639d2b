"""Search and the keys, as somebody uses them who doesn't take the hands from the keyboard."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]


def test_from_anywhere_to_a_service_without_the_mouse(visitor: Visitor) -> None:
    page = visitor.opens("/clusters/")
    page.keyboard.press("/")
    page.keyboard.type("reasoning", delay=20)
    found = page.locator("#search-results [data-found]")
    expect(found.first).to_contain_text("reasoning")
    expect(page.locator("#announce")).to_contain_text("found; the arrow down goes to them")

    page.keyboard.press("ArrowDown")
    expect(found.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(found.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("ArrowDown")
    name = found.first.locator(".ref").inner_text().partition("/")[2]
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_escape_leaves_what_was_found(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    page.keyboard.press("/")
    page.keyboard.type("fathom", delay=20)
    page.locator("#search-results [data-found]").first.wait_for()
    page.keyboard.press("ArrowDown")

    page.keyboard.press("Escape")

    expect(page.locator("#search-results")).to_be_empty()
    expect(page.locator("#search")).to_be_focused()
    assert page.url.endswith("/services/"), "looking doesn't change where one is"


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_enter_goes_to_all_that_was_found(visitor: Visitor, scripts: bool) -> None:
    page = visitor.opens("/", java_script_enabled=scripts)
    page.get_by_label("Search everything").fill("fathom")
    page.get_by_label("Search everything").press("Enter")

    expect(page).to_have_url(re.compile(r"/search/\?q=fathom"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("fathom")
    page.locator("main").get_by_role("link", name="sgl-fathom-multinode ").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sgl-fathom-multinode")


def test_the_help_tells_the_keys_and_they_do_what_it_says(visitor: Visitor) -> None:
    page = visitor.opens("/")
    page.clock.set_fixed_time(NOON)  # however slow the machine is, "s" comes soon enough after "g"
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()

    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Services")
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile("page=2"))
    page.keyboard.press("f")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("gs/?")  # somebody types: no key is meant
    expect(page.get_by_role("searchbox")).to_have_value("gs/?")
    expect(dialog).not_to_be_visible()


def test_a_letter_long_after_g_goes_nowhere(visitor: Visitor) -> None:
    page = visitor.opens("/clusters/")
    page.clock.set_fixed_time(NOON)
    page.keyboard.press("g")
    page.clock.set_fixed_time(NOON + timedelta(seconds=1.6))
    page.keyboard.press("s")
    page.keyboard.press("?")  # acts after "s" did, or would have

    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert page.url.endswith("/clusters/")


def test_single_keys_can_be_turned_off_and_stay_so(visitor: Visitor) -> None:
    page = visitor.opens("/")
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys act").uncheck()
    page.get_by_role("button", name="Close").click()
    page.goto("/services/")

    page.keyboard.press("/")
    page.keyboard.press("?")

    expect(page.locator("#search")).not_to_be_focused()
    expect(page.get_by_role("dialog", name="Keys")).not_to_be_visible()
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_label("Single keys act")).not_to_be_checked()


def test_the_first_stop_of_the_tab_key_leads_past_the_frame(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate(outline) == "solid", page.evaluate("document.activeElement.outerHTML.slice(0, 80)")
