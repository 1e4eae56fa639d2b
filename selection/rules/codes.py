"""Every code that a finding can have: the family of its words and sentences, how much it matters, and why.

This is the one list of them; ``docs/rules/findings.md`` has it as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .findings import SEVERITIES as FOUND
from .upgrade import UPGRADES

__all__ = ["CODES", "OFF", "SETTABLE", "SEVERITIES", "Code", "place_of", "urgency_of"]

SEVERITIES = ("error", "warning", "info")
"""The severities, the one that matters most first. ``error`` can't work or soon won't, ``warning`` may not be meant or
waits for somebody, ``info`` is worth knowing."""

OFF = "off"
"""What an installation says of a code that it doesn't want to see: its findings are kept, and hidden."""

SETTABLE = (*SEVERITIES, OFF)
"""What an installation may say of a code."""


@dataclass(frozen=True, slots=True)
class Code:
    """One code.

    Attributes:
        code: its name, unique over all families.
        family: ``outcome``, ``conflict``, ``migration``, ``admission``, ``object``, ``workload``, ``upgrade`` or
            ``finding``: where its words and sentences are.
        severity: unless an installation says otherwise.
        why: why it matters that much, in one sentence.
        waits: whether it waits for a person by itself and so is told on the overview.
    """

    code: str
    family: str
    severity: str
    why: str
    waits: bool = False


def _outcomes() -> Iterator[Code]:
    yield Code("no-runtime", "outcome", "error", "The service gets no pods, or keeps old ones unchanged.", waits=True)
    yield Code("invalid", "outcome", "error", "Selection can't answer until something is put right.", waits=True)
    yield Code("named-with-advice", "outcome", "warning", "OME uses the runtime all the same; it may not fit.")


def _conflicts() -> Iterator[Code]:
    for code, severity, why, waits in (
        ("impossible", "error", "OME makes nothing for the component and for those after it.", True),
        ("pair", "error", "The webhook refuses the pair, or its halves run in ways that don't fit.", True),
        ("rejected", "warning", "A runtime that fits is passed over only for its mode.", True),
        ("overridden", "warning", "The component may run otherwise than the service asks for.", True),
        ("hidden", "warning", "A value that doesn't count hides one that would.", True),
        ("silent-takeover", "warning", "The runtime decides the mode, and nobody asked for it.", True),
        ("no-workers", "warning", "The workers that the runtime describes are never made.", True),
        ("drift", "warning", "What runs isn't what the next reconcile would make.", True),
        ("deprecated", "info", "MultiNode works today and will be removed.", False),
        ("ignored", "info", "A mode is written that has no say.", False),
    ):
        yield Code(code, "conflict", severity, why, waits)


def _migration() -> Iterator[Code]:
    for code, severity, why in (
        ("at-risk", "error", "The pods look for variables that they don't get, and don't find their leader."),
        ("waiting-on-pin", "warning", "The move was asked for, and a pin or a drift holds it."),
        ("moved-by-upgrade", "warning", "It moved without anybody asking, and the old workload is still there."),
        ("cleanup-due", "warning", "The old LeaderWorkerSet still holds its accelerators."),
    ):
        yield Code(code, "migration", severity, why, waits=True)


def _objects() -> Iterator[Code]:
    yield Code(
        "refused", "admission", "error", "Every change of the object is refused until it is put right.", waits=True
    )
    yield Code(
        "unreadable", "object", "error", "OME can't read the object either, so nothing is known of it.", waits=True
    )
    yield Code("broken-chain", "object", "error", "A service that names the runtime gets nothing.", waits=True)
    yield Code("left-over", "workload", "warning", "A workload that nobody asks for still holds what it was given.")


_RULES = {
    "empty-range": "It shuts out every model with a size.",
    "open-range": "OME v1.2's selector breaks down over it.",
    "version-unparsable": "It never matches, not even its like.",
    "size-unparsable": "It counts as 0.",
    "entry-without-format": "It matches no model.",
    "model-kind-elsewhere": "The service is admitted and gets no workload.",
    "entry-architecture-missing": "It matches none of the models that it could serve.",
    "operator-unknown": "It compares for equality, whatever was meant.",
    "size-not-finite": "Which runtime comes first may change from one time to the next.",
    "auto-select-inherits": "What it inherits is missing where it is selected.",
    "mode-ignored": "Its author thinks that it counts.",
    "runtime-kind-elsewhere": "The other runtime of that name is used, or will be.",
    "overlap": "A new name changes what services get.",
    "shadowed": "A service that asks for nothing never gets it.",
    "zero-weight": "It counts for more than the default, not for nothing.",
}

_UPGRADE_SEVERITY = {"blocks": "error", "decide": "warning"}
_UPGRADES = {
    "breaks-lws": "After the upgrade it never serves.",
    "impossible-mode": "After the upgrade OME makes nothing for the component.",
    "loses-runtime": "After the upgrade every change of it is refused.",
    "keda-annotation": "After the upgrade its reconcile fails.",
    "leader-without-worker": "After the upgrade every change of it is refused.",
    "refused-now": "After the upgrade every change of it is refused.",
    "moves-by-shape": "The upgrade moves it at once, and it doesn't serve meanwhile.",
    "ray-becomes": "The upgrade takes its mode away.",
    "mode-starts-to-count": "The upgrade has it run in another mode.",
    "mode-changes": "The upgrade has it run in another mode.",
    "another-runtime": "The upgrade gives it another runtime.",
    "selection-differs": "The upgrade gives it another runtime.",
    "gets-runtime": "The upgrade makes it run.",
    "selection-recovers": "Selection breaks down over it now, and acts on it after the upgrade.",
    "inherits-now": "The upgrade restarts its pods from other fields.",
    "workers-dropped": "After the upgrade the field is gone at the next write.",
    "field-dropped": "After the upgrade the field is gone at the next write.",
    "runtime-refused": "After the upgrade the runtime can't be changed.",
}


def _all() -> Iterator[Code]:
    yield from _outcomes()
    yield from _conflicts()
    yield from _migration()
    yield from _objects()
    for code, why in _UPGRADES.items():
        yield Code(code, "upgrade", _UPGRADE_SEVERITY[UPGRADES[code]], why)
    for code, why in _RULES.items():
        yield Code(code, "finding", FOUND[code], why)


CODES: Mapping[str, Code] = {
    each.code: each for each in sorted(_all(), key=lambda each: SEVERITIES.index(each.severity))
}
"""Every code by its name, those that matter most first."""

_PLACES = {code: place for place, code in enumerate(CODES)}
_RANKS = {severity: rank for rank, severity in enumerate(SETTABLE)}


def place_of(code: str) -> int:
    """The place of a code among all, 0 for the one that matters most; an unknown one comes last."""
    return _PLACES.get(code, len(_PLACES))


def urgency_of(code: str, severity: str) -> int:
    """A number that sorts findings, the worst first: by severity, then by the place of their code.

    >>> urgency_of("zero-weight", "error") < urgency_of("no-runtime", "warning")
    True
    """
    return 100 * _RANKS[severity] + place_of(code)
