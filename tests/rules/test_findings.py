"""What follows from the rules and nobody else reports, and that plain objects are quiet."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from selection.rules.findings import SEVERITIES, Finding, model_findings, runtime_findings, service_findings
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.overlaps import overlap_findings
from selection.rules.semantics import V1_2, V1_3

from .fleets import fleets
from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, moded

Told = list[tuple[str, str]]


def told(findings: list[Finding]) -> Told:
    """Codes and paths."""
    return [(finding.code, finding.path) for finding in findings]


def of_runtime(runtime: Manifest, *others: Manifest) -> list[Finding]:
    """The findings about a runtime among other objects."""
    fleet = read_fleet([runtime, *others])
    return list(runtime_findings(fleet, fleet.runtimes[(runtime["metadata"].get("namespace", ""), "fast")]))


ENTRY = "spec.supportedModelFormats[0]"

RUNTIMES: list[tuple[Manifest, Told]] = [
    (a_runtime(), []),
    (a_runtime(modelSizeRange={"min": "7B", "max": "7B"}, engineConfig=moded("OMENative")), []),
    # ranges
    (a_runtime(modelSizeRange={"min": "8B", "max": "7B"}), [("empty-range", "spec.modelSizeRange")]),
    (a_runtime(modelSizeRange={"min": "8B"}), []),
    (
        a_runtime(modelSizeRange={"min": "7b", "max": "8TB"}),
        [("size-unparsable", "spec.modelSizeRange.min"), ("size-unparsable", "spec.modelSizeRange.max")],
    ),
    (a_runtime(modelSizeRange={"max": ""}), [("size-unparsable", "spec.modelSizeRange.max")]),
    (a_runtime(modelSizeRange={"max": "inf"}), [("size-not-finite", "spec.modelSizeRange.max")]),
    (a_runtime(modelSizeRange={"max": "1e300T"}), [("size-not-finite", "spec.modelSizeRange.max")]),
    # entries
    (a_runtime("fast", None, {"autoSelect": True}), [("entry-without-format", ENTRY)]),
    (
        a_runtime(
            "fast", None, an_entry(modelFormat={"name": "a", "version": "1.0.", "operator": "Less", "weight": 0})
        ),
        [
            ("version-unparsable", f"{ENTRY}.modelFormat.version"),
            ("operator-unknown", f"{ENTRY}.modelFormat.operator"),
            ("zero-weight", f"{ENTRY}.modelFormat.weight"),
        ],
    ),
    (
        a_runtime("fast", None, an_entry(modelFramework={"name": "a", "version": "latest"})),
        [("version-unparsable", f"{ENTRY}.modelFramework.version")],
    ),
    # modes that nobody reads
    (a_runtime(engineConfig=moded("multinode")), [("mode-ignored", "spec.engineConfig.annotations")]),
    (a_runtime(annotations={MODE: "OMENative"}), [("mode-ignored", "metadata.annotations")]),
    # what it inherits has no say in automatic selection
    (
        a_runtime(annotations={"ome.io/inherit-from": "base"}),
        [("auto-select-inherits", "spec.supportedModelFormats")],
    ),
    (a_runtime("fast", None, an_entry(autoSelect=False), annotations={"ome.io/inherit-from": "base"}), []),
]


@pytest.mark.parametrize("bounds", [{"min": "7B"}, {"max": "7B"}, {}])
def test_an_open_range_is_found_on_v1_2_alone(bounds: dict[str, str]) -> None:
    runtime = a_runtime(modelSizeRange=bounds)
    old = read_fleet([runtime], V1_2)
    findings = list(runtime_findings(old, old.runtimes[("", "fast")]))
    assert told(findings) == [("open-range", "spec.modelSizeRange")]
    assert findings[0].facts == {"min": bounds.get("min"), "max": bounds.get("max")}
    assert of_runtime(runtime) == []
    closed = read_fleet([a_runtime(modelSizeRange={"min": "7B", "max": "9B"})], V1_2)
    assert list(runtime_findings(closed, closed.runtimes[("", "fast")])) == []


@pytest.mark.parametrize(("runtime", "findings"), RUNTIMES)
def test_a_runtime_is_found(runtime: Manifest, findings: Told) -> None:
    assert told(of_runtime(runtime)) == findings


def test_a_weight_of_zero_says_what_it_counts() -> None:
    weightless = {"name": "a", "weight": 0}
    findings = of_runtime(a_runtime("fast", None, an_entry(modelFormat=weightless, modelFramework=weightless)))
    assert [finding.facts["counts"] for finding in findings] == [10, 5]


ARCHITECTURES: list[tuple[str | None, list[Manifest], int | None]] = [
    # every model of that format that it could serve has an architecture, and the entry has none
    (None, [a_model(modelArchitecture="Llama"), a_model("b", "team", modelArchitecture="Qwen")], 2),
    (None, [a_model(modelArchitecture="Llama"), a_model("b")], None),
    (None, [], None),
    (None, [a_model(modelFormat={"name": "onnx"}, modelArchitecture="Llama")], None),
    # a namespace's runtime serves its own and the cluster's models
    ("team", [a_model(modelArchitecture="Llama"), a_model("b", "other")], 1),
    ("team", [a_model(modelArchitecture="Llama"), a_model("b", "team")], None),
]


@pytest.mark.parametrize(("namespace", "models", "count"), ARCHITECTURES)
def test_an_entry_without_the_architecture_that_all_models_have_never_matches(
    namespace: str | None, models: list[Manifest], count: int | None
) -> None:
    findings = of_runtime(a_runtime("fast", namespace), *models)
    assert told(findings) == ([("entry-architecture-missing", ENTRY)] if count else [])
    assert [finding.facts["models"] for finding in findings] == ([count] if count else [])


MODELS: list[tuple[dict[str, Any], Told]] = [
    ({}, []),
    ({"modelParameterSize": "7B", "modelFormat": {"name": "a", "version": "v1"}}, []),
    ({"modelParameterSize": "7 B"}, [("size-unparsable", "spec.modelParameterSize")]),
    ({"modelParameterSize": "nan"}, [("size-not-finite", "spec.modelParameterSize")]),
    ({"modelFormat": {"name": "a", "version": ""}}, [("version-unparsable", "spec.modelFormat.version")]),
    ({"modelFramework": {"name": "a", "version": "x"}}, [("version-unparsable", "spec.modelFramework.version")]),
]


@pytest.mark.parametrize(("spec", "findings"), MODELS)
def test_a_model_is_found(spec: dict[str, Any], findings: Told) -> None:
    model = next(iter(read_fleet([a_model(**spec)]).models.values()))
    assert told(list(model_findings(model))) == findings


SERVICES: list[tuple[dict[str, Any], list[Manifest], Told]] = [
    ({}, [a_model(), a_runtime()], []),
    ({"model": {"name": "llama", "kind": "BaseModel"}}, [a_model()], [("model-kind-elsewhere", "spec.model.kind")]),
    ({}, [a_model("llama", "team")], [("model-kind-elsewhere", "spec.model.kind")]),
    ({}, [], []),
    # the default looks at the cluster first, whatever was meant
    ({"runtime": {"name": "fast"}}, [a_runtime("fast", "team")], [("runtime-kind-elsewhere", "spec.runtime.kind")]),
    ({"runtime": {"name": "fast"}}, [a_runtime("fast", "other"), a_runtime()], []),
    ({"runtime": {"name": "fast", "kind": "ServingRuntime"}}, [a_runtime("fast", "team"), a_runtime()], []),
    # a kind that OME doesn't know takes the namespace's one
    (
        {"runtime": {"name": "fast", "kind": ""}},
        [a_runtime("fast", "team"), a_runtime()],
        [("runtime-kind-elsewhere", "spec.runtime.kind")],
    ),
    ({"runtime": {"name": "fast", "kind": ""}}, [a_runtime("fast", "team")], []),
]


@pytest.mark.parametrize(("service", "objects", "findings"), SERVICES)
def test_a_service_is_found(service: dict[str, Any], objects: list[Manifest], findings: Told) -> None:
    fleet = read_fleet([*objects, a_service(**service)])
    assert told(list(service_findings(fleet, fleet.services[("team", "chat")]))) == findings


def test_v1_2_ignores_the_kind_of_a_runtime() -> None:
    fleet = read_fleet([a_runtime("fast", "team"), a_service(runtime={"name": "fast"})], V1_2)
    assert list(service_findings(fleet, fleet.services[("team", "chat")])) == []


def crossing(*objects: Manifest) -> list[dict[str, Any]]:
    """The overlaps and shadows of a fleet: code, name, and facts without the models' and runtimes' kinds."""
    found = [finding.to_dict() for finding in overlap_findings(read_fleet(objects))]
    return [{"code": each["code"], "name": each["object"]["name"], **each["facts"]} for each in found]


def test_two_runtimes_that_only_their_names_tell_apart() -> None:
    overlap, shadowed = crossing(a_model(), a_runtime("b"), a_runtime("a"))
    assert (overlap["code"], overlap["name"], overlap["first"]["name"]) == ("overlap", "b", "a")
    assert (overlap["count"], overlap["decides"]) == (1, 1)
    assert (shadowed["code"], shadowed["name"]) == ("shadowed", "b")
    assert [winner["name"] for winner in shadowed["winners"]] == ["a"]


def test_a_runtime_that_is_first_for_some_model_is_not_shadowed() -> None:
    wide, small = a_runtime("a", modelSizeRange={"max": "80B"}), a_runtime("b", modelSizeRange={"max": "8B"})
    models = [a_model("s", modelParameterSize="7B"), a_model("l", modelParameterSize="70B")]
    assert crossing(*models, wide, small) == []
    assert [each["code"] for each in crossing(models[0], wide, small)] == ["shadowed"]


def test_the_runtimes_of_a_namespace_are_looked_at_alone() -> None:
    assert crossing(a_model(), a_runtime("a", "team"), a_runtime("b")) == []


@settings(deadline=None, max_examples=60)
@given(fleets())
def test_every_finding_is_of_a_known_code_and_fits_into_json(manifests: list[Manifest]) -> None:
    fleet: Fleet = read_fleet(manifests, V1_3)
    found = [*overlap_findings(fleet)]
    for runtime in fleet.runtimes.values():
        found += runtime_findings(fleet, runtime)
    for model in fleet.models.values():
        found += model_findings(model)
    for service in fleet.services.values():
        found += service_findings(fleet, service)
    assert {finding.code for finding in found} <= set(SEVERITIES)
    assert {finding.severity for finding in found} <= {"error", "warning", "info"}
    json.dumps([finding.to_dict() for finding in found], allow_nan=False)
