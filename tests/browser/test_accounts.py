"""Accounts and tokens on a server, from an administrator's link to a revoked token; axe looks at each step."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from selection.people.accounts import create_account
from tests.browser.conftest import Visitor
from tests.browser.test_axe import complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"


@pytest.fixture
def somebody(chromium: Browser, server_mode: Settings, transactional_db: None) -> Iterator[Visitor]:
    """A visitor of a server where one signs in; there is one account, of a superuser."""
    User.objects.create_superuser("root", password=PASSWORD)
    server = LiveServer("localhost")
    visitor = Visitor(chromium, server.url)
    try:
        yield visitor
        assert not visitor.complaints
    finally:
        for context in visitor.contexts:
            context.close()
        server.stop()


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """Fill in the sign-in page and send it."""
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("scripts", [True, False])
def test_from_a_new_account_to_a_revoked_token(somebody: Visitor, scripts: bool) -> None:
    somebody.forgives = re.compile("403")  # who has no role yet is told so on the first page
    page = somebody.opens("/accounts/", java_script_enabled=scripts)
    sign_in(page, "root")
    page.get_by_label("User name").fill("bob")
    page.get_by_label("Groups").fill("platform")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("status").first).to_contain_text("The account bob is made")
    link = page.locator("#link code").inner_text()

    bob = somebody.opens(link, java_script_enabled=scripts)
    for label in ("New password", "New password confirmation"):
        bob.get_by_label(label, exact=True).fill("a horse, again")
    bob.get_by_role("button", name="Set it").click()
    sign_in(bob, "bob", "a horse, again")
    bob.goto("/account/")
    bob.get_by_role("link", name="0 tokens").click()
    bob.get_by_label("What it is for").fill("nightly report")
    bob.get_by_role("button", name="Make it").click()
    secret = bob.locator("#made code").first.inner_text()
    assert re.fullmatch(r"omedash_\w{8}_\w{43}", secret)

    bob.goto("/account/tokens/")
    assert secret not in bob.content()
    bob.get_by_role("button", name="Revoke nightly report").click()
    expect(bob.get_by_role("status").first).to_contain_text("The token nightly report is revoked")
    expect(bob.get_by_role("cell", name="revoked")).to_be_visible()


def test_axe_finds_nothing_on_the_way(somebody: Visitor) -> None:
    axe = Axe()
    somebody.forgives = re.compile("429")
    create_account("bob", email="bob@example.com", groups=["platform"])
    for scheme, width in (("light", 1280), ("dark", 380)):
        viewport = {"width": width, "height": 4000}
        page = somebody.opens("/account/tokens/", color_scheme=scheme, viewport=viewport, bypass_csp=True)
        found = {"sign-in": complaints(page, axe)}
        for _ in range(5):
            sign_in(page, f"nobody-{scheme}-{width}", "wrong")
        expect(page.get_by_role("alert")).to_contain_text("has to wait 15 minutes")
        found["wait"] = complaints(page, axe)
        sign_in(page, "root")
        page.get_by_label("What it is for").fill(f"report {scheme} {width}")
        page.get_by_role("button", name="Make it").click()
        expect(page.locator("#made")).to_be_visible()
        found["secret"] = complaints(page, axe)
        for path in ("/account/", "/account/password/", "/accounts/"):
            page.goto(path)
            found[path] = complaints(page, axe)
        page.goto("/accounts/bob/")
        page.get_by_role("button", name="Make a link").click()
        link = page.locator("#link code").inner_text()
        found["link"] = complaints(page, axe)
        page.goto(link)
        found["set password"] = complaints(page, axe)
        assert not {name: each for name, each in found.items() if each}, (scheme, width)
        page.context.close()
