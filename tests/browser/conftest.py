"""A real Chromium on the demo fleet. Every page it opens must stay on this server and break no rule of its policy."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from selection.people.accounts import create_account
from tests.browser.reviewed import review_the_demo_fleet

# A busy machine is slow, not wrong.
expect.set_options(timeout=20_000)

#: What the distributions call it; CHROMIUM names another one.
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]


def _executable() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, started once."""
    executable = _executable()
    if executable is None:
        pytest.skip("there is no Chromium here; install it or set CHROMIUM to its path")
    # Playwright keeps an event loop running in this thread; Django would refuse the tests their database.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
            yield browser
            browser.close()
    finally:
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture(scope="module")
def demo(chromium: Browser, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The address of a server that shows the demo fleet, loaded once for a module: its pages only read."""
    with django_db_blocker.unblock():
        named = str(connection.settings_dict["NAME"])
        assert "memory" in named or named.startswith("test_"), "this would flush a real database"
        server = LiveServer("localhost", start=False)
        # Styles and scripts come as they do to people: from the middleware, compressed.
        server.thread.static_handler = lambda application: application  # type: ignore[assignment]  # any wrapper does
        server.start()
        try:
            call_command("demo", verbosity=0)
            create_account("mara", email="mara@example.com", groups=["platform"])
            review_the_demo_fleet()
            yield server.url
        finally:
            server.stop()
            call_command("flush", interactive=False, verbosity=0)


class Visitor:
    """Somebody with a browser. ``complaints`` is what the browser found wrong on the way."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address
        self.complaints: list[str] = []
        self.forgives: re.Pattern[str] | None = None  # what a test brings about on purpose
        self.contexts: list[BrowserContext] = []

    def opens(self, path: str = "/", **options: Any) -> Page:
        """A page in a context of its own; options are the context's, such as ``java_script_enabled``."""
        context = self.browser.new_context(base_url=self.address, **options)
        context.set_default_timeout(20_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda each: self._heard(each.type, each.text))
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        page.on("request", lambda request: self._asked(request.url))
        page.goto(path)
        return page

    def _heard(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not (self.forgives and self.forgives.search(text)):
            self.complaints.append(f"console: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:")):
            self.complaints.append(f"a request left the server: {url}")


@pytest.fixture
def visitor(chromium: Browser, demo: str) -> Iterator[Visitor]:
    """A visitor of the demo fleet, who must have nothing to complain of in the end."""
    someone = Visitor(chromium, demo)
    yield someone
    for context in someone.contexts:
        context.close()
    assert not someone.complaints
