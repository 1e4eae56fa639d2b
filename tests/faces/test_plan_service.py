"""The page of a service's plan."""

from __future__ import annotations

import html
import json
import re
import shlex

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.store.models import Cluster
from tests.faces.small_fleet import HOSTILE, MODE, load, runtime, service, small_fleet

pytestmark = pytest.mark.django_db

LONG = "/migration/services/lab/apps/long/"
GPUS = {"resources": {"limits": {"nvidia.com/gpu": 8}}}


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return response.content.decode()


def text_of(part: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split())


def lead(text: str) -> str:
    found = re.search(r'<p class="lead">(.*?)</p>', text, re.DOTALL)
    assert found is not None
    return text_of(found.group(1))


def codes(text: str) -> list[str]:
    return [html.unescape(each) for each in re.findall(r"<code[^>]*>(kubectl .*?)</code>", text, re.DOTALL)]


def steps(text: str) -> list[str]:
    found = re.search(r'<ol class="steps plan-steps">(.*?)</ol>', text, re.DOTALL)
    return [text_of(each) for each in re.findall(r"<h3>(.*?)</h3>", found.group(1))] if found else []


CREATE, LEADERS, MOVE, FREE, WAIT, DELETE = (
    "Create the runtime's copy",
    "Have requests go to leaders alone",
    "Move the service",
    "Free accelerators, if need be",
    "Wait",
    "Delete what is left",
)

#: A service of the demo fleet for each state, what its page must say first, and its steps. Reasoned from OME's guide.
DEMO = {
    "eu-prod/frontier/research-chat": ("Ready: 4 steps", [MOVE, FREE, WAIT, DELETE]),
    "eu-prod/frontier/reasoning-lowmem": ("Ready: 4 steps", [MOVE, FREE, WAIT, DELETE]),
    "eu-prod/frontier/disagg-mixed": ("Ready: 4 steps", [MOVE, FREE, WAIT, DELETE]),
    "eu-prod/frontier/aurora-long": ("It serves nothing now", [CREATE, MOVE, WAIT]),
    "eu-prod/frontier/typo-chat": ("It serves nothing now", [MOVE, FREE, WAIT, DELETE]),
    "eu-prod/frontier/research-archive": ("Ready: 4 steps", [MOVE, FREE, WAIT, DELETE]),
    "eu-prod/frontier/cirrus-long": ("The upgrade has moved it. 4 steps finish it", [LEADERS, FREE, WAIT, DELETE]),
    "eu-prod/frontier/research-chat-next": ("It has moved. What is left is to delete the old workload", [WAIT, DELETE]),
    "eu-prod/frontier/disagg-chat-next": ("It has moved. What is left is to delete the old workload", [WAIT, DELETE]),
    "us-lab/evals/lite-chat": ("The plan is not ready. The cluster's OME is 1.2", None),
    "eu-prod/assistants/general-chat": ("Nothing to do: no engine or decoder runs MultiNode", []),
    "us-lab/sandbox/semantic-search": ("It gets no runtime", []),
}


def test_it_says_what_to_do_in_each_state_of_the_demo_fleet(client: Client) -> None:
    call_command("demo", verbosity=0)
    for path, (answer, purposes) in DEMO.items():
        text = page(client, f"/migration/services/{path}/")
        assert lead(text).startswith(answer), (path, lead(text))
        if purposes is not None:
            assert steps(text) == purposes, path


def test_a_plan_has_its_commands_its_patch_its_checks_and_the_way_back(client: Client, fleet: Cluster) -> None:
    text = page(client, LONG)
    commands = codes(text)
    patch = next(each for each in commands if each.startswith("kubectl patch inferenceservice.ome.io long -n apps"))
    body = json.loads(shlex.split(patch)[-1])
    assert body["spec"]["engine"]["annotations"] == {MODE: "OMENative"}
    assert body["spec"]["runtime"] == {"name": "multi-node-omenative"}
    shown = re.search(r'<pre class="scroll" tabindex="0">(\{.*?\})</pre>', text, re.DOTALL)
    assert shown is not None
    assert json.loads(html.unescape(shown.group(1))) == body
    assert "kubectl create -f multi-node-omenative.yaml" in commands
    assert any("kubectl delete leaderworkerset" in each for each in commands)
    assert "Then look" in text
    assert "The way back" in text
    assert "Outage begins" in text
    assert "Outage ends" in text


def test_a_plan_that_needs_a_person_first_says_so_and_leads_there(client: Client, fleet: Cluster) -> None:
    text = page(client, LONG)
    assert lead(text).startswith("The plan is not ready. 1 place of the runtime needs a person")
    assert 'href="/migration/runtimes/lab/-/multi-node/#references"' in text


def test_the_outcome_stands_before_and_after(client: Client, db: None) -> None:
    pods = {"name": "main", "args": ["$(LWS_GROUP_SIZE)"], **GPUS}
    config = {
        "annotations": {MODE: "MultiNode"},
        "leader": {"runner": pods},
        "worker": {"size": 1, "runner": pods},
    }
    load([*small_fleet(), runtime("two-node", engineConfig=config), service("pair", "apps", "llama-7b", "two-node")])
    text = page(client, "/migration/services/lab/apps/pair/")
    assert lead(text).startswith("Ready: 5 steps")
    rows = dict(re.findall(r'<tr class="(same|different)"><th scope="row">.*?([A-Z][^<>]*)</th>', text))
    assert rows
    table = text_of(text[text.index('id="outcome"') : text.index('id="accelerators"')])
    assert "Engine runs in MultiNode" in table
    assert "OMENative the component's annotation" in table
    assert "two-node two-node-omenative the copy" in table
    assert "The new pods need 16 nvidia.com/gpu" in text_of(text)
    assert "/runtimes/lab/-/two-node-omenative/" not in text, "the copy has no page yet"


def test_the_plan_is_sent_as_markdown_yaml_and_json(client: Client, fleet: Cluster) -> None:
    markdown = client.get(f"{LONG}?format=markdown")
    assert markdown["Content-Type"] == "text/markdown; charset=utf-8"
    assert markdown["Content-Disposition"] == 'attachment; filename="plan-apps-long.md"'
    told = markdown.content.decode()
    assert told.startswith("# Move `apps/long` off MultiNode in cluster `lab`")
    assert "kubectl patch inferenceservice.ome.io long" in told
    copy = client.get(f"{LONG}?format=yaml")
    assert copy["Content-Disposition"] == 'attachment; filename="multi-node-omenative.yaml"'
    assert "name: multi-node-omenative" in copy.content.decode()
    value = json.loads(client.get(f"{LONG}?format=json").content)
    assert value["service"]["name"] == "long"
    assert [step["purpose"] for step in value["steps"]] == [
        "create-runtime",
        "move",
        "free-accelerators",
        "wait",
        "delete-leftovers",
    ]


def test_a_service_that_needs_no_copy_has_none_to_download(client: Client, fleet: Cluster) -> None:
    response = client.get("/migration/services/lab/apps/chat/?format=yaml")
    assert response["Content-Type"].startswith("text/html")


def test_a_service_that_cannot_be_read_says_so(client: Client, fleet: Cluster) -> None:
    text = page(client, "/migration/services/lab/apps/broken/")
    assert lead(text).startswith("It can't be read")
    assert HOSTILE not in text


@pytest.mark.parametrize("path", ["lab/apps/gone", "nowhere/apps/long", "lab/other/long"])
def test_a_service_that_is_not_there_is_not_found(client: Client, fleet: Cluster, path: str) -> None:
    assert client.get(f"/migration/services/{path}/").status_code == 404


def test_the_next_step_stands_on_the_pages_of_service_runtime_and_model(client: Client, fleet: Cluster) -> None:
    assert LONG in page(client, "/services/lab/apps/long/")
    assert "next-move" not in page(client, "/services/lab/apps/chat/")
    assert "/migration/runtimes/lab/-/multi-node/" in page(client, "/runtimes/lab/-/multi-node/")
    assert "next-move" not in page(client, "/runtimes/lab/-/small/")
    hint = "/migration/?cluster=lab&amp;model=llama-70b"
    text = page(client, "/models/lab/-/llama-70b/")
    assert hint in text
    assert "3 of its services are on MultiNode or on the way from it." in text_of(text)
    assert page(client, html.unescape(hint)).count("Its steps") == 3
    assert "next-move" not in page(client, "/models/lab/-/nobody-serves/")


def test_the_number_of_queries_does_not_grow(
    client: Client, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    many = [service(f"long-{number}", "apps", "llama-70b", "multi-node") for number in range(30)]
    load([*small_fleet(), *many])
    page(client, LONG)
    with django_assert_max_num_queries(7):
        page(client, LONG)
    text = text_of(page(client, LONG))
    assert "32 other services wait on the same runtime" in text
    assert text.count("wait on") == 1


def test_the_class_that_a_service_names_is_shown_with_what_it_asks_for(client: Client, db: None) -> None:
    pods = {"leader": {"runner": {"name": "main", **GPUS}}, "worker": {"runner": {"name": "main", **GPUS}}}
    listed = runtime("listed", engineConfig=pods, acceleratorRequirements={"acceleratorClasses": ["h100"]})
    asks = service("asks", "apps", "llama-70b", "listed", "MultiNode", acceleratorSelector={"acceleratorClass": "h100"})
    resources = [{"name": "nvidia.com/gpu", "quantity": "2"}]
    h100 = {"kind": "AcceleratorClass", "metadata": {"name": "h100"}, "spec": {"resources": resources}}
    load([*small_fleet(), listed, asks, h100])
    told = text_of(page(client, LONG.replace("/long/", "/asks/")))
    assert "The new pods need 4 nvidia.com/gpu" in told
    assert "4 nvidia.com/gpu AcceleratorClass h100" in told


def test_each_form_counts_the_same_services_that_wait(client: Client, db: None) -> None:
    by_name = [service(f"long-{number}", "apps", "llama-70b", "multi-node") for number in range(3)]
    load([*small_fleet(), *by_name])
    told = json.loads(page(client, f"{LONG}?format=json"))["risks"]
    (count,) = [each["facts"]["services"] for each in told if each["code"] == "shared-runtime"]
    assert f"{count - 1} other services wait on the same runtime" in text_of(page(client, LONG))
    assert f"{count} services wait on this runtime" in page(client, f"{LONG}?format=markdown")
    waiting = page(client, "/migration/runtimes/lab/-/multi-node/")
    assert f'Services that wait on it <span class="aside">{count}</span>' in waiting


def test_before_the_upgrade_the_steps_are_for_afterwards_and_it_says_what_the_upgrade_does(
    client: Client, db: None
) -> None:
    shaped = service("shaped", "apps", "llama-70b", "plain", engine={"leader": {}, "worker": {}})
    load([*small_fleet(), runtime("plain"), shaped], ome_version="1.2")
    text = page(client, LONG.replace("/long/", "/shaped/"))
    told = text_of(text)
    assert lead(text).startswith("The plan is not ready. The cluster's OME is 1.2, and OMENative comes with 1.3")
    assert (
        "The upgrade itself moves engine at once, unless it is pinned before. See what it changes, and the pins."
        in told
    )
    assert '<a href="/upgrade/?cluster=lab">' in text
    assert "after the upgrade to 1.3" in told
    assert "After the upgrade and the last step" in told
    assert "What comes of it: OME v1.3 asked for" in told
    markdown = page(client, LONG.replace("/long/", "/shaped/") + "?format=markdown")
    assert "After the upgrade to 1.3: `named ClusterServingRuntime" in markdown


def test_what_the_upgrade_moved_keeps_its_pods_and_only_stops_sending_requests_to_workers(
    client: Client, db: None
) -> None:
    labels = {"ome.io/inferenceservice": "shaped", "component": "engine", "serving-runtime": "shaped"}
    workloads = [
        {"kind": kind, "metadata": {"name": name, "namespace": "apps", "labels": labels}}
        for kind, name in (("LeaderWorkerSet", "lws-shaped-engine"), ("InferenceReplica", "shaped-engine"))
    ]
    load(
        [
            *small_fleet(),
            runtime("shaped", engineConfig={"leader": {}, "worker": {}}),
            service("shaped", "apps", "llama-70b", "shaped"),
            *workloads,
        ]
    )
    text = page(client, LONG.replace("/long/", "/shaped/"))
    assert lead(text).startswith("The upgrade has moved it. 4 steps finish it")
    assert steps(text) == [LEADERS, FREE, WAIT, DELETE]
    assert "Neither pods nor replicas change." in text_of(text)
    assert "What serves goes on serving." in text_of(text)
    assert "maxReplicas" not in text


def test_a_half_that_runs_omenative_has_its_pods_replaced_while_the_other_stops(client: Client, db: None) -> None:
    both = runtime("halves", engineConfig={"leader": {}, "worker": {}}, decoderConfig={"leader": {}, "worker": {}})
    half = service("half", "apps", "llama-70b", "halves", decoder={"annotations": {MODE: "MultiNode"}})
    labels = {"ome.io/inferenceservice": "half", "component": "engine", "serving-runtime": "halves"}
    replica = {"kind": "InferenceReplica", "metadata": {"name": "half-engine", "namespace": "apps", "labels": labels}}
    load([*small_fleet(), both, half, replica])
    told = text_of(page(client, LONG.replace("/long/", "/half/")))
    assert "From here decoder serves nothing, until the new pods are ready. The pods of engine are replaced" in told
    assert "The engine runs OMENative already." in told


def test_the_way_back_tells_what_it_can_not_bring_back(client: Client, db: None) -> None:
    pinned = service("pinned", "apps", "llama-70b", "multi-node")
    pinned["spec"]["runtime"]["autoSync"] = False
    load([*small_fleet(), pinned])
    path = LONG.replace("/long/", "/pinned/")
    assert "Back again it follows multi-node as it is by then" in text_of(page(client, path))
    assert "Back again" not in page(client, LONG)


def test_it_requires_signing_in_on_a_server(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get(LONG).status_code == 302
