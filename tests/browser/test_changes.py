"""What changed and why, from the list to the object and back, and declaring a cluster; also without JavaScript."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from selection.store.models import Cluster, ServiceResult
from tests.browser.conftest import Visitor
from tests.browser.test_axe import RULES
from tests.browser.test_looks import HARD_TO_READ, STICKS_OUT
from tests.faces.history import edited, felt

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

RUNTIME, OTHER = "sgl-fathom-multinode", "sgl-loop"
SIZES = [(1280, 800), (380, 800)]
DIFFERENCES = [
    {
        "path": f"spec.supportedModelFormats[{place}].priority",
        "before": None if place else "1",
        "after": '"a-long-value"',
    }
    for place in range(6)
]


@pytest.fixture
def past(visitor: Visitor) -> list[str]:
    """An edit of a runtime an hour ago that four services felt, and an older one; the names of the four."""
    cluster = Cluster.objects.get(name="eu-prod")
    names = [row.name for row in ServiceResult.objects.filter(cluster=cluster, namespace="assistants")[:4]]
    edit = edited(cluster, "ClusterServingRuntime", RUNTIME, ago=timedelta(hours=1), differences=DIFFERENCES)
    key, other = (f"ClusterServingRuntime//{name}" for name in (RUNTIME, OTHER))
    for place, name in enumerate(names):
        felt(cluster, name, "runtime", key, other if place else "", namespace="assistants", cause=edit)
    felt(cluster, names[0], "outcome", "auto-selected", "no-runtime", namespace="assistants", cause=edit)
    felt(cluster, names[1], "mode", "MultiNode", "OMENative", namespace="assistants", component="engine",
         ago=timedelta(days=3), reason="OME's version was set to 1.3")  # fmt: skip
    return names


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kubeconfig that the server reads: it knows one cluster, ``lab``."""
    path = tmp_path / "kubeconfig"
    path.write_text(
        "contexts: [{name: lab, context: {cluster: lab}}]\nclusters: [{name: lab, cluster: {server: https://lab:6443}}]"
    )
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_from_a_change_to_its_cause_and_back(
    visitor: Visitor, past: list[str], script: bool, width: int, height: int
) -> None:
    page = visitor.opens("/changes/", java_script_enabled=script, viewport={"width": width, "height": height})
    expect(page.locator(".lead")).to_have_text(
        re.compile(r"4 services changed in the last 24 hours: 1 lost its runtime")
    )
    rows = page.locator("#list-changes tr[id]")
    expect(rows).to_have_count(6)

    page.get_by_role("link", name=re.compile(r"^Runtime 4$")).click()
    expect(rows).to_have_count(4)
    page.get_by_role("link", name="cause", exact=True).click()
    heading = page.locator("#list-changes tr.group")
    expect(heading).to_contain_text(
        f"4 services changed because ClusterServingRuntime {RUNTIME} was changed 60 min ago"
    )

    more = rows.first.locator("details")
    expect(more.get_by_text("supportedModelFormats[5]")).to_be_hidden()
    more.locator("summary").click()
    expect(more.get_by_text("supportedModelFormats[5]")).to_be_visible()

    heading.get_by_role("link", name=RUNTIME).click()
    timeline = page.locator("#timeline")
    expect(timeline).to_contain_text(f"assistants/{past[0]} lost {RUNTIME} and gets no runtime")
    timeline.get_by_role("link", name="all 5 changes").click()
    expect(rows).to_have_count(5)
    page.locator("#list-changes").get_by_role("link", name=f"assistants/{past[1]}", exact=True).first.click()
    expect(page.locator("#timeline")).to_contain_text("The service runs its engine in OMENative instead of MultiNode")


@pytest.mark.parametrize("script", [True, False])
def test_a_time_is_typed_and_a_wrong_one_is_marked(visitor: Visitor, past: list[str], script: bool) -> None:
    visitor.forgives = re.compile("htmx:(sendAbort|afterRequest)")  # Enter sends at once what a change began to send
    page = visitor.opens("/changes/", java_script_enabled=script)
    rows = page.locator("#list-changes tr[id]")
    since = page.get_by_label("Since")
    for text, count in (("2h", 5), ("7d", 6), ("30m", 0)):
        since.fill(text)
        since.press("Enter")
        expect(rows).to_have_count(count)
        expect(page).to_have_url(re.compile(f"since={text}"))
    since.fill("soon")
    since.press("Enter")
    expect(page.locator("#list-changes")).to_contain_text("can't be read")


def test_a_change_is_on_an_open_page_by_itself(visitor: Visitor, past: list[str]) -> None:
    page = visitor.opens("/changes/")
    page.evaluate("window.stayed = true")
    rows = page.locator("#list-changes tr[id]")
    expect(rows).to_have_count(6)

    cluster = Cluster.objects.get(name="eu-prod")
    felt(cluster, past[2], "conflict", "", "drift", namespace="assistants", component="engine", reason="something")
    newer = max(cluster.generation, cluster.evaluated_generation) + 1
    newer_still = {"generation": newer, "evaluated_generation": newer, "answers_generation": newer}
    Cluster.objects.filter(pk=cluster.pk).update(**newer_still)

    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("engine conflict")
    assert page.evaluate("window.stayed")


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_cluster_is_declared_stopped_and_forgotten(
    visitor: Visitor, kubeconfig: Path, script: bool, width: int, height: int
) -> None:
    page = visitor.opens("/clusters/", java_script_enabled=script, viewport={"width": width, "height": height})
    page.get_by_role("link", name="Add a cluster").click()
    page.get_by_label("Reached by").select_option(label="lab (https://lab:6443)")
    page.get_by_label("Name", exact=True).fill("eu-prod")
    page.get_by_role("button", name="Follow it").click()
    expect(page.get_by_label("Name", exact=True)).to_have_accessible_description(re.compile("is here already"))
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_role("button", name="Follow it").click()
    expect(page.get_by_role("status").first).to_have_text("lab is to be followed from now on.")

    page.get_by_role("link", name="Settings of lab", exact=True).click()
    page.get_by_role("button", name="Stop following it").click()
    expect(page.locator(".lead")).to_have_text(re.compile("It isn't followed"))
    page.get_by_role("link", name=re.compile("^Forget lab")).click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("status").first).to_have_text("lab is forgotten.")
    assert not Cluster.objects.filter(name="lab").exists()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_they_can_be_read_and_used_by_everybody(
    visitor: Visitor, past: list[str], kubeconfig: Path, scheme: str, width: int
) -> None:
    axe = Axe()
    # So high that the strip at the foot hides nothing, which axe would take for a link that is too small.
    page = visitor.opens("/", color_scheme=scheme, viewport={"width": width, "height": 4000}, bypass_csp=True)
    for path, part in (
        ("/changes/", "main"),
        ("/changes/?group=cause", "main"),
        ("/changes/?group=service&what=runtime", "main"),
        ("/clusters/", "main"),
        ("/clusters/add/", "main"),
        ("/clusters/eu-prod/settings/", "main"),
        ("/clusters/eu-prod/forget/", "main"),
        (f"/services/eu-prod/assistants/{past[1]}/", "#timeline"),
        (f"/runtimes/eu-prod/-/{RUNTIME}/", "#timeline"),
    ):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(STICKS_OUT) == [], path
        assert page.evaluate(HARD_TO_READ) == [], path
        found = axe.run(page, context=part, options=RULES).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == [], path
