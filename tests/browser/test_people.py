"""What people do with a finding, in a browser: with and without JavaScript, two at once, and after a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from selection.store.models import Finding
from tests.browser.conftest import Visitor
from tests.browser.test_accounts import PASSWORD, sign_in
from tests.browser.test_axe import complaints
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_service

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
with_and_without = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture
def team(chromium: Browser, server_mode: Settings, transactional_db: None) -> Iterator[Visitor]:
    """A server with three findings, on which two reviewers sign in."""
    caches["limits"].clear()
    hostile = {"notes": HOSTILE, "ome.io/deploymentMode": "Raw<b>Deployment</b>"}
    store(
        a_model(),
        *[a_service(name, model={"name": "gone"}) for name in ("one", "three", "two")],
        a_service("hostile", model={"name": "<b>bold</b>"}, annotations=hostile),
    )
    for name in ("ada", "bob"):
        User.objects.create_superuser(name, password=PASSWORD)
    server = LiveServer("localhost")
    visitor = Visitor(chromium, server.url)
    try:
        yield visitor
        assert not visitor.complaints
    finally:
        for context in visitor.contexts:
            context.close()
        server.stop()


def opened(team: Visitor, path: str, name: str = "ada", *, scripts: bool = True, width: int = 1280) -> Page:
    page = team.opens(path, java_script_enabled=scripts, viewport={"width": width, "height": 900})
    sign_in(page, name)
    return page


def path_of(name: str) -> str:
    return f"/findings/{Finding.objects.get(name=name, code='invalid').key}/"


def soon() -> str:
    return (timezone.now().date() + timedelta(days=30)).isoformat()


@with_and_without
@pytest.mark.parametrize("width", [1280, 380])
def test_a_finding_is_taken_accepted_and_discussed(team: Visitor, scripts: bool, width: int) -> None:
    page = opened(team, path_of("one"), scripts=scripts, width=width)
    page.get_by_role("button", name="Take it myself").click()
    expect(page.get_by_role("status").first).to_contain_text("It is saved")
    expect(page.locator("#handling")).to_contain_text("Its owner is ada")

    page.get_by_label("Decision").select_option("accepted")
    page.get_by_label("Reason").fill(f"a test bed {HOSTILE}")
    page.get_by_label("Accepted until").fill(soon())
    page.get_by_role("button", name="Save decision").click()
    expect(page.locator("#handling .stands")).to_contain_text(f"It stays as it is until {soon()}")
    expect(page.locator("#handling .stands")).to_contain_text(f"a test bed {HOSTILE}")

    page.get_by_label("Say something").fill(f"**Look**, @bob: {HOSTILE}\n\n[a link](javascript:alert(1))")
    page.get_by_role("button", name="Comment", exact=True).click()
    said = page.locator(".comments li")
    expect(said).to_contain_text(HOSTILE)
    expect(said.locator("strong", has_text="Look")).to_be_visible()
    assert said.locator("script, img, .written a").count() == 0

    said.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("It is meant, @bob.")
    page.get_by_role("button", name="Save").click()
    expect(said).to_contain_text("It is meant, @bob.")
    expect(said).to_contain_text("edited")
    expect(page.locator("#history")).to_contain_text("ada decided")
    assert page.title() != "owned"
    if scripts:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    bob = opened(team, "/mine/", "bob", scripts=scripts, width=width)
    expect(bob.locator("#mentions")).to_contain_text("It is meant, @bob.")
    bob.goto("/acts/")
    expect(bob.locator("main")).to_contain_text("decided")
    expect(bob.locator("main")).to_contain_text(HOSTILE)


@with_and_without
def test_several_are_chosen_done_and_taken_back(team: Visitor, scripts: bool) -> None:
    page = opened(team, "/findings/?code=invalid", scripts=scripts)
    for name in ("one", "two"):
        page.get_by_label(re.compile(f"Choose .* of {name}$")).check()
    page.get_by_role("button", name="Act on those chosen").click()
    page.get_by_label("Owner").first.select_option("set")
    page.get_by_label("Owner").nth(1).fill("bob")
    page.get_by_role("button", name="Look at what that changes").click()
    expect(page.locator(".lead")).to_contain_text("This would change 2 of 2 findings")
    page.get_by_role("button", name="Do it with 2").click()
    expect(page.locator(".lead")).to_contain_text("It can be taken back")
    page.goto("/findings/?owner=bob")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.go_back()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("status").first).to_contain_text("It is taken back")
    page.goto("/findings/?owned=somebody")
    expect(page.locator("main")).to_contain_text("No finding matches")


@with_and_without
def test_of_two_who_edit_one_comment_the_second_sees_both(team: Visitor, scripts: bool) -> None:
    team.forgives = re.compile("409")
    first = opened(team, path_of("one"), scripts=scripts)
    first.get_by_label("Say something").fill("first")
    first.get_by_role("button", name="Comment", exact=True).click()
    first.locator(".comments").get_by_role("link", name="Edit").click()
    second = opened(team, first.url.removeprefix(team.address), scripts=scripts)
    first.get_by_label("Text").fill("theirs")
    first.get_by_role("button", name="Save").click()
    expect(first.locator(".comments li")).to_contain_text("theirs")

    second.get_by_label("Text").fill("mine, which took long")
    second.get_by_role("button", name="Save").click()
    expect(second.locator("#both")).to_contain_text("theirs")
    expect(second.locator("#both")).to_contain_text("mine, which took long")
    expect(second.get_by_label("Text")).to_have_value("mine, which took long")
    second.get_by_role("button", name="Save mine instead").click()
    expect(second.locator(".comments li")).to_contain_text("mine, which took long")


@with_and_without
def test_words_outlive_the_session(team: Visitor, scripts: bool) -> None:
    team.forgives = re.compile("40[13]")
    page = opened(team, path_of("one"), scripts=scripts)
    page.get_by_label("Say something").fill("words that took an hour")
    Session.objects.all().delete()
    page.get_by_role("button", name="Comment", exact=True).click()
    sign_in(page, "ada")
    expect(page.get_by_label("Say something")).to_have_value("words that took an hour")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comments li")).to_contain_text("words that took an hour")
    expect(page.get_by_label("Say something")).to_have_value("")
    page.reload()
    expect(page.get_by_label("Say something")).to_have_value("")


def test_words_outlive_a_closed_tab_until_they_are_saved_or_one_signs_out(team: Visitor) -> None:
    page = opened(team, path_of("one"))
    page.get_by_label("Say something").fill("half a thought")
    page.goto("/findings/")
    page.goto(path_of("one"))
    expect(page.get_by_label("Say something")).to_have_value("half a thought")
    expect(page.locator(".draft-note")).to_contain_text("It isn't saved yet")
    page.goto(path_of("two"))
    expect(page.get_by_label("Say something")).to_have_value("")
    page.goto(path_of("one"))
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_label("Say something")).to_have_value("")
    page.get_by_label("Say something").fill("another thought")
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, "ada")
    page.goto(path_of("one"))
    expect(page.get_by_label("Say something")).to_have_value("")
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('draft')).length") == 0


def test_hostile_names_and_annotations_show_as_text(team: Visitor) -> None:
    page = opened(team, path_of("hostile"))
    expect(page.locator("main")).to_contain_text("<b>bold</b>")
    page.get_by_label("Owner").fill("bob")
    page.get_by_role("button", name="Set owner").click()
    for path in (
        path_of("hostile"),
        "/services/prod/team/hostile/",
        "/acts/",
        "/findings/",
        "/findings/together/?all=1",
    ):
        page.goto(path)
        assert page.locator("main b").count() == 0, path
        assert page.title() != "owned"


def test_axe_finds_nothing_on_the_way(team: Visitor) -> None:
    axe = Axe()
    team.forgives = re.compile("409|400")
    for scheme, width in (("light", 1280), ("dark", 380)):
        page = team.opens(
            path_of("one"), color_scheme=scheme, viewport={"width": width, "height": 4000}, bypass_csp=True
        )
        sign_in(page, "ada")
        page.get_by_label("Say something").fill(
            "# Head\n\n- a `b`\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n> said\n\n```\nx\n```"
        )
        page.get_by_role("button", name="Comment", exact=True).click()
        expect(page.locator(".comments li").last).to_be_visible()
        found = {"finding": complaints(page, axe)}
        page.get_by_label("Decision").select_option("accepted")
        page.get_by_role("button", name="Save decision").click()
        found["refused"] = complaints(page, axe)
        page.goto(path_of("one"))
        other = team.opens(path_of("one"))
        sign_in(other, "bob")
        other.get_by_label("Owner").fill(f"{'ada' if scheme == 'light' else 'bob'}")
        other.get_by_role("button", name="Set owner").click()
        expect(other.get_by_role("status").first).to_contain_text("saved")
        page.get_by_role("button", name="Save decision").click()
        expect(page.locator("#both")).to_be_visible()
        found["conflict"] = complaints(page, axe)
        page.goto("/findings/together/?all=1&code=invalid")
        found["together"] = complaints(page, axe)
        page.get_by_label("Decision").select_option("in-progress" if scheme == "light" else "open")
        page.get_by_label("Reason").fill(scheme)
        page.get_by_role("button", name="Look at what that changes").click()
        found["preview"] = complaints(page, axe)
        page.get_by_role("button", name="Do it with").click()
        expect(page.locator(".lead")).to_contain_text("It can be taken back")
        found["done"] = complaints(page, axe)
        for path in ("/acts/", "/acts/?group=subject", "/mine/"):
            page.goto(path)
            found[path] = complaints(page, axe)
        assert not {name: each for name, each in found.items() if each}, (scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
