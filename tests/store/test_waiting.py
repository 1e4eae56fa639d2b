"""Who waits for what on the way off MultiNode, as the database counts it and as the rules do."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from selection.rules.objects import ObjectRef
from selection.rules.planning import plan_services, services_on_the_way
from selection.store.fleets import fleet_of
from selection.store.lookup import manifests_of
from selection.store.waiting import waiting_counts, waiting_services
from tests.store.builders import MODE, Manifest, model, runtime, service, sync, workload

pytestmark = pytest.mark.django_db

OLD = {"annotations": {MODE: "MultiNode"}}


def _fleet() -> list[Manifest]:
    leaning = {"leader": {"runner": {"name": "main", "args": ["$(LWS_GROUP_SIZE)"]}}, "worker": {}}
    return [
        model(),
        runtime("first", engineConfig={**leaning, **OLD}),
        runtime("second", "ml", engineConfig=leaning),
        service("one", runtime={"name": "first"}),
        service("pair", runtime={"name": "first"}, engine=OLD, decoder=OLD),
        service("shaped", runtime={"name": "second", "kind": "ServingRuntime"}),
        service("plain", runtime={"name": "first"}, engine={"annotations": {MODE: "RawDeployment"}}),
        service("selected"),
        workload("LeaderWorkerSet", "lws-one-engine", "one", by="first"),
    ]


def test_the_database_counts_as_the_rules_do(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    cluster, _ = sync("lab", *_fleet())
    fleet = fleet_of(cluster)
    refs = services_on_the_way(fleet)
    manifests = manifests_of(cluster, [*refs, *(each.ref for each in fleet.runtimes.values())])
    asked = [each.ref for each in fleet.runtimes.values()]
    with django_assert_num_queries(1):
        counts = waiting_counts(cluster, asked)
    assert counts == {
        ObjectRef("ClusterServingRuntime", "", "first"): 2,
        ObjectRef("ServingRuntime", "ml", "second"): 2,
    }
    assert {ref: len(waiting_services(cluster, ref)) for ref in asked} == counts
    counted = plan_services(fleet, refs, manifests)
    told = plan_services(fleet, refs, manifests, waiting=lambda runtimes: waiting_counts(cluster, runtimes))
    assert [plan.to_dict() for plan in told] == [plan.to_dict() for plan in counted]
    assert any(note.code == "shared-runtime" for plan in told for note in plan.risks)


def test_nobody_waits_where_nothing_is_asked_for() -> None:
    cluster, _ = sync("lab", *_fleet())
    assert waiting_counts(cluster, []) == {}
