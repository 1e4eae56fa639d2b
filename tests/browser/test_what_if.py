"""What if, in a browser: with and without JavaScript, wide and narrow, and as a link that no server sees."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.test_axe import TALL, complaints

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

everywhere = pytest.mark.parametrize(
    ("scripts", "width"), [(True, 1280), (False, 1280), (True, 380), (False, 380)], ids=str
)
PASTED = """apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: try, namespace: frontier}
spec: {model: {name: fathom-moe-480b}, engine: {}}
"""
GONE = "ClusterServingRuntime sgl-fathom-multinode"


def judged(page: Page) -> None:
    """Send the form, and wait for the answer."""
    page.get_by_role("button", name="Judge").click()
    expect(page.locator("#result h2").first).to_be_visible()


@everywhere
def test_from_a_services_page_to_who_would_differ(visitor: Visitor, scripts: bool, width: int) -> None:
    page = visitor.opens(
        "/services/eu-prod/frontier/research-chat/",
        java_script_enabled=scripts,
        viewport={"width": width, "height": 800},
    )
    page.get_by_role("link", name="What if …").click()
    field = page.get_by_label("Manifests to add or change")
    expect(field).to_have_value(re.compile("name: research-chat"))

    field.fill(PASTED)
    page.get_by_label("Objects to delete").fill(GONE)
    judged(page)

    expect(page.locator("#verdict")).to_contain_text("worse off")
    expect(page.locator("#given")).to_contain_text("2 objects")
    expect(page.locator(".what-if-table tbody tr").first).to_contain_text("Loses its runtime")
    page.locator("#result").get_by_role("button", name="Refused").click()
    expect(page.locator("#result button[aria-pressed]")).to_contain_text("Refused")
    expect(page.locator(".what-if-table tbody tr").first).to_contain_text("Refused")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") if scripts else True
    # With scripts the field is left alone; without it has what was judged.
    expect(field).to_have_value(PASTED if scripts else re.compile("name: try"))


@everywhere
def test_what_is_refused_is_said_beside_the_field(visitor: Visitor, scripts: bool, width: int) -> None:
    visitor.forgives = re.compile("422")
    page = visitor.opens("/what-if/", java_script_enabled=scripts, viewport={"width": width, "height": 800})
    page.get_by_label("Manifests to add or change").fill(PASTED + "---\n" + PASTED)
    judged(page)
    expect(page.locator("#result")).to_contain_text("InferenceService frontier/try is given twice")
    if scripts:
        expect(page.locator("#announce")).to_have_text("The input is refused")
        expect(page.get_by_label("Manifests to add or change")).to_have_value(PASTED + "---\n" + PASTED)


def test_a_link_holds_what_was_given_and_no_server_gets_it(visitor: Visitor) -> None:
    page = visitor.opens("/what-if/")
    page.get_by_label("On top of").select_option("us-lab")
    page.get_by_label("Manifests to add or change").fill(PASTED)
    page.get_by_label("Objects to delete").fill(GONE)
    page.get_by_role("button", name="Copy a link to this").click()
    expect(page).to_have_url(re.compile(r"/what-if/#z\.[\w-]+$"))
    link = urlsplit(page.url)

    asked: list[str] = []
    other = visitor.opens("/")
    other.on("request", lambda request: asked.append(request.url))
    other.goto(f"{link.path}#{link.fragment}")
    expect(other.get_by_label("Manifests to add or change")).to_have_value(PASTED)
    expect(other.get_by_label("Objects to delete")).to_have_value(GONE)
    expect(other.get_by_label("On top of")).to_have_value("us-lab")
    expect(other.locator("[data-what-if-said]")).to_have_text("Filled from the link.")
    assert asked
    assert not [url for url in asked if link.fragment in url.partition("#")[0]]


def test_too_much_for_a_link_is_said(visitor: Visitor) -> None:
    page = visitor.opens("/what-if/")
    noise = "".join(f"{each * 7919 % 1_000_003:x}" for each in range(9_000))
    page.get_by_label("Manifests to add or change").fill(noise)
    page.get_by_role("button", name="Copy a link to this").click()
    expect(page.locator("[data-what-if-said]")).to_contain_text("Too much for a link: it would have")
    assert "#" not in page.url


@pytest.mark.parametrize("hash_", ["z.AAAA", "p.!!!!", "p.e30", "z.7cEBDQAAAMKg909tDjegAAAAAAAAAAAAAAAAAAAAAAAA"])
def test_a_link_that_was_cut_is_said_to_be(visitor: Visitor, hash_: str) -> None:
    page = visitor.opens(f"/what-if/#{hash_}")
    expect(page.locator("[data-what-if-said]")).to_have_text(
        "The link can't be read: it was cut, or changed, on its way."
    )


def test_a_chosen_file_comes_into_the_field(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "try.yaml").write_text(PASTED)
    page = visitor.opens("/what-if/")
    page.get_by_label("Or a file").set_input_files(tmp_path / "try.yaml")
    expect(page.get_by_label("Manifests to add or change")).to_have_value(PASTED)
    judged(page)
    expect(page.locator("#given")).to_contain_text("1 object")


@pytest.mark.parametrize(("scheme", "width"), list(itertools.product(["light", "dark"], [1280, 380])))
def test_axe_finds_nothing_in_an_answer_or_a_refusal(visitor: Visitor, scheme: str, width: int) -> None:
    visitor.forgives = re.compile("422")
    page = visitor.opens("/what-if/", color_scheme=scheme, viewport={"width": width, "height": TALL}, bypass_csp=True)
    page.get_by_label("Manifests to add or change").fill(PASTED)
    page.get_by_label("Objects to delete").fill(GONE)
    judged(page)
    page.locator("#result summary").first.click()
    assert complaints(page, Axe()) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Objects to delete").fill("ConfigMap a")
    judged(page)
    expect(page.locator("#result")).to_contain_text("Not judged")
    assert complaints(page, Axe()) == []
