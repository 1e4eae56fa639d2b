"""What a finding says is so: where it speaks of what OME would do, the rules are asked whether OME does."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given

from selection.rules.explain import explain_service
from selection.rules.findings import SEVERITIES, Finding
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.formats import entry_matches, matching_entry
from selection.rules.named import judge_named
from selection.rules.objects import Entry, Model, Problem, Runtime
from selection.rules.parsing import parse_model, parse_runtime, ref_of
from selection.rules.selection import Verdict, judge, question_of
from selection.rules.semantics import V1_2, V1_3, Semantics
from selection.rules.sizes import parse_size

from .fleets_more import all_findings, holds, releases, rich_fleets
from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, moded


def field_of(manifest: Manifest, path: str) -> tuple[Any, str]:
    """The object that has the field, and the field's name; a path as findings write it."""
    steps = path.replace("[", ".").replace("]", "").split(".")
    here: Any = manifest
    for step in steps[:-1]:
        here = here[int(step)] if isinstance(here, list) else here[step]
    return here, steps[-1]


def written(manifest: Manifest, path: str) -> Any:
    """What stands at a path."""
    here, field = field_of(manifest, path)
    return here[field]


def rewritten(manifest: Manifest, path: str, value: Any) -> Manifest:
    """The object with another value there."""
    changed = copy.deepcopy(manifest)
    here, field = field_of(changed, path)
    here[field] = value
    return changed


def entry_of(finding: Finding, runtime: Runtime) -> Entry:
    """The entry that a finding is about."""
    return runtime.entries[int(finding.path.split("[")[1].split("]")[0])]


def came_to(verdict: Verdict) -> tuple[Any, ...]:
    """A verdict but for its words."""
    codes = tuple(failure.code for failure in verdict.failures)
    return codes, verdict.score, verdict.priority, repr(verdict.distance)


def judged(fleet: Fleet, manifests: Sequence[Manifest]) -> list[tuple[Any, ...]]:
    """What every runtime among these comes to for every model among these, in their order."""
    models = [parse_model(each) for each in manifests if ref_of(each).kind.endswith("BaseModel")]
    runtimes = [parse_runtime(each) for each in manifests if ref_of(each).kind.endswith("ServingRuntime")]
    asked = [question_of(None, model, fleet.semantics) for model in models]
    return [came_to(judge(question, runtime)) for question in asked for runtime in runtimes]


def models_of(fleet: Fleet, runtime: Runtime | None = None) -> list[Model]:
    """The models that a runtime can be asked about."""
    own = {"", runtime.ref.namespace} if runtime and not runtime.cluster_scoped else None
    return [model for model in fleet.models.values() if own is None or model.ref.namespace in own]


Check = Callable[[Fleet, list[Manifest], Manifest, Finding], None]


def runtime_of(fleet: Fleet, finding: Finding) -> Runtime:
    """The runtime that a finding is about."""
    return fleet.runtimes[(finding.object.namespace, finding.object.name)]


def an_empty_range_shuts_out_every_sized_model(
    fleet: Fleet, _all: list[Manifest], manifest: Manifest, finding: Finding
) -> None:
    assert written(manifest, finding.path) == finding.facts
    for size in ("7B", "0", finding.facts["min"], finding.facts["max"]):
        question = question_of(None, parse_model(a_model(modelParameterSize=size)), fleet.semantics)
        assert "model-size" in {failure.code for failure in judge(question, runtime_of(fleet, finding)).failures}


def an_open_range_lacks_a_bound(fleet: Fleet, _all: list[Manifest], manifest: Manifest, finding: Finding) -> None:
    assert fleet.semantics is V1_2
    bounds = written(manifest, finding.path)
    assert {name: bounds.get(name) for name in ("min", "max")} == finding.facts
    assert None in finding.facts.values()


def an_unreadable_version_matches_nothing(
    fleet: Fleet, _all: list[Manifest], manifest: Manifest, finding: Finding
) -> None:
    assert written(manifest, finding.path) == finding.facts["value"]
    if finding.object.kind.endswith("BaseModel"):
        model = fleet.models[(finding.object.namespace, finding.object.name)]
        assert not any(matching_entry(model, runtime.entries) for runtime in fleet.runtimes.values())
    else:
        entry = entry_of(finding, runtime_of(fleet, finding))
        assert not any(entry_matches(model, entry) for model in fleet.models.values())


def an_unreadable_size_counts_as_0(fleet: Fleet, all_: list[Manifest], manifest: Manifest, finding: Finding) -> None:
    assert written(manifest, finding.path) == finding.facts["value"]
    zero = [rewritten(each, finding.path, "0") if each is manifest else each for each in all_]
    assert judged(fleet, zero) == judged(fleet, all_)


def a_size_that_is_not_finite_is_not(_fleet: Fleet, _all: list[Manifest], manifest: Manifest, finding: Finding) -> None:
    assert written(manifest, finding.path) == finding.facts["value"]
    assert not math.isfinite(parse_size(finding.facts["value"]))


def an_entry_without_a_format_matches_nothing(
    fleet: Fleet, _all: list[Manifest], _manifest: Manifest, finding: Finding
) -> None:
    entry = entry_of(finding, runtime_of(fleet, finding))
    assert not any(entry_matches(model, entry) for model in fleet.models.values())


def an_entry_without_the_architecture_of_all_matches_none(
    fleet: Fleet, _all: list[Manifest], _manifest: Manifest, finding: Finding
) -> None:
    runtime = runtime_of(fleet, finding)
    entry = entry_of(finding, runtime)
    same = [model for model in models_of(fleet, runtime) if model.format.name == finding.facts["format"]]
    assert entry.format is not None
    assert entry.format.name == finding.facts["format"]
    assert len(same) == finding.facts["models"] > 0
    assert not any(entry_matches(model, entry) for model in same)


def an_unknown_operator_accepts_at_most_what_equal_does(
    fleet: Fleet, _all: list[Manifest], manifest: Manifest, finding: Finding
) -> None:
    assert written(manifest, finding.path) == finding.facts["value"]
    index = runtime_of(fleet, finding).entries.index(entry_of(finding, runtime_of(fleet, finding)))
    equal = parse_runtime(rewritten(manifest, finding.path, "Equal")).entries[index]
    for model in fleet.models.values():
        assert entry_matches(model, equal) or not entry_matches(model, entry_of(finding, runtime_of(fleet, finding)))


def a_weight_of_0_counts_as_the_finding_says(
    fleet: Fleet, all_: list[Manifest], manifest: Manifest, finding: Finding
) -> None:
    assert written(manifest, finding.path) == 0
    counted = [rewritten(each, finding.path, finding.facts["counts"]) if each is manifest else each for each in all_]
    assert judged(fleet, counted) == judged(fleet, all_)


def selection_does_not_see_the_parent(fleet: Fleet, all_: list[Manifest], manifest: Manifest, finding: Finding) -> None:
    assert manifest["metadata"]["annotations"]["ome.io/inherit-from"] == finding.facts["parent"]
    orphan = {**manifest, "metadata": {**manifest["metadata"], "annotations": {}}}
    assert judged(fleet, [orphan if each is manifest else each for each in all_]) == judged(fleet, all_)


def an_ignored_mode_is_as_if_it_were_not_written(
    fleet: Fleet, all_: list[Manifest], manifest: Manifest, finding: Finding
) -> None:
    here, field = field_of(manifest, finding.path)
    assert here[field][MODE] == finding.facts["value"]
    rest = {key: value for key, value in here[field].items() if key != MODE}
    if any("ome.io/inherit-from" in (each["metadata"].get("annotations") or {}) for each in all_):
        return  # in a child it hides what the parent says
    without = read_fleet(
        [rewritten(each, finding.path, rest) if each is manifest else each for each in all_], fleet.semantics
    )
    for key in fleet.services:
        before, after = explain_service(fleet, *key), explain_service(without, *key)
        assert (before.outcome, before.message) == (after.outcome, after.message)
        assert (before.selected and before.selected.ref) == (after.selected and after.selected.ref)
        assert {name: each.running for name, each in before.modes.items()} == {
            name: each.running for name, each in after.modes.items()
        }


def the_model_is_of_another_kind(fleet: Fleet, _all: list[Manifest], _manifest: Manifest, finding: Finding) -> None:
    service = fleet.services[(finding.object.namespace, finding.object.name)]
    found = explain_service(fleet, service.ref.namespace, service.ref.name).model
    model = found or fleet.find_model(service.ref.namespace, service.model_name or "")
    assert isinstance(model, Model)
    assert finding.facts["found"] == model.ref.to_dict()
    assert finding.facts["written"] == service.model_kind != model.ref.kind


def the_runtime_is_used_or_not_as_the_finding_says(
    fleet: Fleet, _all: list[Manifest], _manifest: Manifest, finding: Finding
) -> None:
    service = fleet.services[(finding.object.namespace, finding.object.name)]
    named = judge_named(fleet, service, None, None)
    used = named.runtime or named.problem
    ref = used.object if isinstance(used, Problem) else used.ref if used else None
    assert ref is not None
    assert (finding.facts["other"] == ref.to_dict()) == (not finding.facts["both"])


CHECKS: dict[str, Check] = {
    "empty-range": an_empty_range_shuts_out_every_sized_model,
    "open-range": an_open_range_lacks_a_bound,
    "version-unparsable": an_unreadable_version_matches_nothing,
    "size-unparsable": an_unreadable_size_counts_as_0,
    "size-not-finite": a_size_that_is_not_finite_is_not,
    "entry-without-format": an_entry_without_a_format_matches_nothing,
    "entry-architecture-missing": an_entry_without_the_architecture_of_all_matches_none,
    "operator-unknown": an_unknown_operator_accepts_at_most_what_equal_does,
    "zero-weight": a_weight_of_0_counts_as_the_finding_says,
    "auto-select-inherits": selection_does_not_see_the_parent,
    "mode-ignored": an_ignored_mode_is_as_if_it_were_not_written,
    "model-kind-elsewhere": the_model_is_of_another_kind,
    "runtime-kind-elsewhere": the_runtime_is_used_or_not_as_the_finding_says,
}
"""Overlaps and shadows have tests of their own."""


def hold(manifests: list[Manifest], release: Semantics) -> set[str]:
    """Hold every finding about these objects to what it says; which codes there were."""
    fleet = read_fleet(manifests, release)
    readable = [manifest for manifest in manifests if ref_of(manifest) not in fleet.problems]
    by_ref = {ref_of(manifest): manifest for manifest in readable}
    found = all_findings(fleet)
    for finding in found:
        if finding.code in CHECKS:
            CHECKS[finding.code](fleet, readable, by_ref[finding.object], finding)
    return {finding.code for finding in found}


@holds(4)
@given(rich_fleets(), releases)
def test_what_a_finding_says_is_so(manifests: list[Manifest], release: Semantics) -> None:
    hold(manifests, release)


EXAMPLES: dict[str, list[Manifest]] = {
    "empty-range": [a_runtime(modelSizeRange={"min": "8B", "max": "7B"})],
    "open-range": [a_runtime(modelSizeRange={"min": "8B"})],
    "version-unparsable": [
        a_model(modelFormat={"name": "safetensors", "version": "latest"}),
        a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "version": "latest"})),
    ],
    "size-unparsable": [a_model(modelParameterSize="7b"), a_runtime(modelSizeRange={"min": "7b", "max": "9 B"})],
    "size-not-finite": [a_model(modelParameterSize="inf"), a_runtime(modelSizeRange={"min": "nan", "max": "1e300T"})],
    "entry-without-format": [a_model(), a_runtime("fast", None, {"autoSelect": True})],
    "entry-architecture-missing": [a_model(modelArchitecture="Llama"), a_runtime(), a_runtime("fast", "team")],
    "operator-unknown": [
        a_model(modelFormat={"name": "safetensors", "version": "1.0.0"}),
        a_runtime(
            "fast", None, an_entry(modelFormat={"name": "safetensors", "version": "1.0.0", "operator": "LessThan"})
        ),
    ],
    "zero-weight": [
        a_model(modelFramework={"name": "t"}),
        a_runtime(
            "fast",
            None,
            an_entry(modelFormat={"name": "safetensors", "weight": 0}, modelFramework={"name": "t", "weight": 0}),
        ),
    ],
    "auto-select-inherits": [a_model(), a_runtime(annotations={"ome.io/inherit-from": "base"}), a_runtime("base")],
    "mode-ignored": [
        a_model(),
        a_service(),
        a_runtime(annotations={MODE: "OMENative"}, engineConfig=moded("multinode", leader={}, worker={})),
    ],
    "model-kind-elsewhere": [a_model("llama", "team"), a_service()],
    "runtime-kind-elsewhere": [a_runtime(), a_runtime("fast", "team"), a_service(runtime={"name": "fast"})],
    "overlap": [a_model(), a_runtime("a"), a_runtime("b")],
    "shadowed": [a_model(), a_runtime("a"), a_runtime("b")],
}


def test_every_code_is_found_in_an_example_and_holds_there() -> None:
    assert set(EXAMPLES) == set(SEVERITIES) == set(CHECKS) | {"overlap", "shadowed"}
    for code, manifests in EXAMPLES.items():
        assert code in hold(manifests, V1_2 if code == "open-range" else V1_3)
