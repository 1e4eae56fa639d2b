"""From the board to a service's steps and its runtime's copy, wide and narrow, with and without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

everywhere = pytest.mark.parametrize(
    ("scripts", "width"), [(True, 1280), (False, 1280), (True, 380), (False, 380)], ids=str
)


def fits(page: Page) -> bool:
    """Whether the page itself needs no scrolling sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@everywhere
def test_from_the_board_to_the_steps_and_the_copy(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens("/migration/", java_script_enabled=scripts, viewport={"width": width, "height": 800})

    row = page.locator("tr", has=page.get_by_role("link", name="frontier/aurora-long", exact=True))
    row.get_by_role("link", name="Its steps for aurora-long").click()
    expect(page.locator(".lead")).to_contain_text("It serves nothing now")
    steps = page.locator(".plan-steps > li")
    expect(steps).to_have_count(3)
    expect(steps.nth(0)).to_contain_text("kubectl create -f vllm-aurora-two-node-omenative.yaml")
    back = steps.nth(1).get_by_text("kubectl delete inferencereplica.ome.io aurora-long-engine")
    expect(back).to_be_hidden()
    steps.nth(1).get_by_text("The way back", exact=True).click()
    expect(back).to_be_visible()
    expect(page.locator("#outcome tr.different", has_text="State of the move")).to_contain_text("Done")
    assert fits(page)

    page.get_by_role("link", name="Plan of the runtime").click()
    expect(page.locator(".lead")).to_contain_text("which is ready to apply")
    expect(page.locator(".diff .add").first).to_be_visible()
    assert fits(page)
    page.get_by_role("link", name="Order of the fleet").click()
    expect(page.locator(".waves > li").first).to_contain_text("frontier/aurora-long")
    expect(page.locator(".tabs [aria-current]")).to_have_text("Order")
    assert fits(page)


def test_the_copy_is_saved_as_a_file_that_reads(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.opens("/migration/runtimes/eu-prod/-/vllm-aurora-two-node/")

    with page.expect_download() as saving:
        page.get_by_role("link", name="Download the copy (YAML)").click()

    assert saving.value.suggested_filename == "vllm-aurora-two-node-omenative.yaml"
    saving.value.save_as(tmp_path / "copy.yaml")
    copy = yaml.safe_load((tmp_path / "copy.yaml").read_text())
    assert copy["metadata"] == {"name": "vllm-aurora-two-node-omenative"}


def test_a_command_is_copied(visitor: Visitor) -> None:
    page = visitor.opens(
        "/migration/services/eu-prod/frontier/research-chat/", permissions=["clipboard-read", "clipboard-write"]
    )

    page.get_by_role("button", name=re.compile("^Copy Command")).first.click()

    expect(page.get_by_role("button", name=re.compile("^Copied"))).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".plan-steps .exact code").first.text_content()
    assert copied.startswith("kubectl ")


def test_the_page_of_a_service_leads_to_its_plan(visitor: Visitor) -> None:
    page = visitor.opens("/services/eu-prod/frontier/research-chat/")

    page.locator(".next-move").get_by_role("link", name="See the steps").click()

    expect(page).to_have_url(re.compile(r"/migration/services/eu-prod/frontier/research-chat/$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("its move off MultiNode")
