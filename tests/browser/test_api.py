"""The page of the REST interface in a browser: it opens what is asked for, with and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.mark.parametrize("script", [True, False])
def test_an_operation_opens_and_leads_to_what_it_answers_with(visitor: Visitor, script: bool) -> None:
    page = visitor.opens("/api/", java_script_enabled=script)
    page.get_by_text("GET /api/v1/services", exact=True).click()
    expect(page.locator("#listServices")).to_be_visible()
    expect(page.get_by_role("region", name="listServices: parameters")).to_contain_text("runtime_namespace")
    page.get_by_role("link", name="ServiceRow", exact=True).locator("visible=true").click()
    expect(page).to_have_url(f"{visitor.address}/api/#shape-ServiceRow")
    expect(page.locator("#shape-ServiceRow")).to_be_visible()


def test_a_page_may_ask_the_interface_of_its_own_origin(visitor: Visitor) -> None:
    page = visitor.opens("/")
    script = "async () => (await fetch('/api/v1/services?limit=1')).json()"
    assert len(page.evaluate(script)["items"]) == 1
