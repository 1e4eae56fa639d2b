"""What-if on what is stored: it agrees with a sync of the changed objects, and tells no secret and nothing unseen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selection.cluster.pasted import Told, read_pasted
from selection.rules.explain import explain_service
from selection.rules.objects import ObjectRef
from selection.rules.what_if_changes import standing_of
from selection.store.fleets import fleet_of
from selection.store.models import Cluster, ServiceResult, StoredObject
from selection.store.sight import Place, Sight, seeing
from selection.store.what_if import Supposed, suppose

from .builders import MODE, Manifest, manager, model, revision, runtime, service, sync, workload

pytestmark = pytest.mark.django_db

ML_CHAT = ObjectRef("InferenceService", "ml", "chat")
FAST = ObjectRef("ClusterServingRuntime", "", "fast")


def asked(cluster: Cluster | None, *manifests: Manifest, drop: tuple[ObjectRef, ...] = (), **options: Any) -> Supposed:
    return suppose(cluster, read_pasted("", manifests), drop, **options)


def stored_answers(cluster: Cluster) -> dict[str, Any]:
    """What the rows of the services say."""
    rows = ServiceResult.objects.filter(cluster=cluster)
    return {
        f"{row.namespace}/{row.name}": (
            row.outcome,
            row.selected_name,
            {name: each["running"]["mode"] for name, each in row.modes.items()},
            row.conflicts,
            row.admitted,
        )
        for row in rows
    }


def supposed_answers(supposed: Supposed) -> dict[str, Any]:
    """The same of the fleet that would be."""
    assert supposed.answer is not None
    after = supposed.answer.after
    found = {}
    for key in after.services:
        explanation = explain_service(after, *key, brief=True)
        found["/".join(key)] = (
            explanation.outcome,
            explanation.selected.ref.name if explanation.selected else "",
            {name: each.running.mode for name, each in explanation.modes.items()},
            sorted({conflict.code for conflict in explanation.conflicts}),
            explanation.admission.allowed,
        )
    return found


def test_it_says_what_a_sync_of_the_changed_objects_says() -> None:
    there = [model(), runtime("fast"), service("chat"), service("talk"), workload("Deployment", "chat", "chat")]
    cluster, _ = sync("lab", *there)
    new = [
        runtime("faster", "ml", engineConfig={"annotations": {MODE: "OMENative"}}),
        service("said", runtime={"name": "nowhere"}),
        service("chat", decoder={}),
    ]
    supposed = asked(cluster, *new, drop=(ObjectRef("InferenceService", "ml", "talk"),))
    told = supposed_answers(supposed)
    changed, _ = sync("lab", *there[:2], there[4], *new)
    assert told == stored_answers(changed)


def test_the_other_side_is_the_cluster_as_it_stands_and_nothing_is_stored() -> None:
    cluster, _ = sync("lab", model(), runtime("fast"), service("chat"))
    before = (cluster.generation, StoredObject.objects.count(), stored_answers(cluster))
    supposed = asked(cluster, drop=(FAST,))
    assert supposed.answer is not None
    assert supposed.answer.before is fleet_of(cluster)
    (row,) = supposed.answer.services
    assert row.before is not None
    assert (row.before.runtime, row.service) == (FAST, ML_CHAT)
    cluster.refresh_from_db()
    assert before == (cluster.generation, StoredObject.objects.count(), stored_answers(cluster))


def test_few_queries_and_none_once_the_cluster_is_in_memory(django_assert_num_queries: Any) -> None:
    cluster, _ = sync("lab", model(), runtime("fast"), service("chat"))
    fleet_of(cluster)
    with django_assert_num_queries(0):
        asked(cluster, service("talk"))


def test_on_nothing_what_is_given_is_all_there_is() -> None:
    supposed = asked(None, model(), runtime("fast"), service("chat"))
    assert supposed.answer is not None
    assert supposed.answer.total == (0, 1)
    (row,) = supposed.answer.services
    assert row.after is not None
    assert row.after.runtime == FAST
    assert supposed.answer.version == "1.3"


def test_on_nothing_the_release_is_the_one_asked_for_else_that_of_omes_own_deployment() -> None:
    old = manager("ghcr.io/x/ome-manager:v1.2.3")
    for given, version, told in (((), "1.2", "1.2"), ((old,), None, "1.2"), ((old,), "1.3", "1.3")):
        answer = asked(None, *given, service("chat"), version=version).answer
        assert answer is not None
        assert (answer.version, answer.given[0].object.kind) == (told, "InferenceService")


def test_a_cluster_is_judged_by_its_own_release_whatever_deployment_is_given() -> None:
    cluster, _ = sync("lab", model(), manager("ghcr.io/x/ome-manager:v1.2.3"))
    supposed = asked(cluster, manager("ghcr.io/x/ome-manager:v1.3.0"))
    assert supposed.answer is not None
    assert supposed.answer.version == "1.2"
    assert supposed.told == (Told("ome-manager", 1, ("Deployment ome/ome-controller-manager",)),)


def test_a_status_that_is_given_is_told_not_to_count() -> None:
    cluster, _ = sync("lab", model(), runtime("fast"))
    pinned = service("chat", status={"pinnedRevisionName": "cr-fast-00000000"})
    assert asked(cluster, pinned).told == (Told("status", 1, ("InferenceService ml/chat",)),)
    assert asked(None, pinned).told == ()


def test_what_isnt_there_to_be_deleted_is_told() -> None:
    cluster, _ = sync("lab", model())
    assert asked(cluster, drop=(ML_CHAT,)).told == (Told("not-there", 1, ("InferenceService ml/chat",)),)


def test_a_revision_outside_of_omes_namespace_isnt_read_as_no_sync_reads_it() -> None:
    cluster, _ = sync("lab", model(), runtime("fast"))
    kept = revision("cr-fast-0123abcd", {})
    elsewhere = {**kept, "metadata": {**kept["metadata"], "namespace": "ml"}}
    here, there = (asked(cluster, each).answer for each in (kept, elsewhere))
    assert here is not None
    assert there is not None
    assert (len(here.given), len(there.given)) == (1, 0)


# --- refused ------------------------------------------------------------------------------------------------


def test_an_input_that_is_refused_gives_no_answer() -> None:
    supposed = suppose(None, read_pasted("a: ["))
    assert supposed.answer is None
    assert [each.code for each in supposed.refusals] == ["document"]


def test_what_is_given_and_deleted_is_refused() -> None:
    (refusal,) = asked(None, service("chat"), drop=(ML_CHAT,)).refusals
    assert (refusal.code, str(refusal)) == ("twice", "object 1: InferenceService ml/chat is given and deleted")


def test_a_namespace_that_isnt_seen_is_refused_by_its_name_whether_it_is_there_or_not() -> None:
    cluster, _ = sync("lab", model(), runtime("fast"), service("chat", "ml"), service("plan", "hr"))
    some = Sight((Place(cluster.pk, cluster.name, frozenset({"ml"})),))
    with seeing(some):
        mine = asked(cluster, service("talk", "ml"), drop=(FAST,))
        others = asked(
            cluster, service("plan", "hr"), service("x", "nowhere"), drop=(ObjectRef("BaseModel", "hr", "a"),)
        )
    assert others.answer is None
    assert [str(each) for each in others.refusals] == [
        "object 1: you don't see the namespace hr of this cluster",
        "object 2: you don't see the namespace nowhere of this cluster",
        "you don't see the namespace hr of this cluster: BaseModel hr/a can't be deleted here",
    ]
    assert mine.answer is not None
    assert {row.service.namespace for row in mine.answer.services} == {"ml"}
    assert mine.answer.total == (1, 2)


# --- secrets ------------------------------------------------------------------------------------------------


def test_no_secret_of_the_input_is_in_anything_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    secret = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    runner = {"name": "ome-container", "image": "x", "env": [{"name": "HF_TOKEN", "value": secret}]}
    cluster, _ = sync("lab", model(), runtime("fast"), service("chat"))
    supposed = asked(
        cluster, runtime("fast", engineConfig={"runner": runner}), service("talk", engine={"runner": runner})
    )
    assert supposed.answer is not None
    everything = json.dumps([supposed.answer.to_dict(), supposed.manifests], default=str) + repr(supposed)
    assert secret not in everything
    assert "HF_TOKEN" in everything
    assert secret not in caplog.text


def test_a_manifest_given_as_it_is_stored_is_unchanged() -> None:
    runner = {"name": "ome-container", "image": "x", "env": [{"name": "HF_TOKEN", "value": "hf_secret_secret"}]}
    given = runtime("fast", engineConfig={"runner": runner})
    cluster, _ = sync("lab", model(), given, service("chat"))
    for manifest in (given, StoredObject.objects.get(cluster=cluster, name="fast").manifest):
        answer = asked(cluster, manifest).answer
        assert answer is not None
        assert [each.act for each in answer.given] == ["unchanged"]


def test_what_differs_is_told_before_and_after() -> None:
    cluster, _ = sync("lab", model(), runtime("fast"), service("chat"))
    answer = asked(cluster, drop=(FAST,)).answer
    assert answer is not None
    (row,) = answer.services
    explanation = answer.explain(ML_CHAT)
    assert explanation is not None
    assert row.after is not None
    assert row.after.outcome == standing_of(explanation).outcome == "no-runtime"
