"""From a verdict to what it rests on, wide and narrow, with and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

everywhere = pytest.mark.parametrize(
    ("scripts", "width"), [(True, 1280), (False, 1280), (True, 380), (False, 380)], ids=str
)


@everywhere
def test_the_funnel_leads_to_a_reason_and_to_what_would_mend_it(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens(
        "/services/eu-prod/frontier/reasoning-raw/",
        java_script_enabled=scripts,
        viewport={"width": width, "height": 800},
    )

    page.locator("#funnel").get_by_role("link", name="Engine mode").click()
    expect(page).to_have_url(re.compile(r"check=engine-deployment-mode"))
    expect(page.locator("#funnel [aria-current]")).to_contain_text("Engine mode")
    row = page.locator("#excluded tbody tr", has_text="sgl-fathom-multinode").first
    row.get_by_role("link", name="What would it take").click()

    # With scripts the changes come into the row; without, the page of the candidate has them.
    change = row.locator(".change") if scripts else page.locator(".change")
    expect(change.first).to_contain_text("kubectl patch inferenceservice.ome.io reasoning-raw -n frontier")
    if scripts:
        expect(page).to_have_url(re.compile(r"check=engine-deployment-mode"))
    else:
        expect(page.get_by_role("heading", level=1)).to_contain_text("sgl-fathom-multinode")


@everywhere
def test_a_value_leads_to_its_line_in_the_manifest(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens(
        "/services/eu-prod/frontier/reasoning-raw/",
        java_script_enabled=scripts,
        viewport={"width": width, "height": 800},
    )
    expect(page.locator("#manifest-lines .yaml")).to_be_hidden()

    page.locator("#engine .ladder [aria-current]").get_by_role("link", name="RawDeployment").click()

    line = page.locator(".yaml .line:target")
    expect(line).to_be_visible()
    expect(line).to_contain_text("ome.io/deploymentMode: RawDeployment")
    expect(line).to_have_class(re.compile("marked"))


def test_a_runtimes_value_leads_to_its_line_on_the_runtimes_manifest(visitor: Visitor) -> None:
    page = visitor.opens("/services/eu-prod/frontier/research-chat/")

    page.locator("#engine .ladder [aria-current]").get_by_role("link", name="MultiNode").click()

    expect(page).to_have_url(
        re.compile(r"/objects/eu-prod/ClusterServingRuntime/-/sgl-fathom-multinode/\?mark=.*#mark")
    )
    expect(page.locator(".yaml .line:has(#mark)")).to_contain_text("ome.io/deploymentMode: MultiNode")


@everywhere
def test_from_the_matrix_through_a_cell_to_two_candidates(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens(
        "/matrix/?cluster=eu-prod", java_script_enabled=scripts, viewport={"width": width, "height": 800}
    )

    page.get_by_role("link", name=re.compile(r"^assistants ")).click()
    grid = page.get_by_role("region", name="What each runtime comes to for each service")
    expect(grid).to_be_visible()
    row = grid.locator("tr", has=page.get_by_role("link", name="assistants/general-chat", exact=True))
    expect(row.locator("td.selected")).to_contain_text("1")
    row.locator("td.qualifies a").first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("as a candidate for general-chat")
    page.get_by_role("link", name="Beside the first").click()
    expect(page.locator(".lead")).to_contain_text("Both qualify, and sgl-llama-large goes before")
    expect(page.locator("tr.different", has_text="Rank")).to_have_count(1)


@everywhere
def test_a_service_is_compared_with_one_that_is_searched_for(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens(
        "/services/eu-prod/frontier/research-chat/",
        java_script_enabled=scripts,
        viewport={"width": width, "height": 800},
    )

    page.get_by_role("link", name="Compare with …").click()
    page.get_by_label("Words of its cluster's, namespace's or own name").fill("frontier disagg-chat")
    page.get_by_role("button", name="Find", exact=True).click()
    found = page.get_by_role("region", name="Find another by name")
    found.get_by_role("link", name="frontier/disagg-chat", exact=True).click()

    expect(page.locator(".lead")).to_contain_text(
        "research-chat gets sgl-fathom-multinode, disagg-chat gets sgl-fathom-pd"
    )
    expect(page.locator("#diff")).to_be_visible()
    page.get_by_role("link", name="Exchange sides").click()
    expect(page.locator(".lead")).to_contain_text("disagg-chat gets sgl-fathom-pd, research-chat gets")


def test_an_explanation_on_paper_has_no_controls_and_hides_nothing(visitor: Visitor) -> None:
    page = visitor.opens("/services/eu-prod/frontier/reasoning-raw/")
    page.emulate_media(media="print")

    for control in (".page-actions", ".copy", ".takes", ".excluded-search", ".rail", ".topbar", ".on-page"):
        for each in page.locator(control).all():
            expect(each).to_be_hidden()
    message = page.locator(".exact code").first
    assert message.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    expect(page.locator("#funnel")).to_be_visible()


def test_a_plan_has_its_way_back_on_paper(visitor: Visitor) -> None:
    page = visitor.opens("/migration/services/eu-prod/frontier/research-chat/")
    back = page.locator(".steps details code").first
    expect(back).not_to_be_visible()
    page.emulate_media(media="print")
    expect(back).to_be_visible()
    expect(page.get_by_role("link", name="CSV").first).not_to_be_visible()
