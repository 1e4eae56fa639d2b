"""The field that decides what is said: where a person has to look, and mostly to change something.

OME's messages name fields in words; these are the paths that they mean. Follows OME: the validation webhooks,
deployment modes.
"""

from __future__ import annotations

import re

from .inheritance import INHERIT_FROM, PROFILE
from .modes import MODE_ANNOTATION
from .stream import Told
from .typed_fields import extend_path

__all__ = ["admission_path", "deciding_path", "runtime_admission_path"]

_WORDED = (
    (re.compile(r"decoder cannot be specified"), "spec.decoder"),
    (re.compile(r"InvalidDeploymentModeCombination"), "spec.engine"),
    (re.compile(r"(?:referenced model|model \S+ is disabled)"), "spec.model.name"),
    (re.compile(r"no supporting runtime|model reference is required"), "spec.model"),
    (re.compile(r"runtime "), "spec.runtime.name"),
    (re.compile(r"at least one of spec.model"), "spec"),
)
_FIELD = re.compile(r"spec(?:\.[A-Za-z]+|\[\d+\])+")
_BESIDE = re.compile(r"(?:[A-Za-z]+: )?((?:engine|decoder|router)(?:\.[A-Za-z]+)*)\b")
_CHAIN_WORDS = ("inherit-from parent ", "inheritance cycle ", "inheritance chain ")


def admission_path(text: str) -> str:
    """The field that the webhook's words about a service mean.

    >>> admission_path("InvalidLeaderWorkerPairing: engine.leader is set but engine.worker is not; multi-pod ...")
    'spec.engine.leader'
    >>> admission_path("spec.runtime.revision requires spec.runtime.autoSync=false; AutoSync=true would ...")
    'spec.runtime.revision'
    """
    for words, path in _WORDED:
        if words.match(text):
            return path
    found = _FIELD.match(text)
    if found:
        return found[0]
    beside = _BESIDE.match(text)
    return f"spec.{beside[1]}" if beside else ""


def runtime_admission_path(text: str) -> str:
    """The field that the webhook's words about a runtime mean.

    >>> runtime_admission_path("unknown accelerator classes referenced in AcceleratorRequirements: [a]")
    'spec.acceleratorRequirements.acceleratorClasses'
    """
    if text.startswith("runtimes carrying "):
        return extend_path("metadata.annotations", PROFILE)
    if text.startswith(_CHAIN_WORDS):
        return extend_path("metadata.annotations", INHERIT_FROM)
    if text.startswith("unknown accelerator classes "):
        return "spec.acceleratorRequirements.acceleratorClasses"
    return "spec.supportedModelFormats" if text.startswith("different priorities ") else ""


def deciding_path(told: Told) -> str:
    """The field of its object that decides a finding of the stream, as near as the object itself has it.

    >>> from selection.rules.objects import ObjectRef
    >>> deciding_path(Told("silent-takeover", ObjectRef("InferenceService", "a", "b"), "decoder", path="spec.decoder"))
    'spec.decoder'
    """
    facts, path = told.facts, told.path
    if told.code == "overridden":
        return "spec.runtime.name"
    if told.code == "broken-chain":
        return extend_path("metadata.annotations", INHERIT_FROM)
    if told.code == "rejected" and facts.get("source"):
        path = str(facts["source"])
    elif told.code in {"impossible", "pair", "deprecated"} and told.object.kind == "InferenceService":
        # Where the service has no annotation of its own, its component is as near as it gets.
        path = f"spec.{told.component}.annotations"
    elif told.family == "upgrade" and not path:
        path = "spec.runtime.name" if told.code == "another-runtime" else "spec.model.name"
    return extend_path(path, MODE_ANNOTATION) if path.endswith("annotations") else path
