"""The page of the upgrade preview."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Callable

import pytest
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.plain import plain_sentence
from selection.faces.upgrading import KEYS, WITH_NEXT
from selection.faces.words import word
from selection.rules.plan_notes import Note
from selection.rules.upgrade import UPGRADES, Change
from selection.rules.upgrade_changes import MODE_CODES
from selection.store import upgrades
from selection.store.models import Cluster
from selection.store.sight import EVERYTHING
from selection.store.upgrades import compute_preview, preview_of
from tests.faces.clusters import store, text_of
from tests.rules.manifests import Manifest, a_model, a_runtime, a_service, moded

pytestmark = pytest.mark.django_db

URL = "/upgrade/?cluster=lab"
SHAPED: Manifest = {"leader": {}, "worker": {}}
LWS: Manifest = {"leader": {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}, "worker": {}}


def lab(*manifests: Manifest, version: str = "1.2") -> Cluster:
    """A cluster that runs v1.2, with one service that moves and one that breaks."""
    return store(
        a_model(),
        a_runtime(engineConfig=SHAPED),
        a_runtime("old", engineConfig=LWS, workers={"size": 1}),
        a_service("moves", runtime={"name": "fast"}),
        a_service("breaks", runtime={"name": "old"}),
        a_service("stays", engine=moded("MultiNode"), runtime={"name": "fast"}),
        *manifests,
        name="lab",
        version=version,
    )


def test_the_page_answers_go_or_no_go_and_lists_the_worst_first(client: Client) -> None:
    lab()

    page = text_of(client.get(URL))

    assert "No-go: 1 thing would block, of which pins hold 1 back; 2 of 3 services would change." in page
    assert "1 blocks · 2 to decide · 0 to know" in page.replace("  ", " ")
    assert page.index("team/breaks") < page.index("team/moves")
    assert "team/stays" not in page
    assert "fast, engine MultiNode → becomes fast, engine OMENative" in page.replace("→becomes", "→ becomes")
    assert "kubectl get crd podmonitors.monitoring.coreos.com" in page


def test_each_pin_is_a_command_to_copy(client: Client) -> None:
    lab()

    page = text_of(client.get(URL))

    patch = '{"spec":{"engine":{"annotations":{"ome.io/deploymentMode":"MultiNode"}}}}'
    assert f"kubectl patch inferenceservice.ome.io moves -n team --type merge -p '{patch}'" in page
    assert "Restarts the LeaderWorkerSet's pods now, and once more after the upgrade." in page


def test_the_list_narrows_to_a_code_a_name_and_a_view(client: Client) -> None:
    lab()

    by_code = text_of(client.get(f"{URL}&code=moves-by-shape"))
    by_name = text_of(client.get(f"{URL}&q=BREAK"))
    runtimes = text_of(client.get(f"{URL}&view=runtimes"))
    objects = text_of(client.get(f"{URL}&view=objects"))
    nothing = text_of(client.get(f"{URL}&q=nobody"))

    assert "team/moves" in by_code
    assert "team/breaks" not in by_code
    assert "team/breaks" in by_name
    assert "team/moves" not in by_name
    assert "Holds 1 of 1" in runtimes
    assert "spec.workers" in objects
    assert "Nothing matches" in nothing


def test_a_cluster_that_runs_v13_is_told_what_it_would_have_been(client: Client) -> None:
    lab(version="1.3")

    page = text_of(client.get(URL))

    assert "This cluster already runs v1.3: this is what the upgrade would have changed." in page
    assert "team/breaks" in page


def test_without_a_cluster_the_one_that_has_the_upgrade_before_it_is_shown(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), name="aaa")
    lab()

    assert "Upgrade from OME v1.2 to v1.3 lab" in text_of(client.get("/upgrade/"))


def test_nothing_read_and_an_unknown_cluster(client: Client) -> None:
    assert "No service has been read yet" in text_of(client.get("/upgrade/"))
    assert client.get("/upgrade/?cluster=nowhere").status_code == 404


def test_a_cluster_that_may_go_says_so(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), name="lab", version="1.2")

    page = text_of(client.get(URL))

    assert "Go: nothing would change." in page
    assert "Nothing changes here" in page


def test_exports_have_every_change(client: Client) -> None:
    lab()

    lines = list(csv.DictReader(io.StringIO(_sent(client, "csv"))))
    values = json.loads(_sent(client, "json"))
    document = client.get(f"{URL}&format=markdown").content.decode()

    assert [(line["name"], line["code"], line["held"]) for line in lines] == [
        ("breaks", "breaks-lws", "true"),
        ("moves", "moves-by-shape", "true"),
        ("old", "workers-dropped", "false"),
    ]
    assert {*values[0]} == {*KEYS}
    assert [value["name"] for value in values] == ["breaks", "moves", "old"]
    assert document.startswith("# Upgrade from OME v1.2 to v1.3: `lab`\n")
    assert "- [ ] Look whether the cluster has the PodMonitor CRD" in document
    assert "### `team/breaks`" in document


def _sent(client: Client, form: str) -> str:
    response = client.get(f"{URL}&format={form}")
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def test_a_service_that_uses_a_dropped_field_is_told(client: Client) -> None:
    lab(a_service("keda", runtime={"name": "fast"}, engine=moded("MultiNode", scaleMetric="cpu")))

    page = text_of(client.get(f"{URL}&view=objects"))

    assert "spec.engine.scaleMetric" in page


def test_the_page_requires_login(client: Client, server_mode: Settings) -> None:
    assert client.get("/upgrade/").status_code == 302


def test_a_second_look_computes_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    lab()
    client.get(URL)
    monkeypatch.setattr(upgrades, "upgrade_preview", _never)

    with django_assert_max_num_queries(10):
        assert client.get(URL).status_code == 200


def _never(*_: object) -> None:
    raise AssertionError("computed again")


def test_many_services_are_judged_apart_while_the_page_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = lab()
    monkeypatch.setattr(upgrades, "FEW", 2)
    started = _threads_kept(monkeypatch)

    page = text_of(client.get(URL))
    assert "Judging every service twice" in page

    compute_preview(cluster)
    assert "No-go" in text_of(client.get(URL))
    assert len(started) == 1


def test_a_cluster_that_changed_shows_what_was_known_until_the_next_is_there(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab()
    client.get(URL)
    changed = lab(a_service("late", runtime={"name": "old"}))
    monkeypatch.setattr(upgrades, "FEW", 2)
    started = _threads_kept(monkeypatch)

    page = text_of(client.get(URL))
    assert "The cluster has changed since this was computed" in page
    assert "team/late" not in page
    assert len(started) == 1

    compute_preview(changed)
    page = text_of(client.get(URL))
    assert "has changed since" not in page
    assert "team/late" in page


def _threads_kept(monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., object]]:
    """What would run in threads of their own, which is not run here."""
    kept: list[Callable[..., object]] = []

    class Thread:
        def __init__(self, target: Callable[..., object], args: tuple[object, ...], daemon: bool) -> None:
            kept.append(target)

        def start(self) -> None:
            """Nothing runs."""

    monkeypatch.setattr(threading, "Thread", Thread)
    return kept


def test_a_thread_that_judges_lets_others_have_their_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = lab()
    slept: list[float] = []
    monkeypatch.setattr(upgrades, "_SPELL", 0.0)
    monkeypatch.setattr("selection.store.upgrades.time.sleep", slept.append)
    monkeypatch.setattr("selection.store.upgrades.connection.close", lambda: None)  # this thread's own is still needed

    upgrades._compute_apart(cluster, EVERYTHING)

    assert len(slept) >= 3, "once for each service"
    known = preview_of(cluster)
    assert known is not None
    assert known.of(cluster)


def test_one_computes_and_others_do_not_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = lab()
    monkeypatch.setattr(upgrades, "FEW", 2)
    started = _threads_kept(monkeypatch)

    with upgrades._computing_of(cluster):
        assert preview_of(cluster) is None

    assert started == []


REF = {"kind": "ClusterServingRuntime", "namespace": None, "name": "fast"}
FACTS = {
    "from": REF, "to": REF, "errors": ["no"], "warnings": ["well"], "message": "why", "runtime": REF,
    "field": "kedaConfig", "parent": "base", "source": "ComponentAnnotation",
}  # fmt: skip


@pytest.mark.parametrize("code", UPGRADES)
def test_every_code_has_a_word_a_sentence_and_something_to_do(code: str) -> None:
    facts = {**FACTS, "from": "MultiNode", "to": "OMENative"} if code in MODE_CODES else FACTS
    change = Change(code, "engine", facts)

    assert word("upgrade", code).label != code
    assert plain_sentence("upgrade", code, change=change)
    assert "None" not in plain_sentence("upgrade", code, change=change)
    if code in WITH_NEXT:
        assert plain_sentence("upgrade", code, "next", change=change)


@pytest.mark.parametrize("code", ["pod-monitor", "pins-restart", "follows-edits", "unreadable"])
def test_every_check_has_a_sentence(code: str) -> None:
    check = Note(code, {"services": 1, "objects": 1})

    assert "1" in plain_sentence("upgrade", f"check-{code}", check=check)


def test_thousands_are_set_apart() -> None:
    text = render_to_string("sentences/upgrade/check-unreadable.html", {"check": {"facts": {"objects": 1200}}})
    assert "1,200 objects can't be read" in text


def test_a_service_over_whose_candidates_selection_breaks_down_says_so(client: Client) -> None:
    lab(a_model(modelParameterSize="7B"), a_runtime(modelSizeRange={"min": "1B"}), a_service())
    told = text_of(client.get(URL))
    assert "v1.2's selector breaks down over the size range of" in told
    assert "and acts on no change of this service: what runs is from before." in told
    page = text_of(client.get("/services/lab/team/chat/"))
    assert "Selection breaks down." in page
    assert "It acts on no change of this service until both are written." in page
