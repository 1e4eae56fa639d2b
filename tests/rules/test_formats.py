"""Whether an entry matches a model, and every word of why not."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.formats import entry_difference, entry_matches, matching_entry, model_label, unsupported_text

from .manifests import read_entry, read_model, read_runtime

TENSORS = {"name": "safetensors", "version": "1.0.0"}
HUGGING = {"name": "transformers", "version": "4.40.0"}
LLAMA = {"modelFormat": TENSORS, "modelFramework": HUGGING, "modelArchitecture": "LlamaForCausalLM"}


def test_an_entry_with_the_same_of_everything_matches() -> None:
    assert entry_matches(read_model(**LLAMA, quantization="fp8"), read_entry(**LLAMA, quantization="fp8"))


def test_neither_auto_select_nor_priority_nor_weight_matter_to_a_match() -> None:
    weighed = {**TENSORS, "weight": -3}
    entry = read_entry(**{**LLAMA, "modelFormat": weighed}, autoSelect=False, priority=0, name="anything")
    assert entry_matches(read_model(**LLAMA), entry)


DIFFERENCES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # architecture, then quantization: unequal, or set on one side only
    (
        {"modelArchitecture": "LlamaForCausalLM"},
        {"modelArchitecture": "Qwen3ForCausalLM"},
        "architecture mismatch (model=LlamaForCausalLM, runtime=Qwen3ForCausalLM)",
    ),
    ({}, {"modelArchitecture": "Qwen3ForCausalLM"}, "model has no architecture but runtime requires Qwen3ForCausalLM"),
    (
        {"modelArchitecture": "LlamaForCausalLM"},
        {},
        "model has architecture LlamaForCausalLM but runtime has no architecture requirement",
    ),
    ({"quantization": "fp8"}, {"quantization": "int4"}, "quantization mismatch (model=fp8, runtime=int4)"),
    ({}, {"quantization": "int4"}, "model has no quantization but runtime requires int4"),
    ({"quantization": "fp8"}, {}, "model has quantization fp8 but runtime has no quantization requirement"),
    # set to nothing is set
    ({"quantization": ""}, {}, "model has quantization  but runtime has no quantization requirement"),
    ({}, {"modelArchitecture": ""}, "model has no architecture but runtime requires "),
    # the format's name, case included; its version is not looked at then
    (
        {},
        {"modelFormat": {"name": "SafeTensors", "version": "1.0.0"}},
        "format name mismatch (model=safetensors, runtime=SafeTensors)",
    ),
    ({}, {"modelFormat": {}}, "format name mismatch (model=safetensors, runtime=)"),
    # its version
    (
        {"modelFormat": TENSORS},
        {"modelFormat": {"name": "safetensors", "version": "2.0.0"}},
        "format version mismatch (model=1.0.0, runtime=2.0.0)",
    ),
    (
        {"modelFormat": TENSORS},
        {"modelFormat": {"name": "safetensors", "version": "1.0.0", "operator": "GreaterThan"}},
        "format version mismatch (model=1.0.0, runtime=1.0.0)",
    ),
    ({}, {"modelFormat": TENSORS}, "model has no format version but runtime requires 1.0.0"),
    (
        {"modelFormat": TENSORS},
        {"modelFormat": {"name": "safetensors"}},
        "model has format version but runtime has no version requirement",
    ),
    (
        {"modelFormat": {"name": "safetensors", "version": ""}},
        {"modelFormat": {"name": "safetensors"}},
        "model has format version but runtime has no version requirement",
    ),
    # the framework: both or neither, and then as the format
    ({}, {"modelFramework": HUGGING}, "model has no framework but runtime requires transformers"),
    (
        {"modelFramework": HUGGING},
        {},
        "model has framework transformers but runtime has no framework requirement",
    ),
    (
        {"modelFramework": HUGGING},
        {"modelFramework": {"name": "tensorrtllm", "version": "4.40.0"}},
        "framework name mismatch (model=transformers, runtime=tensorrtllm)",
    ),
    (
        {"modelFramework": HUGGING},
        {"modelFramework": {"name": "transformers", "version": "4.39.0", "operator": "GreaterThanOrEqual"}},
        "framework version mismatch (model=4.40.0, runtime=4.39.0)",
    ),
    (
        {"modelFramework": {"name": "transformers"}},
        {"modelFramework": HUGGING},
        "model has no framework version but runtime requires 4.40.0",
    ),
    (
        {"modelFramework": HUGGING},
        {"modelFramework": {"name": "transformers"}},
        "model has framework version but runtime has no version requirement",
    ),
    # the pipeline before all others
    (
        {"modelArchitecture": "Flux"},
        {"diffusionPipeline": {}},
        "diffusion pipeline required by runtime but not specified in model, "
        "model has architecture Flux but runtime has no architecture requirement",
    ),
    # an entry without a format adds no words, and still doesn't match
    ({}, {"modelFormat": None}, "unknown mismatch"),
    (
        {"quantization": "fp8"},
        {"modelFormat": None},
        "model has quantization fp8 but runtime has no quantization requirement",
    ),
]


@pytest.mark.parametrize(("model", "entry", "text"), DIFFERENCES)
def test_it_says_every_difference_in_omes_words(model: dict[str, Any], entry: dict[str, Any], text: str) -> None:
    theirs, ours = read_model(**model), read_entry(**{"modelFormat": {"name": "safetensors"}, **entry})
    assert not entry_matches(theirs, ours)
    assert entry_difference(theirs, ours) == text


def test_it_says_the_differences_in_omes_order() -> None:
    model = read_model(
        modelFormat={"name": "pytorch"},
        modelFramework=HUGGING,
        modelArchitecture="LlamaForCausalLM",
        quantization="fp8",
        diffusionPipeline={},
    )
    entry = read_entry(
        modelFormat=TENSORS,
        modelFramework={"name": "transformers"},
        modelArchitecture="Qwen3ForCausalLM",
        diffusionPipeline={"className": "FluxPipeline"},
    )
    assert entry_difference(model, entry) == (
        "pipeline class mismatch (model=<nil>, runtime=FluxPipeline), "
        "architecture mismatch (model=LlamaForCausalLM, runtime=Qwen3ForCausalLM), "
        "model has quantization fp8 but runtime has no quantization requirement, "
        "format name mismatch (model=pytorch, runtime=safetensors), "
        "model has framework version but runtime has no version requirement"
    )


def test_a_sharded_model_matches_nothing_and_says_so_first() -> None:
    sharded = read_model(distribution="Sharded", quantization="fp8")
    assert entry_difference(sharded, read_entry(modelFormat={"name": "safetensors"}, quantization="fp8")) == (
        "no model cache provider is configured for sharded model loading"
    )
    assert entry_difference(sharded, read_entry(modelFormat={"name": "safetensors"})) == (
        "no model cache provider is configured for sharded model loading, "
        "model has quantization fp8 but runtime has no quantization requirement"
    )


@pytest.mark.parametrize("distribution", ["PerNode", "sharded", "", None])
def test_no_other_distribution_matters(distribution: str | None) -> None:
    assert entry_matches(read_model(distribution=distribution), read_entry(modelFormat={"name": "safetensors"}))


def test_the_first_entry_that_matches_is_the_one() -> None:
    good = {"modelFormat": {"name": "safetensors"}}
    runtime = read_runtime({"modelFormat": None}, {**good, "priority": 2}, {**good, "priority": 3})
    found = matching_entry(read_model(), runtime.entries)
    assert found is runtime.entries[1]
    assert matching_entry(read_model(modelFormat={"name": "onnx"}), runtime.entries) is None


LABELS = [
    ({}, "mt:safetensors"),
    ({"modelFormat": TENSORS}, "mt:safetensors:1.0.0"),
    ({"modelArchitecture": "LlamaForCausalLM", "quantization": "fp8"}, "mt:safetensors:LlamaForCausalLM:fp8"),
    ({"modelFramework": {"name": "transformers"}}, "mt:safetensors:transformers"),
    (
        {**LLAMA, "quantization": "fp8"},
        "mt:safetensors:1.0.0:LlamaForCausalLM:fp8:transformers:4.40.0",
    ),
    # what is set to nothing leaves its place
    ({"modelFormat": {"name": "safetensors", "version": ""}, "quantization": ""}, "mt:safetensors::"),
    ({"modelFramework": {}}, "mt:safetensors:"),
]


@pytest.mark.parametrize(("model", "label"), LABELS)
def test_a_model_has_omes_label(model: dict[str, Any], label: str) -> None:
    assert model_label(read_model(**model)) == label


def test_a_runtime_lists_the_differences_of_every_entry() -> None:
    runtime = read_runtime({"modelFormat": {"name": "onnx"}, "quantization": "int4"}, {"modelFormat": None})
    assert unsupported_text(read_model(), runtime.entries) == (
        "model format 'mt:safetensors' not in supported formats: "
        "model has no quantization but runtime requires int4, format name mismatch (model=safetensors, runtime=onnx); "
        "unknown mismatch"
    )


def test_a_runtime_without_entries_says_so() -> None:
    assert unsupported_text(read_model(), ()) == (
        "model format 'mt:safetensors' not in supported formats: no supported formats defined"
    )
