"""From the overview to the runtime behind a conflict, with and without JavaScript."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_from_the_overview_to_the_runtime_behind_a_conflict(visitor: Visitor, scripts: bool) -> None:
    page = visitor.opens("/", java_script_enabled=scripts)

    # The overview answers first: how many services have no runtime.
    expect(page.locator(".lead")).to_contain_text(re.compile(r"\d+ of \d+ services get no runtime"))
    page.get_by_role("link", name="No runtime").first.click()

    # The list of services, narrowed by outcome, then by a word.
    expect(page).to_have_url(re.compile(r"/services/\?outcome=no-runtime"))
    rows = page.locator("#list-services tbody tr")
    everyone = rows.count()
    page.get_by_role("searchbox").fill("reasoning-raw")
    if scripts:
        expect(page).to_have_url(re.compile(r"q=reasoning-raw"))
        expect(page.locator("#announce")).to_contain_text("1 of ")
    else:
        page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(1)
    assert everyone > 1
    page.get_by_role("link", name="reasoning-raw", exact=True).click()

    # The explanation: verdict, OME's words, the funnel that narrows the excluded.
    expect(page.get_by_role("heading", level=1)).to_have_text("reasoning-raw")
    expect(page.locator(".lead")).to_contain_text("qualifies for its model")
    expect(page.locator(".exact").first).to_contain_text("no runtime found to support model safetensors")
    page.locator("#funnel").get_by_role("link", name="Engine mode").click()
    expect(page).to_have_url(re.compile(r"check=engine-deployment-mode"))
    excluded = page.locator("#excluded")
    expect(excluded).to_contain_text("runtime engine deployment mode MultiNode does not match requested")
    expect(excluded).not_to_contain_text("runtime is disabled")

    # The conflict behind it, with what to do.
    conflict = page.locator("#engine .conflict")
    expect(conflict).to_contain_text("Rejected")
    expect(conflict).to_contain_text("take the mode out of")
    page.get_by_role("link", name="Mode conflicts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mode conflicts")
    row = page.locator("#list-conflicts tbody tr", has_text="reasoning-raw")
    expect(row).to_contain_text("MultiNode")

    # And the runtime that was kept away.
    row.locator("a[href*='/runtimes/']").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sgl-fathom-multinode")
    expect(page.locator("main")).to_contain_text("MultiNode")


def test_the_way_back_restores_what_was_filtered(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    page.get_by_role("searchbox").fill("copilot")
    expect(page).to_have_url(re.compile("q=copilot"))
    page.get_by_role("link", name="copilot", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("copilot")

    page.go_back()

    expect(page.get_by_role("searchbox")).to_have_value("copilot")
    expect(page.locator("#list-services tbody tr").first).to_contain_text("copilot")


def test_typing_keeps_the_focus_in_the_field(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    page.keyboard.press("f")
    page.keyboard.type("rag-", delay=20)
    expect(page).to_have_url(re.compile("q=rag-"))

    page.keyboard.type("router")

    expect(page.get_by_role("searchbox")).to_have_value("rag-router")
    expect(page.locator("#list-services tbody tr")).to_have_count(1)


def test_omes_text_is_copied_exactly(visitor: Visitor) -> None:
    page = visitor.opens("/services/eu-prod/frontier/reasoning-raw/", permissions=["clipboard-read", "clipboard-write"])
    box = page.locator(".exact").first

    box.get_by_role("button").click()

    expect(box.get_by_role("button")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == box.locator("code").inner_text()


def test_the_theme_is_remembered(visitor: Visitor) -> None:
    page = visitor.opens("/", color_scheme="light")
    switch = page.get_by_role("button", name="Theme")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")

    switch.click()  # light
    switch.click()  # dark
    page.goto("/services/")

    expect(switch).to_contain_text("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_on_a_narrow_screen_the_pages_are_behind_a_button(visitor: Visitor) -> None:
    page = visitor.opens("/", viewport={"width": 380, "height": 800})
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Services", exact=True)
    expect(link).not_to_be_visible()

    page.get_by_role("button", name="Menu").click()
    link.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Services")


def test_the_line_of_a_manifest_can_be_linked_to(visitor: Visitor) -> None:
    page = visitor.opens("/objects/eu-prod/ClusterServingRuntime/-/sgl-fathom-multinode/")

    page.get_by_role("link", name="spec.modelSizeRange").click()

    expect(page).to_have_url(re.compile(r"#L\d+$"))
    expect(page.locator(".line:target")).to_contain_text("modelSizeRange:")


def test_a_view_is_copied_as_a_link_for_a_colleague(visitor: Visitor) -> None:
    page = visitor.opens("/services/", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("searchbox").fill("copilot")
    expect(page).to_have_url(re.compile("q=copilot"))
    expect(page.locator("#list-services tbody tr")).to_have_count(3)

    page.get_by_role("button", name="Copy link").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_grouping_keeps_the_focus(visitor: Visitor) -> None:
    page = visitor.opens("/conflicts/")
    page.evaluate("window.stayed = true")

    page.locator("#list-conflicts-in-runtime").press("Enter")

    expect(page).to_have_url(re.compile("group=runtime"))
    expect(page.locator("#list-conflicts-in-runtime")).to_be_focused()
    assert page.evaluate("window.stayed")


def test_the_exact_moment_is_told_in_the_readers_own_time(visitor: Visitor) -> None:
    page = visitor.opens("/clusters/", timezone_id="Asia/Tokyo")
    time = page.locator("main time").first

    time.hover()

    moment = time.get_attribute("datetime") or ""
    local = datetime.fromisoformat(moment).astimezone(ZoneInfo("Asia/Tokyo"))
    expect(time).to_have_attribute("title", re.compile(rf"^{local:%Y-%m-%d %H:%M:%S} GMT\+9 \(\d\d:\d\d:\d\d UTC\)$"))
