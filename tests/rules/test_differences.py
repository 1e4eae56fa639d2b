"""What is told of two states of an object is what can decide something, and all of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.differences import LONGEST, Difference, differences
from selection.rules.fleet import Fleet, read_fleet

from .fleets import anything, broken_fleets
from .fleets_more import everything, holds, rich_fleets
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, deployed

REVISION: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {"name": "cr-fast-0123abcd", "namespace": "ome"},
    "data": {"spec": {"engineConfig": {"minReplicas": 1}}},
}
CLASS: Manifest = {"kind": "AcceleratorClass", "metadata": {"name": "h100"}, "spec": {"vendor": "x"}}
MANAGER: Manifest = {
    "kind": "Deployment",
    "metadata": {"name": "ome-controller-manager", "namespace": "ome"},
    "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "ome-manager:v1.2.0"}]}}},
}
EVERY = [a_model(), a_model("m", "team"), a_runtime(), a_service(), deployed("Deployment"), REVISION, CLASS, MANAGER]


def paths(before: Manifest | None, after: Manifest | None) -> list[str]:
    return [each.path for each in differences(before, after)]


def changed(manifest: Manifest, change: Callable[[Manifest], Any]) -> Manifest:
    new = copy.deepcopy(manifest)
    change(new)
    return new


def put(*keys: Any) -> Callable[[Manifest], Any]:
    """Set what the last of the keys leads to: ``put("spec", "disabled", True)``."""

    def change(manifest: Manifest) -> None:
        *way, last, value = keys
        place: Any = manifest
        for key in way:
            place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
        place[last] = value

    return change


# --- all of it ---------------------------------------------------------------------------------------


def told(fleet: Fleet) -> dict[str, Any]:
    """All that is told of a fleet, without the versions and foreign annotations that runtimes carry along."""
    found = everything(fleet)
    for runtime in found["runtimes"].values():
        del runtime["merged"]
    return found


def same(before: list[Manifest], after: list[Manifest]) -> bool:
    return repr(sorted(told(read_fleet(before)).items())) == repr(sorted(told(read_fleet(after)).items()))


@holds()
@given(broken_fleets())
def test_where_nothing_is_told_no_answer_differs(case: tuple[list[Manifest], int, Any]) -> None:
    fleet, position, new = case
    if not differences(fleet[position], new):
        assert same(fleet, [*fleet[:position], new, *fleet[position + 1 :]])


_texts = st.sampled_from(["True", "False", "RevisionMismatch", "SourceRuntimeMissing", "cr-a-0123abcd", ""])
_conditions = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["Ready", "Available", "RuntimeDrifted", "Progressing", "IngressReady"])},
        optional={"status": _texts, "reason": _texts, "message": st.text(max_size=3), "lastTransitionTime": _texts},
    ),
    max_size=3,
)
_statuses = st.fixed_dictionaries(
    {},
    optional={
        "conditions": st.one_of(_conditions, _conditions, _conditions, anything),
        "pinnedRevisionName": st.one_of(_texts, _texts, anything),
        "replicas": st.integers(),
        "components": anything,
    },
)
_keys = ["ome.io/deploymentMode", "ome.io/inherit-from", "ome.io/runtime-profile", "team", "deployment.kubernetes.io/x"]
_metadata = st.fixed_dictionaries(
    {},
    optional={
        "annotations": st.dictionaries(st.sampled_from(_keys), st.one_of(_texts, _texts, anything), max_size=2),
        "labels": st.fixed_dictionaries(
            {},
            optional={
                "ome.io/inferenceservice": st.sampled_from(["chat", "talk", ""]),
                "component": st.sampled_from(["engine", "decoder", ""]),
                "serving-runtime": st.sampled_from(["a", "b"]),
                "app": st.one_of(_texts, anything),
            },
        ),
        "resourceVersion": st.sampled_from(["1", "2"]),
        "generation": st.integers(0, 3),
        "managedFields": anything,
        "finalizers": anything,
    },
)


@holds()
@given(rich_fleets(most=3), st.data())
def test_where_nothing_is_told_no_answer_differs_whatever_the_rest_of_the_object_says(
    fleet: list[Manifest], data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(fleet) - 1))
    states = []
    for _ in range(2):
        state = copy.deepcopy(fleet[position])
        state["metadata"] |= data.draw(_metadata)
        if data.draw(st.booleans()):
            state["status"] = data.draw(st.one_of(_statuses, _statuses, _statuses, anything))
        states.append(state)
    if not differences(*states):
        fleets = [[*fleet[:position], state, *fleet[position + 1 :]] for state in states]
        assert same(*fleets)


_statuses_read = st.fixed_dictionaries(
    {},
    optional={
        "pinnedRevisionName": st.sampled_from(["cr-fast-0123abcd", "cr-x-0123abcd", ""]),
        "conditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["RuntimeDrifted", "RuntimeDrifted", "Ready"])},
                optional={
                    "status": st.sampled_from(["True", "True", "False"]),
                    "reason": st.sampled_from(["RevisionMismatch", "RuntimeMismatch", "SourceRuntimeMissing"]),
                },
            ),
            max_size=2,
        ),
    },
)


@pytest.mark.parametrize("pinned", [True, False])
@holds(2)
@given(before=_statuses_read, after=_statuses_read)
def test_where_nothing_is_told_of_pins_and_drift_no_answer_differs(pinned: bool, before: Any, after: Any) -> None:
    runtime = {"name": "fast", **({"autoSync": False} if pinned else {})}
    service = a_service(runtime=runtime, engine={"annotations": {"ome.io/deploymentMode": "OMENative"}})
    fleet = [a_model(), a_runtime(), REVISION, deployed("LeaderWorkerSet")]
    states = [{**service, "status": status} for status in (before, after)]
    if not differences(*states):
        assert same(*([*fleet, state] for state in states))


@holds(4)
@given(broken_fleets())
def test_both_ways_tell_the_same_fields_and_one_state_tells_none(case: tuple[list[Manifest], int, Any]) -> None:
    fleet, position, new = case
    old = fleet[position]
    assert differences(old, copy.deepcopy(old)) == differences(new, copy.deepcopy(new)) == ()
    there, back = differences(old, new), differences(new, old)
    assert {(each.path, each.before, each.after) for each in there} == {
        (each.path, each.after, each.before) for each in back
    }


@holds(4)
@given(broken_fleets())
def test_what_is_told_is_short_and_in_one_order(case: tuple[list[Manifest], int, Any]) -> None:
    fleet, position, new = case
    for before, after in ((fleet[position], new), (None, new), (new, None)):
        found = differences(before, after)
        assert found == differences(before, after)
        assert len({each.path for each in found}) == len(found)
        for each in found:
            assert len(each.before or "") <= LONGEST
            assert len(each.after or "") <= LONGEST


# --- what decides ------------------------------------------------------------------------------------

DECIDING: list[tuple[Manifest, Callable[[Manifest], Any], str]] = [
    (a_service(), put("spec", "engine", "runner", {"image": "x"}), "spec.engine.runner"),
    (
        a_service(),
        put("metadata", "annotations", {"ome.io/accelerator-class": "h100"}),
        'metadata.annotations["ome.io/',
    ),
    (a_service(), put("status", {"pinnedRevisionName": "cr-x-0123abcd"}), "status.pinnedRevisionName"),
    (
        a_service(status={"conditions": [{"type": "RuntimeDrifted", "status": "False", "reason": "InSync"}]}),
        put("status", "conditions", 0, "reason", "RevisionMismatch"),
        "status.conditions.RuntimeDrifted.reason",
    ),
    (a_runtime(), put("spec", "supportedModelFormats", 0, "priority", 2), "spec.supportedModelFormats[0].priority"),
    (a_runtime(), put("metadata", "annotations", {"ome.io/inherit-from": "x"}), 'metadata.annotations["ome.io/'),
    (a_model(), put("spec", "modelParameterSize", "7B"), "spec.modelParameterSize"),
    (deployed("Deployment"), put("metadata", "labels", "serving-runtime", "other"), "metadata.labels.serving-runtime"),
    (
        deployed("Deployment"),
        put("status", {"conditions": [{"type": "Available", "status": "True"}]}),
        "status.conditions.Available.status",
    ),
    (REVISION, put("data", "spec", "engineConfig", "minReplicas", 2), "data.spec.engineConfig.minReplicas"),
    (
        MANAGER,
        put("spec", "template", "spec", "containers", 0, "image", "ome-manager:v1.3.0"),
        "spec.template.spec.containers[0].image",
    ),
]


@pytest.mark.parametrize(("manifest", "change", "path"), DECIDING)
def test_a_deciding_field_is_told(manifest: Manifest, change: Callable[[Manifest], Any], path: str) -> None:
    [found] = paths(manifest, changed(manifest, change))
    assert found.startswith(path)


NOISE: list[Callable[[Manifest], Any]] = [
    put("metadata", "resourceVersion", "2"),
    put("metadata", "generation", 7),
    put("metadata", "uid", "x"),
    put("metadata", "managedFields", [{"manager": "kubectl"}]),
    put("metadata", "annotations", {"kubectl.kubernetes.io/last-applied-configuration": "{}"}),
    put("status", "observedGeneration", 7),
    put("status", "conditions", [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]),
]


@pytest.mark.parametrize("change", NOISE)
@pytest.mark.parametrize("manifest", EVERY, ids=lambda manifest: str(manifest["kind"]))
def test_what_decides_nothing_is_not_told(manifest: Manifest, change: Callable[[Manifest], Any]) -> None:
    assert differences(manifest, changed(manifest, change)) == ()


def test_what_a_workload_is_made_of_is_not_told() -> None:
    assert differences(deployed("Deployment"), changed(deployed("Deployment"), put("spec", {"replicas": 3}))) == ()
    assert differences(CLASS, changed(CLASS, put("spec", {}))) == ()


# --- objects that come and go ------------------------------------------------------------------------


def test_an_object_that_comes_differs_in_its_name_and_each_field_of_its_spec() -> None:
    manifest = a_service(model={"name": "llama"}, engine={}, deploymentMode="OMENative")
    found = differences(None, manifest)
    assert found[0] == Difference("metadata.name", None, '"chat"')
    assert {each.path for each in found[1:]} == {f"spec.{key}" for key in manifest["spec"]}
    assert Difference("spec.model", None, '{"name": "llama"}') in found
    assert [(each.path, each.after, each.before) for each in differences(manifest, None)] == [
        (each.path, each.before, each.after) for each in found
    ]


@pytest.mark.parametrize("manifest", EVERY, ids=lambda manifest: str(manifest["kind"]))
def test_every_object_of_ours_differs_from_nothing(manifest: Manifest) -> None:
    assert differences(None, manifest)
    assert differences(manifest, None)


def test_a_workload_of_nobody_decides_nothing() -> None:
    stray: Manifest = {"kind": "LeaderWorkerSet", "metadata": {"name": "x", "labels": {"app": "x"}}, "spec": {}}
    assert differences(None, stray) == differences(stray, None) == differences(None, None) == ()


# --- how it is told ----------------------------------------------------------------------------------


def test_an_item_put_into_a_list_is_one_difference() -> None:
    entries = [an_entry(priority=1), an_entry(priority=2)]
    one, other = a_runtime("fast", None, *entries), a_runtime("fast", None, an_entry(priority=9), *entries)
    [found] = differences(one, other)
    assert (found.path, found.before) == ("spec.supportedModelFormats[0]", None)
    [found] = differences(other, one)
    assert (found.path, found.after) == ("spec.supportedModelFormats[0]", None)


@pytest.mark.parametrize(("before", "after"), [(True, 1), (False, 0), (None, ""), ("1", 1), (None, {}), ([], {})])
def test_values_of_different_types_differ(before: Any, after: Any) -> None:
    one, other = (changed(a_runtime(), put("spec", "disabled", value)) for value in (before, after))
    assert paths(one, other) == ["spec.disabled"]


def test_a_number_is_one_number_however_it_is_written() -> None:
    one, other = (changed(a_runtime(), put("spec", "engineConfig", {"minReplicas": value})) for value in (2, 2.0))
    assert differences(one, other) == ()


def test_a_field_set_to_null_is_not_the_field_left_out() -> None:
    [found] = differences(a_model(), a_model(modelParameterSize=None))
    assert found == Difference("spec.modelParameterSize", None, "null")


def test_a_long_value_is_cut() -> None:
    [found] = differences(
        a_model(),
        a_model(
            modelArchitecture="x" * 1000,
        ),
    )
    assert found.after is not None
    assert (len(found.after), found.after[-1]) == (LONGEST, "…")


def test_a_number_of_thousands_of_digits_does_no_harm() -> None:
    [found] = differences(a_model(), a_model(size=10**5000))
    assert found == Difference("spec.size", None, "…")


def test_a_field_that_decides_nothing_but_cannot_be_read_is_told() -> None:
    broken = changed(a_service(), put("metadata", "annotations", {"team": 5}))
    assert differences(a_service(), broken) == (Difference('metadata.annotations["team"]', None, "5"),)
    assert differences(broken, a_service()) == (Difference('metadata.annotations["team"]', "5", None),)
    bad_type = changed(a_service(), put("status", {"conditions": [{"type": ["Ready"]}]}))
    assert differences(a_service(), bad_type) == (Difference("status.conditions[0].type", None, '["Ready"]'),)
