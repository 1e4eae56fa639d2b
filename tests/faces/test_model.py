"""The page of one model."""

from __future__ import annotations

import json
import re

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster
from tests.faces.clusters import text_of
from tests.faces.small_fleet import HOSTILE, load, model, runtime, service

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, name: str, scope: str = "-", query: str = "") -> str:
    response = client.get(f"/models/lab/{scope}/{name}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def words(text: str) -> str:
    """The text without its markup, in one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_it_begins_with_how_many_qualify_and_which_is_first(client: Client, fleet: Cluster) -> None:
    assert "Of the cluster's runtimes 2 qualify; the first is small ." in words(page(client, "llama-7b"))
    assert "In namespace team 3 qualify; the first is team/ team-own ." in words(page(client, "llama-7b", "team"))


def test_a_cluster_model_is_judged_in_the_namespace_that_the_url_names(client: Client, fleet: Cluster) -> None:
    assert "In namespace apps 1 qualifies; it is wide ." not in words(page(client, "llama-7b", query="?namespace=apps"))
    assert "In namespace apps 2 qualify; the first is small ." in words(
        page(client, "llama-7b", query="?namespace=apps")
    )
    text = page(client, "llama-70b", query="?namespace=team")
    assert '<option value="team" selected>' in text


def test_a_namesake_in_that_namespace_wins(client: Client, fleet: Cluster) -> None:
    text = words(page(client, "llama-7b", query="?namespace=team"))
    assert "In namespace team the BaseModel team/ llama-7b of the same name wins over this one." in text


def test_a_namespace_that_nobody_knows_is_said(client: Client, fleet: Cluster) -> None:
    assert "no ServingRuntime is known there" in words(page(client, "llama-70b", query="?namespace=nowhere"))


def test_the_ranking_shows_the_arithmetic_and_the_distance_in_order(client: Client, fleet: Cluster) -> None:
    text = words(page(client, "llama-7b"))
    ranking = text[text.rindex("Ranking") : text.rindex("Excluded")]
    assert "its size range lies closer to the model: 8B against 79B" in ranking
    assert "1 small ClusterServingRuntime (1 + 1) × 2 = 4 8B [1B, 9B]" in ranking
    assert "2 wide ClusterServingRuntime What would it take for wide (1 + 1) × 2 = 4 79B [1B, 80B]" in ranking


def test_the_excluded_are_grouped_by_the_first_check_with_the_exact_reason(client: Client, fleet: Cluster) -> None:
    text = page(client, "llama-7b")
    excluded = text[text.index('id="excluded"') :]
    assert excluded.index("Disabled") < excluded.index("Model format") < excluded.index("Model size")
    assert "architecture mismatch (model=LlamaForCausalLM, runtime=Qwen3ForCausalLM)" in excluded
    assert "model size 7B is outside supported range [60B, 80B]" in excluded
    assert "can't be read and is no candidate" in words(excluded)


def test_all_that_one_check_excludes_is_a_click_away(client: Client, db: None) -> None:
    others = [runtime(f"other-{number:02}", entry={"modelArchitecture": "Other"}) for number in range(60)]
    load([model("llama-7b"), runtime("small"), *others])
    text = page(client, "llama-7b")
    assert "show all 60" in text
    assert "other-59" not in text
    narrowed = page(client, "llama-7b", query="?check=model-format&among=2")
    assert "51 to 60 of 60" in narrowed
    assert "other-59" in narrowed
    assert "Nothing is excluded by this check." in page(client, "llama-7b", query="?check=nonsense")


def test_when_nothing_qualifies_it_names_what_lacks_least(client: Client, db: None) -> None:
    load(
        [
            model("llama-7b"),
            runtime("near", modelSizeRange={"max": "1B"}),
            runtime("far", entry={"quantization": "fp8"}),
        ]
    )
    text = page(client, "llama-7b")
    closest = words(text[text.index('id="closest"') : text.index('id="excluded"')])
    assert "near Model size model size 7B is outside supported range (-inf, 1B]" in closest
    assert "far" not in closest


def test_a_model_from_files_is_nobodys_mistake(client: Client, fleet: Cluster) -> None:
    text = words(page(client, "from-file"))
    assert "It can't be matched yet: it has no modelFormat.name ." in text
    assert "OME's model agent reads the downloaded config.json" in text
    assert "nobody's mistake" in text
    assert "invalid model specification: modelFormat.name: model format name is required" in text


def test_when_nothing_qualifies_it_says_what_ome_says(client: Client, fleet: Cluster) -> None:
    text = words(page(client, "nobody-serves"))
    assert "No runtime qualifies among the cluster's" in text
    apps = words(page(client, "nobody-serves", query="?namespace=apps"))
    assert "no runtime found to support model safetensors with format safetensors in namespace apps." in apps


def test_a_sharded_model_says_that_nothing_helps_yet(client: Client, db: None) -> None:
    load([model("huge", distribution="Sharded"), runtime("small")])
    text = page(client, "huge")
    assert "OME has no model cache provider for sharded loading yet" in text
    assert 'id="closest"' not in text


def test_a_disabled_model_says_that_its_services_are_refused(client: Client, db: None) -> None:
    load([runtime("small"), model("off", disabled=True)])
    assert "model off is disabled" in words(page(client, "off"))


def test_an_unreadable_model_says_where(client: Client, db: None) -> None:
    load([model("broken", modelFormat="safetensors")])
    text = words(page(client, "broken"))
    assert "It can't be read" in text
    assert "spec.modelFormat" in text


@pytest.mark.parametrize("address", ["lab/-/llama-8b", "lab/apps/llama-7b", "other/-/llama-7b"])
def test_an_unknown_model_is_404_and_names_near_ones(client: Client, fleet: Cluster, address: str) -> None:
    response = client.get(f"/models/{address}/")
    assert response.status_code == 404
    assert "/llama-7b/" in response.content.decode()


@pytest.mark.parametrize("address", ["models/lab/-/{}/", "compare/models/?q={}"])
def test_a_name_that_is_longer_than_a_database_takes_is_like_no_other(
    client: Client, fleet: Cluster, address: str
) -> None:
    response = client.get("/" + address.format("a" * 60_000))
    assert response.status_code == (404 if address.startswith("models") else 200)
    assert "llama-7b" not in response.content.decode()


def test_it_lists_and_exports_the_services_that_use_it(client: Client, fleet: Cluster) -> None:
    assert "/services/lab/apps/heir-user/" in page(client, "llama-7b")
    response = client.get("/models/lab/-/llama-7b/?format=json&named=true&namespace=team")
    assert isinstance(response, StreamingHttpResponse)
    assert [row["name"] for row in json.loads(response.getvalue())] == ["by-its-name", "heir-user", "orphaned"]


def test_hostile_values_are_escaped(client: Client, db: None) -> None:
    hostile = model("bad", modelArchitecture=HOSTILE, modelFormat={"name": HOSTILE}, quantization=HOSTILE)
    load([runtime("small"), hostile, service("chat", "apps", "bad")])
    assert HOSTILE not in page(client, "bad")
    assert HOSTILE not in page(client, "bad", query=f"?namespace={HOSTILE}")


def test_the_number_of_queries_is_the_same_for_many_runtimes(
    client: Client, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    load([model("llama-7b"), *(runtime(f"r{number:03}") for number in range(80))])
    page(client, "llama-7b")
    with django_assert_max_num_queries(12 + 2):  # the discussion: what was said, and what was done
        text = page(client, "llama-7b")
    assert "And 30 more that qualify." in text


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/models/lab/-/llama-7b/").status_code == 302


def test_it_says_whose_rules_judged(client: Client, fleet: Cluster) -> None:
    assert "Judged by OME v1.3 set by hand" in words(page(client, "llama-7b"))


def test_the_ranking_says_how_many_services_get_each_runtime(client: Client, db: None) -> None:
    load(
        [
            model("m"),
            runtime("first", entry={"priority": 3}),
            runtime("second"),
            runtime("by-name", entry={"autoSelect": False}),
            service("a", "apps", "m"),
            service("b", "apps", "m"),
            service("c", "apps", "m", "second"),
            service("d", "apps", "m", "by-name"),
        ]
    )
    content = page(client, "m")
    ranking = content.partition('id="ranking"')[2].partition('id="excluded"')[0]
    assert re.findall(r'data-label="Services">(?:<span class="muted">)?(\d+)', ranking) == ["2", "1"]
    assert "services of this model also get by-name (1)." in text_of(client.get("/models/lab/-/m/"))


def test_the_same_model_of_other_clusters_is_named(client: Client, db: None) -> None:
    load([model("m"), model("m", "apps", modelParameterSize="70B"), runtime("first")])
    load([model("m", modelParameterSize="8B"), runtime("other")], name="prod")
    response = client.get("/models/lab/-/m/")
    text = text_of(response).partition("The same name elsewhere")[2]
    assert text.index("prod") < text.index("lab"), "the other cluster first"
    assert "8B1other" in text
    assert 'href="/compare/models/?a=lab%2F-%2Fm&amp;b=prod%2F-%2Fm"' in response.content.decode()
