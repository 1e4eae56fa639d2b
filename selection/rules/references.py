"""Where a runtime's spec leans on LeaderWorkerSet, and what becomes of each place on OMENative.

Follows OME: move from LeaderWorkerSet to OMENative. OMENative pods get none of LeaderWorkerSet's variables and
labels. Three variables and one label have a counterpart; other keys are deleted; the rest needs a person.

:func:`find_references` lists the places; :func:`omenative_edits` are the changes that mend what a rename or a
deletion can mend. What needs a person is listed and never written. The explanations, which pages put into words:

===================  ================================================================================================
``renamed``          the same thing has another name on OMENative
``env-value-order``  renamed, but in another variable's value: OME adds its variables after the container's own, and
                     Kubernetes expands ``$(X)`` there only when X stands before; better used in the command
``env-name``         renamed; the container sets the variable itself, and OME sets its own over it
``leader-selector``  the label that selects leaders, renamed
``no-counterpart``   a key that OMENative ignores; the component's ``topologyKey`` keeps an Instance's pods together
``init-container``   OME sets its variables only in containers
``router``           routers run alone, without LeaderWorkerSet's or OMENative's variables
``arithmetic``       the shell computes with it: check the result under the new name
``escaped``          ``$$(X)``, which Kubernetes leaves as ``$(X)``: check what reads it
``unknown-variable`` no variable that LeaderWorkerSet's documentation names
``worker-index``     the worker's number other than 0: no label has it, only ``OME_INSTANCE_POD_RANK``
``field-path``       reads a label of LeaderWorkerSet into a variable or a file
``text``             names LeaderWorkerSet some other way
===================  ================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .edits import Edit, Op, Token, edited, place_text
from .modes import MODE_ANNOTATION, MULTI_NODE
from .reference_texts import (
    LABEL_PREFIX,
    LEADERS,
    RENAMED_VARIABLES,
    WORKER_INDEX,
    Remedy,
    mentions,
    names_leader_worker_set,
    rewritten_text,
)
from .typed_fields import Json

__all__ = [
    "LABEL_PREFIX",
    "RENAMED_VARIABLES",
    "Reference",
    "Remedy",
    "find_references",
    "omenative_edits",
    "rewritten",
]

_RUNNER, _LEADER = LEADERS
_COMPONENTS = {f"{name}{suffix}": name for name in ("engine", "decoder", "router") for suffix in ("", "Config")}
_CONTAINER_LISTS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_MAP_KINDS = {"annotations": "annotation", "labels": "label", "matchLabels": "selector", "nodeSelector": "selector"}
_KEY_FIELDS = {"topologyKey": "topology-key", "matchLabelKeys": "selector", "mismatchLabelKeys": "selector"}
_MODE_PLACES = frozenset({("engineConfig", "annotations"), ("decoderConfig", "annotations")})
_DEEPEST = 100  # no field of the API lies so deep; OME drops what does


@dataclass(frozen=True, slots=True)
class Reference:
    """One place that names LeaderWorkerSet.

    Attributes:
        path: the exact place, such as ``spec.engineConfig.leader.runner.command[10]``.
        component: ``engine``, ``decoder`` or ``router``; None outside of them.
        container: the container's name; None outside of containers or when it has none.
        init_container: whether it is an init container's.
        kind: ``variable``, ``env`` (a variable's name), ``label``, ``annotation``, ``selector``, ``topology-key``,
            ``field-path`` or ``text``.
        token: what stands there, such as ``$(LWS_GROUP_SIZE)`` or ``leaderworkerset.sigs.k8s.io/worker-index=0``.
        replacement: what to write instead; with remedy ``rework`` a guess that a person must check.
        remedy: ``rename`` and ``delete`` mend it; ``rework`` needs a person.
        explanation: why, as a code of this module's list.
        line: the line in a text of several lines, from 1.
    """

    path: str
    component: str | None
    container: str | None
    init_container: bool
    kind: str
    token: str
    replacement: str | None
    remedy: Remedy
    explanation: str
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The place as JSON."""
        return {
            "path": self.path,
            "component": self.component,
            "container": self.container,
            "init_container": self.init_container,
            "kind": self.kind,
            "token": self.token,
            "replacement": self.replacement,
            "remedy": self.remedy,
            "explanation": self.explanation,
            "line": self.line,
        }


def find_references(spec: Mapping[str, Any], base_path: str = "spec") -> tuple[Reference, ...]:
    """Every place in a runtime's spec that names LeaderWorkerSet, in the order of field names.

    Takes any JSON, also one that OME could not read, and never raises.

    >>> spec = {"engineConfig": {"leader": {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}}}
    >>> [(found.path, found.replacement) for found in find_references(spec)]
    [('spec.engineConfig.leader.runner.args[0]', '$(OME_INSTANCE_POD_COUNT)')]
    """
    try:
        written = repr(spec)  # most runtimes have none, and this is ten times as fast as a scan
        if "LWS_" not in written and "leaderworkerset" not in written:
            return ()
    except RecursionError:  # far deeper than any spec; the scan knows where to stop
        pass
    scan = _Scan()
    scan.value(spec, _Place((base_path,)))
    return tuple(scan.found)


def omenative_edits(spec: Mapping[str, Any], base_path: str = "spec") -> tuple[Edit, ...]:
    """The changes for OMENative: names replaced, keys without counterpart deleted, in the order of field names.

    The engine's and the decoder's annotation that says MultiNode goes too (``mode-annotation``). What needs a person
    stays as it is: find it with :func:`find_references` on the result. A term of an affinity or a spread constraint
    that selects by a deleted key goes as a whole, because an emptied selector would select every pod; so does a map
    that holds nothing else.

    >>> spec = {"engineConfig": {"annotations": {"leaderworkerset.sigs.k8s.io/size": "2"}, "minReplicas": 1}}
    >>> [(edit.op, edit.place, edit.why) for edit in omenative_edits(spec)]
    [('remove', 'spec.engineConfig.annotations', ('no-counterpart',))]
    """
    scan = _Scan()
    scan.value(spec, _Place((base_path,)))
    return tuple(scan.edits)


def rewritten(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec after :func:`omenative_edits`; the input is not changed.

    >>> rewritten({"engineConfig": {"annotations": {"leaderworkerset.sigs.k8s.io/size": "2", "a": "b"}}})
    {'engineConfig': {'annotations': {'a': 'b'}}}
    """
    return edited(spec, [replace(edit, path=edit.path[1:]) for edit in omenative_edits(spec)])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the scan stands."""

    path: tuple[Token, ...]
    keys: tuple[str, ...] = ()  # the field names above, without the places in lists
    component: str | None = None
    container: str | None = None
    init_container: bool = False

    def below(self, key: str) -> _Place:
        component = self.component or _COMPONENTS.get(key) if not self.keys else self.component
        return replace(self, path=(*self.path, key), keys=(*self.keys, key), component=component)

    def item(self, index: int) -> _Place:
        return replace(self, path=(*self.path, index))

    def inside(self, value: Mapping[str, Json]) -> _Place:
        """The place for what is in an object: a container gives its name to all that is in it."""
        if self.keys and (self.keys[-1] in _CONTAINER_LISTS or self.keys[-1] == "runner"):
            name = value.get("name")
            init = self.keys[-1] == "initContainers"
            return replace(self, container=name if isinstance(name, str) else None, init_container=init)
        return self

    @property
    def last(self) -> str:
        return self.keys[-1] if self.keys else ""

    @property
    def in_term(self) -> bool:
        """Whether this is part of an affinity's term or a spread constraint, which lives or dies as a whole."""
        return "affinity" in self.keys or "topologySpreadConstraints" in self.keys


class _Scan:
    """One pass over a spec: collects references, and the edits that mend them.

    Each method returns whether the value goes. Who asked then deletes it, with all that is in it.
    """

    def __init__(self) -> None:
        self.found: list[Reference] = []
        self.edits: list[Edit] = []

    def value(self, value: Json, place: _Place) -> bool:
        if len(place.path) > _DEEPEST:
            return False
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, (list, tuple)):
            gone = [self._below(item, place.item(index)) for index, item in enumerate(value)]
            return bool(gone) and all(gone)
        if isinstance(value, Mapping):
            return self._object(value, place.inside(value))
        return False

    def _below(self, value: Json, place: _Place, *why: str) -> bool:
        """Look at a value; when it goes, its deletion takes the place of all edits in it.

        ``why`` says that it goes in any case.
        """
        found, edits = len(self.found), len(self.edits)
        goes = bool(why)
        if not goes:
            goes = self.value(value, place)
            is_term = isinstance(value, Mapping) and isinstance(place.path[-1], int) and place.in_term
            if is_term and place.last not in {"matchExpressions", "matchFields"}:
                goes = goes or any(reference.remedy == "delete" for reference in self.found[found:])
        if goes:
            told = [each.explanation for each in self.found[found:] if each.remedy == "delete"]
            told += [code for edit in self.edits[edits:] for code in edit.why]
            del self.edits[edits:]
            self._edit("remove", place, value, None, *dict.fromkeys(told or why))
        return goes

    def _object(self, value: Mapping[str, Json], place: _Place) -> bool:
        key = value.get("key")
        if place.last in {"matchExpressions", "matchFields"} and isinstance(key, str) and key.startswith(LABEL_PREFIX):
            return self._expression(value, key, place)
        gone = []
        for name in sorted(value, key=str):
            if isinstance(name, str) and (name.startswith("LWS_") or "leaderworkerset" in name):
                gone.append(self._entry(name, value, place))
            elif name == MODE_ANNOTATION and value[name] == MULTI_NODE and place.keys in _MODE_PLACES:
                gone.append(self._below(value[name], place.below(name), "mode-annotation"))
            else:
                gone.append(self._below(value[name], place.below(str(name))))
        return bool(gone) and all(gone) and (place.in_term or place.last in _MAP_KINDS)

    def _entry(self, key: str, entries: Mapping[str, Json], place: _Place) -> bool:
        """An entry of a map whose key names LeaderWorkerSet."""
        value = entries[key]
        here = replace(place, path=(*place.path, key))
        kind = _MAP_KINDS.get(place.last, "text")
        if key == WORKER_INDEX and place.last == "matchLabels":
            if value == "0":
                self._add(here, kind, f"{key}=0", f"{_RUNNER}={_LEADER}", "rename", "leader-selector")
                return self._rename(here, _RUNNER, entries, "leader-selector", value=_LEADER)
            self._add(here, kind, key, None, "rework", "worker-index")
            return False
        if key.startswith(LABEL_PREFIX) and kind != "text":
            self._add(here, kind, key, None, "delete", "no-counterpart")
            return self._below(value, here, "no-counterpart")
        renamed = RENAMED_VARIABLES.get(key)
        if renamed and not place.init_container:
            self._add(here, "env", key, renamed, "rename", "env-name")
            if self._rename(here, renamed, entries, "env-name"):
                return True
        elif renamed:
            self._add(here, "env", key, None, "rework", "init-container")
        else:
            self._add(here, kind, key, None, "rework", "unknown-variable" if key.startswith("LWS_") else "text")
        return self._below(value, place.below(key))

    def _rename(
        self, place: _Place, name: str, entries: Mapping[str, Json], why: str, *, value: Json | None = None
    ) -> bool:
        """Give an entry its new name; when there is one of that name already, that one stays and this one goes."""
        key = str(place.path[-1])
        if name in entries:
            return self._below(entries[key], place, why)
        self._edit("rename", place, key, name, why)
        if value is not None:
            self._edit("replace", place, entries[key], value, why)
        return False

    def _expression(self, value: Mapping[str, Json], key: str, place: _Place) -> bool:
        """A requirement of a label selector on a key of LeaderWorkerSet."""
        here = place.below("key")
        if key != WORKER_INDEX:
            self._add(here, "selector", key, None, "delete", "no-counterpart")
            return True
        if value.get("operator") == "In" and value.get("values") == ["0"]:
            self._add(here, "selector", f"{key}=0", f"{_RUNNER}={_LEADER}", "rename", "leader-selector")
            self._edit("replace", here, key, _RUNNER, "leader-selector")
            self._edit("replace", place.below("values").item(0), "0", _LEADER, "leader-selector")
            return False
        self._add(here, "selector", key, None, "rework", "worker-index")
        return False

    def _text(self, text: str, place: _Place) -> bool:
        if not names_leader_worker_set(text):
            return False
        if place.last in _KEY_FIELDS and text.startswith(LABEL_PREFIX):
            self._add(place, _KEY_FIELDS[place.last], text, None, "delete", "no-counterpart")
            return True
        if place.last == "fieldPath":
            self._add(place, "field-path", text, None, "rework", "field-path")
        elif place.keys[-2:] == ("env", "name") and text.startswith("LWS_"):
            self._env_name(text, place)
        else:
            self._free_text(text, place)
        return False

    def _env_name(self, name: str, place: _Place) -> None:
        known = RENAMED_VARIABLES.get(name)
        if known is None or place.init_container:
            why = "init-container" if place.init_container else "unknown-variable"
            self._add(place, "env", name, None, "rework", why)
        elif place.component == "router":
            self._add(place, "env", name, known, "rework", "router")
        else:
            self._add(place, "env", name, known, "rename", "env-name")
            self._edit("replace", place, name, known, "env-name")

    def _free_text(self, text: str, place: _Place) -> None:
        """A command, an argument, a value: anything in which names stand among other words."""
        several_lines = "\n" in text.rstrip("\n")
        written, new, why = text, text, []
        while True:
            found = mentions(
                new,
                init_container=place.init_container,
                router=place.component == "router",
                env_value=place.keys[-2:] == ("env", "value"),
            )
            for mention in found if new is text else ():
                line = text.count("\n", 0, mention.start) + 1 if several_lines else None
                token = text[mention.start : mention.end]
                self._add(place, mention.kind, token, mention.replacement, mention.remedy, mention.explanation, line)
            why += [each.explanation for each in found if each.remedy != "rework"]
            new = rewritten_text(written, found)
            if new == written:
                break
            written = new  # again, for a name can stand in another's default value
        if new != text:
            self._edit("replace", place, text, new, *dict.fromkeys(why))

    def _edit(self, op: Op, place: _Place, before: Json, after: Json, *why: str) -> None:
        self.edits.append(Edit(op, place.path, before, after, why))

    def _add(
        self,
        place: _Place,
        kind: str,
        token: str,
        replacement: str | None,
        remedy: Remedy,
        explanation: str,
        line: int | None = None,
    ) -> None:
        where = (place_text(place.path), place.component, place.container, place.init_container)
        self.found.append(Reference(*where, kind, token, replacement, remedy, explanation, line))
