"""What holds of every preview: a row for each difference and for nothing else, and pins that hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import read_fleet
from selection.rules.merge import normalised_spec
from selection.rules.merge_patches import merge_patched
from selection.rules.parsing import parse_service, ref_of
from selection.rules.semantics import V1_2, V1_3, Semantics
from selection.rules.upgrade_pins import pinned_service
from selection.rules.upgrade_preview import as_of, upgrade_preview

from .fleets import broken_fleets
from .fleets_more import holds, rich_fleets
from .manifests import MODE, Manifest, a_service, moded


def told(explanation: Explanation) -> tuple[Any, ...]:
    """Everything about a service that an upgrade can change."""
    selected = explanation.selected
    modes = {name: each.running.mode for name, each in explanation.modes.items() if each.rendered}
    admission = explanation.admission
    ref = selected.ref if selected else None
    return explanation.outcome, ref, modes, admission.errors, admission.warnings


def spec_of(explanation: Explanation) -> Any:
    """What is rendered, when that is the live runtime."""
    service = explanation.service
    if explanation.selected is None or (service is not None and service.runtime is not None and service.runtime.pinned):
        return None
    return normalised_spec(explanation.selected.spec)


@given(rich_fleets(ordered=True))
@holds(4)
def test_each_difference_has_a_row_and_nothing_else_has_one(manifests: list[Manifest]) -> None:
    fleet = read_fleet(manifests, V1_2)
    found = {(row.service.namespace, row.service.name): row for row in upgrade_preview(fleet).services}
    new = as_of(fleet, V1_3)
    for key in fleet.services:
        before, after = (explain_service(each, *key, brief=True) for each in (fleet, new))
        differs = told(before) != told(after) or spec_of(before) != spec_of(after)
        # That v1.2's selector breaks down over a range is no answer of either release: it is told beside them.
        codes = {change.code for change in found[key].changes} if key in found else set()
        assert bool(codes - {"selection-recovers"}) == differs


def judged(manifests: list[Manifest], semantics: Semantics, key: tuple[str, str]) -> Explanation:
    """What a release makes of a service, from manifests read anew."""
    return explain_service(read_fleet(manifests, semantics), *key, brief=True)


@given(rich_fleets(ordered=True))
@holds(4)
def test_a_pin_leaves_v12_as_it_is_and_holds_back_what_it_says(manifests: list[Manifest]) -> None:
    for row in upgrade_preview(read_fleet(manifests, V1_2)).services:
        if row.pin is None:
            continue
        key = (row.service.namespace, row.service.name)
        patch = row.pin.patch
        patched = [merge_patched(each, patch) if ref_of(each) == row.service else each for each in manifests]
        old = judged(patched, V1_2, key)
        assert (old.selected.ref if old.selected else None) == row.before.runtime
        assert {
            name: each.running.mode if each.rendered else None for name, each in old.modes.items()
        } == row.before.modes
        left = {
            change.key
            for again in upgrade_preview(read_fleet(patched, V1_2)).services
            if again.service == row.service
            for change in again.changes
        }
        assert row.pin.holds
        assert not set(row.pin.holds) & left


@given(rich_fleets(ordered=True))
@holds(4)
def test_a_runtime_pin_keeps_as_many_services_as_it_says(manifests: list[Manifest]) -> None:
    found = upgrade_preview(read_fleet(manifests, V1_2))
    for moved in found.runtimes:
        if moved.pin is None:
            continue
        patch = moved.pin.patch
        patched = [merge_patched(each, patch) if ref_of(each) == moved.runtime else each for each in manifests]
        again = upgrade_preview(read_fleet(patched, V1_2))
        left = [each.moves for each in again.runtimes if each.runtime == moved.runtime]
        assert moved.moves == moved.pin.holds + moved.pin.missed
        assert sum(left) <= moved.pin.missed


@given(rich_fleets(ordered=True))
@holds(4)
def test_the_order_of_the_manifests_does_not_matter(manifests: list[Manifest]) -> None:
    one, other = (upgrade_preview(read_fleet(each, V1_2)).to_dict() for each in (manifests, manifests[::-1]))
    assert one == other


@given(broken_fleets())
@holds(4)
def test_an_object_that_cannot_be_read_stops_no_preview(drawn: tuple[list[Manifest], int, Any]) -> None:
    manifests, _, _ = drawn
    known = {ref_of(manifest): manifest for manifest in manifests}
    found = upgrade_preview(read_fleet(manifests, V1_2), known)
    assert len(found.services) <= found.total


@pytest.mark.parametrize(
    "manifest",
    [
        a_service(),
        a_service(runtime={"name": "fast", "autoSync": False, "revision": "cr-fast-00000000"}),
        a_service(engine=moded("OMENative", leader={}, worker={"size": 2}, minReplicas=2), decoder={}),
        a_service(engine={"annotations": {"team": "a"}}, runtime={"name": "fast", "kind": "ServingRuntime"}),
    ],
)
@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"engine": {"annotations": {MODE: "MultiNode"}}}},
        {"spec": {"runtime": {"kind": "ServingRuntime"}, "engine": {"annotations": {MODE: "RawDeployment"}}}},
        {"spec": {"runtime": {"name": "other", "kind": "ClusterServingRuntime"}}},
    ],
)
def test_a_patched_service_is_the_one_that_the_patched_manifest_reads_as(manifest: Manifest, patch: Manifest) -> None:
    assert pinned_service(parse_service(manifest), patch) == parse_service(merge_patched(manifest, patch))
