"""The page of one finding, and the list of findings of every family, there or gone."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces import words
from selection.faces.telling import plainly_told
from selection.rules.codes import CODES
from selection.rules.objects import ObjectRef
from selection.rules.stream import Told
from selection.store.findings import FAMILIES, STATES
from selection.store.models import Finding
from selection.store.severities import set_severity
from tests.faces.clusters import store, text_of
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry, deployed, moded

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "rules" / "findings.md"
SENTENCES = Path(__file__).resolve().parents[2] / "templates" / "sentences"
MULTI = a_runtime("multi", engineConfig=moded("MultiNode", leader={}, worker={}))
TINY = a_runtime("tiny", None, an_entry(modelFormat={"name": "onnx"}), modelSizeRange={"max": "7b"})


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/findings/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def codes(client: Client, query: str = "") -> set[str]:
    return {row["code"] for row in rows(client, query)}


def a_stream() -> None:
    """Something of most families, and a size that was wrong and is put right."""
    fleet = [
        a_model(),
        MULTI,
        a_service(),
        a_service("lost", model={"name": "gone"}),
        deployed("LeaderWorkerSet", runtime="multi"),
        deployed("Deployment", runtime="multi"),
    ]
    store(*fleet, TINY)
    store(*fleet)


def the(code: str) -> Finding:
    return Finding.objects.get(code=code)


# --- the table, and the words ------------------------------------------------------------------------


def test_the_documents_table_is_the_registry() -> None:
    table = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (\w+) \| (.+) \|$", DOCUMENT.read_text(), re.MULTILINE)

    assert table == [(each.code, each.family, each.severity, each.why) for each in CODES.values()]


def test_every_code_has_a_word_and_sentences() -> None:
    for each in CODES.values():
        assert words.word("code", each.code).label != each.code
        assert (SENTENCES / each.family / f"{each.code}.html").exists()
        assert (SENTENCES / each.family / f"{each.code}.next.html").exists()
    assert set(words.KINDS_OF_FINDING) == set(FAMILIES)
    assert set(words.TURNS) >= set(STATES)


def test_labels_tell_codes_of_all_families_apart() -> None:
    labels = [words.word("code", code).label for code in CODES]

    assert len(set(labels)) == len(labels)


# --- the list ----------------------------------------------------------------------------------------


def test_findings_of_every_family_stand_in_one_list_the_worst_first(client: Client) -> None:
    a_stream()

    found = rows(client)
    assert {row["family"] for row in found} == {"outcome", "conflict", "workload"}
    assert [row["severity"] for row in found] == sorted(
        (row["severity"] for row in found), key=["error", "warning", "info"].index
    )
    assert found[0]["code"] == "invalid"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("family=outcome", {"invalid"}),
        ("family=workload", {"left-over"}),
        ("component=none", {"invalid"}),
        ("state=gone", {"size-unparsable"}),
        ("state=gone&family=outcome", set()),
        ("state=back", set()),
        ("q=left&code=left-over", set()),
        ("since=24h&state=gone", {"size-unparsable"}),
        ("since=2999-01-01", set()),
    ],
)
def test_it_narrows(client: Client, query: str, expected: set[str]) -> None:
    a_stream()

    assert codes(client, query) == expected


def test_what_is_gone_is_asked_for(client: Client) -> None:
    a_stream()

    assert "size-unparsable" not in codes(client)
    assert codes(client, "state=any") == codes(client) | {"size-unparsable"}
    assert "Gone" in text_of(client.get("/findings/?state=gone"))


def test_what_came_back_is_asked_for_and_says_so(client: Client) -> None:
    a_stream()
    store(TINY)

    assert codes(client, "state=back") == {"size-unparsable"}
    assert rows(client, "state=back")[0]["came_back"] == 1
    assert "Back" in text_of(client.get("/findings/?state=back"))


def test_the_count_without_filters_is_that_of_the_same_state(client: Client) -> None:
    a_stream()
    present = len(rows(client))

    assert f"1 of {present} findings" in text_of(client.get("/findings/?code=left-over"))


def test_it_groups_by_severity_and_cluster(client: Client) -> None:
    a_stream()

    warnings = len(rows(client, "severity=warning"))
    assert f"Warning {warnings} findings" in text_of(client.get("/findings/?group=severity"))
    assert re.search(r"prod \d+ findings", text_of(client.get("/findings/?group=cluster")))


def test_what_is_off_is_in_no_list_count_or_export_until_asked_for(client: Client) -> None:
    a_stream()
    set_severity("invalid", "off")

    assert "invalid" not in codes(client) | codes(client, "state=any")
    assert codes(client, "severity=off") == {"invalid"}
    assert "severity=error" not in client.get("/").content.decode()
    assert 'id="findings"' not in client.get("/services/prod/team/lost/").content.decode()
    assert (
        "Can't be judged" not in text_of(client.get("/")).partition("What needs a person")[2].partition("Clusters")[0]
    )


def test_what_is_graded_up_is_told_on_the_overview(client: Client) -> None:
    a_stream()
    told = "The engine runs in MultiNode, which is deprecated"
    assert told not in text_of(client.get("/"))
    set_severity("deprecated", "error")

    assert told in text_of(client.get("/"))


# --- one finding -------------------------------------------------------------------------------------


def test_a_row_leads_to_a_page_that_says_what_why_and_what_to_do(client: Client) -> None:
    a_stream()
    key = the("left-over").key
    assert f'href="/findings/{key}/"' in client.get("/findings/").content.decode()

    page = client.get(f"/findings/{key}/")
    text = text_of(page)
    assert "The engine runs in MultiNode, and Deployment team/" in text
    assert "A workload that nobody asks for still holds what it was given. It is Warning unless" in text
    assert "When the pods that the mode asks for are Ready, delete it." in text
    assert 'href="/services/prod/team/chat/"' in page.content.decode()
    assert "mark=spec.engine" in page.content.decode()


def test_it_tells_since_when_and_what_became_of_it(client: Client) -> None:
    a_stream()
    store(TINY)
    finding = the("size-unparsable")
    Finding.objects.filter(pk=finding.pk).update(first_seen=timezone.now() - timedelta(days=3))

    text = text_of(client.get(f"/findings/{finding.key}/"))
    assert re.search(r"First seen ?3 d(ays)? ago", text)
    history = text.partition("What became of it")[2]
    assert history.index("Back") < history.index("Gone") < history.index("Seen")


def test_it_shows_what_it_rested_on_before_it_became_another_case(client: Client) -> None:
    store(TINY)
    store(a_runtime("tiny", None, an_entry(modelFormat={"name": "onnx"}), modelSizeRange={"max": "8b"}))

    text = text_of(client.get(f"/findings/{the('size-unparsable').key}/"))
    assert re.search(r"value ?8b", text)
    assert re.search(r"What it rested on before ?value ?7b", text)


def test_one_that_is_gone_says_so(client: Client) -> None:
    a_stream()

    assert "It is gone" in text_of(client.get(f"/findings/{the('size-unparsable').key}/"))


def test_it_leads_to_the_others_of_its_object(client: Client) -> None:
    a_stream()
    page = client.get(f"/findings/{the('left-over').key}/").content.decode()

    assert f'href="/findings/{the("silent-takeover").key}/"' in page.partition('id="others"')[2]


def test_a_severity_that_was_set_is_told_with_who_and_why(client: Client) -> None:
    a_stream()
    set_severity("left-over", "info", by="ada", reason=HOSTILE)

    page = client.get(f"/findings/{the('left-over').key}/")
    assert "By default it is Warning; this installation says Info, by ada:" in text_of(page)
    assert HOSTILE not in page.content.decode()


def test_a_finding_that_is_not_known_is_not_found(client: Client) -> None:
    response = client.get("/findings/drift-0123/")

    assert response.status_code == 404
    assert "no such finding" in text_of(response)


def test_a_code_of_another_version_has_a_page_without_sentences(client: Client) -> None:
    a_stream()
    Finding.objects.filter(code="left-over").update(code="old-code")

    assert client.get(f"/findings/{the('old-code').key}/").status_code == 200
    assert client.get("/findings/?q=chat").status_code == 200


@pytest.mark.parametrize("code", CODES)
def test_hostile_values_are_only_text_in_every_sentence(client: Client, code: str) -> None:
    thing = {"kind": "ServingRuntime", "namespace": HOSTILE, "name": HOSTILE}
    texts = (
        "message",
        "value",
        "path",
        "parent",
        "problem",
        "requested",
        "declared",
        "running",
        "hides",
        "what",
        "field",
    )
    facts: dict[str, Any] = dict.fromkeys(texts, HOSTILE)
    facts |= {"errors": [HOSTILE], "runtimes": [thing], "models": [thing], "winners": [thing], "count": 1, "decides": 1}
    facts |= dict.fromkeys(("from", "to", "runtime", "workload", "found", "other", "first"), thing)
    cluster = store(a_model())
    told = {"kind": "ServingRuntime", "namespace": "team", "name": HOSTILE, "path": HOSTILE, "about": HOSTILE}
    finding = Finding.objects.create(
        cluster=cluster, key=f"{code}-0", code=code, severity="error", urgency=0, facts=facts, component="engine",
        first_seen=timezone.now(), **told,
    )  # fmt: skip

    for path in ("/findings/", f"/findings/{finding.key}/", "/"):
        assert HOSTILE not in client.get(path).content.decode()


@pytest.mark.parametrize("path", ["/findings/", "/findings/?state=any&group=object", "/findings/{key}/", "/"])
def test_the_number_of_queries_does_not_grow(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    for name in ("one", "two", "three"):
        services = (a_service(f"s-{number}") for number in range(30))
        store(a_model(), MULTI, TINY, *services, deployed("Deployment", runtime="multi"), name=name)
    there = path.format(key=Finding.objects.filter(code="silent-takeover")[0].key)

    with django_assert_max_num_queries(32 if path == "/" else 12):
        assert client.get(there).status_code == 200


def test_it_requires_signing_in_on_a_server(client: Client, server_mode: Settings) -> None:
    response = client.get("/findings/drift-0123/")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_it_only_reads(client: Client) -> None:
    assert client.post("/findings/drift-0123/").status_code == 405


def test_a_mode_that_is_not_read_is_told_of_the_runtime_alone(client: Client) -> None:
    store(a_model(), a_runtime(annotations={MODE: "MultiNode"}), a_service())

    assert codes(client) == {"mode-ignored"}


def test_what_to_do_is_told_in_plain_text_too() -> None:
    waiting = Told("waiting-on-pin", ObjectRef("InferenceService", "team", "chat"), "engine")

    assert plainly_told(waiting, "prod", "next").startswith("Delete spec.runtime.revision")


def test_many_codes_are_offered_by_family_first(client: Client) -> None:
    call_command("demo", verbosity=0, stdout=io.StringIO())

    page = client.get("/findings/").content.decode()
    chips = re.findall(r'class="chip" href="\?family=(\w+)".*?<span class="count">(\d+)</span>', page)
    assert {family for family, _ in chips} == {row["family"] for row in rows(client)}
    for family, count in chips:
        assert len(rows(client, f"family={family}")) == int(count)
    assert "?family=outcome&amp;code=invalid" in client.get("/findings/?family=outcome").content.decode()


def test_a_pair_is_told_once_of_its_service(client: Client) -> None:
    pair = a_service(engine=moded("OMENative"), decoder=moded("MultiNode"))
    store(a_model(), a_runtime(), pair)

    (told,) = rows(client, "code=pair")
    assert told["component"] == ""
