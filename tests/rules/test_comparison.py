"""Two states side by side: the objects that differ, and every service whose answer does."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given

from selection.rules.comparison import Comparison, State, compare_states
from selection.rules.explain import explain_service
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_2, V1_3, Semantics
from selection.rules.what_if_changes import standing_of

from .fleets_more import holds, rich_fleets
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, moded

FAST = ObjectRef("ClusterServingRuntime", "", "fast")
CHAT = ObjectRef("InferenceService", "team", "chat")


def state(objects: Iterable[Manifest], semantics: Semantics = V1_3) -> State:
    return State({ref_of(each): each for each in objects}, semantics)


def compared(before: Iterable[Manifest], after: Iterable[Manifest]) -> Comparison:
    return compare_states(state(before), state(after))


def standings(fleet: Fleet) -> dict[ObjectRef, object]:
    keys = fleet.services.keys() | {
        (ref.namespace, ref.name) for ref in fleet.problems if ref.kind == "InferenceService"
    }
    return {ObjectRef("InferenceService", *key): standing_of(explain_service(fleet, *key, brief=True)) for key in keys}


def test_a_priority_that_moves_a_service_is_told_with_its_field() -> None:
    slow = a_runtime("slow", None, an_entry(priority=3))
    found = compared([a_model(), a_runtime("fast"), a_service()], [a_model(), a_runtime("fast"), slow, a_service()])
    assert [(each.object.name, each.act) for each in found.objects] == [("slow", "added")]
    (row,) = found.services
    assert row.service == CHAT
    assert [change.code for change in row.changes] == ["another-runtime"]
    assert row.reached_by == (ObjectRef("ClusterServingRuntime", "", "slow"),)
    assert found.tendencies == {"worse": 0, "different": 1, "better": 0}
    assert found.counts == {"another-runtime": 1}


def test_a_deleted_runtime_takes_its_services_along() -> None:
    found = compared([a_model(), a_runtime("fast"), a_service()], [a_model(), a_service()])
    assert [(each.object, each.act) for each in found.objects] == [(FAST, "deleted")]
    assert "loses-runtime" in {change.code for row in found.services for change in row.changes}
    assert found.total == (1, 1)


def test_what_decides_nothing_is_no_difference() -> None:
    was = a_service()
    becomes = {**was, "metadata": {**was["metadata"], "resourceVersion": "9", "managedFields": []}}
    found = compared([a_model(), was], [a_model(), becomes])
    assert found.same
    assert found.to_dict()["services_changed"] == 0


def test_another_release_may_answer_otherwise_for_the_same_objects() -> None:
    # Only v1.3 has a mode for the whole service.
    runtime = a_runtime("fast", engineConfig=moded("MultiNode"))
    objects = [a_model(), runtime, a_service(deploymentMode="RawDeployment")]
    found = compare_states(state(objects, V1_2), state(objects, V1_3))
    assert found.versions == ("1.2", "1.3")
    assert found.objects == ()
    before, after = standings(read_fleet(objects, V1_2)), standings(read_fleet(objects, V1_3))
    assert {row.service for row in found.services} == {ref for ref in before if before[ref] != after[ref]} == {CHAT}


@holds(10)
@given(rich_fleets(), rich_fleets())
def test_it_tells_every_service_whose_answer_differs(one: list[Manifest], other: list[Manifest]) -> None:
    before, after = state(one), state(other)
    found = compare_states(before, after)
    first, second = (standings(read_fleet(each.manifests.values())) for each in (before, after))
    differing = {ref for ref in first.keys() | second.keys() if first.get(ref) != second.get(ref)}
    assert differing <= {row.service for row in found.services}
    assert all(row.before == first.get(row.service) and row.after == second.get(row.service) for row in found.services)
    assert found.total == (len(first), len(second))
