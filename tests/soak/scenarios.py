"""The scenarios. Each gives its numbers, and raises AssertionError where something doesn't hold.

They begin and end with a cluster that is followed and live, and compare the store with a fresh sync at the end.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from bench.measure import percentile
from tests.apiserver.crds import CUSTOM, definitions
from tests.soak.client import Client, Refused
from tests.soak.herd import Herd, Restless
from tests.soak.holds import changes_lead_to_what_is, equals_a_fresh_sync
from tests.soak.world import World, eventually
from tests.store.databases import OwnDatabase

__all__ = [
    "api_server_killed",
    "as_lines",
    "change_to_page",
    "database_gone",
    "definition_deleted",
    "first_sync",
    "killed_and_killed",
    "permissions_withdrawn",
    "storm",
    "two_processes",
]

Numbers = dict[str, float]
SETTLED = 120.0
"""Seconds that everything may take to be stored and judged after the last change."""


def settle(world: World, client: Client) -> float:
    """Wait until the last change is stored and judged; return the seconds it took.

    A service that is changed last tells: events of one kind come in order, and the others are compared afterwards.
    """
    began = time.monotonic()
    world.until_live(SETTLED)
    versions = {
        plural: _versions(client, plural)
        for plural in ("inferenceservices", "servingruntimes", "clusterservingruntimes")
    }
    kinds = {
        "inferenceservices": "InferenceService",
        "servingruntimes": "ServingRuntime",
        "clusterservingruntimes": "ClusterServingRuntime",
    }

    def stored() -> bool:
        return world.is_live() and all(_stored(world, kinds[plural]) == found for plural, found in versions.items())

    eventually(stored, "the store has what the cluster has", seconds=SETTLED)
    return time.monotonic() - began


def _versions(client: Client, plural: str) -> set[tuple[str, str, str]]:
    items = client.send("GET", f"/apis/ome.io/v1beta1/{plural}")["items"]
    return {
        (each["metadata"].get("namespace", ""), each["metadata"]["name"], each["metadata"]["resourceVersion"])
        for each in items
    }


def _stored(world: World, kind: str) -> set[tuple[str, str, str]]:
    query = f"SELECT namespace, name, resource_version FROM store_storedobject WHERE kind = '{kind}'"
    return {(namespace, name, version) for namespace, name, version in world.database.ask(query)}


def first_sync(world: World, objects: int, kubectl: Path, folder: Path) -> Numbers:
    """The first sync of a cluster in a new process, against kubectl that lists the same objects."""
    config = world.server.kubeconfig(name="east")
    began = time.monotonic()
    for kind in (*(each.plural + "." + each.group for each in CUSTOM), "deployments.apps"):
        with (folder / "listed.json").open("wb") as out:
            subprocess.run(
                [kubectl, "--kubeconfig", config, "get", kind, "-A", "-o", "json"], stdout=out, check=True, timeout=300
            )
    listing = time.monotonic() - began
    began = time.monotonic()
    process = world.follow(kubeconfig=config)
    world.until_live(600)
    seconds = time.monotonic() - began
    stored = world.database.ask("SELECT count(*) FROM store_storedobject")[0][0]
    assert stored >= objects, f"{stored} of {objects} objects"
    return {
        "objects": stored,
        "kubectl_s": listing,
        "first_sync_s": seconds,
        "times_kubectl": seconds / listing,
        "memory_mb": process.memory(),
    }


def change_to_page(world: World, herd: Herd, client: Client, *, changes: int) -> Numbers:
    """From the answer of the API server to a change, to the page that shows it."""
    took = []
    for number in range(changes):
        service = herd.dice.choice(herd.services)
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        mark = f"absent-{number}"
        client.patch(service, {"spec": {"runtime": {"name": mark, "kind": "ClusterServingRuntime"}}})
        began = time.monotonic()
        shown = partial(_shows, world, f"/services/east/{namespace}/{name}/", mark)
        listed = partial(_shows, world, f"/services/?cluster=east&q={name}&outcome=no-runtime&format=json", name)
        eventually(shown, "it is on the page", seconds=30, pause=0.02)
        eventually(listed, "it is in the list", seconds=30, pause=0.02)
        took.append(time.monotonic() - began)
        time.sleep(herd.dice.random() * 0.2)
    return {
        "changes": changes,
        "p50_s": percentile(took, 50),
        "p95_s": percentile(took, 95),
        "most_s": max(took),
    }


def _shows(world: World, path: str, text: str) -> bool:
    return text.encode() in world.get(path).data


def _claimed_since(world: World, before: tuple[object, ...] | None) -> bool:
    return world.cluster("claim") != before


def killed_and_killed(
    world: World, herd: Herd, client: Client, other: OwnDatabase, *, times: int, per_second: float = 30.0
) -> Numbers:
    """SIGKILL the process that follows, at moments drawn by lot, while objects change."""
    dice = random.Random(times)
    restless = Restless(herd, client, per_second=per_second)
    restless.start()
    for _ in range(times):
        before = world.cluster("claim")
        process = world.follow()
        # Not before it has begun: there is nothing to break in a process that only starts.
        eventually(partial(_claimed_since, world, before), "the cluster is claimed")
        time.sleep(dice.uniform(0.0, 3.0))
        assert process.popen.poll() is None, process.words()[-2000:]
        process.kill()
    world.follow()
    changes = restless.stop()
    settled = settle(world, client)
    return {
        "kills": times,
        "objects_changed": changes,
        "settled_s": settled,
        "recorded": changes_lead_to_what_is(world),
        "rows_compared": equals_a_fresh_sync(world, other),
    }


def api_server_killed(world: World, herd: Herd, client: Client, other: OwnDatabase, *, times: int) -> Numbers:
    """SIGKILL the API server while objects change; it comes back on the same data."""
    dice = random.Random(times)
    process = world.follow()
    world.until_live()
    restless = Restless(herd, client, per_second=30)
    restless.start()
    try:
        for _ in range(times):
            time.sleep(dice.uniform(0.5, 4.0))
            world.server.stop()
            time.sleep(dice.uniform(0.0, 2.0))
            world.server.start()
    finally:
        changes = restless.stop()
    settled = settle(world, client)
    assert process.popen.poll() is None, process.words()[-2000:]
    return {
        "kills": times,
        "objects_changed": changes,
        "settled_s": settled,
        "recorded": changes_lead_to_what_is(world),
        "rows_compared": equals_a_fresh_sync(world, other),
    }


def permissions_withdrawn(world: World, herd: Herd, client: Client, other: OwnDatabase) -> Numbers:
    """The right to read services is taken away and given back: what was stored stays meanwhile."""
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    few = [{"apiGroups": ["*"], "resources": ["servingruntimes", "basemodels"], "verbs": ["get", "list", "watch"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}
    binding = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"kind": "User", "name": "restricted", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    world.server.apply({**role, "rules": rules})
    world.server.apply(binding)
    config = world.server.kubeconfig(token=world.server.tokens["restricted"], name="east")
    world.follow(kubeconfig=config)
    world.until_live()
    before = world.database.ask("SELECT count(*) FROM store_storedobject WHERE kind = 'InferenceService'")[0][0]
    world.server.apply({**role, "rules": few})
    # A watch that is open goes on; the server asks anew for rights when it ends, so it is ended here.
    world.server.stop()
    world.server.start()
    query = "SELECT outcome FROM store_kindsync WHERE kind = 'InferenceService'"
    noticed = eventually(lambda: world.database.ask(query) == [("forbidden",)], "it is told that reading is forbidden")
    after = world.database.ask("SELECT count(*) FROM store_storedobject WHERE kind = 'InferenceService'")[0][0]
    assert after == before, f"{after} services of {before} are left"
    for _ in range(20):
        with suppress(Refused):  # a service whose deletion was done and not answered, when an API server was killed
            herd.ask_for_a_mode(client)
    world.server.apply({**role, "rules": rules})
    granted = settle(world, client)
    return {"noticed_s": noticed, "recovered_s": granted, "rows_compared": equals_a_fresh_sync(world, other)}


def definition_deleted(world: World, herd: Herd, client: Client, other: OwnDatabase) -> Numbers:
    """A kind's CustomResourceDefinition is deleted, its objects with it, and created again."""
    world.follow()
    world.until_live()
    name = "acceleratorclasses.ome.io"
    classes = [each for each in herd.everything if each["kind"] == "AcceleratorClass"]
    count = "SELECT count(*) FROM store_storedobject WHERE kind = 'AcceleratorClass'"
    assert world.database.ask(count)[0][0] == len(classes)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    client.send("DELETE", f"{path}/{name}")
    query = "SELECT outcome, object_count FROM store_kindsync WHERE kind = 'AcceleratorClass'"
    noticed = eventually(lambda: world.database.ask(query) == [("not-served", 0)], "it is told that it isn't served")
    assert world.database.ask(count)[0][0] == 0
    definition = next(each for each in definitions() if each["metadata"]["name"] == name)
    eventually(lambda: _accepted(lambda: client.send("POST", path, definition)), "it is defined again")
    eventually(lambda: _accepted(lambda: client.create(classes[0])), "it is served again")
    for each in classes[1:]:
        client.create(each)
    recovered = eventually(lambda: world.database.ask(count)[0][0] == len(classes), "its objects are there again")
    settle(world, client)
    return {"noticed_s": noticed, "recovered_s": recovered, "rows_compared": equals_a_fresh_sync(world, other)}


def database_gone(
    world: World,
    herd: Herd,
    client: Client,
    other: OwnDatabase,
    *,
    stop: Callable[[], None],
    start: Callable[[], None],
    seconds: float,
) -> Numbers:
    """The database goes away for a while, under the process that follows and under the web server."""
    process, web = world.follow(), world.serve()
    world.until_live()
    restless = Restless(herd, client, per_second=20)
    restless.start()
    time.sleep(1)
    stop()
    time.sleep(seconds / 2)
    assert world.get("/healthz").status == 200
    assert world.get("/readyz").status == 503
    time.sleep(seconds / 2)
    start()
    ready = eventually(lambda: world.get("/readyz").status == 200, "the web server is ready again", seconds=30)
    live = world.until_live()
    changes = restless.stop()
    settle(world, client)
    assert process.popen.poll() is None, process.words()[-2000:]
    assert web.popen.poll() is None, web.words()[-2000:]
    return {
        "gone_s": seconds,
        "ready_again_s": ready,
        "live_again_s": live,
        "objects_changed": changes,
        "recorded": changes_lead_to_what_is(world),
        "rows_compared": equals_a_fresh_sync(world, other),
    }


def _accepted(request: Callable[[], object]) -> bool:
    try:
        request()
    except Exception:
        return False
    return True


def storm(world: World, herd: Herd, client: Client, other: OwnDatabase, *, changes: int, seconds: float) -> Numbers:
    """Many changes in a short time: memory stays bounded, and everything is there soon after."""
    process = world.follow()
    world.until_live()
    before = most = process.memory()
    threads = 4
    several = [
        Restless(herd.part(number, threads), client, per_second=changes / seconds / threads)
        for number in range(threads)
    ]
    began = time.monotonic()
    for each in several:
        each.start()
    while sum(each.done for each in several) < changes:
        time.sleep(0.05)
        most = max(most, process.memory())
    done = sum(each.stop() for each in several)
    sent = time.monotonic() - began
    settled = settle(world, client)
    most = max(most, process.memory())
    return {
        "changes": done,
        "sent_in_s": sent,
        "settled_s": settled,
        "memory_before_mb": before,
        "memory_most_mb": most,
        "recorded": changes_lead_to_what_is(world),
        "rows_compared": equals_a_fresh_sync(world, other),
    }


def two_processes(world: World, herd: Herd, client: Client, other: OwnDatabase) -> Numbers:
    """Two processes follow one cluster; the one that holds it is killed and the other takes over."""
    first = world.follow()
    world.until_live()
    second = world.follow()
    time.sleep(3)
    holder = world.cluster("holder")
    restless = Restless(herd, client, per_second=30)
    restless.start()
    time.sleep(2)
    assert world.cluster("holder") == holder
    assert second.popen.poll() is None
    first.kill()
    took = eventually(
        lambda: world.cluster("holder") != holder and world.is_live(), "the other one takes over", seconds=30
    )
    changes = restless.stop()
    settle(world, client)
    return {
        "taken_over_s": took,
        "objects_changed": changes,
        "recorded": changes_lead_to_what_is(world),
        "rows_compared": equals_a_fresh_sync(world, other),
    }


def as_lines(numbers: Mapping[str, float]) -> str:
    """Numbers for a log."""
    return ", ".join(f"{name} {value:.2f}".removesuffix(".00") for name, value in numbers.items())
