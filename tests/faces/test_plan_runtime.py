"""The page of a runtime's copy for OMENative."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
import yaml
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.rules.references import find_references
from selection.store.models import Cluster
from tests.faces.small_fleet import HOSTILE, MODE, load, model, runtime, service, small_fleet
from tests.faces.test_plan_service import lead, page, text_of

pytestmark = pytest.mark.django_db

LEANS = {"leader": {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}, "worker": {"size": 1}}


def plan_of(name: str) -> str:
    return f"/migration/runtimes/lab/-/{name}/"


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load([*small_fleet(), runtime("leans", engineConfig=LEANS), service("user", "apps", "llama-7b", "leans")])


def test_a_runtime_with_places_for_a_person_says_how_many(client: Client, fleet: Cluster) -> None:
    text = page(client, plan_of("multi-node"))
    assert lead(text).startswith("It needs a copy, and a person for 1 place that no rule can mend; 3 services wait")
    assert "spec.engineConfig.worker.initContainers[0].command[1]" in text
    assert "1 LeaderWorkerSet reference stays in it" in text_of(text)


def test_a_copy_that_is_ready_is_shown_as_difference_and_as_a_whole(client: Client, fleet: Cluster) -> None:
    text = page(client, plan_of("leans"))
    assert lead(text) == "It needs a copy, leans-omenative, which is ready to apply; 1 service waits for it."
    assert '<span class="del"><b class="visually-hidden">removed: </b>-' in text
    assert '<span class="add"><b class="visually-hidden">added: </b>+' in text
    changes = text_of(text[text.index('id="changes"') : text.index('id="difference"')])
    assert (
        "--nnodes=$(LWS_GROUP_SIZE) --nnodes=$(OME_INSTANCE_POD_COUNT) OMENative has it under another name." in changes
    )
    assert "A copy needs a name of its own." in changes
    whole = re.search(r'<pre class="scroll" tabindex="0">(apiVersion.*?)</pre>', text, re.DOTALL)
    assert whole is not None
    assert find_references(yaml.safe_load(html.unescape(whole.group(1)))["spec"]) == ()
    assert "Automatic selection passes it over (autoSelect)" in text_of(text)
    assert "No LeaderWorkerSet reference is left in it." in text


def test_the_copy_is_downloaded_as_it_is_shown(client: Client, fleet: Cluster) -> None:
    response = client.get(f"{plan_of('leans')}?format=yaml")
    assert response["Content-Type"] == "application/yaml"
    assert response["Content-Disposition"] == 'attachment; filename="leans-omenative.yaml"'
    copy = yaml.safe_load(response.content)
    assert copy["metadata"] == {"name": "leans-omenative"}
    assert copy["spec"]["engineConfig"]["leader"]["runner"]["args"] == ["--nnodes=$(OME_INSTANCE_POD_COUNT)"]
    markdown = client.get(f"{plan_of('leans')}?format=markdown").content.decode()
    assert markdown.startswith("# ClusterServingRuntime `leans` in cluster `lab`")
    value = json.loads(client.get(f"{plan_of('leans')}?format=json").content)
    assert value["copy"]["name"] == "leans-omenative"
    assert value["manifest"] == copy


def test_it_leads_to_the_plans_of_those_that_wait(client: Client, fleet: Cluster) -> None:
    assert "/migration/services/lab/apps/user/" in page(client, plan_of("leans"))


def test_a_copy_that_is_there_already_is_named(client: Client, db: None) -> None:
    args = {
        "leader": {"runner": {"name": "main", "args": ["--nnodes=$(OME_INSTANCE_POD_COUNT)"]}},
        "worker": {"size": 1},
    }
    copy = runtime("leans-omenative", engineConfig=args, entry={"autoSelect": False})
    load([runtime("leans", engineConfig=LEANS), copy])
    assert lead(page(client, plan_of("leans"))).startswith("Its copy leans-omenative is there already.")


def test_a_copy_that_a_person_finished_is_judged_as_it_is(client: Client, db: None) -> None:
    def pods(variable: str, waits_for: str) -> dict[str, Any]:
        runner = {"name": "main", "args": [f"--nnodes={variable}"]}
        init = {"name": "wait", "args": [waits_for]}
        return {"leader": {"runner": runner}, "worker": {"size": 1, "runner": runner, "initContainers": [init]}}

    own = runtime("leans", engineConfig=pods("$(LWS_GROUP_SIZE)", "$(LWS_LEADER_ADDRESS)"))
    done = pods("$(OME_INSTANCE_POD_COUNT)", "the-leader")
    load([own, runtime("leans-omenative", engineConfig=done, entry={"autoSelect": False}), model("llama-7b")])
    text = page(client, plan_of("leans"))
    assert lead(text).startswith("Its copy leans-omenative is there already.")
    assert "before what a person had to rework" in text
    assert "No LeaderWorkerSet reference is left in it." in text
    assert "Automatic selection passes it over" in text


def test_a_runtime_that_only_says_multi_node_gets_a_copy_without_it(client: Client, db: None) -> None:
    load([runtime("says", engineConfig={"annotations": {MODE: "MultiNode"}})])
    text = page(client, plan_of("says"))
    assert lead(text) == "It needs a copy, says-omenative, which is ready to apply."
    assert "The copy is for OMENative." in text


def test_a_runtime_that_works_as_it_is_gets_no_copy(client: Client, fleet: Cluster) -> None:
    text = page(client, plan_of("small"))
    assert lead(text).startswith("It needs no copy")
    assert 'id="copy"' not in text
    assert client.get(f"{plan_of('small')}?format=yaml")["Content-Type"].startswith("text/html")


def test_a_parent_that_several_inherit_from_is_copied_once(client: Client, db: None) -> None:
    heir = {"ome.io/inherit-from": "parent"}
    load(
        [
            runtime("parent", engineConfig=LEANS),
            runtime("one", annotations=heir, entry={"autoSelect": False}),
            runtime("other", annotations=heir, entry={"autoSelect": False}),
        ]
    )
    text = page(client, plan_of("one"))
    assert "Copy the parent, too" in text
    assert "/migration/runtimes/lab/-/other/" in text
    sent = client.get(f"{plan_of('one')}?format=yaml&layers=2").content
    above, below = yaml.safe_load_all(sent)
    assert above["metadata"]["name"] == "parent-omenative"
    assert below["metadata"]["annotations"] == {"ome.io/inherit-from": "parent-omenative"}


def test_a_secret_that_was_replaced_keeps_the_copy_from_being_ready(client: Client, db: None) -> None:
    secret = {"name": "API_TOKEN", "value": "hunter2-hunter2"}
    config = {"runner": {"name": "main", "args": ["$(LWS_GROUP_SIZE)"], "env": [secret]}}
    load([runtime("hides", engineConfig=config)])
    text = page(client, plan_of("hides"))
    assert lead(text) == "It needs a copy, and the copy isn't ready."
    assert "take the copy from the runtime's own file" in text
    assert "hunter2" not in text


def test_a_runtime_that_cannot_be_read_says_where(client: Client, fleet: Cluster) -> None:
    assert lead(page(client, plan_of("unreadable"))).startswith("It can't be read: spec.supportedModelFormats")


def test_what_an_object_says_is_escaped(client: Client, db: None) -> None:
    config = {"runner": {"name": HOSTILE, "args": [f"$(LWS_GROUP_SIZE) {HOSTILE}"]}}
    load([runtime("hostile", engineConfig=config)])
    assert HOSTILE not in page(client, plan_of("hostile"))


@pytest.mark.parametrize("path", ["lab/-/gone", "nowhere/-/leans", "lab/apps/leans"])
def test_a_runtime_that_is_not_there_is_not_found(client: Client, fleet: Cluster, path: str) -> None:
    assert client.get(f"/migration/runtimes/{path}/").status_code == 404


def test_the_number_of_queries_does_not_grow(
    client: Client, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    many = [service(f"user-{number}", "apps", "llama-7b", "leans") for number in range(130)]
    load([runtime("leans", engineConfig=LEANS), *[each for each in small_fleet() if "Model" in each["kind"]], *many])
    page(client, plan_of("leans"))
    with django_assert_max_num_queries(8):
        text = page(client, plan_of("leans"))
    assert "100 of 130" in text_of(text)


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get(plan_of("leans")).status_code == 302
