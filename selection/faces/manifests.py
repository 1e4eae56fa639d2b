"""A manifest as YAML, line by line, with the lines marked that decide something.

What decides follows OME: runtime selection, deployment modes, inheritance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from selection.faces.cli.output import as_yaml
from selection.rules.accelerators import ACCELERATOR_ANNOTATION
from selection.rules.modes import MODE_ANNOTATION

__all__ = ["DECIDING", "Line", "Mark", "annotated_lines", "line_numbers", "manifest_text", "marks_of"]

_MODE = f'annotations["{MODE_ANNOTATION}"]'

_SERVICE = {
    f"metadata.{_MODE}": "Whole service: only VirtualDeployment counts here",
    f'metadata.annotations["{ACCELERATOR_ANNOTATION}"]': "Accelerator class",
    "spec.model": "The model",
    "spec.runtime": "The named runtime",
    "spec.deploymentMode": "Mode of each component without its own",
    "spec.acceleratorSelector.acceleratorClass": "Accelerator class",
    "spec.replicaRefs": "Its replicas are other objects",
    **{f"spec.{name}.{_MODE}": f"Mode of the {name}" for name in ("engine", "decoder", "router")},
    **{
        f"spec.{name}.acceleratorOverride.acceleratorClass": f"Accelerator class of the {name}"
        for name in ("engine", "decoder")
    },
    **{
        f"spec.{name}.{shape}": f"A {shape} makes the {name} multi-node"
        for name in ("engine", "decoder")
        for shape in ("leader", "worker")
    },
}
_RUNTIME = {
    'metadata.annotations["ome.io/inherit-from"]': "The parent",
    'metadata.annotations["ome.io/runtime-profile"]': "A profile: must be disabled",
    f"metadata.{_MODE}": "Not read here",
    "spec.disabled": "Check 1",
    "spec.acceleratorRequirements.acceleratorClasses": "Check 2: accelerator classes",
    "spec.supportedModelFormats": "Checks 4, 6 and 7: format, autoSelect, score",
    "spec.modelSizeRange": "Check 5: size",
    f"spec.engineConfig.{_MODE}": "Check 3: mode of the engine",
    f"spec.decoderConfig.{_MODE}": "Check 3: mode of the decoder",
    f"spec.routerConfig.{_MODE}": "Mode of the router; not compared",
    **{
        f"spec.{name}Config.{shape}": f"A {shape} makes the {name} multi-node"
        for name in ("engine", "decoder")
        for shape in ("leader", "worker")
    },
}
_MODEL = {
    "spec.disabled": "A disabled model is refused",
    "spec.modelFormat": "Format",
    "spec.modelFramework": "Framework",
    "spec.modelArchitecture": "Architecture",
    "spec.quantization": "Quantization",
    "spec.modelParameterSize": "Size",
    "spec.distribution": "Distribution",
    "spec.diffusionPipeline": "Pipeline",
}
_WORKLOAD = {
    'metadata.labels["ome.io/inferenceservice"]': "The service",
    "metadata.labels.component": "The component",
    'metadata.labels["serving-runtime"]': "The runtime that it was made from",
}

DECIDING: Mapping[str, Mapping[str, str]] = {
    "InferenceService": _SERVICE,
    "ServingRuntime": _RUNTIME,
    "ClusterServingRuntime": _RUNTIME,
    "BaseModel": _MODEL,
    "ClusterBaseModel": _MODEL,
    "Deployment": _WORKLOAD,
    "InferenceReplica": _WORKLOAD,
    "LeaderWorkerSet": _WORKLOAD,
}
"""For each kind the paths that decide, and what they decide."""

#: Of these only the line with the key is marked: what is below them decides nothing.
_KEY_ONLY = re.compile(r"\.(leader|worker)$")


@dataclass(frozen=True, slots=True)
class Mark:
    """A range of lines that decides something; ``bad`` when it is why the object can't be read."""

    path: str
    why: str
    first: int
    last: int
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the manifest. ``why`` stands on the first line of a mark."""

    number: int
    text: str
    marked: bool
    bad: bool
    why: str


def line_numbers(text: str) -> dict[str, tuple[int, int]]:
    """For each path of a YAML document its first and last line, counted from 1.

    A key that isn't a plain word is quoted, as OME's problems quote it.

    >>> line_numbers("spec:\\n  a.b: 1\\n  list:\\n  - x: 2\\n")
    {'spec': (1, 4), 'spec["a.b"]': (2, 2), 'spec.list': (3, 4), 'spec.list[0]': (4, 4), 'spec.list[0].x': (4, 4)}
    """
    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return dict(_numbered(node, "")) if node is not None else {}


def _numbered(node: yaml.Node, path: str) -> Iterator[tuple[str, tuple[int, int]]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value)
            plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name) is not None
            below = (f"{path}.{name}" if path else name) if plain else f'{path}["{name}"]'
            yield below, (key.start_mark.line + 1, _last(value))
            yield from _numbered(value, below)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield f"{path}[{index}]", (item.start_mark.line + 1, _last(item))
            yield from _numbered(item, f"{path}[{index}]")


def _last(node: yaml.Node) -> int:
    """The last line of a node; a block's end mark stands at the start of the line after it."""
    if isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) and not node.flow_style and node.value:
        final = node.value[-1]
        return _last(final[1] if isinstance(final, tuple) else final)
    end: int = node.end_mark.line + (node.end_mark.column > 0)
    return max(end, node.start_mark.line + 1)


def marks_of(kind: str, text: str, more: Iterable[str] = (), problem: str = "") -> list[Mark]:
    """The marks of a manifest in its order.

    Args:
        kind: the object's kind; what decides depends on it.
        text: the manifest as YAML.
        more: further paths that a link asks to mark.
        problem: the path of the field that can't be read, or ``""``.
    """
    numbers = line_numbers(text)
    reasons = {**dict.fromkeys(more, "Asked for by the link"), **DECIDING.get(kind, {})}
    marks = []
    for path, why in reasons.items():
        if path in numbers:
            first, last = numbers[path]
            marks.append(Mark(path, why, first, first if _KEY_ONLY.search(path) else last))
    if problem in numbers:
        first, last = numbers[problem]
        marks.append(Mark(problem, "Why it can't be read", first, last, bad=True))
    return sorted(marks, key=lambda mark: (mark.first, mark.last))


def annotated_lines(text: str, marks: Iterable[Mark]) -> Iterator[Line]:
    """Every line of the text with its mark."""
    by_line: dict[int, list[Mark]] = {}
    for mark in marks:
        for number in range(mark.first, mark.last + 1):
            by_line.setdefault(number, []).append(mark)
    for number, line in enumerate(text.split("\n"), start=1):
        here = by_line.get(number, [])
        why = "; ".join(mark.why for mark in here if mark.first == number)
        yield Line(number, line, bool(here), any(mark.bad for mark in here), why)


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The manifest as YAML, in the order in which people write one."""
    first = [key for key in ("apiVersion", "kind", "metadata", "spec") if key in manifest]
    rest = [key for key in manifest if key not in first]
    return as_yaml({key: manifest[key] for key in (*first, *rest)})
