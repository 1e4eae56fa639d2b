"""Where a runtime's spec leans on LeaderWorkerSet, and what becomes of each place on OMENative.

Follows OME: move from LeaderWorkerSet to OMENative. OMENative pods get none of LeaderWorkerSet's variables and
labels. Three variables and one label have a counterpart; other keys are deleted; the rest needs a person.

The explanations, which pages put into words:

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

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .typed_fields import Json, extend_path

__all__ = ["LABEL_PREFIX", "RENAMED_VARIABLES", "Reference", "Remedy", "find_references", "rewritten"]

Remedy = Literal["rename", "delete", "rework"]

RENAMED_VARIABLES: Mapping[str, str] = {
    "LWS_LEADER_ADDRESS": "OME_LEADER_ADDRESS",
    "LWS_GROUP_SIZE": "OME_INSTANCE_POD_COUNT",
    "LWS_WORKER_INDEX": "OME_INSTANCE_POD_RANK",
}
LABEL_PREFIX = "leaderworkerset.sigs.k8s.io/"

_WORKER_INDEX = LABEL_PREFIX + "worker-index"
_RUNNER, _LEADER = "ome.io/runner", "leader"
_COMPONENTS = {f"{name}{suffix}": name for name in ("engine", "decoder", "router") for suffix in ("", "Config")}
_CONTAINER_LISTS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_MAP_KINDS = {"annotations": "annotation", "labels": "label", "matchLabels": "selector", "nodeSelector": "selector"}
_KEY_FIELDS = {"topologyKey": "topology-key", "matchLabelKeys": "selector", "mismatchLabelKeys": "selector"}
_DEEPEST = 100  # no field of the API lies so deep; OME drops what does

_VARIABLE = re.compile(
    r"\$+\((?P<k8s>LWS_\w*)\)"  # $(X), and $$(X)
    r"|\$\{[#!]?(?P<braced>LWS_\w*)[^{}$\n]*\}"  # ${X}, ${X:-1}
    r"|\$(?P<shell>LWS_\w*)"
    r"|(?<!\w)(?P<bare>LWS_\w*)",
    re.ASCII,
)
_MENTION = re.compile(r"leaderworkerset[\w./\\-]*", re.ASCII)
_IS_ZERO = re.compile(r"(==?)(\"0\"|'0'|0)(?![\w.-])")
_ARITHMETIC = re.compile(r"\(\(.*?\)\)|\$\[.*?\]|\b(?:expr|let)\b[^\n;|&]*")
_REQUIREMENT = re.compile(r"[^=!\s]+(?:==?|!=)[^=\s]*")


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
    scan.value(spec, _Place(base_path))
    return tuple(scan.found)


def rewritten(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec for OMENative: replacements written, keys without counterpart deleted; the input is not changed.

    What needs a person and has no replacement stays: find it with :func:`find_references` on the result. A term
    of an affinity or a spread constraint that selects by a deleted key goes as a whole, because an emptied
    selector would select every pod.

    >>> rewritten({"engineConfig": {"annotations": {"leaderworkerset.sigs.k8s.io/size": "2", "a": "b"}}})
    {'engineConfig': {'annotations': {'a': 'b'}}}
    """
    result = _Scan().value(spec, _Place("spec"))
    return result if isinstance(result, dict) else {}


class _Gone:
    """Stands for a value that is deleted."""


_GONE = _Gone()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the scan stands."""

    path: str
    keys: tuple[str, ...] = ()  # the field names above, without the places in lists
    component: str | None = None
    container: str | None = None
    init_container: bool = False

    def below(self, key: str) -> _Place:
        component = self.component or _COMPONENTS.get(key) if not self.keys else self.component
        return replace(self, path=extend_path(self.path, key), keys=(*self.keys, key), component=component)

    def item(self, index: int) -> _Place:
        return replace(self, path=f"{self.path}[{index}]")

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
    """One pass over a spec: collects references, and returns each value as it should be on OMENative."""

    def __init__(self) -> None:
        self.found: list[Reference] = []

    def value(self, value: Json, place: _Place) -> Json | _Gone:
        if place.path.count("[") + len(place.keys) > _DEEPEST:
            return value
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, (list, tuple)):
            kept = [self._item(item, place.item(index)) for index, item in enumerate(value)]
            left = [item for item in kept if item is not _GONE]
            return left if left or not value else _GONE
        if isinstance(value, Mapping):
            return self._object(value, place.inside(value))
        return value

    def _item(self, item: Json, place: _Place) -> Json | _Gone:
        before = len(self.found)
        result = self.value(item, place)
        is_term = place.in_term and isinstance(item, Mapping) and place.last not in {"matchExpressions", "matchFields"}
        if is_term and any(reference.remedy == "delete" for reference in self.found[before:]):
            return _GONE
        return result

    def _object(self, value: Mapping[str, Json], place: _Place) -> Json | _Gone:
        key = value.get("key")
        if place.last in {"matchExpressions", "matchFields"} and isinstance(key, str) and key.startswith(LABEL_PREFIX):
            return self._expression(dict(value), key, place)
        result: dict[str, Json] = {}
        for name in sorted(value, key=str):
            if isinstance(name, str) and (name.startswith("LWS_") or "leaderworkerset" in name):
                new_name, new_value = self._entry(name, value[name], place)
            else:
                new_name, new_value = name, self.value(value[name], place.below(str(name)))
            if new_value is not _GONE:
                result[new_name] = new_value
        ordered = {name: result.pop(name) for name in value if name in result}
        left = ordered | result
        return left if left or not value or not (place.in_term or place.last in _MAP_KINDS) else _GONE

    def _entry(self, key: str, value: Json, place: _Place) -> tuple[str, Json | _Gone]:
        """An entry of a map whose key names LeaderWorkerSet."""
        here = replace(place, path=extend_path(place.path, key))
        kind = _MAP_KINDS.get(place.last, "text")
        if key == _WORKER_INDEX and place.last == "matchLabels":
            if value == "0":
                self._add(here, kind, f"{key}=0", f"{_RUNNER}={_LEADER}", "rename", "leader-selector")
                return _RUNNER, _LEADER
            self._add(here, kind, key, None, "rework", "worker-index")
            return key, value
        if key.startswith(LABEL_PREFIX) and kind != "text":
            self._add(here, kind, key, None, "delete", "no-counterpart")
            return key, _GONE
        renamed = RENAMED_VARIABLES.get(key)
        if renamed:
            self._add(here, "env", key, renamed, "rename", "env-name")
        else:
            self._add(here, kind, key, None, "rework", "unknown-variable" if key.startswith("LWS_") else "text")
        return renamed or key, self.value(value, place.below(key))

    def _expression(self, value: dict[str, Json], key: str, place: _Place) -> Json | _Gone:
        """A requirement of a label selector on a key of LeaderWorkerSet."""
        here = place.below("key")
        if key != _WORKER_INDEX:
            self._add(here, "selector", key, None, "delete", "no-counterpart")
            return _GONE
        if value.get("operator") == "In" and value.get("values") == ["0"]:
            self._add(here, "selector", f"{key}=0", f"{_RUNNER}={_LEADER}", "rename", "leader-selector")
            return value | {"key": _RUNNER, "values": [_LEADER]}
        self._add(here, "selector", key, None, "rework", "worker-index")
        return value

    def _text(self, text: str, place: _Place) -> Json | _Gone:
        if "LWS_" not in text and "leaderworkerset" not in text:
            return text
        if place.last in _KEY_FIELDS and text.startswith(LABEL_PREFIX):
            self._add(place, _KEY_FIELDS[place.last], text, None, "delete", "no-counterpart")
            return _GONE
        if place.last == "fieldPath":
            self._add(place, "field-path", text, None, "rework", "field-path")
            return text
        if place.keys[-2:] == ("env", "name") and text.startswith("LWS_"):
            return self._variable(place, "env", text, text, "env-name", None) or text
        return self._free_text(text, place)

    def _free_text(self, text: str, place: _Place) -> str:
        """A command, an argument, a value: anything in which names stand among other words."""
        sums = [match.span() for match in _ARITHMETIC.finditer(text)]
        changes: list[tuple[int, int, str]] = []

        def line(at: int) -> int | None:
            return text.count("\n", 0, at) + 1 if "\n" in text.rstrip("\n") else None

        for match in sorted([*_VARIABLE.finditer(text), *_MENTION.finditer(text)], key=lambda each: each.start()):
            start, end = match.span()
            if match.re is _MENTION:
                change = self._mention(text, start, end, place, line(start))
                changes += [change] if change else []
                continue
            name = next(found for found in match.groups() if found is not None)
            explanation = "renamed"
            if match["k8s"] and match[0].index("(") % 2 == 0:
                explanation = "escaped"
            elif any(low <= start < high for low, high in sums):
                explanation = "arithmetic"
            elif match["k8s"] and place.keys[-2:] == ("env", "value"):
                explanation = "env-value-order"
            new = self._variable(place, "variable", match[0], name, explanation, line(start))
            changes += [(start, end, new)] if new else []
        parts, taken = [], 0
        for start, end, new in changes:
            if start >= taken:  # not one inside another, such as a key in a variable's default
                parts += [text[taken:start], new]
                taken = end
        return "".join([*parts, text[taken:]])

    def _variable(
        self, place: _Place, kind: str, token: str, name: str, explanation: str, line: int | None
    ) -> str | None:
        """A variable, spelled as the token. Returns what to write instead."""
        known = RENAMED_VARIABLES.get(name)
        if known is None or place.init_container:
            why = "init-container" if place.init_container else "unknown-variable"
            self._add(place, kind, token, None, "rework", why, line)
            return None
        if place.component == "router":
            explanation = "router"
        remedy: Remedy = "rework" if explanation in {"router", "arithmetic", "escaped"} else "rename"
        new = token.replace(name, known, 1)
        self._add(place, kind, token, new, remedy, explanation, line)
        return new

    def _mention(self, text: str, start: int, end: int, place: _Place, line: int | None) -> tuple[int, int, str] | None:
        """A label's key, or another mention. Returns what to change in the text."""
        key = text[start:end].rstrip("./\\")
        end = start + len(key)
        zero = _IS_ZERO.match(text, end)
        if key == _WORKER_INDEX and zero:
            new = f"{_RUNNER}{zero[1]}{zero[2].replace('0', _LEADER)}"
            self._add(place, "selector", text[start : zero.end()], new, "rename", "leader-selector", line)
            return start, zero.end(), new
        if key == _WORKER_INDEX:
            self._add(place, "selector", key, None, "rework", "worker-index", line)
            return None
        if key.startswith(LABEL_PREFIX):
            span = _requirement(text, start)
            self._add(place, "selector", key, None, "delete" if span else "rework", "no-counterpart", line)
            return (*span, "") if span else None
        self._add(place, "text", key, None, "rework", "text", line)
        return None

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
        where = (place.path, place.component, place.container, place.init_container)
        self.found.append(Reference(*where, kind, token, replacement, remedy, explanation, line))


def _requirement(text: str, start: int) -> tuple[int, int] | None:
    """The part to cut when a text is a selector of several ``key=value`` and one of them begins at a place."""
    words = list(re.finditer(r"[^,\s]+", text))
    kept = [re.split("[=!]", word[0])[0] == _WORKER_INDEX or not word[0].startswith(LABEL_PREFIX) for word in words]
    if "\n" in text or not any(kept) or not all(_REQUIREMENT.fullmatch(word[0]) for word in words):
        return None
    for index, word in enumerate(words):
        if word.start() == start:  # cut with the comma or space on the side of what stays
            return (words[index - 1].end(), word.end()) if any(kept[:index]) else (start, words[index + 1].start())
    return None
