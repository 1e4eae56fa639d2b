"""Timelines on the pages of services, runtimes and models."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from selection.faces.timelines import SHOWN
from selection.store.models import Cluster, ObjectChange
from tests.faces.clusters import text_of
from tests.faces.history import edited, felt
from tests.faces.small_fleet import load

pytestmark = pytest.mark.django_db

SMALL, WIDE = "ClusterServingRuntime//small", "ClusterServingRuntime//wide"
SERVICE, RUNTIME, MODEL = "/services/lab/apps/chat/", "/runtimes/lab/-/small/", "/models/lab/-/llama-7b/"
HOUR = timedelta(hours=1)


@pytest.fixture
def lab(db: None) -> Cluster:
    return load()


@pytest.fixture
def edit(lab: Cluster) -> ObjectChange:
    cause = edited(lab, "ClusterServingRuntime", "small", ago=5 * HOUR, old_version="4711", new_version="4723")
    felt(lab, "chat", "runtime", SMALL, WIDE, cause=cause)
    felt(lab, "lost", "runtime", SMALL, "", cause=cause)
    return cause


def timeline(client: Client, path: str) -> str:
    text = text_of(client.get(path))
    assert " Timeline" in text
    return text.split(" Timeline", 1)[1]


def test_a_service_tells_what_became_different_and_why(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    text = timeline(client, SERVICE)
    assert "5 h ago ClusterServingRuntime small changed 4711 → to 4723" in text
    assert "The service gets wide instead of small" in text
    assert "spec.disabled false → to true" in text
    assert "lost" not in text.split("Manifest")[0]
    page = client.get(SERVICE).content.decode()
    assert 'href="/changes/?cluster=lab&amp;namespace=apps&amp;service=chat"' in page


def test_the_newest_comes_first(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    felt(lab, "chat", "mode", "MultiNode", "OMENative", component="engine", ago=HOUR, reason="OME is v1.3 now")
    text = timeline(client, SERVICE)
    assert text.index("OME is v1.3 now") < text.index("gets wide instead of small")
    assert "The service runs its engine in OMENative instead of MultiNode" in text


def test_its_own_edit_without_effect_is_told(client: Client, lab: Cluster) -> None:
    edited(lab, "InferenceService", "chat", "apps")
    text = timeline(client, SERVICE)
    assert "InferenceService apps/chat changed" in text
    assert "It changed nothing that OME answers for the service." in text


def test_a_runtime_tells_who_got_it_and_who_lost_it(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    other = edited(lab, "ClusterBaseModel", "llama-7b", ago=2 * HOUR)
    felt(lab, "waits", "runtime", "", SMALL, cause=other)
    text = timeline(client, RUNTIME)
    assert "apps/waits gets small, where it got none" in text
    assert "apps/chat gets wide instead of small" in text
    assert "apps/lost lost small and gets no runtime" in text
    assert text.index("waits") < text.index("apps/chat")
    page = client.get(RUNTIME).content.decode()
    for link in (
        "/changes/?cluster=lab&amp;runtime=ClusterServingRuntime%2F%2Fsmall",
        "/changes/?cluster=lab&amp;cause_kind=ClusterServingRuntime&amp;cause_name=small",
    ):
        assert f'href="{link}"' in page
    assert "all 3 changes where a service got or lost it; all 2 changes that its own edits caused" in text


def test_a_model_tells_what_its_edits_caused(client: Client, lab: Cluster) -> None:
    felt(lab, "chat", "outcome", "no-runtime", "auto-selected", cause=edited(lab, "ClusterBaseModel", "llama-7b"))
    text = timeline(client, MODEL)
    assert "1 change that its own edits caused" in text
    assert "apps/chat is now Selected, and was No runtime" in text


def test_an_edit_felt_by_many_names_a_few_and_leads_to_all(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    for number in range(10):
        felt(lab, f"service-{number}", "conflict", "", "drift", component="engine", cause=edit)
    page = client.get(RUNTIME).content.decode()
    assert f'<a href="/changes/?cluster=lab&amp;edit={edit.pk}">7 more changes</a>' in page


def test_every_kind_of_change_has_its_sentence(client: Client, lab: Cluster) -> None:
    felt(lab, "chat", "service", "", "auto-selected", ago=HOUR)
    felt(lab, "chat", "service", "named", "", ago=2 * HOUR, generation=2)
    felt(lab, "chat", "mode", "", "OMENative", component="decoder", ago=3 * HOUR, generation=3)
    felt(lab, "chat", "mode", "MultiNode", "", component="decoder", ago=4 * HOUR, generation=4)
    felt(lab, "chat", "conflict", "", "drift", component="engine", ago=5 * HOUR, generation=5)
    felt(lab, "chat", "conflict", "rejected", "", component="engine", ago=6 * HOUR, generation=6)
    text = timeline(client, SERVICE)
    for words in (
        "The service is new: Selected",
        "The service is gone; it was Named",
        "The service runs its decoder in OMENative, which is new",
        "The service runs its decoder no more; it was in MultiNode",
        "The service has a new conflict of its engine: Drift",
        "The service has a conflict of its engine less: Rejected",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (SERVICE, "Nothing has been seen to change here since it was first read."),
        (RUNTIME, "Nothing has been seen to change by it since it was first read."),
        (MODEL, "Nothing has been seen to change by it since it was first read."),
    ],
)
def test_without_a_past_it_says_so(client: Client, lab: Cluster, path: str, words: str) -> None:
    assert words in timeline(client, path)


@pytest.mark.parametrize("path", [SERVICE, RUNTIME, MODEL])
def test_a_long_past_is_cut_and_costs_no_more_queries(
    client: Client, lab: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    kinds = {SERVICE: ("ClusterServingRuntime", "wide"), RUNTIME: ("ClusterServingRuntime", "small")}
    kind, name = kinds.get(path, ("ClusterBaseModel", "llama-7b"))
    for number in range(40):
        cause = edited(lab, kind, name, ago=number * HOUR, generation=1000 - number)
        felt(lab, "chat", "runtime", SMALL, WIDE, cause=cause)
        felt(lab, "chat", "outcome", "named", "auto-selected", cause=cause)
    client.get(path)  # the fleet is read once
    with django_assert_max_num_queries(28):
        text = client.get(path).content.decode()
    assert text.count('<div class="when">') == SHOWN
