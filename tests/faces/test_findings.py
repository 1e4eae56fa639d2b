"""The page of findings, and the findings on the pages of what they are about."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.words import FINDINGS
from selection.faces.words import SEVERITIES as SEVERITY_WORDS
from selection.rules.codes import SETTABLE
from selection.rules.findings import SEVERITIES
from selection.store.models import Cluster, Finding
from tests.faces.clusters import store, text_of
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


#: For each code objects that lead to it, and a part of its sentence.
EXAMPLES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "empty-range": (
        [a_runtime(modelSizeRange={"min": "9B", "max": "7B"})],
        "9B as the lower bound is more than 7B as the upper one",
    ),
    "open-range": (
        [a_runtime(modelSizeRange={"min": "7B"})],
        "Its size range has no upper bound. OME v1.2 needs both",
    ),
    "version-unparsable": (
        [a_model(modelFormat={"name": "safetensors", "version": "V1"})],
        "V1 is no version that OME can read, and such a version equals nothing: no entry",
    ),
    "size-unparsable": (
        [a_runtime(modelSizeRange={"max": "7b"})],
        "7b is no size that OME can read, so it counts as 0: every model with a size above 0 is too large.",
    ),
    "entry-without-format": (
        [a_runtime("fast", None, {"autoSelect": True})],
        "The entry has no modelFormat, so it matches no model.",
    ),
    "entry-architecture-missing": (
        [a_runtime(), a_model(modelArchitecture="LlamaForCausalLM")],
        "the only model in safetensors that it could serve has one.",
    ),
    "operator-unknown": (
        [a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "operator": ">="}))],
        ">= is no operator that OME knows.",
    ),
    "size-not-finite": ([a_model(modelParameterSize="inf")], "inf is infinite or not a number for OME."),
    "auto-select-inherits": (
        [a_runtime("base", disabled=True), a_runtime(annotations={"ome.io/inherit-from": "base"})],
        "It inherits from base and takes part in automatic selection",
    ),
    "mode-ignored": (
        [a_runtime(annotations={MODE: "MultiNode"})],
        "Its metadata.annotations declare the mode MultiNode.",
    ),
    "model-kind-elsewhere": (
        [a_model(), a_service(model={"name": "llama", "kind": "BaseModel"})],
        "spec.model.kind says BaseModel, and the model of that name is ClusterBaseModel llama.",
    ),
    "runtime-kind-elsewhere": (
        [a_runtime(), a_runtime("fast", "team"), a_service(runtime={"name": "fast"})],
        "so OME uses the cluster's and not ServingRuntime team/fast.",
    ),
    "overlap": (
        [a_model(), a_runtime(), a_runtime("slow")],
        "For a model it has the scope, score and distance of fast, which goes before it by name alone; "
        "this decides which one is selected: llama.",
    ),
    "shadowed": (
        [a_model(), a_runtime("fast", None, an_entry(priority=2)), a_runtime("slow")],
        "It qualifies for a model (llama) and comes first for none: fast comes before it.",
    ),
    "zero-weight": (
        [a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "weight": 0}))],
        "A weight of 0 doesn't switch anything off: here it counts as 10",
    ),
}


def a_fleet(name: str = "prod") -> Cluster:
    """One finding of each severity: an empty range, a runtime that is never first, a weight of 0."""
    return store(
        a_model(),
        a_service(),
        a_runtime("fast", None, an_entry(priority=2)),
        a_runtime("slow", None, an_entry(modelFormat={"name": "safetensors", "weight": 0}), disabled=True),
        a_runtime("slower"),
        a_runtime("nobody", "team", an_entry(modelFormat={"name": "onnx"}), modelSizeRange={"min": "2B", "max": "1B"}),
        name=name,
    )


def rows(client: Client, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"/findings/?{query}&format=json")
    assert isinstance(response, StreamingHttpResponse)
    found: list[dict[str, Any]] = json.loads(response.getvalue())
    return found


def test_every_code_and_severity_has_a_word() -> None:
    assert set(FINDINGS) == set(SEVERITIES) == set(EXAMPLES)
    assert set(SEVERITY_WORDS) == set(SETTABLE) >= set(SEVERITIES.values())


@pytest.mark.parametrize("code", SEVERITIES)
def test_every_code_says_what_it_is_and_what_to_do(client: Client, code: str) -> None:
    manifests, sentence = EXAMPLES[code]
    store(*manifests, version="1.2" if code == "open-range" else "1.3")

    response = client.get(f"/findings/?code={code}")
    what, following = re.findall(r'<p>([^\n]*)</p><p class="muted">(.*?)</p>', response.content.decode(), re.S)[0]

    assert sentence in text_of(response)
    assert what.strip().endswith(".")
    assert following.strip().endswith(".")
    assert "{" not in what + following


def test_the_sentences_have_no_code_that_the_rules_do_not_know() -> None:
    folder = Path(__file__).resolve().parents[2] / "templates" / "sentences" / "finding"

    assert {path.name.partition(".")[0] for path in folder.iterdir()} == set(SEVERITIES)


def test_the_demo_fleet_has_an_example_of_each() -> None:
    call_command("demo", verbosity=0, stdout=io.StringIO())

    assert set(Finding.objects.values_list("code", flat=True)) >= set(SEVERITIES)


def test_errors_come_first(client: Client) -> None:
    a_fleet()

    assert [row["severity"] for row in rows(client)] == ["error", "warning", "info"]


def test_a_row_leads_to_the_object_and_to_the_line_of_its_manifest(client: Client) -> None:
    a_fleet()

    page = client.get("/findings/?code=empty-range").content.decode()

    assert 'href="/runtimes/prod/team/nobody/"' in page
    assert 'href="/objects/prod/ServingRuntime/team/nobody/?mark=spec.modelSizeRange"' in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("severity=error", {"nobody"}),
        ("code=shadowed", {"slower"}),
        ("kind=ServingRuntime", {"nobody"}),
        ("namespace=team", {"nobody"}),
        ("name=slow", {"slow"}),
        ("q=slow", {"slow", "slower"}),
        ("q=weight", {"slow"}),
        ("cluster=other", set()),
    ],
)
def test_it_filters(client: Client, query: str, expected: set[str]) -> None:
    a_fleet()

    assert {row["name"] for row in rows(client, query)} == expected


@pytest.mark.parametrize("group", ["code", "namespace", "object"])
def test_it_groups(client: Client, group: str) -> None:
    a_fleet()

    page = client.get(f"/findings/?group={group}").content.decode()

    assert sum(int(count) for count in re.findall(r'class="muted">(\d+) findings?</span></th>', page)) == 3


def test_a_group_of_findings_is_named_in_words(client: Client) -> None:
    a_fleet()

    assert "Never first 1 finding" in text_of(client.get("/findings/?group=code"))


def test_the_count_of_each_finding_leads_to_as_many_rows(client: Client) -> None:
    a_fleet()
    a_fleet("second")

    page = client.get("/findings/?cluster=prod").content.decode()
    chips = re.findall(r'class="chip" href="\?([^"]*code=[^"]*)".*?<span class="count">(\d+)</span>', page)

    assert len(chips) == 3
    for query, number in chips:
        assert len(rows(client, query.replace("&amp;", "&"))) == int(number)


def test_it_exports_facts(client: Client) -> None:
    a_fleet()

    response = client.get("/findings/?severity=error&format=csv")
    assert isinstance(response, StreamingHttpResponse)
    lines = response.getvalue().decode().splitlines()

    assert lines[0].startswith("severity,code,cluster,kind,namespace,name,path,facts,key,family,component,about,state,")
    assert lines[1].startswith("error,empty-range,prod,ServingRuntime,team,nobody,spec.modelSizeRange,")


def test_a_severity_that_does_not_exist_is_an_error_and_not_everything(client: Client) -> None:
    a_fleet()

    assert client.get("/findings/?severity=fatal&format=json").status_code == 400
    assert "none of 3 findings are shown" in text_of(client.get("/findings/?severity=fatal"))


def test_a_fleet_without_findings_teaches_what_one_is(client: Client) -> None:
    store(a_model(), a_runtime(), a_service())

    page = text_of(client.get("/findings/"))

    assert "No finding" in page
    assert "two runtimes that only their names tell apart" in page


def test_the_overview_counts_them_by_severity(client: Client) -> None:
    a_fleet()
    a_fleet("second")

    everything = client.get("/").content.decode()
    one = client.get("/?cluster=prod").content.decode()

    count = r'"(?:(?!</li>).)*<span class="count">'
    assert re.search(rf'href="/findings/\?severity=error{count}2</span>', everything, re.DOTALL)
    assert re.search(rf'href="/findings/\?severity=error&amp;cluster=prod{count}1</span>', one, re.DOTALL)


@pytest.mark.parametrize(
    ("path", "code", "elsewhere"),
    [
        ("/runtimes/prod/-/fast/", "zero-weight", "/runtimes/prod/-/other/"),
        ("/models/prod/-/llama/", "size-not-finite", "/models/prod/-/plain/"),
        ("/services/prod/team/chat/", "model-kind-elsewhere", "/services/prod/team/fine/"),
    ],
)
def test_the_page_of_an_object_shows_what_is_found_about_it(
    client: Client, path: str, code: str, elsewhere: str
) -> None:
    fast = a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "weight": 0}, priority=2))
    store(
        fast,
        a_runtime("other", None, an_entry(modelFormat={"name": "onnx"})),
        a_model(modelParameterSize="inf"),
        a_model("plain"),
        a_service(model={"name": "llama", "kind": "BaseModel"}),
        a_service("fine"),
    )

    assert FINDINGS[code].label in text_of(client.get(path))
    assert 'id="findings"' not in client.get(elsewhere).content.decode()


def test_an_object_with_very_many_findings_links_to_the_rest(client: Client) -> None:
    entries = [{"autoSelect": True} for _ in range(60)]
    store(a_runtime("fast", None, *entries))

    page = client.get("/runtimes/prod/-/fast/").content.decode()

    assert page.count(">Entry without a format</strong>") == 50
    assert "/findings/?cluster=prod&amp;kind=ClusterServingRuntime&amp;namespace=&amp;name=fast" in page


def test_hostile_names_and_values_are_only_text(client: Client) -> None:
    cluster = store(a_model())
    for code in SEVERITIES:
        thing = {"kind": HOSTILE, "namespace": HOSTILE, "name": HOSTILE}
        facts = dict.fromkeys(("min", "max", "value", "format", "parent", "written"), HOSTILE)
        more = {"found": thing, "other": thing, "first": thing, "models": [thing], "winners": [thing]}
        Finding.objects.create(
            cluster=cluster,
            key=f"{code}-0",
            urgency=0,
            first_seen=timezone.now(),
            kind=HOSTILE,
            namespace=HOSTILE,
            name=HOSTILE,
            code=code,
            severity=SEVERITIES[code],
            path=HOSTILE,
            facts={**facts, **more, "count": 1, "decides": 1, "both": True},
        )

    page = client.get("/findings/?group=object").content.decode()

    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_number_of_queries_does_not_grow(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        a_fleet(f"cluster-{number}")

    with django_assert_max_num_queries(12):
        client.get("/findings/?group=code")


def test_it_requires_signing_in_on_a_server(client: Client, server_mode: Settings) -> None:
    response = client.get("/findings/?format=csv")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_it_only_reads(client: Client) -> None:
    assert client.post("/findings/").status_code == 405
