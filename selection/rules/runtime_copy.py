"""The OMENative copy of a runtime: what it is called, what differs from the original and why, whether it is ready.

Follows OME: move from LeaderWorkerSet to OMENative (step 2). The runtime itself is never edited: a change of it
reaches every service that follows it. Metadata isn't copied but for the name and the namespace, so a copy inherits
nothing: it is made of the merged spec. Automatic selection never takes a copy; a service has to name it.

Why something differs, beside the codes of :mod:`.references`:

===================  ================================================================================================
``new-name``         a copy needs a name of its own
``server-set``       the API server or a controller writes it
``metadata``         labels and annotations belong to the original: what deploys it would take the copy for its own
``merged``           the parent's part is in the copy
``mode-annotation``  the annotation that says MultiNode
``auto-select``      OME must not select the copy for services that haven't moved
===================  ================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .admission import Admission, admit_runtime
from .copy_names import copy_name
from .edits import Edit, Op, edited
from .env_order import unexpanded_variables
from .fleet import Fleet
from .inheritance import INHERIT_FROM
from .modes import MODE_ANNOTATION, MULTI_NODE
from .objects import ObjectRef, Runtime
from .parsing import parse_runtime
from .plan_notes import Note
from .reading import Unreadable
from .reference_origins import Located, holders, located_references
from .references import omenative_edits
from .unset_fields import without_unset_fields

__all__ = ["DIFFERENCES", "NOTES", "RuntimeCopy", "copy_edits", "declares_multi_node", "plan_copy"]

Manifest = Mapping[str, Any]

DIFFERENCES = ("new-name", "server-set", "metadata", "merged", "mode-annotation", "auto-select")
"""Why something differs, beside the codes of :mod:`.references`."""

NOTES = (
    "inherits",
    "inherited-references",
    "name-taken",
    "name-shortened",
    "copy-exists",
    "copy-by-hand",
    "env-value-order",
)
"""What a person should know of a copy."""

_SERVER_SET = frozenset(
    {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"}
    | {"resourceVersion", "selfLink", "uid"}
)
_THERE = frozenset({"copy-exists", "copy-by-hand"})
_NOT_ADMITTED = Admission()


@dataclass(frozen=True, slots=True)
class RuntimeCopy:
    """A runtime and its copy for OMENative.

    Attributes:
        runtime: the original.
        copy: what the copy is called.
        need: ``references`` when OMENative's pods wouldn't work without a copy; ``mode`` when only its annotation
            says MultiNode, so that OME would advise against it for ever; ``""`` when the runtime works as it is.
        original: the manifest that the edits are of: the runtime's own, or with its merged spec when it inherits.
        manifest: the copy.
        edits: all that differs between the two, in the order of the manifest.
        references: every reference to LeaderWorkerSet, and whose it is.
        admission: what the webhook would say of the copy.
        notes: what a person should know.
        reasons: why the copy isn't ready; empty when it is.
    """

    runtime: ObjectRef
    copy: ObjectRef
    need: str
    original: Manifest = field(hash=False, repr=False)
    manifest: Manifest = field(hash=False, repr=False)
    edits: tuple[Edit, ...] = field(hash=False, repr=False)
    references: tuple[Located, ...]
    admission: Admission
    notes: tuple[Note, ...] = ()
    reasons: tuple[Note, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether the copy can be applied as it is."""
        return not self.reasons

    @property
    def rework(self) -> tuple[Located, ...]:
        """What a person must rework; it stands in the copy as it stood."""
        return tuple(each for each in self.references if each.reference.remedy == "rework")

    @property
    def inherits(self) -> bool:
        """Whether the copy was made of a merged spec."""
        return any(note.code == "inherits" for note in self.notes)

    @property
    def exists(self) -> bool:
        """Whether the copy is there already, as it would be made or with what a person had to rework."""
        return any(note.code in _THERE for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The copy as JSON."""
        return {
            "runtime": self.runtime.to_dict(),
            "copy": self.copy.to_dict(),
            "need": self.need or None,
            "ready": self.ready,
            "reasons": [note.to_dict() for note in self.reasons],
            "notes": [note.to_dict() for note in self.notes],
            "references": [each.to_dict() for each in self.references],
            "changes": [edit.to_dict() for edit in self.edits],
            "admission": self.admission.to_dict(),
            "manifest": dict(self.manifest),
        }


def declares_multi_node(runtime: Runtime, components: Iterable[str] = ("engine", "decoder")) -> bool:
    """Whether an annotation of one of these components says MultiNode."""
    configs = (runtime.components.get(name) for name in components)
    return any(config.annotation(MODE_ANNOTATION) == MULTI_NODE for config in configs if config is not None)


def plan_copy(fleet: Fleet, manifest: Manifest, *, placeholder: str | None = None) -> RuntimeCopy:
    """The copy of a runtime of this fleet.

    Args:
        fleet: the cluster.
        manifest: the runtime's own manifest.
        placeholder: what stands where a value was taken out; with one in it the copy isn't ready.

    Raises:
        Unreadable: the manifest can't be read.
    """
    own = parse_runtime(manifest)
    effective = fleet.effective(fleet.runtimes.get((own.ref.namespace, own.ref.name), own))
    merged = effective.runtime
    inherits = merged is not None and len(effective.chain.members) > 1
    notes: list[Note] = []
    if inherits and merged is not None:
        original = {**manifest, "spec": without_unset_fields(merged.spec)}
        notes.append(Note("inherits", {"chain": list(effective.chain.names)}))
    else:
        original = dict(manifest)
    found = located_references(fleet, own)
    notes += _parents(own.ref, found)
    edits = copy_edits(original, "")
    bare = edited(original, edits)
    rework = [each.reference.path for each in found if each.reference.remedy == "rework"]
    name, named = copy_name(fleet, own.ref, bare["spec"], rework)
    notes += named
    edits = copy_edits(original, name)
    copy = edited(original, edits)
    need = "references" if found else "mode" if declares_multi_node(merged or own) else ""
    reasons: list[Note] = []
    if effective.chain.problem is not None:
        reasons.append(Note("broken-chain", {"message": effective.chain.problem.message}))
    elif effective.problem is not None:
        reasons.append(Note("unreadable", {"path": effective.problem.path, "message": effective.problem.message}))
    if rework and not any(note.code == "copy-by-hand" for note in named):
        reasons.append(Note("rework", {"count": len(rework)}))
    there = any(note.code in _THERE for note in named)
    standing = fleet.runtimes.get((own.ref.namespace, name)) if there else None
    if unexpanded := unexpanded_variables(standing.spec if standing is not None else copy.get("spec") or {}):
        notes.append(Note("env-value-order", {"variables": [each.to_dict() for each in unexpanded]}))
    if placeholder is not None and not there and (hidden := list(_holding(copy, placeholder, ""))):
        reasons.append(Note("secrets-replaced", {"paths": hidden}))
    admission = _admitted(fleet, copy, reasons)
    ref = replace(own.ref, name=name)
    return RuntimeCopy(own.ref, ref, need, original, copy, edits, found, admission, tuple(notes), tuple(reasons))


def _parents(runtime: ObjectRef, found: tuple[Located, ...]) -> Iterator[Note]:
    """Which parents hold references, and how many."""
    for origin, count in holders(found).items():
        if origin != runtime:
            yield Note("inherited-references", {"parent": origin.to_dict(), "count": count})


def _admitted(fleet: Fleet, copy: Manifest, reasons: list[Note]) -> Admission:
    """What the webhook says of the copy; what it refuses, and what can't be read, are reasons."""
    try:
        runtime = parse_runtime(copy)
    except Unreadable as error:
        reasons.append(Note("unreadable", {"path": error.path, "message": error.message}))
        return _NOT_ADMITTED
    # It inherits nothing, so that nothing but itself and the classes has a say.
    alone = Fleet(fleet.semantics, accelerator_classes=fleet.accelerator_classes)
    alone.runtimes[(runtime.ref.namespace, runtime.ref.name)] = runtime
    admission = admit_runtime(alone, runtime)
    reasons += [Note("copy-refused", {"message": message}) for message in admission.errors]
    return admission


def copy_edits(manifest: Manifest, name: str) -> tuple[Edit, ...]:
    """All that makes the OMENative copy of a runtime's manifest.

    >>> manifest = {"metadata": {"name": "fast", "uid": "1"}, "spec": {"supportedModelFormats": [{"autoSelect": True}]}}
    >>> [(edit.op, edit.place, edit.why) for edit in copy_edits(manifest, "fast-omenative")]
    [('replace', 'metadata.name', ('new-name',)),
     ('remove', 'metadata.uid', ('server-set',)),
     ('replace', 'spec.supportedModelFormats[0].autoSelect', ('auto-select',))]
    """
    return (*_metadata_edits(manifest, name), *_spec_edits(manifest), *_status_edits(manifest))


def _metadata_edits(manifest: Manifest, name: str) -> Iterator[Edit]:
    metadata = manifest["metadata"]
    yield Edit("replace", ("metadata", "name"), metadata["name"], name, ("new-name",))
    for key, value in metadata.items():
        if key in {"name", "namespace"}:
            continue
        why = ["server-set" if key in _SERVER_SET else "metadata"]
        if key == "annotations" and isinstance(value, Mapping) and value.get(INHERIT_FROM):
            why.insert(0, "merged")
        yield Edit("remove", ("metadata", key), value, None, tuple(why))


def _spec_edits(manifest: Manifest) -> Iterator[Edit]:
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    yield from omenative_edits(spec)
    formats = spec.get("supportedModelFormats")
    for index, entry in enumerate(formats if isinstance(formats, list) else ()):
        if isinstance(entry, Mapping) and entry.get("autoSelect") is not False:
            path = ("spec", "supportedModelFormats", index, "autoSelect")
            op: Op = "replace" if "autoSelect" in entry else "add"
            yield Edit(op, path, entry.get("autoSelect"), False, ("auto-select",))


def _status_edits(manifest: Manifest) -> Iterator[Edit]:
    if "status" in manifest:
        yield Edit("remove", ("status",), manifest["status"], None, ("server-set",))


def _holding(value: Any, placeholder: str, path: str) -> Iterator[str]:
    """Where a text stands in a manifest."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _holding(item, placeholder, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _holding(item, placeholder, f"{path}[{index}]")
    elif isinstance(value, str) and placeholder in value:
        yield path
