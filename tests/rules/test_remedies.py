"""Every change that is told makes the candidate qualify, and nothing in it is superfluous."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import target as towards

from selection.rules.admission import admit_runtime, admit_service
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.objects import Model, ObjectRef
from selection.rules.parsing import parse_runtime, parse_service, ref_of
from selection.rules.remedies import Case, Remedy, remedies
from selection.rules.selection import Verdict, model_error, question_of
from selection.rules.semantics import V1_2, V1_3, Semantics

from .fleets_more import Edit, holds, put_into, releases, rich_fleets
from .jsonpatch import Refused, patched
from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, moded

Patch = list[dict[str, Any]]


def cases(manifests: Sequence[Manifest], release: Semantics) -> Iterator[Case]:
    """Every candidate of every service, and of its model alone."""
    fleet = read_fleet(manifests, release)
    by_ref = {ref_of(manifest): manifest for manifest in manifests}
    for service in fleet.services.values():
        namespace = service.ref.namespace
        model = fleet.find_model(namespace, service.model_name) if service.model_name else None
        if isinstance(model, Model):
            for runtime in fleet.candidates(namespace):
                for asking in (by_ref[service.ref], None):
                    yield Case(fleet, namespace, by_ref[runtime.ref], by_ref[model.ref], asking)


def verdict_after(case: Case, manifests: Sequence[Manifest], changed: Manifest) -> tuple[Verdict, bool]:
    """What becomes of the candidate when a changed object stands in the cluster, and whether it is the first."""
    fleet = read_fleet(put_into(manifests, Edit((changed,), ())), case.fleet.semantics)
    assert not set(fleet.problems) - set(case.fleet.problems)
    model = fleet.models[key(ref_of(case.model))]
    service = fleet.services[key(ref_of(case.service))] if case.service else None
    judged = fleet.judged(question_of(service, model, fleet.semantics), case.namespace)
    [verdict] = [each for each in judged.verdicts if each.runtime.ref == ref_of(case.runtime)]
    return verdict, bool(judged.ranked) and judged.ranked[0] is verdict


def key(ref: ObjectRef) -> tuple[str, str]:
    """How a fleet knows an object."""
    return ref.namespace, ref.name


def its_target(case: Case, remedy: Remedy) -> Manifest:
    """The manifest that a remedy changes."""
    there = [case.runtime, case.model, *([case.service] if case.service else [])]
    [found] = [dict(manifest) for manifest in there if ref_of(manifest) == remedy.target]
    return found


def webhook(fleet: Fleet, manifest: Mapping[str, Any]) -> set[str]:
    """What OME's webhook refuses in a runtime or a service as it stands, selection aside."""
    if ref_of(manifest).kind == "InferenceService":
        service = parse_service(manifest)
        model = fleet.find_model(service.ref.namespace, service.model_name or "")
        known = model if isinstance(model, Model) else None
        return set(admit_service(fleet, service, known, None, "chosen", None).errors)
    if ref_of(manifest).kind.endswith("ServingRuntime"):
        return set(admit_runtime(fleet, parse_runtime(manifest)).errors)
    return set()


@holds(4)
@given(rich_fleets(), releases)
def test_every_remedy_makes_the_candidate_qualify(manifests: list[Manifest], release: Semantics) -> None:
    count = 0
    for case in cases(manifests, release):
        for remedy in remedies(case):
            count += 1
            before = its_target(case, remedy)
            changed = patched(before, remedy.to_dict()["patch"])
            verdict, first = verdict_after(case, manifests, changed)
            assert verdict.qualified
            assert remedy.selected == first
            assert remedy.kind == "qualify"
            assert webhook(case.fleet, changed) <= webhook(case.fleet, before)
    towards(float(count))


@holds(8)
@given(rich_fleets(), releases)
def test_without_any_one_of_its_operations_a_remedy_is_none(manifests: list[Manifest], release: Semantics) -> None:
    for case in cases(manifests, release):
        for remedy in remedies(case):
            patch: Patch = remedy.to_dict()["patch"]
            for index in range(len(patch)):
                try:
                    changed = patched(its_target(case, remedy), patch[:index] + patch[index + 1 :])
                except Refused:
                    continue  # it stands on the one that is missing
                assert not verdict_after(case, manifests, changed)[0].qualified


@holds(16)
@given(rich_fleets(), releases)
def test_only_a_candidate_that_does_not_qualify_and_could_has_remedies(
    manifests: list[Manifest], release: Semantics
) -> None:
    for case in cases(manifests, release):
        found = remedies(case)
        model = case.fleet.models[key(ref_of(case.model))]
        judged = case.fleet.judged(case.question(), case.namespace)
        [verdict] = [each for each in judged.verdicts if each.runtime.ref == ref_of(case.runtime)]
        if verdict.qualified or model.distribution == "Sharded" or model_error(model) is not None:
            assert found == ()
        assert len({remedy.target for remedy in found}) == len(found)
        assert {remedy.target for remedy in found} <= {
            ref_of(each) for each in (case.runtime, case.model, case.service) if each is not None
        }
        for remedy in found:
            assert remedy.patch


# --- by hand -----------------------------------------------------------------------------------------


def told(
    runtime: Manifest, *others: Manifest, model: Manifest | None = None, service: Manifest | None = None, **more: Any
) -> dict[str, tuple[Patch, bool]]:
    """The remedies for ``fast`` by kind of their target: the patch, and whether it would be selected."""
    model = model or a_model()
    semantics = more.get("semantics", V1_3)
    fleet = read_fleet([runtime, model, *([service] if service else []), *others], semantics)
    found = remedies(Case(fleet, "team", runtime, model, service))
    return {remedy.target.kind: (remedy.to_dict()["patch"], remedy.selected) for remedy in found}


def op(op: str, path: str, *value: Any) -> dict[str, Any]:
    """An operation."""
    return {"op": op, "path": path, **({"value": value[0]} if value else {})}


SPEC, ENTRY = "/spec", "/spec/supportedModelFormats/0"
RUNTIMES: list[tuple[str, Manifest, dict[str, Any], Patch]] = [
    ("disabled", a_runtime(disabled=True), {}, [op("replace", f"{SPEC}/disabled", False)]),
    (
        "auto-select",
        a_runtime("fast", None, an_entry(autoSelect=None)),
        {},
        [op("add", f"{ENTRY}/autoSelect", True)],
    ),
    (
        "the matching entry",
        a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"}), an_entry(autoSelect=False)),
        {},
        [op("replace", "/spec/supportedModelFormats/1/autoSelect", True)],
    ),
    ("score", a_runtime("fast", None, an_entry(priority=0)), {}, [op("replace", f"{ENTRY}/priority", 1)]),
    (
        "weight",
        a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "weight": -1})),
        {},
        [op("replace", f"{ENTRY}/modelFormat/weight", 1)],
    ),
    (
        "below",
        a_runtime(modelSizeRange={"min": "8B", "max": "70B"}),
        {"modelParameterSize": "7B"},
        [op("replace", f"{SPEC}/modelSizeRange/min", "7B")],
    ),
    (
        "above",
        a_runtime(modelSizeRange={"max": "6B"}),
        {"modelParameterSize": "7B"},
        [op("replace", f"{SPEC}/modelSizeRange/max", "7B")],
    ),
    (
        "both",
        a_runtime(modelSizeRange={"min": "8B", "max": "6B"}),
        {"modelParameterSize": "7B"},
        [op("replace", f"{SPEC}/modelSizeRange/min", "7B"), op("replace", f"{SPEC}/modelSizeRange/max", "7B")],
    ),
    # an entry that matches other models stays as it is
    (
        "format",
        a_runtime("fast", None, an_entry(modelFormat={"name": "onnx"})),
        {},
        [op("add", f"{SPEC}/supportedModelFormats/-", an_entry())],
    ),
    (
        "architecture",
        a_runtime("fast", None, an_entry(modelArchitecture="Llama")),
        {"modelArchitecture": "Qwen", "quantization": "fp8", "modelFramework": {"name": "t", "version": "1"}},
        [
            op(
                "add",
                f"{SPEC}/supportedModelFormats/-",
                an_entry(modelFramework={"name": "t", "version": "1"}, modelArchitecture="Qwen", quantization="fp8"),
            )
        ],
    ),
    (
        "no entries",
        {**a_runtime(), "spec": {}},
        {},
        [op("add", f"{SPEC}/supportedModelFormats", [an_entry()])],
    ),
    (
        "no spec",
        {**a_runtime(), "spec": None},
        {},
        [op("add", SPEC, {"supportedModelFormats": [an_entry()]})],
    ),
    # a limit is raised: what the entry matched it still matches
    (
        "limit",
        a_runtime(
            "fast",
            None,
            an_entry(modelFormat={"name": "safetensors", "version": "1.0.0", "operator": "GreaterThanOrEqual"}),
        ),
        {"modelFormat": {"name": "safetensors", "version": "2.0.0"}},
        [op("replace", f"{ENTRY}/modelFormat/version", "2.0.0")],
    ),
    (
        "strict limit",
        a_runtime(
            "fast", None, an_entry(modelFormat={"name": "safetensors", "version": "1.0.0", "operator": "GreaterThan"})
        ),
        {"modelFormat": {"name": "safetensors", "version": "2.0.0"}},
        [
            op("replace", f"{ENTRY}/modelFormat/version", "2.0.0"),
            op("replace", f"{ENTRY}/modelFormat/operator", "GreaterThanOrEqual"),
        ],
    ),
    (
        "the limit itself",
        a_runtime(
            "fast", None, an_entry(modelFormat={"name": "safetensors", "version": "2.0.0", "operator": "GreaterThan"})
        ),
        {"modelFormat": {"name": "safetensors", "version": "2.0.0"}},
        [op("replace", f"{ENTRY}/modelFormat/operator", "GreaterThanOrEqual")],
    ),
    # a version that isn't above the entry's would lower the limit: another entry is added
    (
        "other parts",
        a_runtime(
            "fast",
            None,
            an_entry(modelFormat={"name": "safetensors", "version": "2.0.0", "operator": "GreaterThanOrEqual"}),
        ),
        {"modelFormat": {"name": "safetensors", "version": "1.0"}},
        [op("add", f"{SPEC}/supportedModelFormats/-", an_entry(modelFormat={"name": "safetensors", "version": "1.0"}))],
    ),
    (
        "pre-release",
        a_runtime(
            "fast",
            None,
            an_entry(modelFormat={"name": "safetensors", "version": "2.0.0", "operator": "GreaterThan"}),
        ),
        {"modelFormat": {"name": "safetensors", "version": "2.1.0-rc1"}},
        [
            op(
                "add",
                f"{SPEC}/supportedModelFormats/-",
                an_entry(modelFormat={"name": "safetensors", "version": "2.1.0-rc1"}),
            )
        ],
    ),
    # several at once, in OME's order
    (
        "everything",
        a_runtime("fast", None, an_entry(priority=0, autoSelect=None), disabled=True, modelSizeRange={"max": "6B"}),
        {"modelParameterSize": "7B"},
        [
            op("replace", f"{SPEC}/disabled", False),
            op("replace", f"{SPEC}/modelSizeRange/max", "7B"),
            op("add", f"{ENTRY}/autoSelect", True),
            op("replace", f"{ENTRY}/priority", 1),
        ],
    ),
]


@pytest.mark.parametrize(
    ("runtime", "model", "patch"), [case[1:] for case in RUNTIMES], ids=[case[0] for case in RUNTIMES]
)
def test_a_runtime_is_changed_so(runtime: Manifest, model: dict[str, Any], patch: Patch) -> None:
    assert told(runtime, model=a_model(**model))["ClusterServingRuntime"] == (patch, True)


@pytest.mark.parametrize(
    ("model", "runtime"),
    [
        ({"distribution": "Sharded"}, a_runtime()),
        ({"modelFormat": {"name": ""}}, a_runtime()),
        ({"modelFormat": {"name": "safetensors", "version": "1.2-beta"}}, a_runtime()),
        (
            {"modelFormat": {"name": "safetensors", "version": "latest"}},
            a_runtime("fast", None, an_entry(modelFormat={"name": "safetensors", "version": "latest"})),
        ),
        ({"modelFramework": {"name": "t", "version": ""}}, a_runtime()),
        # the products wrap around: no small number helps
        ({}, a_runtime("fast", None, an_entry(priority=2, modelFormat={"name": "safetensors", "weight": 2**62}))),
    ],
)
def test_some_models_no_runtime_can_serve(model: dict[str, Any], runtime: Manifest) -> None:
    assert "ClusterServingRuntime" not in told(runtime, model=a_model(**model))


def test_a_candidate_that_qualifies_needs_nothing() -> None:
    assert told(a_runtime()) == {}
    assert told(a_runtime(), a_runtime("better", None, an_entry(priority=9)), service=a_service()) == {}


def test_whether_it_would_be_selected_depends_on_the_others() -> None:
    disabled = a_runtime(disabled=True)
    better = a_runtime("better", None, an_entry(priority=2))
    assert told(disabled, better)["ClusterServingRuntime"][1] is False
    assert told(disabled, a_runtime("zoom"))["ClusterServingRuntime"][1] is True
    assert told(disabled, a_runtime("a", "team"))["ClusterServingRuntime"][1] is False
    assert told(disabled, a_runtime("a", "other"))["ClusterServingRuntime"][1] is True


H100 = {"kind": "AcceleratorClass", "metadata": {"name": "h100"}}
A100 = {"kind": "AcceleratorClass", "metadata": {"name": "a100"}}
ASKING = a_service(
    annotations={"ome.io/accelerator-class": "h100"},
    acceleratorSelector={"acceleratorClass": "a100"},
    engine={"acceleratorOverride": {"acceleratorClass": "h100"}},
    decoder={"acceleratorOverride": {"acceleratorClass": ""}},
)


def test_classes_are_listed_by_the_runtime_or_not_asked_for_by_the_service() -> None:
    service = a_service(acceleratorSelector={"acceleratorClass": "h100"})
    found = told(a_runtime(), H100, service=service)
    assert found["ClusterServingRuntime"][0] == [
        op("add", f"{SPEC}/acceleratorRequirements", {"acceleratorClasses": ["h100"]})
    ]
    assert found["InferenceService"][0] == [op("remove", f"{SPEC}/acceleratorSelector/acceleratorClass")]
    listing = a_runtime(acceleratorRequirements={"acceleratorClasses": ["b200"]})
    found = told(listing, H100, service=service)
    assert found["ClusterServingRuntime"][0] == [
        op("replace", f"{SPEC}/acceleratorRequirements/acceleratorClasses", ["b200", "h100"])
    ]


def test_a_service_stops_asking_only_for_what_is_not_listed() -> None:
    listing = a_runtime(acceleratorRequirements={"acceleratorClasses": ["h100"]})
    assert told(listing, H100, A100, service=ASKING)["InferenceService"][0] == [
        op("remove", f"{SPEC}/acceleratorSelector/acceleratorClass"),
        op("remove", f"{SPEC}/decoder/acceleratorOverride/acceleratorClass"),
    ]
    nulled = a_service(annotations={"ome.io/accelerator-class": None})  # type: ignore[dict-item]
    assert told(a_runtime(), service=nulled)["InferenceService"][0] == [
        op("remove", "/metadata/annotations/ome.io~1accelerator-class")
    ]


def test_a_class_that_does_not_exist_is_not_listed() -> None:
    """The webhook refuses a runtime that lists one."""
    found = told(a_runtime(), H100, service=a_service(acceleratorSelector={"acceleratorClass": "H100"}))
    assert set(found) == {"InferenceService"}


def test_a_profile_stays_disabled() -> None:
    """The webhook refuses one that isn't."""
    profile = a_runtime(annotations={"ome.io/runtime-profile": "true"}, disabled=True)
    assert told(profile) == {}
    assert set(told(profile, semantics=V1_2)) == {"ClusterServingRuntime"}


MODES: list[tuple[str, Manifest, Manifest, Patch, Patch]] = [
    (
        "engine",
        a_runtime(engineConfig=moded("MultiNode")),
        a_service(engine=moded("OMENative")),
        [op("replace", "/spec/engineConfig/annotations/ome.io~1deploymentMode", "OMENative")],
        [op("replace", "/spec/engine/annotations/ome.io~1deploymentMode", "MultiNode")],
    ),
    (
        "spec",
        a_runtime(engineConfig=moded("MultiNode")),
        a_service(deploymentMode="RawDeployment"),
        [op("replace", "/spec/engineConfig/annotations/ome.io~1deploymentMode", "RawDeployment")],
        [op("add", "/spec/engine/annotations", {MODE: "MultiNode"})],
    ),
    (
        "no engine",
        a_runtime(engineConfig=moded("MultiNode")),
        a_service(deploymentMode="RawDeployment", engine=None),
        [op("replace", "/spec/engineConfig/annotations/ome.io~1deploymentMode", "RawDeployment")],
        [op("remove", "/spec/deploymentMode")],
    ),
    (
        "both",
        a_runtime(engineConfig=moded("RawDeployment"), decoderConfig=moded("RawDeployment")),
        a_service(engine=moded("OMENative"), decoder=moded("OMENative")),
        [
            op("replace", "/spec/engineConfig/annotations/ome.io~1deploymentMode", "OMENative"),
            op("replace", "/spec/decoderConfig/annotations/ome.io~1deploymentMode", "OMENative"),
        ],
        [
            op("replace", "/spec/engine/annotations/ome.io~1deploymentMode", "RawDeployment"),
            op("replace", "/spec/decoder/annotations/ome.io~1deploymentMode", "RawDeployment"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("runtime", "service", "by_runtime", "by_service"), [case[1:] for case in MODES], ids=[case[0] for case in MODES]
)
def test_one_of_the_two_sides_takes_the_other_ones_mode(
    runtime: Manifest, service: Manifest, by_runtime: Patch, by_service: Patch
) -> None:
    found = told(runtime, service=service)
    assert found["ClusterServingRuntime"] == (by_runtime, True)
    assert found["InferenceService"] == (by_service, True)


def test_a_service_is_not_changed_into_one_that_the_webhook_refuses() -> None:
    """Engine and decoder must agree when one of them is OMENative."""
    native = a_service(engine=moded("OMENative"), decoder=moded("OMENative"))
    assert set(told(a_runtime(engineConfig=moded("MultiNode")), service=native)) == {"ClusterServingRuntime"}


def test_no_component_is_changed_to_a_mode_that_cannot_run() -> None:
    virtual = a_runtime(engineConfig=moded("VirtualDeployment"))
    assert set(told(virtual, service=a_service(engine=moded("OMENative")))) == {"ClusterServingRuntime"}


def test_a_model_without_a_service_has_no_remedy_by_one() -> None:
    assert set(told(a_runtime(disabled=True))) == {"ClusterServingRuntime"}


LLAMA = an_entry(modelArchitecture="Llama")
DESCRIPTIONS: list[tuple[str, Sequence[dict[str, Any]], dict[str, Any], Patch | None]] = [
    ("missing", [LLAMA], {}, [op("add", f"{SPEC}/modelArchitecture", "Llama")]),
    ("other", [LLAMA], {"modelArchitecture": "llama"}, [op("replace", f"{SPEC}/modelArchitecture", "Llama")]),
    ("surplus", [an_entry()], {"quantization": "fp8"}, [op("remove", f"{SPEC}/quantization")]),
    (
        "version",
        [an_entry(modelFormat={"name": "safetensors", "version": "1.0.0"})],
        {"modelFormat": {"name": "safetensors", "version": "2.0.0"}},
        [op("replace", f"{SPEC}/modelFormat/version", "1.0.0")],
    ),
    (
        "accepted version",
        [an_entry(modelFormat={"name": "safetensors", "version": "2.0.0", "operator": "GreaterThan"})],
        {"modelFormat": {"name": "safetensor", "version": "1.0.0"}},
        [op("replace", f"{SPEC}/modelFormat/name", "safetensors")],
    ),
    (
        "framework",
        [an_entry(modelFramework={"name": "transformers", "version": "4.0.0"})],
        {},
        [op("add", f"{SPEC}/modelFramework", {"name": "transformers", "version": "4.0.0"})],
    ),
    ("no framework", [an_entry()], {"modelFramework": {"name": "t"}}, [op("remove", f"{SPEC}/modelFramework")]),
    (
        "fewest",
        [an_entry(modelArchitecture="Llama", quantization="fp8"), an_entry(quantization="fp4")],
        {},
        [op("add", f"{SPEC}/quantization", "fp4")],
    ),
    (
        "fewest operations",
        [
            an_entry(modelFormat={"name": "onnx", "version": "1.0.0"}),
            an_entry(modelFormat={"name": "safetensors", "version": "1.0.0"}),
        ],
        {},
        [op("add", f"{SPEC}/modelFormat/version", "1.0.0")],
    ),
    # an entry that no model satisfies is passed over for one that some does
    (
        "next",
        [
            an_entry(modelFormat={"name": "safetensors", "version": "latest"}),
            an_entry(modelArchitecture="Llama", quantization="fp8"),
        ],
        {},
        [op("add", f"{SPEC}/modelArchitecture", "Llama"), op("add", f"{SPEC}/quantization", "fp8")],
    ),
    ("pipeline", [an_entry(diffusionPipeline={"className": "Flux"})], {}, None),
    ("not selectable", [an_entry(modelArchitecture="Llama", autoSelect=False)], {}, None),
    ("no format", [{"autoSelect": True}], {}, None),
]


@pytest.mark.parametrize(
    ("entries", "model", "patch"), [case[1:] for case in DESCRIPTIONS], ids=[case[0] for case in DESCRIPTIONS]
)
def test_a_model_is_described_so(entries: Sequence[dict[str, Any]], model: dict[str, Any], patch: Patch | None) -> None:
    found = told(a_runtime("fast", None, *entries), model=a_model(**model))
    assert found.get("ClusterBaseModel") == (None if patch is None else (patch, True))


def test_a_model_is_not_told_to_change_for_what_else_stands_in_the_way() -> None:
    assert "ClusterBaseModel" not in told(a_runtime("fast", None, LLAMA, disabled=True))
    assert "ClusterBaseModel" not in told(
        a_runtime("fast", None, LLAMA, modelSizeRange={"max": "1B"}), model=a_model(modelParameterSize="7B")
    )
