"""Two states of a cluster side by side: which objects differ, and what that makes of each service.

When both are judged by the same release, only the services that a differing object reaches are looked at; no other one
can differ. Two releases can answer anything differently, so then all are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .differences import Difference, differences
from .fleet import Fleet, read_fleet
from .objects import ObjectRef
from .semantics import V1_3, Semantics
from .what_if import changed_services, what_if
from .what_if_answer import CODES, TENDENCIES, ServiceChange

__all__ = ["ACTS", "Comparison", "ObjectChange", "State", "compare_states"]

ACTS = ("added", "changed", "deleted")

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """A cluster at one moment: its objects, and the release of OME that it is judged by."""

    manifests: Mapping[ObjectRef, Manifest]
    semantics: Semantics = V1_3


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that came, went, or differs in a field that can decide something."""

    object: ObjectRef
    act: str
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {
            "object": self.object.to_dict(),
            "act": self.act,
            "differences": [each.to_dict() for each in self.differences],
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two states.

    Attributes:
        versions: the release that each is judged by.
        total: how many services each has.
        objects: the objects that differ, by kind, namespace and name.
        services: the services whose answer differs, what matters most first.
    """

    versions: tuple[str, str]
    total: tuple[int, int]
    objects: tuple[ObjectChange, ...]
    services: tuple[ServiceChange, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs that can decide something, nor any answer."""
        return not self.objects and not self.services

    @property
    def tendencies(self) -> dict[str, int]:
        """By tendency, every one named: how many services."""
        found = Counter(row.tendency for row in self.services)
        return {each: found[each] for each in TENDENCIES}

    @property
    def counts(self) -> dict[str, int]:
        """By code, what matters most first: for how many services there is such a change."""
        found = Counter(code for row in self.services for code in {change.code for change in row.changes})
        return {code: found[code] for code in CODES if found[code]}

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "ome_version_before": self.versions[0],
            "ome_version_after": self.versions[1],
            "services_before": self.total[0],
            "services_after": self.total[1],
            "services_changed": len(self.services),
            "tendencies": self.tendencies,
            "counts": [{"code": code, "tendency": CODES[code], "count": n} for code, n in self.counts.items()],
            "objects": [each.to_dict() for each in self.objects],
            "services": [row.to_dict() for row in self.services],
        }


def compare_states(before: State, after: State) -> Comparison:
    """What differs between two states of a cluster. A status counts as it is written."""
    objects = tuple(_objects(before.manifests, after.manifests))
    one = read_fleet(before.manifests.values(), before.semantics)
    versions = (before.semantics.version, after.semantics.version)
    if versions[0] == versions[1]:
        put = [after.manifests[each.object] for each in objects if each.act != "deleted"]
        dropped = [each.object for each in objects if each.act == "deleted"]
        answer = what_if(one, put, dropped, live=False)
        return Comparison(versions, answer.total, objects, answer.services)
    other = read_fleet(after.manifests.values(), after.semantics)
    keys = one.services.keys() | other.services.keys() | _unreadable(one) | _unreadable(other)
    causes: dict[tuple[str, str], list[ObjectRef]] = {key: [] for key in keys}
    rows = changed_services(one, other, keys, causes)
    place = {code: place for place, code in enumerate(CODES)}
    services = tuple(sorted(rows, key=lambda row: (place[row.changes[0].code], row.service)))
    return Comparison(versions, (_count(one), _count(other)), objects, services)


def _objects(before: Mapping[ObjectRef, Manifest], after: Mapping[ObjectRef, Manifest]) -> list[ObjectChange]:
    found = []
    for ref in sorted(before.keys() | after.keys()):
        old, new = before.get(ref), after.get(ref)
        told = differences(old, new)
        if told:
            found.append(ObjectChange(ref, "added" if old is None else "deleted" if new is None else "changed", told))
    return found


def _unreadable(fleet: Fleet) -> set[tuple[str, str]]:
    return {(ref.namespace, ref.name) for ref in fleet.problems if ref.kind == "InferenceService"}


def _count(fleet: Fleet) -> int:
    return len(fleet.services) + len(_unreadable(fleet))
