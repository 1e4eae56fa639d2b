"""Diffusion pipelines: the first difference, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.pipelines import PART_NAMES, pipeline_difference

from .manifests import read_entry, read_model

FLUX = {
    "className": "FluxPipeline",
    "scheduler": {"library": "diffusers", "type": "FlowMatchEulerDiscreteScheduler"},
    "textEncoder": {"library": "transformers", "type": "CLIPTextModel"},
    "vae": {"library": "diffusers", "type": "AutoencoderKL"},
    "additionalComponents": {"text_encoder_2": {"library": "transformers", "type": "T5EncoderModel"}},
}


def difference(model: Any, entry: Any) -> str | None:
    """The difference between two pipelines as they stand in manifests."""
    return pipeline_difference(
        read_model(diffusionPipeline=model).pipeline, read_entry(diffusionPipeline=entry).pipeline
    )


ACCEPTED: list[tuple[str, Any, Any]] = [
    # an entry that asks for nothing, or for less than the model has
    ("no pipeline asked for", None, None),
    ("a pipeline nobody asked for", FLUX, None),
    ("an empty demand", FLUX, {}),
    ("an empty demand of an empty pipeline", {}, {}),
    ("the class alone", FLUX, {"className": "FluxPipeline"}),
    ("the same", FLUX, FLUX),
    ("one component", FLUX, {"vae": FLUX["vae"]}),
    # empty values in the entry ask for nothing; an empty component asks that there is one
    ("a component of any kind", FLUX, {"vae": {}}),
    ("a component with empty values", FLUX, {"vae": {"library": "", "type": ""}}),
    ("no additional components", {"className": "FluxPipeline"}, {"additionalComponents": {}}),
    ("an additional one of any kind", FLUX, {"additionalComponents": {"text_encoder_2": {}}}),
    ("an additional one that is null", FLUX, {"additionalComponents": {"text_encoder_2": None}}),
    # a class that is set to nothing is still a class
    ("an empty class on both", {"className": ""}, {"className": ""}),
]


@pytest.mark.parametrize(("model", "entry"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_a_pipeline_is_accepted(model: Any, entry: Any) -> None:
    assert difference(model, entry) is None


REFUSED: list[tuple[Any, Any, str]] = [
    (None, {}, "diffusion pipeline required by runtime but not specified in model"),
    (None, FLUX, "diffusion pipeline required by runtime but not specified in model"),
    # the class first, case and emptiness included
    (
        {"className": "StableDiffusionPipeline"},
        FLUX,
        "pipeline class mismatch (model=StableDiffusionPipeline, runtime=FluxPipeline)",
    ),
    ({}, FLUX, "pipeline class mismatch (model=<nil>, runtime=FluxPipeline)"),
    ({"className": ""}, FLUX, "pipeline class mismatch (model=, runtime=FluxPipeline)"),
    (FLUX, {"className": ""}, "pipeline class mismatch (model=FluxPipeline, runtime=)"),
    ({"className": "fluxpipeline"}, FLUX, "pipeline class mismatch (model=fluxpipeline, runtime=FluxPipeline)"),
    # then the components: missing, another library, another type
    (FLUX, {"tokenizer": {}}, "component tokenizer required by runtime but not specified in model"),
    (FLUX, {"vae": {"library": "ours"}}, "vae library mismatch (model=diffusers, runtime=ours)"),
    (FLUX, {"vae": {"type": "VAE"}}, "vae type mismatch (model=AutoencoderKL, runtime=VAE)"),
    ({"vae": {}}, {"vae": {"library": "ours"}}, "vae library mismatch (model=, runtime=ours)"),
    ({"vae": {}}, {"vae": {"type": "VAE"}}, "vae type mismatch (model=, runtime=VAE)"),
    # the library before the type
    (FLUX, {"vae": {"library": "ours", "type": "VAE"}}, "vae library mismatch (model=diffusers, runtime=ours)"),
    # then the additional ones
    (
        {"className": "FluxPipeline"},
        {"additionalComponents": {"image_encoder": {}}},
        "diffusion pipeline missing required additional components",
    ),
    (
        FLUX,
        {"additionalComponents": {"image_encoder": {}}},
        "diffusion component image_encoder missing in model",
    ),
    (
        FLUX,
        {"additionalComponents": {"text_encoder_2": {"library": "ours"}}},
        "text_encoder_2 library mismatch (model=transformers, runtime=ours)",
    ),
    (
        FLUX,
        {"additionalComponents": {"text_encoder_2": {"type": "UMT5"}}},
        "text_encoder_2 type mismatch (model=T5EncoderModel, runtime=UMT5)",
    ),
    # of several keys, ours is the first by name; OME's order isn't defined
    (
        FLUX,
        {"additionalComponents": {"text_encoder_2": {"type": "UMT5"}, "image_encoder": {}}},
        "diffusion component image_encoder missing in model",
    ),
]


@pytest.mark.parametrize(("model", "entry", "text"), REFUSED)
def test_it_names_the_first_difference(model: Any, entry: Any, text: str) -> None:
    assert difference(model, entry) == text


def test_the_components_are_compared_in_omes_order() -> None:
    wanted = {name: {"library": "ours"} for name in reversed(PART_NAMES)}
    has = {name: {"library": "theirs"} for name in PART_NAMES}
    seen = []
    while wanted:
        text = difference(has, wanted)
        assert text is not None
        seen.append(text.partition(" ")[0])
        del wanted[seen[-1]]
    assert seen == ["scheduler", "textEncoder", "tokenizer", "transformer", "vae"]
