"""A merged spec without what only Go's types write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.copy_names import same_spec
from selection.rules.fleet import read_fleet
from selection.rules.merge import merge_specs
from selection.rules.runtime_copy import plan_copy
from selection.rules.unset_fields import without_unset_fields

from .manifests import a_runtime, an_entry

RUNNER: dict[str, Any] = {"name": "main", "image": "server"}

SAME: list[dict[str, Any]] = [
    {},
    {"supportedModelFormats": [{"autoSelect": True}]},
    {"supportedModelFormats": [{"name": "a"}]},
    {"containers": [RUNNER]},
    {"engineConfig": {"runner": RUNNER}},
    {"engineConfig": {"runner": {**RUNNER, "resources": {"limits": {"cpu": "1"}}}}},
    {"engineConfig": {"initContainers": [RUNNER], "leader": {}}},
    {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "projected": {}}]},
    {"modelSizeRange": {"min": ""}},
]


@pytest.mark.parametrize("spec", SAME)
def test_a_spec_that_was_merged_reads_as_it_was_written(spec: dict[str, Any]) -> None:
    assert without_unset_fields(merge_specs([spec])) == spec


def test_a_required_field_stays_also_empty() -> None:
    merged = merge_specs([{"engineConfig": {"runner": {"image": "server"}}}])
    assert without_unset_fields(merged) == {"engineConfig": {"runner": {"name": "", "image": "server"}}}


def test_what_hangs_deep_is_cleaned_and_required_empties_stay() -> None:
    claim = {"metadata": {"creationTimestamp": None}, "spec": {"resources": {}}}
    field = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}
    probe = {"httpGet": {"path": "/", "port": 0}}
    runner: dict[str, Any] = {**RUNNER, "env": [field], "resources": {}, "readinessProbe": probe}
    found = without_unset_fields(
        {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": claim}}], "containers": [runner]}
    )
    assert found["volumes"] == [{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    cleaned = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    assert found["containers"] == [{**RUNNER, "env": [cleaned], "readinessProbe": probe}]


EMPTIES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"resources": {}}, {"resources": {"limits": {"cpu": 1}}}, {"env": [{"name": "A", "value": ""}]}]
)
RUNNERS = EMPTIES.map(lambda more: {**RUNNER, **more})
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "supportedModelFormats": st.lists(st.sampled_from([{}, {"name": ""}, {"name": "a"}]), max_size=2),
        "containers": st.lists(RUNNERS, max_size=1),
        "engineConfig": st.fixed_dictionaries(
            {}, optional={"runner": RUNNERS, "leader": st.just({}), "worker": RUNNERS.map(lambda one: {"runner": one})}
        ),
        "volumes": st.just([{"name": "a", "projected": {}}]),
    },
)


@given(st.lists(SPECS, min_size=1, max_size=3))
def test_to_ome_nothing_differs(chain: list[dict[str, Any]]) -> None:
    merged = merge_specs(chain)
    cleaned = without_unset_fields(merged)
    assert same_spec(cleaned, merged)
    assert without_unset_fields(cleaned) == cleaned


def test_a_merged_copy_has_none_of_them() -> None:
    pods = {"leader": {"runner": {**RUNNER, "args": ["$(LWS_GROUP_SIZE)"]}}, "worker": {"runner": RUNNER}}
    base = a_runtime("base", None, an_entry(), engineConfig=pods)
    child = a_runtime("child", annotations={"ome.io/inherit-from": "base"}, engineConfig={"minReplicas": 2})
    copy = plan_copy(read_fleet([base, child]), child)
    assert copy.ready
    assert "resources" not in str(copy.manifest)
    assert copy.manifest["spec"]["engineConfig"] == {
        "minReplicas": 2,
        "leader": {"runner": {**RUNNER, "args": ["$(OME_INSTANCE_POD_COUNT)"]}},
        "worker": {"runner": RUNNER},
    }
    assert copy.manifest["spec"]["supportedModelFormats"] == [
        {"modelFormat": {"name": "safetensors"}, "autoSelect": False}
    ]
