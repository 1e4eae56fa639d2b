"""The stream of findings: every code is known, and each finding is known again whatever else changes."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules import findings, upgrade
from selection.rules.codes import CODES, SETTABLE, SEVERITIES, place_of, urgency_of
from selection.rules.conflicts import CODES as CONFLICTS
from selection.rules.explain import explain_services
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.semantics import V1_2, V1_3, Semantics
from selection.rules.stream import Told, unique
from selection.rules.streams import other_stream, service_stream, unreadable_stream
from selection.rules.upgrade_preview import as_of
from selection.rules.upgrade_stream import runtime_upgrade_stream, service_upgrade_stream

from .fleets_more import holds, releases, rich_fleets
from .manifests import a_model, a_runtime, a_service, an_entry, deployed, moded

Manifest = dict[str, Any]


def told(fleet: Fleet) -> list[Told]:
    """Everything that is to be said of a fleet."""
    found: list[Told] = []
    new = as_of(fleet, V1_3)
    for explanation in explain_services(fleet, brief=True):
        found += service_stream(fleet, explanation)
        if fleet.semantics == V1_2:
            found += service_upgrade_stream(explanation, new, {})
    found += other_stream(fleet)
    found += unreadable_stream(fleet)
    if fleet.semantics == V1_2:
        found += runtime_upgrade_stream(fleet, new)
    return found


def cases(found: list[Told]) -> dict[str, str]:
    """The findings by their keys, each with what it rests on."""
    return {each.key("prod"): each.evidence for each in found}


def codes(*manifests: Manifest, release: Semantics = V1_3) -> set[tuple[str, str, str]]:
    """The codes that are told, with the object's name and the component."""
    return {(each.code, each.object.name, each.component) for each in told(read_fleet(manifests, release))}


# --- the registry ------------------------------------------------------------------------------------


def test_the_registry_has_every_code_of_every_family_once() -> None:
    by_family: dict[str, set[str]] = {}
    for each in CODES.values():
        by_family.setdefault(each.family, set()).add(each.code)
    assert by_family["finding"] == set(findings.SEVERITIES)
    assert by_family["conflict"] == set(CONFLICTS)
    assert by_family["upgrade"] == {code for code, severity in upgrade.UPGRADES.items() if severity != "know"}


def test_rules_and_registry_say_the_same_severity() -> None:
    assert {code: CODES[code].severity for code in findings.SEVERITIES} == findings.SEVERITIES
    assert {each.severity for each in CODES.values()} == set(SEVERITIES)


def test_a_code_says_why_in_one_sentence() -> None:
    for each in CODES.values():
        assert each.why.endswith(".")
        assert ". " not in each.why


def test_findings_are_sorted_by_severity_and_then_by_what_matters_more() -> None:
    order = [urgency_of(code, severity) for severity in SETTABLE for code in CODES]
    assert order == sorted(set(order))
    assert place_of("no-such-code") == len(CODES)


# --- identity ----------------------------------------------------------------------------------------


def _shuffled(value: Any, dice: random.Random) -> Any:
    """The same JSON with the keys of its objects in another order."""
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: _shuffled(value[key], dice) for key in keys}
    return [_shuffled(each, dice) for each in value] if isinstance(value, list) else value


@holds(4)
@given(rich_fleets(), releases, st.integers(0, 2**32))
def test_neither_order_nor_versions_make_another_case(manifests: list[Manifest], release: Semantics, seed: int) -> None:
    dice = random.Random(seed)
    again = [_shuffled(copy.deepcopy(each), dice) for each in manifests]
    dice.shuffle(again)
    for each in again:
        each["metadata"] |= {"resourceVersion": str(dice.random()), "uid": str(dice.random()), "generation": 7}
    # Of two manifests of one object the last one counts, so that the order of those matters.
    names = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in manifests}
    if len(names) < len(manifests):
        again = [_shuffled(copy.deepcopy(each), dice) for each in manifests]
    assert cases(told(read_fleet(again, release))) == cases(told(read_fleet(manifests, release)))


def _permuted(manifest: Manifest, dice: random.Random) -> Manifest:
    found = copy.deepcopy(manifest)
    entries = found.get("spec", {}).get("supportedModelFormats") if isinstance(found.get("spec"), dict) else None
    if isinstance(entries, list):
        dice.shuffle(entries)
    return found


@holds(4)
@given(rich_fleets(), releases, st.integers(0, 2**32))
def test_an_entry_is_known_again_at_another_place_of_its_list(
    manifests: list[Manifest], release: Semantics, seed: int
) -> None:
    dice = random.Random(seed)
    moved = [_permuted(each, dice) for each in manifests]

    def of_entries(found: list[Manifest]) -> dict[str, str]:
        fleet = read_fleet(found, release)
        return cases([each for each in told(fleet) if each.path.startswith("spec.supportedModelFormats[")])

    assert of_entries(moved) == of_entries(manifests)


@holds(4)
@given(rich_fleets(), releases)
def test_no_two_findings_share_a_key(manifests: list[Manifest], release: Semantics) -> None:
    found = told(read_fleet(manifests, release))
    assert len(cases(found)) == len(found)


def test_a_key_depends_on_the_cluster_and_on_every_part_of_the_identity() -> None:
    ref = ObjectRef("InferenceService", "team", "chat")
    one = Told("drift", ref, "engine", "kind")
    others = [
        Told("deprecated", ref, "engine", "kind"),
        Told("drift", ObjectRef("InferenceService", "other", "chat"), "engine", "kind"),
        Told("drift", ObjectRef("InferenceService", "team", "other"), "engine", "kind"),
        Told("drift", ObjectRef("ServingRuntime", "team", "chat"), "engine", "kind"),
        Told("drift", ref, "decoder", "kind"),
        Told("drift", ref, "engine", "runtime"),
    ]
    assert len({one.key("prod"), one.key("lab"), *(each.key("prod") for each in others)}) == len(others) + 2
    same = Told("drift", ref, "engine", "kind", "spec.engine", {"other": "facts"}, {"other": "evidence"})
    assert one.key("prod") == same.key("prod")


def test_alike_entries_are_numbered_by_what_they_rest_on() -> None:
    ref = ObjectRef("ServingRuntime", "team", "fast")
    alike = [Told("zero-weight", ref, "", "x", str(place), {}, {"value": place % 3}) for place in range(5)]
    found = {each.about: each.rests for each in unique(alike)}
    assert found == {each.about: each.rests for each in unique(reversed(alike))}
    assert sorted(found) == ["x", "x#2", "x#3", "x#4", "x#5"]


def test_what_is_merely_counted_makes_no_other_case() -> None:
    def found(*models: Manifest) -> Told:
        fleet = read_fleet([a_runtime("fast", None, an_entry()), *models])
        return next(each for each in told(fleet) if each.code == "entry-architecture-missing")

    one, more = (
        found(*(a_model(f"m{number}", modelArchitecture="Llama") for number in range(count))) for count in (1, 3)
    )
    assert one.facts != more.facts
    assert (one.key("prod"), one.evidence) == (more.key("prod"), more.evidence)


# --- what is told ------------------------------------------------------------------------------------

MULTI = a_runtime("multi", engineConfig=moded("MultiNode", leader={}, worker={}))


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([a_model(), a_service()], ("no-runtime", "chat", "")),
        ([a_service(model={"name": "gone"})], ("invalid", "chat", "")),
        (
            [
                a_model(),
                a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"})),
                a_service(runtime={"name": "fast"}),
            ],
            ("named-with-advice", "chat", ""),
        ),
        ([a_model(), MULTI, a_service()], ("silent-takeover", "chat", "engine")),
        ([a_model(), MULTI, a_service()], ("deprecated", "chat", "engine")),
        ([MULTI], ("deprecated", "multi", "engine")),
        (
            [a_runtime(engineConfig={"annotations": {"ome.io/deploymentMode": "Multinode"}})],
            ("mode-ignored", "fast", ""),
        ),
        ([a_runtime("child", annotations={"ome.io/inherit-from": "gone"})], ("broken-chain", "child", "")),
        ([{**a_runtime("odd"), "spec": {"supportedModelFormats": "none"}}], ("unreadable", "odd", "")),
        ([a_runtime(acceleratorRequirements={"acceleratorClasses": ["h100"]})], ("refused", "fast", "")),
        (
            [a_model(), a_runtime(), a_service(), deployed("InferenceReplica"), deployed("Deployment", runtime="fast")],
            ("left-over", "chat", "engine"),
        ),
        (
            [a_model(), a_runtime(), a_service(), deployed("LeaderWorkerSet"), deployed("Deployment", runtime="fast")],
            ("cleanup-due", "chat", "engine"),
        ),
        ([a_model(), a_runtime(), a_service(), deployed("Deployment", runtime="slow")], ("drift", "chat", "engine")),
    ],
)
def test_each_family_is_told(manifests: list[Manifest], expected: tuple[str, str, str]) -> None:
    assert expected in codes(*manifests)


def test_a_service_in_order_has_nothing_to_be_told() -> None:
    assert codes(a_model(), a_runtime(), a_service(), deployed("Deployment", runtime="fast")) == set()


def test_what_an_upgrade_moves_is_told_on_v1_2_alone() -> None:
    shaped = a_runtime("shaped", engineConfig={"leader": {}, "worker": {"size": 1}})
    fleet = [a_model(), shaped, a_service()]
    assert ("moves-by-shape", "chat", "engine") in codes(*fleet, release=V1_2)
    assert "moves-by-shape" not in {code for code, _, _ in codes(*fleet)}


def test_what_is_only_worth_knowing_of_an_upgrade_is_left_to_its_preview() -> None:
    told_codes = {code for code, _, _ in codes(a_runtime(modelSizeRange={"min": "1B"}), release=V1_2)}
    assert "open-range" in told_codes
    assert "open-range-counts" not in told_codes


def test_a_value_that_a_runtime_writes_is_told_of_the_runtime_and_not_of_all_its_services() -> None:
    misspelt = a_runtime("fast", engineConfig={"annotations": {"ome.io/deploymentMode": "Multinode"}})
    found = codes(a_model(), misspelt, *(a_service(f"s{number}") for number in range(3)))
    assert found == {("mode-ignored", "fast", "")}
