"""A service's explanation: the verdict, and everything that it rests on."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from tests.faces.clusters import store, text_of
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry, deployed, moded

pytestmark = pytest.mark.django_db

URL = "/services/prod/team/chat/"
CHAT = a_service()

#: What the verdict says in each case, with the objects that lead to it.
VERDICTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "the only one": ([a_model(), a_runtime(), CHAT], "the only one of 1 candidate that qualifies."),
    "the first": (
        [a_model(), a_runtime(), a_runtime("slow"), CHAT],
        "OME selects ClusterServingRuntime fast, first of 2 that qualify among 2 candidates.",
    ),
    "named": (
        [a_model(), a_runtime(), a_service(runtime={"name": "fast"})],
        "It names ClusterServingRuntime fast, which supports its model.",
    ),
    "named without a model": (
        [a_runtime(), a_service(model=None, runtime={"name": "fast"})],
        "It names ClusterServingRuntime fast and no model, so nothing is compared.",
    ),
    "named with advice": (
        [
            a_model(),
            a_runtime(engineConfig=moded("MultiNode")),
            a_service(engine=moded("OMENative"), runtime={"name": "fast"}),
        ],
        "which doesn't declare support for its model. OME uses it all the same.",
    ),
    "named and missing": (
        [a_model(), a_service(runtime={"name": "gone"})],
        "It names gone, and there is no such runtime.",
    ),
    "named and disabled": (
        [a_model(), a_runtime(disabled=True), a_service(runtime={"name": "fast"})],
        "It names ClusterServingRuntime fast, and OME refuses it: it is disabled.",
    ),
    "named and broken": (
        [a_model(), a_runtime(annotations={"ome.io/inherit-from": "gone"}), a_service(runtime={"name": "fast"})],
        "and OME refuses it: its inheritance can't be followed.",
    ),
    "named and unreadable": (
        [a_model(), a_runtime(disabled="yes"), a_service(runtime={"name": "fast"})],
        'The runtime that it names, fast, can\'t be read: spec.disabled: expected true or false, found text "yes".',
    ),
    "nothing qualifies": (
        [a_model(), a_runtime(disabled=True), CHAT],
        "None of 1 candidate qualifies for its model. Pods that run keep serving; every change to the service is",
    ),
    "no candidates": ([a_model(), CHAT], "There is no runtime that it could get."),
    "virtual": (
        [a_model(), a_service(annotations={MODE: "VirtualDeployment"})],
        "OME selects nothing for it: its own annotation says VirtualDeployment",
    ),
    "replicas": (
        [a_model(), a_service(engine=None, replicaRefs={"engine": ["r"]})],
        "it has spec.replicaRefs, so its replicas are other objects",
    ),
    "unreadable": ([a_service(engine="none")], "It can't be read, by OME either: spec.engine: expected an object"),
    "model missing": ([CHAT], "Its model llama doesn't exist, neither in its namespace nor for the whole cluster."),
    "model disabled": ([a_model(disabled=True), CHAT], "Its model llama is disabled."),
    "model not parsed yet": (
        [a_model(modelFormat=None), CHAT],
        "Its model llama has no modelFormat.name, so nothing can be matched to it.",
    ),
    "model unreadable": (
        [a_model(modelFormat="none"), CHAT],
        "Its model llama can't be read: spec.modelFormat: expected",
    ),
    "nothing asked": ([a_service(model=None)], "It asks for neither a model nor a runtime"),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_it_says_the_verdict_in_one_plain_sentence(client: Client, case: str) -> None:
    manifests, sentence = VERDICTS[case]
    store(*manifests)

    response = client.get(URL)

    assert response.status_code == 200
    assert sentence in text_of(response)


def test_the_verdict_says_that_the_webhook_would_refuse_it(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(engine=moded("OMENative"), decoder=moded("RawDeployment")))

    page = text_of(client.get(URL))

    assert "But the webhook would refuse the service as it stands" in page
    assert 'engine deploymentMode="OMENative" does not match decoder deploymentMode="RawDeployment"' in page


def test_the_funnel_counts_what_each_check_removes(client: Client) -> None:
    off = [a_runtime(f"off-{number}", disabled=True) for number in range(3)]
    other = a_runtime("other", None, an_entry(modelFormat={"name": "onnx"}))
    store(a_model(), a_runtime(), other, *off, CHAT)

    page = text_of(client.get(URL))

    assert "Disabled −3 2" in page
    assert "Model format −1 1" in page
    assert "1 qualifies" in page


def test_a_check_of_the_funnel_narrows_the_excluded(client: Client) -> None:
    other = a_runtime("other", None, an_entry(modelFormat={"name": "onnx"}))
    store(a_model(), a_runtime(), a_runtime("off", disabled=True), other, CHAT)

    everything = client.get(URL).content.decode()
    narrowed = client.get(URL + "?check=disabled").content.decode().partition('id="excluded"')[2]

    assert 'href="?check=disabled#excluded"' in everything
    assert "/runtimes/prod/-/off/" in narrowed
    assert "/runtimes/prod/-/other/" not in narrowed


def test_the_arithmetic_of_a_score_is_spelled_out(client: Client) -> None:
    entry = an_entry(
        modelFormat={"name": "safetensors", "weight": 2},
        modelFramework={"name": "transformers", "weight": 1},
        priority=2,
    )
    store(
        a_model(modelFramework={"name": "transformers"}, modelParameterSize="3.21B"),
        a_runtime("fast", None, entry, modelSizeRange={"min": "1B", "max": "8B"}),
        CHAT,
    )

    page = text_of(client.get(URL))

    assert "(2 + 1) × 2 = 6" in page
    assert "7B[1B, 8B]" in page, "the distance |1B − 3.21B| + |8B − 3.21B|"


def test_it_says_when_another_entry_than_the_matching_one_sets_the_score(client: Client) -> None:
    better = an_entry(modelFormat={"name": "safetensors"}, modelArchitecture="Other", priority=9)
    store(a_model(), a_runtime("fast", None, an_entry(), better), CHAT)

    assert "set by entry 1, while entry 0 matches" in client.get(URL).content.decode()


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (a_runtime("fast"), "it is a ServingRuntime of the namespace, which goes before every ClusterServingRuntime"),
        (a_runtime("slow", "team", an_entry(priority=None)), "it scores 5, the second 1"),
        (
            a_runtime("slow", "team", an_entry(priority=5), modelSizeRange={"min": "1B", "max": "90B"}),
            "its size range lies closer to the model: 0 against 89B",
        ),
        (a_runtime("slow", "team", an_entry(priority=5)), "the name decides: first sorts before slow"),
    ],
)
def test_it_says_why_the_first_beats_the_second(client: Client, second: dict[str, Any], reason: str) -> None:
    first = a_runtime("first", "team", an_entry(priority=5))
    store(a_model(modelParameterSize="7B"), first, second, CHAT)

    assert reason in text_of(client.get(URL))


def test_it_gives_omes_exact_reason_and_what_else_fails(client: Client) -> None:
    store(a_model(modelParameterSize="7B"), a_runtime(disabled=True, modelSizeRange={"min": "70B"}), CHAT)

    page = text_of(client.get(URL))

    assert "runtime is disabled" in page
    assert "also fails 1 more: Model size" in page
    assert "model size 7B is outside supported range [70B, inf)" in page


def test_a_thousand_candidates_are_paged(client: Client) -> None:
    store(a_model(), *(a_runtime(f"off-{number:04}", disabled=True) for number in range(1000)), CHAT)

    first = client.get(URL)
    second = client.get(URL + "?page=2").content.decode()

    assert first.content.decode().count("/runtimes/prod/-/off-") < 60, "50 on this page, and the closest"
    assert "1 to 50 of 1000" in text_of(first)
    assert "off-0050" in second
    assert '<details id="excluded-disabled" class="excluded-group" open>' in second


def test_the_excluded_can_be_searched(client: Client) -> None:
    store(a_model(), *(a_runtime(f"off-{number}", disabled=True) for number in range(20)), CHAT)

    narrowed = client.get(URL + "?q=off-17").content.decode().partition('id="excluded"')[2]

    assert narrowed.count("/runtimes/prod/-/off-") == 1
    assert "No excluded candidate matches" in text_of(client.get(URL + "?q=nothing"))


def test_when_nothing_qualifies_it_names_what_lacks_least(client: Client) -> None:
    store(
        a_model(),
        a_runtime("by-name", None, an_entry(autoSelect=False)),
        a_runtime("other", None, an_entry(modelFormat={"name": "onnx"})),
        CHAT,
    )

    page = text_of(client.get(URL)).partition("Closest")[2].partition("Excluded")[0]

    assert "by-name" in page
    assert "Name one in spec.runtime.name, or set autoSelect: true on the entry." in page
    assert "other" not in page


def test_the_ladder_marks_the_rule_that_decides(client: Client) -> None:
    store(a_model(), a_runtime(engineConfig=moded("MultiNode", leader={})), a_service(router={}))

    page = text_of(client.get(URL))

    decides = "decides: ComponentAnnotation the engine's annotation, the service's before the runtime's"
    assert f"{decides} runtime MultiNode" in page
    passed = "doesn't apply: ServiceAnnotation the service's metadata.annotations say VirtualDeployment"
    assert f"{passed} found nothing" in page
    assert "not reached: ServiceSpec spec.deploymentMode found nothing" in page
    assert "decides: Default otherwise RawDeployment" in page, "the router"


def test_a_component_says_what_was_asked_for_and_where(client: Client) -> None:
    store(a_model(), a_runtime(engineConfig=moded("OMENative")), a_service(deploymentMode="OMENative"))

    page = text_of(client.get(URL))

    assert "Asked forOMENative in spec.deploymentMode" in page
    assert "Runtime declaresOMENative in spec.engineConfig.annotations" in page


def test_conflicts_are_sentences_with_what_to_do(client: Client) -> None:
    store(a_model(), a_runtime(engineConfig=moded("MultiNode")), CHAT)

    page = text_of(client.get(URL))

    assert "Silent takeover The service asks for no mode for its engine, and the runtime's annotation decides." in page
    assert "write the mode you want there: it wins." in page


def test_it_compares_what_is_in_the_cluster_with_todays_answer(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT, deployed("LeaderWorkerSet", runtime="old"))

    page = text_of(client.get(URL))

    assert "lws-chat-engine" in page
    assert "today it would be Deployment" in page
    assert "made from old" in page


def test_it_says_when_the_cluster_agrees(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT, deployed("Deployment"))

    page = text_of(client.get(URL))

    assert "Today's answer comes to Deployment chat-engine, made from fast." in page
    assert "Deployment chat-engine agrees" in page


NATIVE = a_runtime(engineConfig=moded("OMENative"))

STANDINGS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "missing": ([a_runtime()], "missing No workload of it was read. OME makes it when it next reconciles the service"),
    "of another runtime": (
        [a_runtime(), deployed("Deployment", runtime="old")],
        "made from old differs OME chooses anew when it next reconciles the service, and switches it then.",
    ),
    "of another kind": (
        [NATIVE, deployed("LeaderWorkerSet")],
        "differs today it would be InferenceReplica. OME makes the new workload when it next reconciles",
    ),
    "left over": (
        [NATIVE, deployed("InferenceReplica"), deployed("LeaderWorkerSet")],
        "LeaderWorkerSet lws-chat-engine left over The mode changed and this is the old workload.",
    ),
    "nothing to compare with": (
        [a_runtime(disabled=True), deployed("Deployment")],
        "Deployment chat-engine not compared Without an answer OME leaves it as it is.",
    ),
    "unasked": (
        [a_runtime(engineConfig=moded("VirtualDeployment")), deployed("Deployment")],
        "Deployment chat-engine unasked The mode makes no workload, so OME no longer looks after this one.",
    ),
}


@pytest.mark.parametrize("case", STANDINGS)
def test_each_workload_stands_beside_todays_answer(client: Client, case: str) -> None:
    manifests, sentence = STANDINGS[case]
    store(a_model(), CHAT, *manifests)

    assert sentence in text_of(client.get(URL)).partition("In the cluster")[2]


def test_a_workload_of_a_named_runtime_waits_for_pins_and_drift(client: Client) -> None:
    named = a_service(runtime={"name": "fast"})
    store(a_model(), a_runtime(), named, deployed("Deployment", runtime="old"))

    assert "OME makes it anew when it next reconciles the service, unless a pin or drift" in text_of(client.get(URL))


def test_it_says_what_selection_compares(client: Client) -> None:
    model = a_model(modelFramework={"name": "transformers", "version": "4.46.1"}, modelParameterSize="7B")
    asking = a_service(acceleratorSelector={"acceleratorClass": "h200"}, engine=moded("OMENative"))
    store(model, a_runtime(), asking)

    page = text_of(client.get(URL)).partition("Selection")[2]

    assert "safetensors · transformers 4.46.1 · no architecture · no quantization · 7B" in page
    assert "Accelerator classesh200" in page
    assert "Modesengine OMENative line, decoder none" in page


def test_what_lacks_least_has_the_command_that_mends_it(client: Client) -> None:
    store(a_model(), a_runtime(disabled=True), CHAT)

    page = text_of(client.get(URL)).partition("Closest")[2].partition("Excluded")[0]

    assert "To have it selected, change ClusterServingRuntime fast: change spec.disabled from true to false." in page
    assert "kubectl patch clusterservingruntime.ome.io fast --type=json -p" in page


def test_an_excluded_candidate_shows_its_changes_where_it_stands(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("off", disabled=True), CHAT)

    page = client.get(URL).content.decode().partition('id="excluded"')[2]

    there = "/services/prod/team/chat/candidates/-/off/"
    assert f'href="{there}" hx-get="{there}" hx-select=".change, .no-change"' in page
    assert 'class="panel change"' in client.get(there).content.decode()


def test_the_funnel_begins_with_all_candidates_and_ends_with_the_qualified(client: Client) -> None:
    store(a_model(), a_runtime(), *(a_runtime(f"off-{number}", disabled=True) for number in range(3)), CHAT)

    page = client.get(URL)

    assert "Candidates–4 Disabled −3 1" in text_of(page)
    assert '<polygon class="funnel-removed" points="0,0 100,0 100,100 0,100"/>' in page.content.decode()
    assert '<polygon class="funnel-left" points="0,0 100,0 62.5,100 37.5,100"/>' in page.content.decode()


def test_what_a_rule_finds_leads_to_its_line(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(engine=moded("OMENative")))

    page = client.get(URL).content.decode()

    lines = dict(re.findall(r'<span id="(L\d+)" class="line marked">.*?</a>(.*?)(?:<span|\n)', page))
    found = re.search(r'<span class="kind">service</span>\s*<a href="#(L\d+)"><code>OMENative</code>', page)
    assert found is not None
    assert lines[found[1]].strip() == "ome.io/deploymentMode: OMENative"


def test_it_lists_what_is_on_the_page(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT)

    page = client.get(URL).content.decode()
    contents = page.partition('aria-label="On this page"')[2].partition("</nav>")[0]

    anchors = re.findall(r'href="#([^"]+)"', contents)
    assert anchors == ["selection", "engine", "admission", "timeline", "discussion", "manifest", "basis"]
    assert all(page.count(f'id="{anchor}"') == 1 for anchor in anchors)


def test_it_says_what_ome_records(client: Client) -> None:
    store(a_model(), a_runtime(disabled=True), CHAT)

    page = text_of(client.get(URL))

    assert "no runtime found to support model safetensors with format safetensors in namespace team" in page
    assert "OME records the same text as a Warning event with reason RuntimeNotFound." in page


def test_it_says_what_admission_would_warn_of(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT)

    page = text_of(client.get(URL))

    assert "Admitted with 1 warning" in page
    assert "Runtime fast will be auto-selected for model llama" in page


def test_a_pin_without_its_revision_is_said(client: Client) -> None:
    store(
        a_model(), a_runtime(), a_service(runtime={"name": "fast", "autoSync": False, "revision": "cr-fast-0123abcd"})
    )

    page = text_of(client.get(URL))

    assert "It is pinned with autoSync: false: it runs revision cr-fast-0123abcd and not the live runtime." in page
    assert "That revision hasn't been read" in page


def test_a_service_without_an_engine_is_told_that_nothing_is_made(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(engine=None))

    page = text_of(client.get(URL))

    assert "It has no engine, so OME makes no workload for it" in page
    assert "engine component is required" in page


def test_a_models_kind_that_has_no_say_is_explained(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(model={"name": "llama", "kind": "BaseModel"}))

    assert "and the model of that name is ClusterBaseModel llama" in text_of(client.get(URL))


def test_a_named_service_sees_what_selection_would_say(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("better", "team"), a_service(runtime={"name": "fast"}))

    page = text_of(client.get(URL))

    assert "If it named none" in page
    assert page.index("Components") < page.index("If it named none")
    assert "it is a ServingRuntime of the namespace" in page


def test_candidates_that_cant_be_read_are_named(client: Client) -> None:
    store(a_model(), a_runtime(), {**a_runtime("odd"), "spec": {"disabled": 1}}, CHAT)

    page = text_of(client.get(URL))

    assert "1 candidate can't be read, by OME either, and isn't judged:" in page
    assert "ClusterServingRuntime odd: spec.disabled" in page


def test_it_says_what_it_was_computed_from_and_when(client: Client) -> None:
    model, runtime, service = a_model(), a_runtime(), a_service()
    for version, manifest in enumerate((model, runtime, service), start=101):
        manifest["metadata"]["resourceVersion"] = str(version)
    store(model, runtime, service)

    page = text_of(client.get(URL)).rpartition("Computed from")[2]

    assert "team/chat resourceVersion 103" in page
    assert "llama resourceVersion 101" in page
    assert "fast resourceVersion 102" in page
    assert "OME v1.3 set by hand" in page
    assert "This answer sincejust now" in page


def test_version_1_2_reads_no_annotation_of_a_decoder_or_router(client: Client) -> None:
    pair = a_service(decoder=moded("MultiNode"), router=moded("MultiNode"))
    store(a_model(), a_runtime(), pair, version="1.2")

    page = client.get(URL).content.decode()

    assert "annotation, the service" in page.partition('id="engine"')[2].partition("</article>")[0]
    for part in ("decoder", "router"):
        assert "annotation, the service" not in page.partition(f'id="{part}"')[2].partition("</article>")[0]


def test_version_1_2_has_the_mode_checks_and_no_mode_of_the_whole_service(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT, version="1.2")

    page = text_of(client.get(URL))

    assert "Engine mode" in page
    assert "spec.deploymentMode" not in page.partition("Components")[2]


def test_the_json_is_the_explanation(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT)

    answer = json.loads(client.get(URL + "?format=json").content)

    assert answer["outcome"] == "auto-selected"
    assert answer["selected"]["name"] == "fast"


@pytest.mark.parametrize(
    "path", ["/services/prod/team/caht/", "/services/prod/other/chat/", "/services/moon/team/chat/"]
)
def test_an_unknown_service_is_not_found_and_near_names_are_named(client: Client, path: str) -> None:
    store(a_model(), a_runtime(), CHAT)

    response = client.get(path)

    assert response.status_code == 404
    if "moon" not in path or "chat" in path:
        assert URL in response.content.decode()


def test_hostile_text_is_only_text(client: Client) -> None:
    store(
        a_model(modelArchitecture="<img src=x onerror=alert(1)>"),
        a_runtime(),
        a_service(engine=moded("</code><script>alert(1)</script>"), model={"name": "llama", "kind": "<i>"}),
    )

    page = client.get(URL + "?q=%3Cscript%3E&check=%22%3E%3Cb%3E").content.decode()

    for hostile in ("<img", "<script>alert", "<i>", '"><b>'):
        assert hostile not in page
    assert "&lt;/code&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_number_of_queries_does_not_grow_with_the_candidates(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    store(a_model(), *(a_runtime(f"r-{number:03}") for number in range(100)), CHAT)
    client.get(URL)  # the fleet is read once and kept

    with django_assert_max_num_queries(9 + 2):  # the discussion: what was said, and what was done
        client.get(URL)


def test_it_requires_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    assert client.get(URL).headers["Location"].startswith("/login/")


def test_it_only_reads(client: Client) -> None:
    assert client.post(URL).status_code == 405
