"""What must hold of every fleet: order, independence, and that nothing makes the rules raise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selection.rules.admission import admit_runtime
from selection.rules.conflicts import runtime_conflicts
from selection.rules.explain import explain_model, explain_service, explain_services
from selection.rules.explanation import OUTCOMES, Explanation
from selection.rules.findings import service_findings
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.parsing import ref_of
from selection.rules.reach import reach
from selection.rules.selection import COMPATIBILITY_CODES, question_of
from selection.rules.semantics import V1_2, V1_3, Semantics

from .fleets import anything, broken_fleets, fleets, identity, runtime_manifests
from .manifests import Manifest

quick = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
releases = st.sampled_from([V1_3, V1_3, V1_2])


def of_chat(manifests: list[Manifest], semantics: Semantics = V1_3) -> Explanation:
    """The explanation of ``chat``, which every fleet has."""
    return explain_service(read_fleet(manifests, semantics), "team", "chat")


def everything(fleet: Fleet) -> list[dict[str, Any]]:
    """All that the rules say of a fleet, as JSON would hold it."""
    told = [explanation.to_dict() for explanation in explain_services(fleet)]
    for (namespace, name), model in sorted(fleet.models.items()):
        told.append(explain_model(fleet, namespace or "team", name).to_dict())
        told.append({"model": model.ref.to_dict()})
    for _, runtime in sorted(fleet.runtimes.items()):
        effective = fleet.effective(runtime)
        conflicts = [conflict.to_dict() for conflict in runtime_conflicts(runtime, fleet.semantics)]
        told.append({"runtime": runtime.ref.to_dict(), "admission": admit_runtime(fleet, runtime).to_dict()})
        told.append({"conflicts": conflicts, "chain": effective.chain.names, "merged": effective.runtime is not None})
        told.append({"children": [child.ref.to_dict() for child in fleet.children(runtime)]})
    told.extend(problem.to_dict() for _, problem in sorted(fleet.problems.items()))
    return told


def ranked(explanation: Explanation) -> list[tuple[str, str]]:
    """The qualified by scope and name, best first."""
    refs = [candidate.verdict.runtime.ref for candidate in explanation.candidates if candidate.rank is not None]
    return [(ref.namespace, ref.name) for ref in refs]


@quick
@given(fleets(), releases, st.randoms(use_true_random=False))
def test_the_order_of_the_objects_does_not_matter(manifests: list[Manifest], release: Semantics, random: Any) -> None:
    told = everything(read_fleet(manifests, release))
    random.shuffle(manifests)
    assert everything(read_fleet(manifests, release)) == told


@quick
@given(fleets(), releases)
def test_what_is_said_is_valid_json(manifests: list[Manifest], release: Semantics) -> None:
    told = everything(read_fleet(manifests, release))
    assert json.loads(json.dumps(told, allow_nan=False)) == json.loads(json.dumps(told))


@quick
@given(fleets(), releases)
def test_every_answer_is_consistent(manifests: list[Manifest], release: Semantics) -> None:
    for explanation in explain_services(read_fleet(manifests, release)):
        assert explanation.outcome in OUTCOMES
        assert (explanation.selected is not None) == explanation.outcome.startswith(("auto", "named"))
        assert (explanation.event is None) == (explanation.event_reason is None)
        if explanation.outcome == "no-runtime":
            assert explanation.message
        if explanation.outcome == "auto-selected":
            assert explanation.selected == explanation.candidates[0].verdict.runtime
            assert explanation.score is not None
            assert explanation.score > 0


@quick
@given(fleets(), releases)
def test_candidates_stand_in_their_order(manifests: list[Manifest], release: Semantics) -> None:
    explanation = of_chat(manifests, release)
    qualified = [candidate for candidate in explanation.candidates if candidate.verdict.qualified]
    rest = [candidate for candidate in explanation.candidates if not candidate.verdict.qualified]
    assert explanation.candidates == (*qualified, *rest)
    assert [candidate.rank for candidate in qualified] == list(range(1, len(qualified) + 1))
    assert all(candidate.rank is None for candidate in rest)
    keys = [(each.verdict.runtime.cluster_scoped, each.verdict.runtime.ref.name) for each in rest]
    assert keys == sorted(keys)
    scopes = [candidate.verdict.runtime.cluster_scoped for candidate in qualified]
    assert scopes == sorted(scopes)
    assert explanation.qualified == len(qualified)
    assert explanation.considered == len(explanation.candidates)


CHECKS = [
    "disabled",
    "accelerator-class",
    "engine-deployment-mode",
    "decoder-deployment-mode",
    "model-format",
    "model-size",
    "auto-select",
    "entry-not-auto-select",
    "score",
]


@quick
@given(fleets(), releases)
def test_the_reason_is_the_first_check_that_fails(manifests: list[Manifest], release: Semantics) -> None:
    for candidate in of_chat(manifests, release).candidates:
        codes = [failure.code for failure in candidate.verdict.failures]
        assert codes == sorted(set(codes), key=CHECKS.index)
        told = candidate.to_dict()
        assert [code for code in (told["code"], *(each["code"] for each in told["also"])) if code] == codes
        assert candidate.verdict.compatible == (not COMPATIBILITY_CODES.intersection(codes))
        assert all(failure.reason for failure in candidate.verdict.failures)
        assert told["compatible"] == (not codes)


@quick
@given(fleets())
def test_every_check_is_made_as_if_the_others_had_passed(manifests: list[Manifest]) -> None:
    enabled = [
        {**each, "spec": {**each["spec"], "disabled": None}} if "ServingRuntime" in each["kind"] else each
        for each in manifests
    ]
    before, after = of_chat(manifests), of_chat(enabled)
    told = {candidate.verdict.runtime.ref: candidate.verdict.failures for candidate in after.candidates}
    for candidate in before.candidates:
        rest = tuple(failure for failure in candidate.verdict.failures if failure.code != "disabled")
        assert told[candidate.verdict.runtime.ref] == rest


@quick
@given(fleets(), releases)
def test_a_disabled_runtime_is_never_selected(manifests: list[Manifest], release: Semantics) -> None:
    runtimes = [manifest for manifest in manifests if "ServingRuntime" in manifest["kind"]]
    disabled = {identity(runtime) for runtime in runtimes if runtime["spec"].get("disabled")}
    for explanation in explain_services(read_fleet(manifests, release)):
        if explanation.outcome == "auto-selected" and explanation.selected is not None:
            ref = explanation.selected.ref
            assert (ref.kind, ref.namespace, ref.name) not in disabled


@quick
@given(fleets(), runtime_manifests(names=["new"]))
def test_an_added_runtime_that_does_not_qualify_changes_no_selection(
    manifests: list[Manifest], added: Manifest
) -> None:
    before, after = of_chat(manifests), of_chat([*manifests, added])
    if len(ranked(before)) == len(ranked(after)):
        assert after.selected == before.selected
        assert ranked(after) == ranked(before)
        assert after.outcome == before.outcome
    else:
        assert len(ranked(after)) == len(ranked(before)) + 1


@quick
@given(fleets())
def test_a_removed_runtime_that_was_not_selected_changes_no_selection(manifests: list[Manifest]) -> None:
    before = of_chat(manifests)
    if before.outcome != "auto-selected" or before.selected is None:
        return
    chosen = before.selected.ref
    for manifest in manifests:
        if "ServingRuntime" in manifest["kind"] and identity(manifest) != (chosen.kind, chosen.namespace, chosen.name):
            after = of_chat([other for other in manifests if other is not manifest])
            assert after.selected == before.selected


@quick
@given(fleets(most=6), st.data())
def test_the_ranking_of_some_is_the_ranking_of_all_without_the_others(
    manifests: list[Manifest], data: st.DataObject
) -> None:
    gone = {identity(each) for each in manifests if "ServingRuntime" in each["kind"] and data.draw(st.booleans())}
    some = [manifest for manifest in manifests if identity(manifest) not in gone]
    left = {(namespace, name) for _, namespace, name in gone}
    assert ranked(of_chat(some)) == [key for key in ranked(of_chat(manifests)) if key not in left]


@quick
@given(fleets())
def test_selection_does_not_look_at_what_a_runtime_inherits(manifests: list[Manifest]) -> None:
    alone = [
        {**each, "metadata": {**each["metadata"], "annotations": {}}} if "ServingRuntime" in each["kind"] else each
        for each in manifests
    ]
    assert ranked(of_chat(alone)) == ranked(of_chat(manifests))


@quick
@given(fleets(), releases)
def test_a_brief_answer_says_the_same(manifests: list[Manifest], release: Semantics) -> None:
    full = explain_services(read_fleet(manifests, release))
    brief = explain_services(read_fleet(manifests, release), brief=True)
    assert [each.subject for each in brief] == [each.subject for each in full]
    for short, long in zip(brief, full, strict=True):
        assert short.candidates == ()
        assert (short.message is None) == (long.message is None)
        assert (long.message or "").startswith(short.message or "")
        told, kept = ([error.partition(". Checked")[0] for error in each.admission.errors] for each in (short, long))
        assert told == kept
        assert short.admission.warnings == long.admission.warnings
        left_out = ("candidates", "message", "event", "admission")
        whole = {key: value for key, value in long.to_dict().items() if key not in left_out}
        assert {key: value for key, value in short.to_dict().items() if key not in left_out} == whole


@quick
@given(fleets(), fleets(most=3), st.data())
def test_a_changed_fleet_is_the_fleet_of_the_changed_objects(
    manifests: list[Manifest], others: list[Manifest], data: st.DataObject
) -> None:
    dropped = [manifest for manifest in manifests if data.draw(st.booleans())]
    kept = [manifest for manifest in manifests if manifest not in dropped]
    old = read_fleet(manifests)
    told = everything(old)
    new = evolved(old, others, [ref_of(manifest) for manifest in dropped])
    assert everything(new) == everything(read_fleet([*kept, *others]))
    assert everything(old) == told


def lasting(fleet: Fleet, namespace: str, name: str) -> dict[str, Any]:
    """What is kept of a service between two looks at it: not how many candidates there are, nor their reasons."""
    explanation = explain_service(fleet, namespace, name, brief=True)
    told = explanation.to_dict()
    kept = {key: told[key] for key in ("outcome", "selected", "message", "modes", "model", "named", "revision")}
    findings = [finding.to_dict() for finding in service_findings(fleet, fleet.services[(namespace, name)])]
    admitted, ranking = explanation.admission.allowed, (explanation.score, explanation.qualified)
    return {**kept, "admitted": admitted, "ranking": ranking, "findings": findings}


@quick
@given(fleets(), fleets(most=3), st.booleans(), st.data())
def test_a_change_reaches_all_whose_answer_differs(
    manifests: list[Manifest], others: list[Manifest], drop: bool, data: st.DataObject
) -> None:
    old = read_fleet(manifests)
    changed = data.draw(st.sampled_from([*others, *manifests] if drop else others))
    new = evolved(old, [] if drop else [changed], [ref_of(changed)])
    reached = reach(old, ref_of(changed))
    reached.add(reach(new, ref_of(changed)))
    for key in old.services.keys() & new.services.keys() - reached.services:
        assert lasting(new, *key) == lasting(old, *key)
    for key in old.runtimes.keys() & new.runtimes.keys():
        before, after = old.effective(old.runtimes[key]), new.effective(new.runtimes[key])
        if old.runtimes[key].ref not in reached.runtimes:
            assert after.chain == before.chain
            assert after.runtime == before.runtime
            assert after.runtime is None or before.runtime is None or after.runtime.spec == before.runtime.spec
    for key in old.models.keys() & new.models.keys():
        model = old.models[key]
        if model.ref not in reached.models:
            question = question_of(None, model, V1_3)
            for namespace in ("team", "other"):
                before_ranked = old.judged(question, namespace, brief=True).ranked
                assert new.judged(question, namespace, brief=True).ranked == before_ranked


@quick
@given(broken_fleets())
def test_nothing_in_an_object_makes_the_rules_raise_or_hides_another(
    broken: tuple[list[Manifest], int, Any],
) -> None:
    manifests, position, changed = broken
    refs = [ref_of(manifest) for manifest in manifests]
    fleet = read_fleet([*manifests[:position], changed, *manifests[position + 1 :]])
    json.dumps(everything(fleet), allow_nan=False)
    assert set(fleet.problems) <= {refs[position]}
    whole, known = read_fleet(manifests), refs[position]
    for mine, theirs in (
        (fleet.services, whole.services),
        (fleet.runtimes, whole.runtimes),
        (fleet.models, whole.models),
    ):
        others = {key: value for key, value in theirs.items() if value.ref != known}
        assert {key: value for key, value in mine.items() if value.ref != known} == others


@quick
@given(fleets(most=2), st.lists(anything, max_size=3))
def test_nothing_beside_the_objects_makes_the_rules_raise_or_hides_them(
    manifests: list[Manifest], garbage: list[Any]
) -> None:
    fleet = read_fleet([*garbage, *manifests])
    json.dumps(everything(fleet), allow_nan=False)
    whole = read_fleet(manifests)
    assert (fleet.services, fleet.runtimes, fleet.models) == (whole.services, whole.runtimes, whole.models)


KINDS = ["InferenceService", "ServingRuntime", "ClusterServingRuntime", "BaseModel", "ClusterBaseModel"]
OTHERS = ["AcceleratorClass", "Deployment", "InferenceReplica", "LeaderWorkerSet"]


@quick
@pytest.mark.parametrize("kind", KINDS + OTHERS)
@given(anything, anything, anything)
def test_an_object_is_read_or_listed_as_a_problem(kind: str, metadata: Any, spec: Any, status: Any) -> None:
    manifest = {"kind": kind, "metadata": metadata, "spec": spec, "status": status}
    fleet = read_fleet([manifest])
    json.dumps(everything(fleet), allow_nan=False)
    read = {value.ref for values in (fleet.services, fleet.runtimes, fleet.models) for value in values.values()}
    if kind in KINDS:
        assert (ref_of(manifest) in read) != (ref_of(manifest) in fleet.problems)
