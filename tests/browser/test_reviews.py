"""A review in browsers: from opening to stale, with and without JavaScript, by keyboard, and two people at once."""

from __future__ import annotations

import itertools
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from selection.people.models import Review, ReviewItem
from selection.store.evaluate import evaluate
from selection.store.models import Cluster, StoredObject
from tests.browser.conftest import Visitor
from tests.browser.reviewed import REVIEW
from tests.faces.small_fleet import HOSTILE

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

ITEM = f"/reviews/{REVIEW}/items/4/"
#: What a test changed is gone after it; the server's memory of a fleet must not take it for what the next one changes.
generations = itertools.count(5000, 10)


def edited_in_the_cluster(name: str, namespace: str) -> None:
    """Somebody has a service of us-lab name another model."""
    cluster = Cluster.objects.get(name="us-lab")
    row = StoredObject.objects.get(cluster=cluster, kind="InferenceService", namespace=namespace, name=name)
    cluster.generation = row.generation = next(generations)
    row.manifest = {**row.manifest, "spec": {**row.manifest["spec"], "model": {"name": "gone-away"}}}
    row.digest = f"{row.generation:064}"
    row.save()
    cluster.save()
    evaluate(cluster)


def answer_this(page: Page, place: int) -> None:
    """Answer the item that is shown: each sort once, then fine."""
    soon = timezone.now().date() + timedelta(days=30)
    if place == 1:
        page.get_by_label("Needs change").check()
        page.get_by_label("Who changes it").fill("mara")
        page.get_by_label("Why, or what is to be done").fill("Name a model that is there.")
    elif place == 2:
        page.get_by_label("Accepted", exact=True).check()
        page.get_by_label("Why, or what is to be done").fill("A sandbox: nobody calls it.")
        page.get_by_label("Accepted until").fill(soon.isoformat())
    else:
        page.get_by_label("Fine").check()
    page.get_by_role("button", name=re.compile("^Save(, and next)?$")).click()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_review_from_opening_to_stale(visitor: Visitor, scripts: bool) -> None:
    page = visitor.opens("/findings/?cluster=us-lab&severity=error", java_script_enabled=scripts)
    page.get_by_role("link", name="Open as a review").click()
    expect(page.locator(".lead")).to_contain_text("As it stands it would hold")
    page.get_by_label("Name", exact=True).fill("Before the upgrade")
    page.get_by_label("What it is for").fill("What *breaks*?")
    page.get_by_role("button", name="Preview what it holds").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Before the upgrade")
    page.get_by_role("button", name="Open it").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Before the upgrade")
    total = ReviewItem.objects.filter(review__name="Before the upgrade").count()
    expect(page.locator(".lead")).to_contain_text(f"{total} of {total} items have no answer yet.")
    page.get_by_role("link", name="Go on with item 1").click()
    for place in range(1, total + 1):
        expect(page.locator(".item-steps")).to_contain_text(f"Item {place} of {total}")
        answer_this(page, place)
    expect(page.locator(".lead")).to_contain_text("Every item is answered; 1 signature is missing.")

    page.get_by_role("link", name="Sign", exact=True).click()
    page.get_by_label("What you say to it").fill("Seen all of it.")
    page.get_by_role("button", name="Sign", exact=True).click()
    expect(page.locator(".lead")).to_contain_text("1 has signed, and everything is as it was frozen")
    expect(page.locator("#signatures")).to_contain_text("Seen all of it.")

    item = ReviewItem.objects.filter(review__name="Before the upgrade", kind="InferenceService")[0]
    edited_in_the_cluster(item.name, item.namespace)
    page.reload()
    expect(page.locator(".lead")).to_contain_text("isn’t so any more, so what was signed isn’t either")
    expect(page.locator("#differs")).to_contain_text("Object changed")
    page.get_by_role("link", name="Bring it up to date …").click()
    page.get_by_role("button", name="Bring it up to date").click()
    expect(page.locator("#signatures")).to_contain_text("Nobody has signed this yet.")
    assert Review.objects.get(name="Before the upgrade").version == 2


def test_by_keyboard_from_item_to_item(visitor: Visitor) -> None:
    page = visitor.opens(ITEM)
    steps = page.locator(".item-steps")
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press("j")
    expect(steps).to_contain_text("Item 5 of")
    expect(page.locator("#item")).to_be_focused()
    page.keyboard.press("k")
    expect(steps).to_contain_text("Item 4 of")
    page.keyboard.press("2")
    expect(page.get_by_label("Needs change")).to_be_checked()
    expect(page.get_by_label("Who changes it")).to_be_focused()
    page.keyboard.type("jack1")  # nobody goes to the next item by typing a name
    expect(page.get_by_label("Who changes it")).to_have_value("jack1")
    page.get_by_label("Who changes it").press("Tab")
    page.locator("[data-save]").focus()
    page.keyboard.press("Enter")
    expect(steps).to_contain_text("Item 5 of")
    page.keyboard.press("1")
    expect(page.locator("[data-save]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(steps).to_contain_text("Item 6 of")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("In a review: the next item")
    page.keyboard.press("j")
    expect(steps).to_contain_text("Item 6 of")
    assert list(ReviewItem.objects.filter(review__pk=REVIEW, place__in=[4, 5]).values_list("answer", "owner")) == [
        ("needs-change", "jack1"), ("fine", ""),
    ]  # fmt: skip


def test_of_two_browsers_the_slower_one_is_told_and_keeps_its_words(visitor: Visitor) -> None:
    visitor.forgives = re.compile("409")
    quick, slow = visitor.opens(ITEM), visitor.opens(ITEM)
    slow.get_by_label("Fine").check()
    slow.get_by_label("Why, or what is to be done").fill("It is meant so.")
    quick.get_by_label("Needs change").check()
    quick.get_by_label("Who changes it").fill("mara")
    quick.get_by_label("Why, or what is to be done").fill("It has to go.")
    quick.locator("[data-save]").click()
    expect(quick.locator(".item-steps")).to_contain_text("Item 5 of")

    slow.locator("[data-save]").click()
    expect(slow.locator("#conflict")).to_contain_text("Somebody else answered meanwhile")
    expect(slow.locator("#conflict")).to_contain_text("It has to go.")
    expect(slow.locator("#conflict")).to_contain_text("It is meant so.")
    expect(slow.get_by_label("Why, or what is to be done")).to_have_value("It is meant so.")
    assert ReviewItem.objects.get(review__pk=REVIEW, place=4).reason == "It has to go."
    slow.locator("[data-save]").click()
    expect(slow.locator(".item-steps")).to_contain_text("Item 5 of")
    assert ReviewItem.objects.get(review__pk=REVIEW, place=4).reason == "It is meant so."
    quick.goto(ITEM)
    quick.get_by_text("2 answers so far").click()
    expect(quick.locator("#answers")).to_contain_text("It has to go.")


def test_hostile_words_show_as_text(visitor: Visitor) -> None:
    page = visitor.opens(ITEM)
    page.get_by_label("Needs change").check()
    page.get_by_label("Who changes it").fill(HOSTILE)
    page.get_by_label("Why, or what is to be done").fill(f"{HOSTILE}<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Save, and stay").click()
    expect(page.get_by_label("Who changes it")).to_have_value(HOSTILE)
    for path in (f"/reviews/{REVIEW}/", f"/reviews/{REVIEW}/?format=page"):
        page.goto(path)
        expect(page.locator("main").get_by_text(HOSTILE).first).to_be_visible()
        assert page.locator("main img, main script").count() == 0
