"""Whether a model's diffusion pipeline is what a runtime's entry asks for.

Follows OME: the selector's ``compareDiffusionPipeline``; only the first difference is named.
"""

from __future__ import annotations

from .objects import Pipeline, PipelinePart

__all__ = ["PART_NAMES", "pipeline_difference"]

PART_NAMES = ("scheduler", "textEncoder", "tokenizer", "transformer", "vae")


def pipeline_difference(model: Pipeline | None, entry: Pipeline | None) -> str | None:
    """OME's words for the first difference, or None when the model's pipeline is accepted.

    >>> pipeline_difference(None, Pipeline(class_name="FluxPipeline"))
    'diffusion pipeline required by runtime but not specified in model'
    >>> pipeline_difference(Pipeline(), Pipeline(class_name="FluxPipeline"))
    'pipeline class mismatch (model=<nil>, runtime=FluxPipeline)'
    """
    if entry is None:
        return None
    if model is None:
        return "diffusion pipeline required by runtime but not specified in model"
    if entry.class_name is not None and entry.class_name != model.class_name:
        ours = "<nil>" if model.class_name is None else model.class_name
        return f"pipeline class mismatch (model={ours}, runtime={entry.class_name})"
    present = dict(model.parts)
    required = dict(entry.parts)
    for name in PART_NAMES:
        if name in required:
            difference = _part_difference(name, present.get(name), required[name])
            if difference is not None:
                return difference
    return _additional_difference(dict(model.additional), dict(entry.additional))


def _additional_difference(present: dict[str, PipelinePart], required: dict[str, PipelinePart]) -> str | None:
    if required and not present:
        return "diffusion pipeline missing required additional components"
    # Go walks the map in no defined order, so OME's first difference may be another one; ours is by key.
    for key in sorted(required):
        if key not in present:
            return f"diffusion component {key} missing in model"
        difference = _part_difference(key, present[key], required[key])
        if difference is not None:
            return difference
    return None


def _part_difference(name: str, model: PipelinePart | None, entry: PipelinePart) -> str | None:
    if model is None:
        return f"component {name} required by runtime but not specified in model"
    if entry.library and entry.library != model.library:
        return f"{name} library mismatch (model={model.library}, runtime={entry.library})"
    if entry.type and entry.type != model.type:
        return f"{name} type mismatch (model={model.type}, runtime={entry.type})"
    return None
