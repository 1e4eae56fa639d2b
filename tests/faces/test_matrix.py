"""Services × runtimes: the page of a namespace or a model."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from tests.faces.clusters import store, text_of
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

pytestmark = pytest.mark.django_db

URL = "/matrix/?cluster=prod&namespace=team"


def test_a_namespace_shows_who_gets_what(client: Client) -> None:
    store(
        a_model(modelParameterSize="7B"),
        a_runtime("first", None, an_entry(priority=5)),
        a_runtime("second"),
        a_runtime("gpu", engineConfig=moded("MultiNode")),
        a_service("one"),
        a_service("two"),
        a_service("native", engine=moded("OMENative")),
        a_service("by-name", runtime={"name": "second"}),
    )

    response = client.get(URL)
    page = text_of(response)

    assert response.status_code == 200
    assert "4 services ask 3 different questions" in page
    assert "team/oneand 1 more that asks the sametwo llama 1, selected32" in page, "gpu is the last"
    assert "team/native llama, engine OMENative 1, selected2mode" in page
    assert "names second" in page


def test_a_cell_leads_to_the_candidate(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("own", "team"), a_service())

    page = client.get(URL).content.decode()

    for place in ("-/fast", "team/own"):
        address = f"/services/prod/team/chat/candidates/{place}/"
        assert f'href="{address}"' in page
        assert client.get(address).status_code == 200


def test_what_no_row_can_get_is_counted(client: Client) -> None:
    store(
        a_model(),
        a_runtime(),
        a_runtime("by-name", None, an_entry(autoSelect=False)),
        a_runtime("off", disabled=True),
        a_runtime("onnx", None, an_entry(modelFormat={"name": "onnx"})),
        a_service(),
    )

    page = client.get(URL)
    also = client.get(URL + "&also=excluded")

    counted = "3 other runtimes are excluded for every row of this page: 1 serves none of the models (format or size); "
    assert counted + "1 is disabled; 1 serves one and fails autoSelect." in text_of(page)
    assert "/candidates/-/by-name/" not in page.content.decode()
    assert "/candidates/-/by-name/" in also.content.decode()
    assert "auto" in text_of(also)


def test_a_model_shows_every_namespace(client: Client) -> None:
    store(
        a_model(),
        a_model("other"),
        a_runtime(),
        a_service(),
        a_service("chat", "lab"),
        a_service("no", model={"name": "other"}),
    )

    page = text_of(client.get("/matrix/?cluster=prod&model=llama"))

    assert "2 services ask 2 different questions" in page
    assert "lab/chat" in page
    assert "team/no" not in page


def test_services_without_candidates_are_named(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(model={"name": "gone"}))

    page = text_of(client.get(URL))

    assert "Without candidates 1" in page
    assert "team/chat" in page


def test_services_that_cant_be_read_are_named(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("odd", engine="none"))

    page = text_of(client.get(URL))

    assert "1 service can't be read, by OME either, so what it asks for isn't known: team/odd." in page


def test_without_a_choice_it_offers_the_namespaces(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("chat", "lab"))

    page = client.get("/matrix/")

    assert "Choose a namespace" in text_of(page)
    assert 'href="?cluster=prod&amp;namespace=lab"' in page.content.decode()


def test_with_nothing_read_it_says_how_to_begin(client: Client) -> None:
    assert "No service has been read yet" in text_of(client.get("/matrix/"))


def test_a_choice_without_services_is_explained(client: Client) -> None:
    store(a_model(), a_runtime(), a_service())

    assert "No service is left" in text_of(client.get("/matrix/?cluster=prod&namespace=nowhere"))


def test_an_unknown_cluster_is_not_found(client: Client) -> None:
    assert client.get("/matrix/?cluster=moon&namespace=team").status_code == 404


def test_rows_and_columns_are_bounded(client: Client) -> None:
    runtimes = [a_runtime(f"r-{number:03}") for number in range(60)]
    modes = ("OMENative", "RawDeployment", None)
    services = [
        a_service(f"s-{number:02}-{place}", model={"name": f"m-{number}"}, engine=moded(mode) if mode else {})
        for number in range(10)
        for place, mode in enumerate(modes)
    ]
    store(*(a_model(f"m-{number}") for number in range(10)), *runtimes, *services)

    page = client.get(URL)
    last = client.get(URL + "&page=2")

    assert page.content.decode().count('<th scope="row">') == 15
    assert "20 more runtimes qualify for a row of this page and have no column." in text_of(page)
    assert "Rows 16 to 30 of 30" in text_of(last)
    assert len(page.content) < 150_000


def test_it_exports_every_cell(client: Client) -> None:
    store(a_model(), a_runtime(), a_runtime("second"), a_service("one"), a_service("two"))

    rows = json.loads(b"".join(client.get(URL + "&format=json")))
    lines = b"".join(client.get(URL + "&format=csv")).decode().splitlines()

    assert [(row["services"], row["runtime"], row["code"], row["rank"]) for row in rows] == [
        (["one", "two"], "fast", "selected", 1),
        (["one", "two"], "second", "qualifies", 2),
    ]
    assert lines[0].startswith("namespace,services,model,named,runtime_kind")
    assert len(lines) == 3


def test_it_requires_login(client: Client, server_mode: Settings) -> None:
    assert client.get(URL).status_code == 302


def test_the_number_of_queries_is_fixed(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    store(a_model(), a_runtime(), a_service())
    client.get(URL)
    with django_assert_num_queries(4):
        client.get(URL)
    store(a_model(), *(a_runtime(f"r-{n}") for n in range(9)), *(a_service(f"s-{n}") for n in range(9)))
    client.get(URL)
    with django_assert_num_queries(4):
        client.get(URL)
