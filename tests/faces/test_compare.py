"""Two services, models, runtimes or candidates side by side."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from tests.faces.clusters import store, text_of
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, deployed, moded

pytestmark = pytest.mark.django_db

SERVICES = "/compare/services/?a=prod/team/chat&b=prod/team/other"

#: What the sentence says, with what the second service or the cluster has that the first hasn't.
VERDICTS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "the same": (
        [a_runtime(), a_service("other")],
        ["Both get ClusterServingRuntime fast; they ask the same. Their components run in the same modes."],
    ),
    "the same runtime, another mode": (
        [a_runtime(), a_service("other", engine=moded("MultiNode"))],
        [
            "Both get ClusterServingRuntime fast; they differ in the modes that they ask for.",
            "Engine: chat runs RawDeployment because of the default, "
            "other MultiNode because of the component's annotation, after merging.",
        ],
    ),
    "another model": (
        [
            a_model("onnx", modelFormat={"name": "onnx"}),
            a_runtime(),
            a_runtime("light", None, an_entry(modelFormat={"name": "onnx"})),
            a_service("other", model={"name": "onnx"}),
        ],
        [
            "chat gets fast, other gets light; they differ in the model.",
            "For other fast fails Model format: model format 'mt:onnx' not in supported formats: format name mismatch",
        ],
    ),
    "a class": (
        [a_runtime(), a_service("other", acceleratorSelector={"acceleratorClass": "h200"})],
        [
            "chat gets fast, and other gets no runtime; they differ in the accelerator classes that they ask for.",
            "For other fast fails Accelerator class: runtime does not support the required accelerator class",
        ],
    ),
    "a name": (
        [a_runtime("a-first"), a_runtime(), a_service("other", runtime={"name": "fast"})],
        [
            "chat gets a-first, other gets fast; they differ in the runtime that they name.",
            "Automatic selection would give a-first to other, too.",
            "For chat fast qualifies as number 2: scope, score and distance are the same",
        ],
    ),
    "neither": ([a_service("other")], ["Neither gets a runtime; they ask the same."]),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_it_says_in_words_what_tells_two_services_apart(client: Client, case: str) -> None:
    manifests, sentences = VERDICTS[case]
    store(a_model(), a_service(), *manifests)

    response = client.get(SERVICES)

    assert response.status_code == 200
    for sentence in sentences:
        assert sentence in text_of(response)


def test_what_differs_is_marked_and_what_neither_says_is_left_out(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("other", deploymentMode="OMENative"), deployed("Deployment"))

    page = text_of(client.get(SERVICES))

    assert "differs: Asked for – OMENative in spec.deploymentMode" in page
    assert "differs: In the cluster Deployment –" in page
    assert "Runtime fast fast" in page
    assert "Revision" not in page.partition("The answer")[2]


def test_the_manifests_are_shown_as_a_diff(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("other", deploymentMode="OMENative"))

    page = client.get(SERVICES).content.decode()

    assert '<span class="add">+  deploymentMode: OMENative' in page
    assert "word for word" in text_of(client.get("/compare/services/?a=prod/team/chat&b=prod/team/chat"))


def test_one_service_in_two_clusters_tells_them_apart_by_their_clusters(client: Client) -> None:
    slow = a_runtime("slow")
    store(a_model(modelParameterSize="7B"), a_runtime(), a_service(), name="prod")
    store(a_model(modelParameterSize="8B"), slow, a_service(), name="arn:aws:eks:eu/lab")

    page = text_of(client.get("/compare/services/?a=prod/team/chat&b=arn:aws:eks:eu/lab/team/chat"))

    assert "chat in prod gets fast, chat in arn:aws:eks:eu/lab gets slow" in page
    assert "they differ in what their models of one name say" in page
    assert "fast is no candidate for chat in arn:aws:eks:eu/lab" in page


def test_with_one_side_it_offers_the_same_name_elsewhere_first(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("chat", "lab"), name="prod")
    store(a_model(), a_runtime(), a_service(), name="test")

    page = text_of(client.get("/compare/services/?a=prod/team/chat")).partition("The same name elsewhere")[2]

    assert page.index("team/chat InferenceService in test") < page.index("lab/chat InferenceService in prod")


def test_others_that_use_its_model_are_offered(client: Client) -> None:
    other = a_service("elsewhere", model={"name": "other"})
    store(a_model(), a_model("other"), a_runtime(), a_service(), a_service("beside"), a_service("afar", "lab"), other)

    page = text_of(client.get("/compare/services/?a=prod/team/chat")).partition("Others that use its model")[2]

    assert page.index("team/beside") < page.index("lab/afar")
    assert "elsewhere" not in page


def test_another_one_is_found_by_words_of_its_name(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("batch", "lab"))

    found = client.get("/compare/services/?a=prod/team/chat&q=lab+bat")

    assert 'href="/compare/services/?a=prod%2Fteam%2Fchat&amp;b=prod%2Flab%2Fbatch"' in found.content.decode()
    assert "No service has these words" in text_of(client.get("/compare/services/?a=prod/team/chat&q=nothing"))
    assert "Choose the first service" in text_of(client.get("/compare/services/"))


def test_two_models_are_compared_by_what_they_are_matched_by(client: Client) -> None:
    store(a_model(modelParameterSize="7B"), a_model("llama", "team", modelParameterSize="70B"), a_runtime())

    page = text_of(client.get("/compare/models/?a=prod/-/llama&b=prod/team/llama"))

    assert "They differ in size. For both ClusterServingRuntime fast comes first." in page
    assert "differs: Size 7B 70B" in page
    assert "Rank 1 fast fast" in page


def test_two_runtimes_are_compared_by_what_they_declare(client: Client) -> None:
    store(a_runtime(), a_runtime("slow", "team", an_entry(priority=3), engineConfig=moded("MultiNode")))

    page = text_of(client.get("/compare/runtimes/?a=prod/-/fast&b=prod/team/slow"))

    assert "They differ in mode of the engine and entry 0." in page
    assert "safetensors priority 3, weights 1, autoSelect" in page


def test_runtimes_that_only_run_differently_are_told_so(client: Client) -> None:
    store(a_runtime(), a_runtime("slow", hostNetwork=True))

    page = text_of(client.get("/compare/runtimes/?a=prod/-/fast&b=prod/-/slow"))

    assert "Selection sees no difference between them; what they run differs." in page


CANDIDATES = "/services/prod/team/chat/compare/"


def test_two_candidates_are_told_by_their_checks_and_ranks(client: Client) -> None:
    store(
        a_model(modelParameterSize="7B"),
        a_runtime("first", None, an_entry(priority=3)),
        a_runtime("second"),
        a_runtime("big", modelSizeRange={"min": "70B"}),
        a_service(),
    )

    both = text_of(client.get(CANDIDATES + "?a=-/second&b=-/first"))
    one = text_of(client.get(CANDIDATES + "?a=-/first&b=-/big"))

    assert "Both qualify, and first goes before second: it scores 3, the other 1." in both
    assert "differs: Score 1 × 1 = 1 1 × 3 = 3" in both
    assert "first qualifies as number 1; big fails Model size." in one
    assert "differs: Model size passes fails: model size 7B is outside supported range [70B, inf)" in one


def test_candidates_are_offered(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("off", disabled=True), a_service())

    assert 'href="?a=-/fast"' in client.get(CANDIDATES).content.decode()
    second = client.get(CANDIDATES + "?a=-/fast&q=of")
    assert 'href="?a=-/fast&amp;b=-/off"' in second.content.decode()
    assert "fails Disabled" in text_of(second)


@pytest.mark.parametrize(
    "path",
    [
        "/compare/services/?a=prod/team/gone",
        "/compare/services/?a=prod/team/chat&b=moon/team/chat",
        "/compare/services/?a=nonsense",
        "/compare/models/?a=prod/-/gone",
        "/compare/runtimes/?a=prod/team/fast",
        "/services/prod/team/gone/compare/",
        "/services/moon/team/chat/compare/",
        CANDIDATES + "?a=-/gone&b=-/fast",
    ],
)
def test_what_isnt_there_is_not_found(client: Client, path: str) -> None:
    store(a_model(), a_runtime(), a_service())

    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", [SERVICES, "/compare/models/", "/compare/runtimes/", CANDIDATES])
def test_it_requires_login(client: Client, server_mode: Settings, path: str) -> None:
    assert client.get(path).status_code == 302


def test_the_number_of_queries_is_fixed(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    store(a_model(), *(a_runtime(f"r-{n}") for n in range(9)), a_service(), a_service("other"))
    client.get(SERVICES)
    with django_assert_num_queries(3):
        client.get(SERVICES)
    with django_assert_num_queries(3):
        client.get(CANDIDATES + "?a=-/r-1&b=-/r-2")
    with django_assert_num_queries(5):
        client.get("/compare/services/?a=prod/team/chat")
