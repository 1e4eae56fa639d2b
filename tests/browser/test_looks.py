"""What every page must hold to in a browser: nothing scrolls sideways, and text can be read."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Visitor
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

PAGES = (
    "/",
    "/services/",
    "/services/?conflict=any&group=outcome",
    "/services/eu-prod/frontier/disagg-mixed/",
    "/services/eu-prod/frontier/reasoning-raw/?check=model-format",
    "/services/eu-prod/frontier/imported-bot/",
    "/services/eu-prod/assistants/voice-notes/candidates/-/tei-embed/",
    "/services/eu-prod/retrieval/query-rewriter/candidates/-/vllm-qwen3/",
    "/matrix/?cluster=eu-prod&namespace=frontier",
    "/compare/services/?a=eu-prod/frontier/research-chat&b=eu-prod/frontier/disagg-chat",
    "/services/eu-prod/frontier/research-chat/compare/?a=-/sgl-fathom-multinode&b=-/sgl-fathom-pd",
    "/compare/runtimes/?a=eu-prod/-/sgl-fathom-multinode&b=eu-prod/-/sgl-fathom-pd",
    "/conflicts/",
    "/findings/",
    "/findings/?group=object",
    "/migration/",
    "/runtimes/",
    "/runtimes/eu-prod/-/sgl-fathom-multinode/",
    "/models/",
    "/models/eu-prod/-/aurora-70b-instruct/",
    "/clusters/",
    "/objects/eu-prod/InferenceService/frontier/imported-bot/",
)

#: Elements that stick out to the right although nothing around them scrolls.
STICKS_OUT = """() => {
  const scrolls = (element) => {
    for (let each = element.parentElement; each; each = each.parentElement) {
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(each).overflowX)) return true;
    }
    return false;
  };
  return [...document.body.querySelectorAll("*")]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
    .filter((element) => !scrolls(element))
    .slice(0, 5).map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
}"""

#: Text whose contrast with what is behind it is below WCAG AA (4.5, or 3 for large text).
HARD_TO_READ = """() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = numbers(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    const style = getComputedStyle(element);
    const pair = [light(numbers(style.color)), light(behind(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (contrast < (large ? 3 : 4.5)) {
      const where = `${element.tagName}.${element.className}`;
      found.add(`${contrast.toFixed(2)} ${where}: ${texts.currentNode.data.trim().slice(0, 40)}`);
    }
  }
  return [...found].slice(0, 8);
}"""

#: Fields without a label, buttons and links without a name, pictures that are neither named nor hidden, ids used twice.
UNNAMED = """() => {
  const named = (element) => element.textContent.trim() || element.getAttribute("aria-label") || element.title;
  const found = [];
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!field.labels.length && !field.getAttribute("aria-label")) found.push(`field ${field.name}`);
  }
  for (const element of document.querySelectorAll("a[href], button")) {
    if (!named(element)) found.push(`${element.tagName} ${element.outerHTML.slice(0, 80)}`);
  }
  for (const picture of document.querySelectorAll("svg")) {
    if (!picture.closest("[aria-hidden=true]") && !picture.getAttribute("aria-label")) found.push("svg");
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  found.push(...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `id ${id} twice`));
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  return found.slice(0, 8);
}"""


#: Tables that have to be scrolled sideways; a matrix may be wider than any screen.
CUT_OFF = """() => [...document.querySelectorAll(".table-box")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => `${box.getAttribute("aria-label")}: ${box.scrollWidth - box.clientWidth} too wide`)"""


@pytest.mark.parametrize("width", [1280, 380])
def test_nothing_scrolls_sideways_but_in_its_own_box(visitor: Visitor, width: int) -> None:
    page = visitor.opens("/", viewport={"width": width, "height": 800})
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(STICKS_OUT) == [], path


def test_the_longest_names_break_where_they_stand(visitor: Visitor) -> None:
    long, namespace, cluster = "x" * 250, "n" * 63, "arn:aws:eks:eu-west-1:123456789012:cluster/production"
    store(
        a_model("m" + long),
        a_runtime(long, None, an_entry(), engineConfig=moded("MultiNode", leader={}, worker={})),
        a_runtime("y" + long, disabled=True),
        a_service("s" + long, namespace, model={"name": "m" + long}),
        name=cluster,
    )
    page = visitor.opens("/", viewport={"width": 380, "height": 800})
    service = f"{cluster}/{namespace}/s{long}/"
    for path in ("/", "/services/", f"/services/{service}", f"/objects/{cluster}/ClusterServingRuntime/-/{long}/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, path
        assert page.evaluate(STICKS_OUT) == [], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(visitor: Visitor, scheme: str) -> None:
    page = visitor.opens("/", color_scheme=scheme)
    for path in PAGES:
        page.goto(path)
        assert page.evaluate(HARD_TO_READ) == [], path


def test_everything_has_a_name(visitor: Visitor) -> None:
    page = visitor.opens("/")
    for path in PAGES:
        page.goto(path)
        assert page.evaluate(UNNAMED) == [], path


def test_no_list_is_wider_than_a_desk(visitor: Visitor) -> None:
    page = visitor.opens("/", viewport={"width": 1280, "height": 800})
    for path in (*PAGES, "/services/?conflict=any"):
        page.goto(path)
        assert page.evaluate(CUT_OFF) == [], path


@pytest.mark.parametrize("width", [1280, 380])
def test_the_counts_of_a_large_fleet_fit_beside_their_bars(visitor: Visitor, width: int) -> None:
    page = visitor.opens("/", viewport={"width": width, "height": 800})
    page.locator(".bars .count").first.wait_for()
    assert (
        page.evaluate("""() => [...document.querySelectorAll(".bars .count")].filter((count) => {
      const before = count.offsetHeight;
      count.textContent = "10,000";
      return count.offsetHeight > before || count.scrollWidth > count.clientWidth;
    }).length""")
        == 0
    )


@pytest.mark.parametrize("path", ["/findings/", "/services/", "/runtimes/"])
def test_the_first_row_of_a_list_is_in_sight_on_a_narrow_screen(visitor: Visitor, path: str) -> None:
    page = visitor.opens(path, viewport={"width": 380, "height": 800})
    row = page.locator(".list tbody tr").first
    row.wait_for()
    assert page.evaluate("top => top < innerHeight - 150", row.bounding_box()["y"])  # type: ignore[index]
