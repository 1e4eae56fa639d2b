"""An object's manifest: as it was read, with the lines that decide, without secrets."""

from __future__ import annotations

import pytest
import yaml
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.manifests import marks_of
from tests.faces.clusters import store, text_of
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, deployed, moded

pytestmark = pytest.mark.django_db

RUNTIME = "/objects/prod/ClusterServingRuntime/-/fast/"


def test_it_shows_the_manifest_as_yaml_with_a_number_on_each_line(client: Client) -> None:
    store(a_runtime())

    page = client.get(RUNTIME).content.decode()

    assert '<span id="L1" class="line"><a class="ln" href="#L1" data-n="1" aria-label="Line 1"></a>apiVersion:' in page
    assert "autoSelect: true" in page


def test_it_marks_the_lines_that_decide_and_says_what(client: Client) -> None:
    store(a_runtime(engineConfig=moded("OMENative"), modelSizeRange={"min": "1B"}, disabled=False))

    page = text_of(client.get(RUNTIME))

    assert "spec.supportedModelFormats Checks 4, 6 and 7: format, autoSelect, score" in page
    assert f"{MODE}: OMENative ← Check 3: mode of the engine" in page
    assert "modelSizeRange: ← Check 5: size" in page
    assert "disabled: false ← Check 1" in page


@pytest.mark.parametrize(
    ("kind", "text", "paths"),
    [
        ("InferenceService", "spec:\n  deploymentMode: OMENative\n", {"spec.deploymentMode"}),
        ("InferenceService", "spec:\n  runtime:\n    name: a\n    kind: b\n", {"spec.runtime"}),
        ("InferenceService", "spec:\n  engine:\n    leader:\n      x: 1\n", {"spec.engine.leader"}),
        ("BaseModel", "spec:\n  modelFormat:\n    name: a\n", {"spec.modelFormat"}),
        ("ServingRuntime", f"metadata:\n  annotations:\n    {MODE}: x\n", {f'metadata.annotations["{MODE}"]'}),
        ("AcceleratorClass", "spec:\n  vendor: a\n", set()),
    ],
)
def test_what_decides_depends_on_the_kind(kind: str, text: str, paths: set[str]) -> None:
    assert {mark.path for mark in marks_of(kind, text)} == paths


def test_a_mark_covers_what_is_below_it_and_of_a_leader_only_its_key() -> None:
    text = "spec:\n  engine:\n    leader:\n      a: 1\n  runtime:\n    name: a\n    kind: b\nstatus: {}\n"

    assert [(mark.first, mark.last) for mark in marks_of("InferenceService", text)] == [(3, 3), (5, 7)]


def test_a_link_can_mark_further_lines(client: Client) -> None:
    store(a_runtime(engineConfig={"runner": {"args": ["--nnodes", "$(LWS_GROUP_SIZE)"]}}))

    page = text_of(client.get(RUNTIME + "?mark=spec.engineConfig.runner.args[1]|spec.nothing"))

    assert "$(LWS_GROUP_SIZE) ← Asked for by the link" in page


def test_it_can_be_downloaded(client: Client) -> None:
    store(a_service())

    response = client.get("/objects/prod/InferenceService/team/chat/?download=1")

    assert response.headers["Content-Disposition"] == 'attachment; filename="inferenceservice-team-chat.yaml"'
    assert yaml.safe_load(response.content)["spec"] == a_service()["spec"]


def test_values_that_look_secret_are_shown_replaced(client: Client) -> None:
    env = [{"name": "HF_TOKEN", "value": "hf_verysecretvalue1234567890abcdef"}]
    store(a_runtime(engineConfig={"runner": {"env": env}}))

    for query in ("", "?download=1"):
        page = client.get(RUNTIME + query).content.decode()
        assert "HF_TOKEN" in page
        assert "verysecret" not in page


def test_it_says_why_an_object_cant_be_read_and_marks_the_field(client: Client) -> None:
    store(a_runtime(disabled="yes"))

    response = client.get(RUNTIME)

    assert 'It can\'t be read: spec.disabled: expected true or false, found text "yes".' in text_of(response)
    assert 'class="line marked bad"' in response.content.decode()


def test_it_leads_to_what_ome_makes_of_it(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), deployed("Deployment"))

    service = client.get("/objects/prod/InferenceService/team/chat/").content.decode()
    workload = text_of(client.get("/objects/prod/Deployment/team/chat-engine/"))

    assert 'href="/services/prod/team/chat/"' in service
    assert "What OME makes of it" not in workload
    assert "serving-runtime: fast ← The runtime that it was made from" in workload


def test_a_very_long_manifest_is_cut_and_the_rest_is_in_the_download(client: Client) -> None:
    store(a_runtime(engineConfig={"runner": {"args": [f"--arg-{number}" for number in range(6000)]}}))

    page = client.get(RUNTIME)

    assert "more lines are in the download." in text_of(page)
    assert "--arg-5999" not in page.content.decode()


@pytest.mark.parametrize("path", ["prod/ServingRuntime/team/fast", "prod/ClusterServingRuntime/-/fsat"])
def test_an_unknown_object_is_not_found_and_near_names_are_named(client: Client, path: str) -> None:
    store(a_runtime())

    response = client.get(f"/objects/{path}/")

    assert response.status_code == 404
    assert 'href="/runtimes/prod/-/fast/"' in response.content.decode()


def test_an_unknown_cluster_is_said(client: Client) -> None:
    response = client.get("/objects/moon/ClusterServingRuntime/-/fast/")

    assert response.status_code == 404
    assert "No cluster is named moon." in text_of(response)


def test_hostile_text_is_only_text(client: Client) -> None:
    store(a_runtime(engineConfig={"runner": {"args": ["</span><script>alert(1)</script>"]}}))

    page = client.get(RUNTIME + "?mark=%3Cscript%3E").content.decode()

    assert "<script>alert" not in page
    assert "&lt;/span&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_it_needs_few_queries(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    store(a_runtime())

    with django_assert_max_num_queries(3):
        client.get(RUNTIME)


def test_it_requires_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    assert client.get(RUNTIME).headers["Location"].startswith("/login/")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/objects/%00/BaseModel/-/x/", 404),
        ("/objects/lab/BaseModel/-/%00/", 404),
        ("/services/%00/team/chat/", 404),
        ("/clusters/%00/settings/", 404),
        ("/compare/services/?q=%00", 200),
        ("/compare/services/?a=%00/team/chat", 404),
        ("/matrix/?cluster=%00", 404),
        ("/migration/?cluster=%00", 200),
    ],
)
def test_an_address_with_what_no_database_keeps_names_nothing(client: Client, address: str, status: int) -> None:
    assert client.get(address).status_code == status
