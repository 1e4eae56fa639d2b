"""The page that judges what somebody pastes: what it shows, what it refuses, and what it never keeps or shows."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.plain import plain_sentence
from selection.faces.words import WHAT_IF
from selection.rules.what_if_answer import ACTS, CODES, TENDENCIES, Change
from selection.store.models import Cluster, StoredObject
from tests.cluster.hostile import HOSTILE
from tests.faces.clusters import text_of
from tests.faces.small_fleet import load, model, runtime, service

pytestmark = pytest.mark.django_db

URL = "/what-if/"
TALK = """apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: talk, namespace: ml}
spec: {model: {name: llama}, engine: {}}
"""
SECRET = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
WITH_SECRET = TALK.replace(
    "engine: {}", f"engine: {{runner: {{name: x, image: y, env: [{{name: HF_TOKEN, value: {SECRET}}}]}}}}"
)


@pytest.fixture
def cluster() -> Cluster:
    """A model, a runtime and a service."""
    return load([model("llama"), runtime("fast"), service("chat", "ml", "llama")], "prod")


def asked(client: Client, status: int = 200, **fields: object) -> str:
    response = client.post(URL, {"cluster": "prod", **fields})
    assert response.status_code == status
    return response.content.decode()


def plain(body: str) -> str:
    """What a person reads of it."""
    return text_of(HttpResponse(body))


# --- the form ---------------------------------------------------------------------------------------------


def test_it_offers_the_clusters_and_nothing(client: Client, cluster: Cluster) -> None:
    text = client.get(URL).content.decode()
    assert '<option value="prod" selected>' in text
    assert '<option value="">nothing</option>' in text


def test_it_begins_with_the_manifest_of_an_object_as_somebody_would_edit_it(client: Client, cluster: Cluster) -> None:
    text = client.get(f"{URL}?cluster=prod&from=ClusterServingRuntime/-/fast&from=InferenceService/ml/chat").content
    body = text.decode()
    assert "kind: ClusterServingRuntime\nmetadata:\n  name: fast\nspec:" in body
    assert "---\napiVersion: ome.io/v1beta1\nkind: InferenceService" in body
    assert "resourceVersion" not in body


def test_what_isnt_there_to_begin_with_is_told(client: Client, cluster: Cluster) -> None:
    body = client.get(f"{URL}?cluster=prod&from=BaseModel/ml/none&from=x&from=A/%00/b").content.decode()
    assert "Not found, so not filled in: x, " in body
    assert "BaseModel/ml/none" in body


def test_a_cluster_that_isnt_there_is_a_404(client: Client, cluster: Cluster) -> None:
    assert client.get(f"{URL}?cluster=nowhere").status_code == 404
    asked(client, 404, cluster="nowhere")


def test_the_form_takes_few_queries(
    client: Client, cluster: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(URL)
    with django_assert_max_num_queries(8):
        client.get(f"{URL}?cluster=prod&from=ClusterServingRuntime/-/fast")


# --- the answer -------------------------------------------------------------------------------------------


def test_it_says_who_differs_and_how(client: Client, cluster: Cluster) -> None:
    body = asked(client, manifests=TALK, delete="ClusterServingRuntime fast")
    text = plain(body)
    assert "2 services differ: 2 worse off." in text
    assert "1 object of the input wouldn't get into the cluster." in text
    assert "fast (engine RawDeployment) →becomes no runtime" in text
    assert "It had ClusterServingRuntime fast and gets none." in text
    assert "no supporting runtime found for model llama" in text
    assert 'href="/services/prod/ml/chat/"' in body
    assert 'href="/services/prod/ml/talk/"' not in body


def test_the_fields_hold_what_was_judged(client: Client, cluster: Cluster) -> None:
    body = asked(client, manifests=TALK, delete="isvc ml/chat")
    assert "kind: InferenceService\nmetadata:\n  name: talk\n  namespace: ml" in body
    assert ">InferenceService ml/chat</textarea>" in body


def test_on_nothing_the_release_is_chosen(client: Client) -> None:
    text = plain(asked(client, cluster="", version="1.2", manifests=TALK))
    assert "Judged by OME v1.2" in text
    assert "on both sides: nothing, and with the input" in text


def test_nothing_given_is_said(client: Client, cluster: Cluster) -> None:
    assert "Nothing was given, so nothing differs." in plain(asked(client))


def test_a_file_is_read_like_the_field(client: Client, cluster: Cluster) -> None:
    file = SimpleUploadedFile("talk.yaml", TALK.encode("utf-16"))
    body = asked(client, manifests="", file=file)
    assert "1 service differs: 1 otherwise." in plain(body)
    assert "name: talk" in body


def test_a_text_and_a_file_are_refused(client: Client, cluster: Cluster) -> None:
    body = asked(client, 422, manifests=TALK, file=SimpleUploadedFile("talk.yaml", TALK.encode()))
    assert "A text and a file are given: empty one of them." in plain(body)


def test_many_services_come_in_pages_and_by_code(client: Client) -> None:
    load([model("llama"), runtime("fast"), *(service(f"chat-{n:02}", "ml", "llama") for n in range(30))], "prod")
    gone = "ClusterServingRuntime fast"
    assert "Rows 1 to 25 of 30" in plain(asked(client, delete=gone))
    last = asked(client, delete=gone, page="2", code="loses-runtime")
    assert "Rows 26 to 30 of 30" in plain(last)
    assert 'name="code" value="loses-runtime"' in last
    assert "Rows 1 to 25 of 30" in plain(asked(client, delete=gone, page="x", code="no-such-code"))


def test_many_objects_come_in_pages(client: Client, cluster: Cluster) -> None:
    many = "---\n".join(TALK.replace("talk", f"talk-{n:02}") for n in range(12))
    assert asked(client, manifests=many).count("what-if-object") == 10
    assert asked(client, manifests=many, objects="2").count("what-if-object") == 2


def test_a_page_that_only_takes_the_result_gets_the_fields_as_they_were(client: Client, cluster: Cluster) -> None:
    response = client.post(URL, {"cluster": "prod", "manifests": TALK}, headers={"HX-Request": "true"})
    assert b"name: talk" not in response.content
    assert b'id="result"' in response.content


def test_what_should_be_known_is_said(client: Client, cluster: Cluster) -> None:
    manifest = TALK.replace(", namespace: ml", "") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    text = plain(asked(client, manifests=manifest, delete="BaseModel ml/none"))
    assert "1 object of kinds that aren't read: 1 ConfigMap." in text
    assert "1 object without a namespace: judged in default: InferenceService default/talk." in text
    assert "1 object to delete isn't there: BaseModel ml/none." in text


def test_an_unreadable_object_is_told_with_its_field(client: Client, cluster: Cluster) -> None:
    text = plain(asked(client, manifests=TALK.replace("engine: {}", "engine: 7")))
    assert "spec.engine: expected an object, found the number 7" in text


# --- refused ----------------------------------------------------------------------------------------------


def test_every_place_that_is_wrong_is_named(client: Client, cluster: Cluster) -> None:
    text = plain(asked(client, 422, manifests=f"{TALK}---\n{TALK}---\n- 1\n", delete="ConfigMap a\nx"))
    assert "The input is refused in 4 places:" in text
    assert "Document 2, line 6: InferenceService ml/talk is given twice, first in document 1, line 1." in text
    assert "Document 3, line 11: not an object but a list." in text
    assert "Line 1: to delete: 'ConfigMap' is no kind that is read." in text
    assert "Line 2: to delete: 'x' is not KIND NAMESPACE/NAME or KIND NAME." in text


def test_more_than_is_read_is_refused_before_it_is_read(client: Client, cluster: Cluster, settings: Settings) -> None:
    settings.WHAT_IF_BYTES = 1_000
    assert "Larger than 1,000 bytes: not read." in plain(asked(client, 413, manifests="#" * 600_000))
    assert "Larger than 1,000 bytes: not read." in plain(asked(client, 413, manifests="#" * 1_001))


def test_a_forged_request_is_refused(cluster: Cluster) -> None:
    assert Client(enforce_csrf_checks=True).post(URL, {"manifests": TALK}).status_code == 403


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_input_gets_a_4xx(client: Client, name: str) -> None:
    data = HOSTILE[name]()
    file = SimpleUploadedFile("x.yaml", data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    assert 400 <= client.post(URL, {"cluster": "", "file": file}).status_code < 500


# --- who, and what is kept --------------------------------------------------------------------------------


def test_it_requires_login(client: Client, server_mode: None) -> None:
    for response in (client.get(URL), client.post(URL, {"manifests": TALK})):
        assert response.status_code == 302
        assert "next=/what-if/" in response.headers["Location"]


def test_nothing_is_stored_and_no_browser_keeps_it(client: Client, cluster: Cluster) -> None:
    before = StoredObject.objects.count()
    response = client.post(URL, {"cluster": "prod", "manifests": TALK})
    assert StoredObject.objects.count() == before
    assert "no-store" in response.headers["Cache-Control"]


def test_no_secret_is_shown_or_logged(client: Client, cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    good = asked(client, manifests=WITH_SECRET)
    assert "HF_TOKEN" in good
    bad = asked(client, 422, manifests=f"{WITH_SECRET}---\n{WITH_SECRET}")
    worse = asked(client, 422, manifests=f"token: [{SECRET}")
    assert SECRET not in good + bad + worse + caplog.text


# --- words ------------------------------------------------------------------------------------------------


def test_every_code_has_a_word_and_every_change_a_sentence() -> None:
    assert set(WHAT_IF) == {*CODES, *TENDENCIES, *ACTS}
    ref = {"kind": "BaseModel", "namespace": "a", "name": "b"}
    facts = {
        "from": ref, "to": ref, "runtime": ref, "conflict": "drift", "errors": ["e"], "warnings": [], "message": "m",
    }  # fmt: skip
    for code in CODES:
        flat = code in {"mode-changes", "component-added", "component-gone", "outcome-differs"}
        told = {**facts, "from": "A", "to": "B"} if flat else facts
        assert plain_sentence("what-if", code, change=Change(code, "engine", told))


def test_no_sentence_is_of_a_code_that_nobody_knows() -> None:
    folder = Path(__file__).resolve().parents[2] / "templates" / "sentences" / "what-if"
    told = {"told-ignored", "told-default-namespace", "told-status", "told-ome-manager", "told-not-there"}
    assert {each.stem for each in folder.iterdir()} == {*CODES, *told}


# --- in place ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "begins"),
    [
        ("/services/prod/ml/chat/", "InferenceService%2Fml%2Fchat"),
        ("/runtimes/prod/-/fast/", "ClusterServingRuntime%2F-%2Ffast"),
        ("/models/prod/-/llama/", "ClusterBaseModel%2F-%2Fllama"),
    ],
)
def test_the_page_of_an_object_leads_here_with_its_manifest(
    client: Client, cluster: Cluster, page: str, begins: str
) -> None:
    assert f'href="/what-if/?cluster=prod&amp;from={begins}"' in client.get(page).content.decode()


def test_what_it_would_take_can_be_tried_here(client: Client) -> None:
    load([model("llama"), runtime("fast", disabled=True), service("chat", "ml", "llama")], "prod")
    body = client.get("/services/prod/ml/chat/candidates/-/fast/").content.decode()
    form = re.search(r'<form method="post" action="/what-if/">.*?</form>', body, re.DOTALL)
    assert form is not None
    (manifest,) = re.findall(r'name="manifests" value="([^"]*)"', form.group())
    assert "disabled: false" in manifest
    assert "1 service differs: 1 better off." in plain(asked(client, manifests=html.unescape(manifest)))


# --- how often --------------------------------------------------------------------------------------------


@pytest.fixture
def two_a_minute(settings: Settings) -> Iterator[None]:
    settings.LOCAL = False
    settings.API_LIMITS = {**settings.API_LIMITS, "what-if": 2}
    caches["limits"].clear()
    yield
    caches["limits"].clear()


@pytest.mark.usefixtures("two_a_minute")
def test_the_page_and_the_interface_are_counted_together(client: Client, cluster: Cluster) -> None:
    client.force_login(User.objects.create_superuser("mara"))
    asked(client, manifests=TALK)
    body = {"manifests": TALK}
    assert client.post("/api/v1/what-if", body, content_type="application/json").status_code == 200

    refused = client.post(URL, {"cluster": "prod", "manifests": TALK}, headers={"HX-Request": "true"})

    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert "Ask again in" in plain(refused.content.decode())
    assert client.post("/api/v1/what-if", body, content_type="application/json").status_code == 429
    assert client.get(URL).status_code == 200  # looking at the form costs nothing
