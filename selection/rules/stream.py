"""Everything that the rules have to say of a fleet as one stream: each a code, what it is about, and what it rests on.

A :class:`Told` is known again by its identity, whatever else about the object changes: the order of a list, the place
of an entry, the object's versions. What it rests on tells whether it is still the same case.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .codes import CODES
from .findings import Finding
from .objects import Entry, ObjectRef, Runtime

__all__ = ["Told", "about_entry", "digest_of", "told_of_finding", "unique"]

_ENTRY = re.compile(r"^spec\.supportedModelFormats\[(\d+)\](.*)$")
_COUNTED = {"entry-architecture-missing": frozenset({"models"})}
"""Facts that a sentence counts, and that make no other case of it when they change."""

LONGEST = 600
"""So many characters of OME's text are kept."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that is to be said of an object.

    Attributes:
        code: one of :data:`selection.rules.codes.CODES`.
        object: what it is said of.
        component: ``engine``, ``decoder``, ``router``, or ``""``.
        about: what else tells it apart from others of its code: another object, an entry, a field, a mode; ``""``.
        path: the field that decides, as it stands now; ``""`` for the object as a whole.
        facts: what its sentence needs.
        rests: what it rests on: the facts that make another case of it when they change.
    """

    code: str
    object: ObjectRef
    component: str = ""
    about: str = ""
    path: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rests: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def family(self) -> str:
        """The family of its words and sentences."""
        return CODES[self.code].family

    @property
    def severity(self) -> str:
        """Its severity unless an installation says otherwise."""
        return CODES[self.code].severity

    @property
    def evidence(self) -> str:
        """A digest of what it rests on."""
        return digest_of(self.rests)

    @property
    def identity(self) -> tuple[str, str, str, str, str, str]:
        """What tells it apart from all others of its cluster."""
        return (*(self.object.kind, self.object.namespace, self.object.name), self.component, self.code, self.about)

    def key(self, cluster: str) -> str:
        """Its identity as a text for addresses: the code, and a digest of the cluster's name and the rest.

        >>> Told("shadowed", ObjectRef("ServingRuntime", "team", "slow")).key("prod")[:12]
        'shadowed-852'
        """
        return f"{self.code}-{digest_of([cluster, *self.identity])}"

    # What the sentences of mode conflicts ask for beside the facts.

    @property
    def requested(self) -> str:
        """Of a mode conflict: the mode that was asked for."""
        return self.facts.get("requested") or ""

    @property
    def declared(self) -> str:
        """Of a mode conflict: the mode that the runtime declares."""
        return self.facts.get("declared") or ""

    @property
    def running(self) -> str:
        """Of a mode conflict: the mode that the component runs in."""
        return self.facts.get("running") or ""


def digest_of(value: Any) -> str:
    """A digest of a JSON value that doesn't depend on the order of its keys: 32 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def about_entry(entry: Entry) -> str:
    """An entry of ``supportedModelFormats`` by what it is for, whichever place it has in the list.

    >>> about_entry(Entry(architecture="LlamaForCausalLM"))
    'supportedModelFormats[modelArchitecture=LlamaForCausalLM]'
    """
    named = {
        "name": entry.name,
        "modelFormat": entry.format.name if entry.format else "",
        "modelFramework": entry.framework.name if entry.framework else "",
        "modelArchitecture": entry.architecture,
        "quantization": entry.quantization,
        "diffusionPipeline": entry.pipeline.class_name if entry.pipeline else "",
    }
    return f"supportedModelFormats[{','.join(f'{key}={value}' for key, value in named.items() if value)}]"


def told_of_finding(finding: Finding, runtime: Runtime | None = None) -> Told:
    """A finding of :mod:`.findings` or :mod:`.overlaps` in the stream; ``runtime`` is its object when that is one."""
    entry = _ENTRY.match(finding.path)
    if entry is not None and runtime is not None:
        about = about_entry(runtime.entries[int(entry[1])]) + entry[2]
    elif finding.code == "overlap":
        first = finding.facts["first"]
        about = str(ObjectRef(first["kind"], first["namespace"] or "", first["name"]))
    else:
        about = finding.path
    counted = _COUNTED.get(finding.code, frozenset())
    rests = {name: value for name, value in finding.facts.items() if name not in counted}
    return Told(finding.code, finding.object, "", about, finding.path, finding.facts, rests)


def unique(told: Iterable[Told]) -> Iterator[Told]:
    """Each once, and those that nothing tells apart numbered: by what they rest on, so that no list's order matters."""
    found: dict[tuple[str, ...], list[Told]] = {}
    for each in told:
        found.setdefault(each.identity, []).append(each)
    for alike in found.values():
        if len(alike) == 1:
            yield alike[0]
            continue
        for number, each in enumerate(sorted(alike, key=lambda each: (each.evidence, each.path)), 1):
            about = each.about if number == 1 else f"{each.about}#{number}"
            yield Told(each.code, each.object, each.component, about, each.path, each.facts, each.rests)
