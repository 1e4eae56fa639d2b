"""What an upgrade to v1.3 would break or change, in the stream of findings of a cluster that runs v1.2.

Only what blocks or has to be decided; what is merely worth knowing is in the preview. Follows OME: the upgrade notes
from v1.2 to v1.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .explanation import Explanation
from .fleet import Fleet
from .objects import ObjectRef
from .stream import Told, unique
from .upgrade import Change, ObjectUpgrade
from .upgrade_fields import runtime_upgrades, service_upgrades
from .upgrade_preview import changes_after

__all__ = ["runtime_upgrade_stream", "service_upgrade_stream"]


def service_upgrade_stream(
    before: Explanation, new: Fleet, manifests: Mapping[ObjectRef, Mapping[str, Any]]
) -> Iterator[Told]:
    """What an upgrade means for one service.

    Args:
        before: what v1.2 makes of it.
        new: the same cluster by v1.3.
        manifests: as for :func:`selection.rules.upgrade_preview.upgrade_preview`.
    """
    if before.service is None:
        return
    changes = [
        _told(before.subject, change, f"spec.{change.component}" if change.component else "")
        for change in changes_after(before, new)
        if _matters(change)
    ]
    fields = [_of_field(each) for each in service_upgrades(before.service, manifests.get(before.subject))]
    yield from unique([*changes, *fields])


def runtime_upgrade_stream(old: Fleet, new: Fleet) -> Iterator[Told]:
    """What an upgrade means for the runtimes of a cluster (by v1.2, and by v1.3)."""
    for runtime in new.runtimes.values():
        found = (each for each in runtime_upgrades(old, new, runtime, 0) if _matters(each.change))
        yield from unique(_of_field(each) for each in found)


def _matters(change: Change) -> bool:
    return change.severity != "know"


def _told(ref: ObjectRef, change: Change, path: str, about: str = "") -> Told:
    return Told(change.code, ref, change.component, about, path, change.facts, change.facts)


def _of_field(each: ObjectUpgrade) -> Told:
    return _told(each.object, each.change, each.path, each.path)
