"""An open page stays true by itself, and whoever is at it isn't disturbed."""

from __future__ import annotations

import itertools
import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from selection.store.evaluate import evaluate
from selection.store.models import Cluster, KindSync, StoredObject
from tests.browser.conftest import Visitor

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

CLUSTER, NAMESPACE, NAME = "eu-prod", "retrieval", "query-rewriter"
PAGE = f"/services/{CLUSTER}/{NAMESPACE}/{NAME}/"

#: What a test changed is gone after it; the server's memory of a fleet must not take it for what the next one changes.
generations = itertools.count(1000, 10)


def ask_for_a_model_that_is_not_there(name: str = NAME, namespace: str = NAMESPACE) -> None:
    """What follows when somebody edits a service in the cluster."""
    cluster = Cluster.objects.get(name=CLUSTER)
    row = StoredObject.objects.get(cluster=cluster, kind="InferenceService", namespace=namespace, name=name)
    cluster.generation = row.generation = next(generations)
    row.manifest = {**row.manifest, "spec": {**row.manifest["spec"], "model": {"name": "gone-away"}, "runtime": {}}}
    row.save()
    cluster.save()
    evaluate(cluster)


def test_a_list_a_service_and_the_overview_follow_without_a_reload(visitor: Visitor) -> None:
    services, service, overview = (visitor.opens(path) for path in ("/services/", PAGE, "/"))
    for page in (services, service, overview):
        page.evaluate("window.stayed = true")
    row = services.locator("#list-services tbody tr", has_text=NAME)
    expect(row).not_to_contain_text("Can't be judged")
    before = overview.locator(".lead").inner_text()

    ask_for_a_model_that_is_not_there()

    expect(row).to_contain_text("Can't be judged")
    expect(service.locator(".lead")).to_contain_text("gone-away")
    expect(overview.locator(".lead")).not_to_have_text(before)
    for page in (services, service, overview):
        assert page.evaluate("window.stayed"), "the page was loaded anew"
        expect(page.locator("#announce")).to_have_text(re.compile(r"^\d+ rows? changed$|^Updated$"))


def test_whoever_is_at_a_page_is_not_disturbed(visitor: Visitor) -> None:
    page = visitor.opens("/services/?sort=-name")
    page.locator("details.filters-more summary").click()
    search = page.get_by_role("searchbox")
    search.fill("query")
    expect(page).to_have_url(re.compile(r"q=query"))
    expect(page.locator("#list-services tbody tr")).to_have_count(1)
    address, entries = page.url, page.evaluate("history.length")
    page.evaluate("document.querySelector('[type=search]').setSelectionRange(1, 3)")
    page.evaluate("window.list = document.querySelector('#list-services table')")

    ask_for_a_model_that_is_not_there()

    expect(page.locator("#list-services tbody tr")).to_contain_text("Can't be judged")
    expect(search).to_be_focused()
    expect(search).to_have_value("query")
    assert page.evaluate("[document.activeElement.selectionStart, document.activeElement.selectionEnd]") == [1, 3]
    assert page.evaluate("document.querySelector('details.filters-more').open")
    assert (page.url, page.evaluate("history.length")) == (address, entries)
    assert page.evaluate("window.list.isConnected"), "what doesn't differ is left alone"
    # And what htmx does goes on working in what was renewed.
    with page.expect_response("**/services/?*"):
        search.blur()  # the field changed: the form asks once more
    page.wait_for_function("!document.querySelector('.htmx-request')")
    page.evaluate("window.stayed = true")
    page.locator("#list-services-by-name").press("Enter")
    expect(page).to_have_url(re.compile(r"sort=name.*q=query|q=query.*sort=name"))
    expect(page.locator("#list-services-by-name")).to_be_focused()
    assert page.evaluate("window.stayed")


def test_focus_scroll_and_what_is_unfolded_survive_on_a_service(visitor: Visitor) -> None:
    page = visitor.opens("/services/eu-prod/frontier/reasoning-raw/", viewport={"width": 1000, "height": 500})
    folded = page.locator("main details:not([open])").first
    folded.locator("summary").first.click()
    page.evaluate("window.folded = [...document.querySelectorAll('main details[open]')].at(-1)")
    button = page.locator("main [data-copy]").last
    button.focus()
    page.evaluate("window.button = document.activeElement; scrollTo(0, 400)")

    cluster = Cluster.objects.get(name=CLUSTER)
    cluster.generation = next(generations)
    row = StoredObject.objects.get(cluster=cluster, kind="InferenceService", name="reasoning-raw")
    row.generation, row.resource_version = cluster.generation, "987654"
    row.save()
    cluster.save()
    evaluate(cluster)

    expect(page.locator("main")).to_contain_text("987654")
    assert page.evaluate("window.folded.isConnected && window.folded.open")
    assert page.evaluate("document.activeElement === window.button")
    assert page.evaluate("scrollY") == 400


def test_selected_text_stays_until_it_is_let_go(visitor: Visitor) -> None:
    page = visitor.opens(PAGE)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.lead'))")
    chosen = page.evaluate("getSelection().toString()")

    ask_for_a_model_that_is_not_there()

    expect(page.locator("main")).to_contain_text("gone-away")  # elsewhere on the page
    assert page.evaluate("getSelection().toString()") == chosen
    page.evaluate("getSelection().removeAllRanges()")
    expect(page.locator(".lead")).to_contain_text("gone-away")


def test_a_service_that_goes_away_is_said_to_be_gone(visitor: Visitor) -> None:
    page = visitor.opens(PAGE)
    visitor.forgives = re.compile("404")

    cluster = Cluster.objects.get(name=CLUSTER)
    StoredObject.objects.filter(cluster=cluster, kind="InferenceService", name=NAME).delete()
    cluster.generation = next(generations)
    cluster.save()
    evaluate(cluster)

    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such InferenceService")


def test_the_strip_turns_live_and_back(visitor: Visitor) -> None:
    page = visitor.opens("/models/")
    strip = page.locator("#freshness")
    expect(strip).not_to_contain_text("live")
    now = timezone.now()
    KindSync.objects.filter(cluster__name=CLUSTER).update(watching=True, confirmed_at=now, last_event_at=now)
    Cluster.objects.filter(name=CLUSTER).update(followed=True, heartbeat_at=now)

    live = strip.locator("li", has_text=CLUSTER)
    expect(live).to_contain_text(f"{CLUSTER}: live")
    expect(live.locator("[title]")).to_have_attribute("title", now.strftime("Last event %Y-%m-%d %H:%M:%S UTC"))

    Cluster.objects.filter(name=CLUSTER).update(heartbeat_at=None)
    expect(live).to_contain_text("nobody follows it now")


def test_ages_go_on_without_asking(visitor: Visitor) -> None:
    page = visitor.opens("/clusters/")
    page.evaluate("document.querySelectorAll('time').forEach((each) => { each.dateTime = '2020-01-01T00:00:00Z' })")
    expect(page.locator("main time").first).to_have_text(re.compile(r"^\d{4} d ago$"))


SHOWN = "document.dispatchEvent(new Event('visibilitychange'))"


def test_a_hidden_page_asks_nothing_and_asks_at_once_when_it_is_seen_again(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/live/" in request.url else None)
    hide = "Object.defineProperty(document, 'hidden', {get: () => %s, configurable: true});"
    page.evaluate(hide % "true")
    page.wait_for_timeout(1200)
    asked.clear()
    page.wait_for_timeout(2500)
    assert asked == []
    page.evaluate("performance.clearResourceTimings()")
    with page.expect_request_finished(lambda request: "/live/" in request.url):
        seen = page.evaluate(hide % "false" + f"window.seenAt = performance.now(); {SHOWN}; window.seenAt")
    # By the browser's own clock, whatever else the machine does: far sooner than the second between two looks.
    page.wait_for_function("performance.getEntriesByType('resource').some((each) => each.name.includes('/live/'))")
    first = "performance.getEntriesByType('resource').find((each) => each.name.includes('/live/')).startTime"
    assert 0 <= page.evaluate(first) - seen < 300


def test_a_server_that_is_gone_is_told_and_comes_back_by_itself(visitor: Visitor) -> None:
    page = visitor.opens("/services/")
    visitor.forgives = re.compile("ERR_FAILED|htmx:(sendError|afterRequest)")
    told = page.locator("[data-connection]")
    expect(told).to_be_hidden()
    page.route("**/live/**", lambda route: route.abort())

    expect(told).to_have_text(re.compile(r"^Not connected, last checked \d\d:\d\d:\d\d\.$"))
    expect(page.locator("#freshness ul")).to_be_hidden()

    page.unroute("**/live/**")
    expect(told).to_be_hidden()
    expect(page.locator("#freshness ul")).to_be_visible()


def test_who_was_signed_out_is_offered_to_sign_in_again(visitor: Visitor) -> None:
    page = visitor.opens("/services/?q=query")
    visitor.forgives = re.compile("403")
    page.route("**/live/**", lambda route: route.fulfill(status=403, body="Sign in again."))

    link = page.locator("#freshness").get_by_role("link", name="Sign in again")
    expect(link).to_have_attribute("href", "/login/?next=%2Fservices%2F%3Fq%3Dquery")
    expect(page.locator("#list-services tbody tr")).to_have_count(1)


def test_without_javascript_the_strip_shows_ages_and_nothing_is_missing(visitor: Visitor) -> None:
    page = visitor.opens("/services/", java_script_enabled=False)
    expect(page.locator("#freshness")).to_contain_text(re.compile(rf"{CLUSTER}: (just now|\d+ (s|min) ago)"))
    expect(page.locator("[data-connection]")).to_be_hidden()
