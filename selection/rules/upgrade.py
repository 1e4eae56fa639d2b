"""What an upgrade from OME v1.2 to v1.3 changes, as values: codes with their facts, pins, and a go or no-go.

Follows OME: the upgrade notes from v1.2 to v1.3, deployment modes, reference a runtime explicitly, runtime inheritance,
component autoscaling ("Upgrade from v1.2.2"). :mod:`.upgrade_preview` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .explanation import Explanation
from .objects import ObjectRef
from .plan_notes import Note
from .plan_steps import merge_command

__all__ = [
    "SEVERITIES",
    "UPGRADES",
    "Change",
    "ObjectUpgrade",
    "Pin",
    "RuntimeMoves",
    "RuntimePin",
    "ServiceUpgrade",
    "Side",
    "UpgradePreview",
    "side_of",
    "urgency",
]

SEVERITIES = ("blocks", "decide", "know")
"""``blocks``: something doesn't serve any more, or can't be changed any more. ``decide``: it serves otherwise, or not
for a while, so a person has to want it. ``know``: nothing that runs changes."""

UPGRADES = {
    "breaks-lws": "blocks",
    "impossible-mode": "blocks",
    "loses-runtime": "blocks",
    "keda-annotation": "blocks",
    "leader-without-worker": "blocks",
    "refused-now": "blocks",
    "moves-by-shape": "decide",
    "ray-becomes": "decide",
    "mode-starts-to-count": "decide",
    "mode-changes": "decide",
    "another-runtime": "decide",
    "selection-differs": "decide",
    "gets-runtime": "decide",
    "selection-recovers": "decide",
    "inherits-now": "decide",
    "workers-dropped": "decide",
    "field-dropped": "decide",
    "runtime-refused": "decide",
    "another-runtime-when-unpinned": "know",
    "admitted-now": "know",
    "advice-differs": "know",
    "warns-now": "know",
    "outcome-differs": "know",
    "admission-words": "know",
    "inherit-from-counts": "know",
    "open-range-counts": "know",
}
"""Every code with its severity, the worst first."""

_ORDER = {code: place for place, code in enumerate(UPGRADES)}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changes: its code, the component (``""`` for the whole object), and its facts."""

    code: str
    component: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def severity(self) -> str:
        """One of :data:`SEVERITIES`."""
        return UPGRADES[self.code]

    @property
    def key(self) -> tuple[str, str]:
        """What a pin holds back or doesn't: the code and the component."""
        return self.code, self.component

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "component": self.component or None,
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, slots=True)
class Side:
    """What one release of OME makes of a service, as far as an upgrade can change it.

    ``modes`` are by component, None where nothing is rendered.
    """

    outcome: str
    runtime: ObjectRef | None
    modes: Mapping[str, str | None] = field(hash=False)
    allowed: bool

    def to_dict(self) -> dict[str, Any]:
        """The side as JSON."""
        return {
            "outcome": self.outcome,
            "runtime": self.runtime.to_dict() if self.runtime else None,
            "modes": dict(self.modes),
            "allowed": self.allowed,
        }


def side_of(explanation: Explanation) -> Side:
    """The side that an explanation tells."""
    modes = {name: each.running.mode if each.rendered else None for name, each in explanation.modes.items()}
    runtime = explanation.selected.ref if explanation.selected else None
    return Side(explanation.outcome, runtime, modes, explanation.admission.allowed)


@dataclass(frozen=True, slots=True)
class Pin:
    """A merge patch, made before the upgrade, that was seen to hold changes of one service back.

    Attributes:
        patch: the patch.
        holds: the changes that v1.3 no longer makes once it is there.
        restarts: whether it restarts a LeaderWorkerSet's pods: once on v1.2 when it is made, once after the upgrade.
    """

    patch: Mapping[str, Any] = field(hash=False)
    holds: tuple[tuple[str, str], ...]
    restarts: bool

    def to_dict(self, target: ObjectRef) -> dict[str, Any]:
        """The pin as JSON, with its command for the service."""
        return {
            "patch": dict(self.patch),
            "command": merge_command(target, self.patch),
            "holds": [{"code": code, "component": component or None} for code, component in self.holds],
            "restarts": self.restarts,
        }


@dataclass(frozen=True, slots=True)
class ServiceUpgrade:
    """One service that an upgrade changes. ``changes`` are the worst first; without ``pin``, none holds anything."""

    service: ObjectRef
    before: Side
    after: Side
    changes: tuple[Change, ...]
    pin: Pin | None = None

    @property
    def severity(self) -> str:
        """That of its worst change."""
        return self.changes[0].severity

    @property
    def command(self) -> str:
        """The pin as a command for a POSIX shell, ``""`` without one."""
        return merge_command(self.service, self.pin.patch) if self.pin else ""

    def held(self, change: Change) -> bool:
        """Whether the pin holds this change back."""
        return self.pin is not None and change.key in self.pin.holds

    def to_dict(self) -> dict[str, Any]:
        """The service as JSON."""
        return {
            "service": self.service.to_dict(),
            "severity": self.severity,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "changes": [{**change.to_dict(), "held": self.held(change)} for change in self.changes],
            "pin": self.pin.to_dict(self.service) if self.pin else None,
        }


@dataclass(frozen=True, slots=True)
class ObjectUpgrade:
    """What v1.3 drops, refuses or begins to read in an object.

    ``services`` counts those that get the runtime and that this reaches; None for an object that is no runtime.
    """

    object: ObjectRef
    path: str
    change: Change
    services: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The object as JSON."""
        told = self.change.to_dict()
        return {"object": self.object.to_dict(), "path": self.path or None, **told, "services": self.services}


@dataclass(frozen=True, slots=True)
class RuntimePin:
    """A merge patch of a runtime that was seen to keep the services that follow it on MultiNode, and changes no other.

    Attributes:
        patch: the patch.
        holds: how many of the services that would move stay.
        missed: how many of them it doesn't reach: those that follow a revision (``autoSync: false``), or a value of
            their own.
    """

    patch: Mapping[str, Any] = field(hash=False)
    holds: int
    missed: int


@dataclass(frozen=True, slots=True)
class RuntimeMoves:
    """A runtime and how many services an upgrade moves because of its leader or worker.

    ``breaks`` counts those that don't find their leader any more, because it uses LeaderWorkerSet's variables.
    """

    runtime: ObjectRef
    moves: int
    breaks: int
    pin: RuntimePin | None = None

    @property
    def command(self) -> str:
        """The pin as a command for a POSIX shell, ``""`` without one."""
        return merge_command(self.runtime, self.pin.patch) if self.pin else ""

    def to_dict(self) -> dict[str, Any]:
        """The runtime as JSON."""
        pin = self.pin
        return {
            "runtime": self.runtime.to_dict(),
            "moves": self.moves,
            "breaks": self.breaks,
            "pin": {"patch": dict(pin.patch), "command": self.command, "holds": pin.holds, "missed": pin.missed}
            if pin
            else None,
        }


@dataclass(frozen=True, slots=True)
class UpgradePreview:
    """What an upgrade from v1.2 to v1.3 changes in one cluster.

    Attributes:
        runs: the release line that the cluster runs now; on v1.3 this is what the upgrade would have changed.
        total: how many services there are.
        services: those that something changes for, the worst first.
        objects: what becomes of fields and annotations, in services and runtimes, the worst first.
        runtimes: the runtimes whose services move by their shape, those that move most first.
        checks: what a person must look at, because it can't be read from these objects.
    """

    runs: str
    total: int
    services: tuple[ServiceUpgrade, ...] = ()
    objects: tuple[ObjectUpgrade, ...] = ()
    runtimes: tuple[RuntimeMoves, ...] = ()
    checks: tuple[Note, ...] = ()

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """By code, the worst first: how many such changes there are, and how many of them a pin holds back."""
        found: dict[str, list[int]] = {}
        for row in self.services:
            for change in row.changes:
                numbers = found.setdefault(change.code, [0, 0])
                numbers[0] += 1
                numbers[1] += row.held(change)
        for each in self.objects:
            found.setdefault(each.change.code, [0, 0])[0] += 1
        return {code: (found[code][0], found[code][1]) for code in sorted(found, key=_ORDER.__getitem__)}

    @property
    def severities(self) -> dict[str, int]:
        """By severity, every one named: how many changes there are."""
        found = dict.fromkeys(SEVERITIES, 0)
        for code, (count, _) in self.counts.items():
            found[UPGRADES[code]] += count
        return found

    @property
    def verdict(self) -> str:
        """``no-go`` while something blocks, ``decide`` while a person has to want something, else ``go``."""
        found = self.severities
        return "no-go" if found["blocks"] else "decide" if found["decide"] else "go"

    def head(self) -> dict[str, Any]:
        """The preview as JSON, without what it says of each service, runtime and object."""
        return {
            "from": "1.2",
            "to": "1.3",
            "runs": self.runs,
            "verdict": self.verdict,
            "services_total": self.total,
            "services_changed": len(self.services),
            "severities": self.severities,
            "counts": [
                {"code": code, "severity": UPGRADES[code], "count": count, "held": held}
                for code, (count, held) in self.counts.items()
            ],
            "checks": [check.to_dict() for check in self.checks],
        }

    def to_dict(self) -> dict[str, Any]:
        """The preview as JSON."""
        return {
            **self.head(),
            "runtimes": [each.to_dict() for each in self.runtimes],
            "services": [row.to_dict() for row in self.services],
            "objects": [each.to_dict() for each in self.objects],
        }


def urgency(code: str) -> int:
    """The place of a code among all, 0 for the worst."""
    return _ORDER[code]
