"""What it would take: one candidate of a service or a model, and the changes that would have it selected."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.rules.explain import explain_service
from selection.rules.fleet import read_fleet
from tests.faces.clusters import store, text_of
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry, moded

pytestmark = pytest.mark.django_db

CHAT = a_service()
HERE = "/services/prod/team/chat/candidates/"
FAST = HERE + "-/fast/"
MULTI = a_runtime(engineConfig=moded("MultiNode"))
#: The webhook refuses a runtime that lists a class that isn't there.
H100 = {"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": "h100"}}


def commands(page: str) -> list[list[str]]:
    """The commands on a page as a shell reads them."""
    found = re.findall(r"<code[^>]*>(kubectl patch .*?)</code>", page, re.S)
    return [shlex.split(html.unescape(each)) for each in found]


def patched(manifests: list[dict[str, Any]], command: list[str]) -> list[dict[str, Any]]:
    """The objects after a command, applied by hand: an independent reading of RFC 6902."""
    kind, name, patch = command[2], command[3], json.loads(command[-1])
    changed: list[dict[str, Any]] = json.loads(json.dumps(manifests))
    target = next(
        each for each in changed if f"{each['kind'].lower()}.ome.io" == kind and each["metadata"]["name"] == name
    )
    namespace = command[command.index("-n") + 1] if "-n" in command else None
    assert target["metadata"].get("namespace") == namespace
    for operation in patch:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        here: Any = target
        for part in parents:
            here = here[int(part)] if isinstance(here, list) else here[part]
        if operation["op"] == "remove":
            del here[last]
        elif isinstance(here, list) and last == "-":
            assert operation["op"] == "add"
            here.append(operation["value"])
        elif isinstance(here, list):
            here[int(last) : int(last) + (operation["op"] == "replace")] = [operation["value"]]
        else:
            assert operation["op"] == "add" or last in here
            here[last] = operation["value"]
    return changed


def selected(manifests: list[dict[str, Any]]) -> str | None:
    told = explain_service(read_fleet(manifests), "team", "chat")
    return told.selected.ref.name if told.selected else None


#: For each check a runtime, model and service that fail it, and words of the change.
FAILING: dict[str, tuple[list[dict[str, Any]], str]] = {
    "disabled": ([a_model(), a_runtime(disabled=True), CHAT], "Change spec.disabled from true to false."),
    "accelerator-class": (
        [a_model(), a_runtime(), H100, a_service(acceleratorSelector={"acceleratorClass": "h100"})],
        "Add spec.acceleratorRequirements.acceleratorClasses: [h100].",
    ),
    "engine-deployment-mode": (
        [a_model(), MULTI, a_service(engine=moded("OMENative"))],
        'Change spec.engineConfig.annotations["ome.io/deploymentMode"] from MultiNode to OMENative.',
    ),
    "model-format": (
        [a_model(quantization="fp8"), a_runtime(), CHAT],
        "Add to spec.supportedModelFormats the entry "
        "{modelFormat: {name: safetensors}, quantization: fp8, autoSelect: true}.",
    ),
    "model-size": (
        [a_model(modelParameterSize="70B"), a_runtime(modelSizeRange={"min": "1B", "max": "9B"}), CHAT],
        "Change spec.modelSizeRange.max from 9B to 70B.",
    ),
    "auto-select": (
        [a_model(), a_runtime("fast", None, an_entry(autoSelect=None)), CHAT],
        "Add spec.supportedModelFormats[0].autoSelect: true.",
    ),
    "score": (
        [a_model(), a_runtime("fast", None, an_entry(priority=0)), CHAT],
        "Change spec.supportedModelFormats[0].priority from 0 to 1.",
    ),
}


@pytest.mark.parametrize("check", FAILING)
def test_a_candidate_that_fails_is_told_with_what_would_make_it_qualify(client: Client, check: str) -> None:
    manifests, change = FAILING[check]
    store(*manifests)

    response = client.get(FAST)
    page = text_of(response)

    assert response.status_code == 200
    assert "It doesn't qualify: it fails one check" in page
    assert change in page
    assert "Then it is selected" in page


@pytest.mark.parametrize("check", FAILING)
def test_every_command_does_what_the_page_says(client: Client, check: str) -> None:
    manifests, _ = FAILING[check]
    store(*manifests)

    found = commands(client.get(FAST).content.decode())

    assert found
    for command in found:
        assert selected(patched(manifests, command)) == "fast", command


def test_it_gives_the_reason_of_ome_first_and_what_else_fails(client: Client) -> None:
    store(a_model(), a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"}), disabled=True), CHAT)

    page = text_of(client.get(FAST))

    assert "it fails 2 checks: Disabled and Model format." in page
    assert page.index("runtime is disabled") < page.index("format name mismatch (model=safetensors, runtime=onnx)")
    assert "fails too, were the checks before it passed" in page


def test_the_change_that_reaches_least_comes_first(client: Client) -> None:
    store(a_model(), MULTI, a_service(engine=moded("OMENative")))

    page = text_of(client.get(FAST))

    assert "A change of the service or the runtime would make it qualify." in page
    assert page.index("Change the service team/chat") < page.index("Change the runtime fast")
    assert "It reaches this service alone. It then runs in the runtime's mode." in page


def test_a_change_of_a_shared_runtime_says_whom_it_reaches(client: Client) -> None:
    store(
        a_model(),
        MULTI,
        a_service(engine=moded("OMENative")),
        a_service("one"),
        a_service("two", runtime={"name": "fast"}),
        a_runtime("heir", annotations={"ome.io/inherit-from": "fast"}, disabled=True),
    )

    page = text_of(client.get(FAST))

    assert "It reaches every service that follows the runtime: 1 by automatic selection and 1 by name." in page
    assert "1 runtime inherits from it, and the services that name it are reached too." in page


def test_a_change_that_takes_a_runtime_from_others_says_from_whom(client: Client) -> None:
    store(
        a_model(),
        MULTI,
        a_service(engine=moded("OMENative")),
        a_service("loses", engine=moded("MultiNode")),
        a_service("keeps", engine=moded("MultiNode"), runtime={"name": "fast"}),
    )

    page = text_of(client.get(FAST))

    assert "1 service that gets it today would lose it: team/loses. Make the change in a copy" in page
    assert "team/keeps" not in page


def test_an_entry_that_is_added_takes_the_runtime_from_nobody(client: Client) -> None:
    store(
        a_model("other", modelArchitecture="A"),
        a_model(modelArchitecture="B"),
        a_runtime("fast", None, an_entry(modelArchitecture="A")),
        CHAT,
        a_service("keeps", model={"name": "other"}),
    )

    page = text_of(client.get(FAST))

    assert "Add to spec.supportedModelFormats the entry" in page
    assert "would lose it" not in page


def test_a_change_of_the_model_warns_that_the_agent_writes_it(client: Client) -> None:
    store(*FAILING["model-format"][0])

    page = text_of(client.get(FAST))

    assert "Only if the model is described wrongly" in page
    assert "1 service uses the model." in page


def test_a_change_that_makes_it_qualify_behind_another_says_so(client: Client) -> None:
    store(a_model(), a_runtime(disabled=True), a_runtime("better", None, an_entry(priority=5)), CHAT)

    assert "Then it qualifies and another comes first" in text_of(client.get(FAST))


def test_naming_it_is_offered_when_ome_would_use_it_then(client: Client) -> None:
    manifests = [a_model(), MULTI, a_runtime("off", disabled=True), a_service(engine=moded("OMENative"))]
    store(*manifests)

    page = client.get(FAST)
    naming = commands(page.content.decode())[-1]

    assert "it warns that the runtime doesn't declare support for the model." in text_of(page)
    assert explain_service(read_fleet(patched(manifests, naming)), "team", "chat").outcome == "named-with-advice"
    assert "Or name it" not in text_of(client.get(HERE + "-/off/")), "OME refuses a disabled runtime"


#: What puts another first, and the words on the page.
SECOND: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "score": (
        a_runtime("best", None, an_entry(priority=3)),
        a_runtime(),
        ["with a score of 3 against 1", "The smallest priority", "The smallest weight"],
    ),
    "name": (
        a_runtime("best"),
        a_runtime(),
        ["by its name alone", "The smallest priority", "a name that sorts before best comes first"],
    ),
    "scope": (
        a_runtime("best", "team"),
        a_runtime("fast", None, an_entry(priority=9)),
        ["being the namespace's own", "no change of this runtime puts it first", "A ServingRuntime in team"],
    ),
}


@pytest.mark.parametrize("place", SECOND)
def test_one_that_qualifies_is_told_what_would_make_it_the_first(client: Client, place: str) -> None:
    best, fast, words = SECOND[place]
    manifests = [a_model(), best, fast, CHAT]
    store(*manifests)

    response = client.get(FAST)

    assert "It qualifies and is number 2 of 2" in text_of(response)
    for each in words:
        assert each in text_of(response)
    for command in commands(response.content.decode()):
        assert selected(patched(manifests, command)) == "fast"


def test_the_first_needs_nothing(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT)

    page = text_of(client.get(FAST))

    assert "It is selected: the only one that qualifies." in page
    assert "What it would take any" not in page
    assert "kubectl" not in page


def test_a_sharded_model_can_be_served_by_none(client: Client) -> None:
    store(a_model(distribution="Sharded"), a_runtime(), CHAT)

    assert "OME has no model cache provider for sharded loading yet" in text_of(client.get(FAST))


def test_for_a_service_that_names_another_it_is_what_selection_would_say(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("slow"), a_service(runtime={"name": "slow"}))

    page = text_of(client.get(FAST))

    assert "chat names its runtime, slow, so automatic selection decides nothing." in page
    assert "and would be selected if the service named none." in page


def test_what_keeps_the_service_from_any_runtime_is_said_first(client: Client) -> None:
    store(a_model(disabled=True), a_runtime(disabled=True), CHAT)

    page = text_of(client.get(FAST))

    assert page.index("Something else keeps the service from any runtime") < page.index("What it fails")
    assert "model llama is disabled" in page


def test_it_says_whose_rules_judged_and_what_was_read(client: Client) -> None:
    service = {**CHAT, "metadata": {**CHAT["metadata"], "resourceVersion": "41"}}
    store(a_model(), a_runtime(disabled=True), service, version="1.2")

    page = text_of(client.get(FAST))

    assert "OME v1.2 set by hand" in page
    assert "team/chat resourceVersion 41" in page


@pytest.mark.parametrize("value", ["it's", 'say "hi"', "a$(rm)`b`\\c", "ünï <b>", "line\nbreak"])
def test_whatever_a_value_holds_the_shell_gets_it_whole(client: Client, value: str) -> None:
    manifests = [a_model(modelArchitecture=value), a_runtime("fast", None, an_entry(modelArchitecture="A")), CHAT]
    store(*manifests)

    response = client.get(FAST)
    command = commands(response.content.decode())[0]

    assert selected(patched(manifests, command)) == "fast"
    assert "<b>" not in response.content.decode()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/services/moon/team/chat/candidates/-/fast/", "No cluster is named moon."),
        ("/services/prod/team/gone/candidates/-/fast/", "has no InferenceService team/gone"),
        (HERE + "-/fats/", "has no ClusterServingRuntime fats"),
        (HERE + "elsewhere/own/", "it is in another namespace."),
        (HERE + "-/odd/", "can't be read, by OME either, so it is no candidate: spec.disabled"),
        ("/services/prod/team/lost/candidates/-/fast/", "so it has no candidates."),
        ("/models/prod/-/gone/candidates/-/fast/", "has no ClusterBaseModel gone"),
        ("/models/prod/team/llama/candidates/-/fast/", "has no BaseModel team/llama"),
    ],
)
def test_what_is_no_candidate_is_not_found(client: Client, path: str, says: str) -> None:
    odd, lost = a_runtime("odd", disabled="yes"), a_service("lost", model={"name": "gone"})
    store(a_model(), a_runtime(), a_runtime("own", "elsewhere"), odd, CHAT, lost)

    response = client.get(path)

    assert response.status_code == 404
    assert says in text_of(response)


def test_a_name_that_nothing_has_leads_to_names_near_it(client: Client) -> None:
    store(a_model(), a_runtime(), CHAT)

    assert 'href="/runtimes/prod/-/fast/"' in client.get(HERE + "-/fats/").content.decode()


def test_the_service_links_to_every_candidate_that_it_shows_but_the_first(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("slow"), a_runtime("off", disabled=True), CHAT)

    page = client.get("/services/prod/team/chat/").content.decode()

    assert set(re.findall(r'href="(/services/prod/team/chat/candidates/[^"]*)"', page)) == {
        HERE + "-/slow/",
        HERE + "-/off/",
    }


def test_when_nothing_qualifies_the_closest_link_there_too(client: Client) -> None:
    store(a_model(), a_runtime(disabled=True), CHAT)

    page = client.get("/services/prod/team/chat/").content.decode()

    assert FAST in page.partition('class="closest"')[2].partition("</ul>")[0]


def test_a_model_has_its_candidates_too(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("own", "team", disabled=True), CHAT)

    page = client.get("/models/prod/-/llama/?namespace=team").content.decode()
    there = re.findall(r'href="(/models/prod/-/llama/candidates/[^"]*)"', page)
    assert there == ["/models/prod/-/llama/candidates/team/own/?namespace=team"]
    response = client.get(there[0])

    assert "Change spec.disabled from true to false." in text_of(response)
    assert "Or name it" not in text_of(response)
    assert 'href="/models/prod/-/llama/?namespace=team"' in response.content.decode()


def test_it_answers_as_json(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("slow", disabled=True), CHAT)

    found: Mapping[str, Any] = client.get(HERE + "-/slow/?format=json").json()

    assert found["cluster"] == "prod"
    assert found["ome_version"] == "1.3"
    assert found["candidate"]["code"] == "disabled"
    assert found["first"]["name"] == "fast"
    [change] = found["changes"]
    assert change["patch"] == [{"op": "replace", "path": "/spec/disabled", "value": False}]
    assert change["selected"] is False
    assert change["reaches"] == {"selected": 0, "named": 0, "heirs": 0, "users": 0, "lost": []}
    assert change["command"].startswith("kubectl patch clusterservingruntime.ome.io slow --type=json -p '")


def test_secrets_stay_where_they_are(client: Client) -> None:
    secret = "hunter2-hunter2"
    engine = {"runner": {"env": [{"name": "API_TOKEN", "value": secret}]}, "annotations": {MODE: "OMENative"}}
    store(a_model(), MULTI, a_service(engine=engine))

    assert secret not in client.get(FAST).content.decode()


def test_the_number_of_queries_does_not_grow(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    services = [a_service(f"s-{number}") for number in range(40)]
    runtimes = [a_runtime(f"r-{number}", disabled=True) for number in range(40)]
    asking = a_service(engine=moded("OMENative"))
    store(a_model(modelArchitecture="A"), MULTI, a_runtime("zzz"), *services, *runtimes, asking)

    with django_assert_max_num_queries(8):
        client.get(FAST)


def test_it_requires_signing_in_on_a_server(client: Client, server_mode: Settings) -> None:
    response = client.get(FAST)

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_it_only_reads(client: Client) -> None:
    assert client.post(FAST).status_code == 405
