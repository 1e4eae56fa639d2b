"""An overlap is told exactly where only the name decides, a shadow exactly where a runtime is never the first."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from selection.rules.explain import explain_model
from selection.rules.findings import Finding
from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.overlaps import NAMED_AT_MOST, overlap_findings
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_3, Semantics

from .fleets_more import holds, releases, rich_fleets
from .manifests import Manifest, a_model, a_runtime, an_entry

Ranking = list[ObjectRef]


def ranking(manifests: Sequence[Manifest], model: ObjectRef, scope: str, release: Semantics) -> Ranking:
    """The runtimes of one scope that qualify for a model, best first, as its full explanation tells."""
    seen = [
        manifest
        for manifest in manifests
        if not ref_of(manifest).kind.endswith("ServingRuntime") or ref_of(manifest).namespace == scope
    ]
    explanation = explain_model(read_fleet(seen, release), scope or model.namespace or "nowhere", model.name)
    if explanation.subject != model:
        return []  # it can't be asked for there: another one hides it
    return [candidate.verdict.runtime.ref for candidate in explanation.candidates if candidate.rank is not None]


def rankings(manifests: Sequence[Manifest], release: Semantics) -> Iterator[tuple[ObjectRef, str, Ranking]]:
    """Every model with every scope from which a service that asks for nothing can get a runtime for it."""
    fleet = read_fleet(manifests, release)
    scopes = {"", *(namespace for namespace, _ in fleet.runtimes)}
    for model in fleet.models.values():
        for scope in sorted(scopes if model.ref.kind == "ClusterBaseModel" else {"", model.ref.namespace}):
            alone = [each for each in manifests if not hides(each, model.ref)]
            yield model.ref, scope, ranking(alone, model.ref, scope, release)


def hides(manifest: Manifest, model: ObjectRef) -> bool:
    """Whether it is another model of that name."""
    ref = ref_of(manifest)
    return ref.kind.endswith("BaseModel") and ref.name == model.name and ref != model


def with_names_exchanged(manifests: Sequence[Manifest], one: ObjectRef, other: ObjectRef) -> list[Manifest]:
    """The objects, but each of the two runtimes has the other one's name."""
    names = {one: other.name, other: one.name}
    changed = copy.deepcopy(list(manifests))
    for manifest in changed:
        ref = ref_of(manifest)
        if ref in names:
            manifest["metadata"]["name"] = names[ref]
    return changed


def ties(manifests: Sequence[Manifest], release: Semantics) -> dict[tuple[ObjectRef, ObjectRef], dict[ObjectRef, bool]]:
    """The neighbours whose places stay with their names when these are exchanged: for which models, and if the first.

    The runtime that had the better name then has the worse one, and comes second.
    """
    found: dict[tuple[ObjectRef, ObjectRef], dict[ObjectRef, bool]] = {}
    for model, scope, ranked in rankings(manifests, release):
        for place, (one, other) in enumerate(pairwise(ranked)):
            alone = [each for each in manifests if not hides(each, model)]
            exchanged = ranking(with_names_exchanged(alone, one, other), model, scope, release)
            if exchanged.index(one) < exchanged.index(other):
                models = found.setdefault((one, other), {})
                models[model] = models.get(model, False) or place == 0
    return found


def told(manifests: Sequence[Manifest], release: Semantics = V1_3) -> tuple[list[Finding], list[Finding]]:
    """The overlaps and the shadows."""
    found = list(overlap_findings(read_fleet(manifests, release)))
    overlaps, shadows = ([each for each in found if each.code == code] for code in ("overlap", "shadowed"))
    assert overlaps + shadows == found
    return overlaps, shadows


@holds(2)
@given(rich_fleets(most=7, broken=False, ordered=True), releases)
def test_an_overlap_is_told_exactly_where_only_the_name_decides(manifests: list[Manifest], release: Semantics) -> None:
    overlaps, _ = told(manifests, release)
    expected = ties(manifests, release)
    assert [(finding.facts["first"], finding.object) for finding in overlaps] == [
        (one.to_dict(), other) for one, other in sorted(expected)
    ]
    for finding, (_, models) in zip(overlaps, sorted(expected.items()), strict=True):
        assert finding.facts["models"] == [model.to_dict() for model in sorted(models)]
        assert (finding.facts["count"], finding.facts["decides"]) == (len(models), sum(models.values()))


@holds(2)
@given(rich_fleets(most=7), releases)
def test_a_shadow_is_told_exactly_where_a_runtime_is_never_the_first(
    manifests: list[Manifest], release: Semantics
) -> None:
    serves: dict[ObjectRef, set[ObjectRef]] = {}
    winners: dict[ObjectRef, set[ObjectRef]] = {}
    for model, _, ranked in rankings(manifests, release):
        for ref in ranked:
            serves.setdefault(ref, set()).add(model)
            winners.setdefault(ref, set()).add(ranked[0])
    _, shadows = told(manifests, release)
    assert [finding.object for finding in shadows] == sorted(ref for ref in serves if ref not in winners[ref])
    for finding in shadows:
        models = sorted(serves[finding.object])
        assert finding.facts["models"] == [model.to_dict() for model in models]
        assert finding.facts["count"] == len(models)
        assert finding.facts["winners"] == [winner.to_dict() for winner in sorted(winners[finding.object])]


# --- by hand -----------------------------------------------------------------------------------------


def pairs(*manifests: Manifest) -> list[tuple[str, str, int, int]]:
    """Per overlap who goes first, who second, for how many models, and for how many of them that is the first place."""
    overlaps, _ = told(manifests)
    return [
        (each.facts["first"]["name"], each.object.name, each.facts["count"], each.facts["decides"]) for each in overlaps
    ]


def shadowed(*manifests: Manifest) -> list[str]:
    """The names of the runtimes that are never the first."""
    return [each.object.name for each in told(manifests)[1]]


def test_of_three_that_are_alike_neighbours_overlap_and_two_are_shadowed() -> None:
    alike = [a_runtime(name) for name in "cab"]
    assert pairs(a_model(), *alike) == [("a", "b", 1, 1), ("b", "c", 1, 0)]
    assert shadowed(a_model(), *alike) == ["b", "c"]


def test_a_tie_behind_the_first_decides_nothing() -> None:
    first = a_runtime("z", None, an_entry(priority=2))
    assert pairs(a_model(), first, a_runtime("a"), a_runtime("b")) == [("a", "b", 1, 0)]


@pytest.mark.parametrize(
    "other",
    [
        a_runtime("b", None, an_entry(priority=2)),
        a_runtime("b", None, an_entry(modelFormat={"name": "safetensors", "weight": 2})),
        a_runtime("b", None, an_entry(modelArchitecture="Llama")),
        a_runtime("b", "team"),
        a_runtime("b", disabled=True),
        a_runtime("b", None, an_entry(autoSelect=False)),
        a_runtime("b", modelSizeRange={"min": "1B", "max": "8B"}),
        a_runtime("b", modelSizeRange={"max": "1B"}),
    ],
)
def test_what_a_score_a_range_or_a_scope_tells_apart_does_not_overlap(other: Manifest) -> None:
    assert pairs(a_model(modelParameterSize="7B"), a_runtime("a"), other) == []


@pytest.mark.parametrize(
    "spec",
    [
        {"engineConfig": {"annotations": {"ome.io/deploymentMode": "MultiNode"}}},
        {"acceleratorRequirements": {"acceleratorClasses": ["h100"]}},
        {"modelSizeRange": {"min": "7B", "max": "7B"}},
        {"modelSizeRange": {"max": "7000000000.4"}},
        {"modelSizeRange": {"max": "inf"}},
        {"modelSizeRange": {"max": "2e19"}},
    ],
)
def test_what_a_service_that_asks_for_nothing_does_not_see_does_not_tell_apart(spec: dict[str, Any]) -> None:
    assert pairs(a_model(modelParameterSize="7B"), a_runtime("a"), a_runtime("b", **spec)) == [("a", "b", 1, 1)]


def test_models_decide_one_by_one() -> None:
    models = [a_model("s", modelParameterSize="7B"), a_model("m", modelParameterSize="13B"), a_model("unsized")]
    wide, low = a_runtime("a", modelSizeRange={"min": "1B"}), a_runtime("b", modelSizeRange={"min": "1B", "max": "9B"})
    assert pairs(*models, wide, low) == [("a", "b", 1, 1)]
    [overlap] = told([*models, wide, low])[0]
    assert overlap.facts["models"] == [ObjectRef("ClusterBaseModel", "", "unsized").to_dict()]
    assert shadowed(*models, wide, low) == ["b"]


def test_a_model_of_a_namespace_is_seen_from_there() -> None:
    own = a_model("own", "team")
    alike = [a_runtime(name, namespace) for namespace in (None, "team", "other") for name in "ab"]
    overlaps, shadows = told([own, *alike])
    assert {each.object.namespace for each in overlaps} == {each.object.namespace for each in shadows} == {"", "team"}


def test_a_model_that_cannot_be_matched_tells_nothing() -> None:
    assert told([a_model(modelFormat={"name": ""}), a_runtime("a"), a_runtime("b")]) == ([], [])
    assert told([a_model(distribution="Sharded"), a_runtime("a"), a_runtime("b")]) == ([], [])


def test_a_runtime_that_serves_no_model_is_no_shadow() -> None:
    assert shadowed(a_model(), a_runtime("a"), a_runtime("b", None, an_entry(modelFormat={"name": "onnx"}))) == []


def test_many_are_counted_and_some_are_named() -> None:
    models = [a_model(f"m{number:02}") for number in range(NAMED_AT_MOST + 5)]
    (overlap,), (shadow,) = told([*models, a_runtime("a"), a_runtime("b")])
    for finding in (overlap, shadow):
        assert finding.facts["count"] == NAMED_AT_MOST + 5
        assert [each["name"] for each in finding.facts["models"]] == [
            f"m{number:02}" for number in range(NAMED_AT_MOST)
        ]
    assert overlap.facts["decides"] == NAMED_AT_MOST + 5
