"""Whether an entry of ``supportedModelFormats`` matches a model, and OME's words for why not.

Follows OME: runtime selection, "supported model formats" (the selector's ``getFormatMismatchReason``).
A value that only one side sets never matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from .objects import Entry, Format, Model
from .pipelines import pipeline_difference
from .versions import accepts

__all__ = [
    "SHARDED_DIFFERENCE",
    "entry_difference",
    "entry_differences",
    "entry_matches",
    "matching_entry",
    "model_label",
    "unsupported_text",
]

SHARDED = "Sharded"
SHARDED_DIFFERENCE = "no model cache provider is configured for sharded model loading"


def entry_matches(model: Model, entry: Entry) -> bool:
    """Whether the entry matches the model.

    An entry without ``modelFormat`` never does, although it adds no words to the reason.
    """
    return entry.format is not None and next(_differences(model, entry), None) is None


def matching_entry(model: Model, entries: tuple[Entry, ...]) -> Entry | None:
    """The first entry that matches: the one whose priority and weight OME shows."""
    return next((entry for entry in entries if entry_matches(model, entry)), None)


def entry_difference(model: Model, entry: Entry) -> str:
    """All differences of one entry in OME's order, joined by ``, ``.

    >>> from .objects import ObjectRef
    >>> model = Model(ObjectRef("BaseModel", "a", "m"), format=Format("safetensors"))
    >>> entry_difference(model, Entry(format=Format("pytorch"), quantization="fp8"))
    'model has no quantization but runtime requires fp8, format name mismatch (model=safetensors, runtime=pytorch)'
    """
    return ", ".join(_differences(model, entry)) or "unknown mismatch"


def entry_differences(model: Model, entry: Entry) -> tuple[str, ...]:
    """The differences of one entry, each in OME's words; none also for an entry without ``modelFormat``."""
    return tuple(_differences(model, entry))


def unsupported_text(model: Model, entries: tuple[Entry, ...]) -> str:
    """The reason of a runtime none of whose entries match."""
    details = "; ".join(entry_difference(model, entry) for entry in entries) or "no supported formats defined"
    return f"model format '{model_label(model)}' not in supported formats: {details}"


def model_label(model: Model) -> str:
    """The model as OME labels it in reasons: ``mt:`` and each part that is set.

    >>> from .objects import ObjectRef
    >>> model_label(Model(ObjectRef("BaseModel", "a", "m"), Format("safetensors", "1.0.0"), quantization="fp8"))
    'mt:safetensors:1.0.0:fp8'
    """
    parts = [model.format.name, model.format.version, model.architecture, model.quantization]
    if model.framework is not None:
        parts += [model.framework.name, model.framework.version]
    return "mt:" + ":".join(part for part in parts if part is not None)


def _differences(model: Model, entry: Entry) -> Iterator[str]:
    if model.distribution == SHARDED:
        yield SHARDED_DIFFERENCE
    if entry.pipeline is not None:
        pipeline = pipeline_difference(model.pipeline, entry.pipeline)
        if pipeline is not None:
            yield pipeline
    # Equal is what is met most often: it is told before anything is called.
    if model.architecture != entry.architecture:
        yield _plain("architecture", model.architecture, entry.architecture)
    if model.quantization != entry.quantization:
        yield _plain("quantization", model.quantization, entry.quantization)
    if entry.format is not None:
        yield from _named("format", model.format, entry.format)
    if model.framework is not None and entry.framework is not None:
        yield from _named("framework", model.framework, entry.framework)
    elif entry.framework is not None:
        yield f"model has no framework but runtime requires {entry.framework.name}"
    elif model.framework is not None:
        yield f"model has framework {model.framework.name} but runtime has no framework requirement"


def _plain(what: str, model: str | None, entry: str | None) -> str:
    """The words for two values that differ."""
    if model is None:
        return f"model has no {what} but runtime requires {entry}"
    if entry is None:
        return f"model has {what} {model} but runtime has no {what} requirement"
    return f"{what} mismatch (model={model}, runtime={entry})"


def _named(what: str, model: Format, entry: Format) -> Iterator[str]:
    if model.name != entry.name:
        yield f"{what} name mismatch (model={model.name}, runtime={entry.name})"
    elif model.version is not None and entry.version is not None:
        if not accepts(entry.version, entry.operator, model.version):
            yield f"{what} version mismatch (model={model.version}, runtime={entry.version})"
    elif entry.version is not None:
        yield f"model has no {what} version but runtime requires {entry.version}"
    elif model.version is not None:
        yield f"model has {what} version but runtime has no version requirement"
