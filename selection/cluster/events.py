"""What a follower of one kind tells, in the order it happens: lists, events, and how the line to the cluster is.

Kubernetes API concepts: efficient detection of changes. A list is a state; events lead from it to the next ones; a
bookmark says that everything up to a version was sent. Whoever reads these values in order has at each moment what
the cluster had at one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from selection.cluster.errors import Trouble
from selection.cluster.kinds import Kind, KindListing

__all__ = ["Event", "Happening", "Listed", "Lost", "Watching"]


@dataclass(frozen=True, slots=True)
class Listed:
    """The kind was read whole, or wasn't: what was known of it before doesn't count any more."""

    listing: KindListing
    received: float

    @property
    def kind(self) -> Kind:
        """The kind that was read."""
        return self.listing.kind


@dataclass(frozen=True, slots=True)
class Event:
    """One object came, changed (``put``, with the object as it is now) or went (``gone``, as it was last).

    ``received`` is when it arrived, in seconds of the monotonic clock; ``resource_version`` the one to go on from.
    """

    kind: Kind
    type: Literal["put", "gone"]
    manifest: dict[str, Any]
    resource_version: str
    received: float


@dataclass(frozen=True, slots=True)
class Watching:
    """A watch is open, or a bookmark came: what was told so far is what the cluster has at this version."""

    kind: Kind
    resource_version: str
    received: float


@dataclass(frozen=True, slots=True)
class Lost:
    """The watch or the list failed for now; it is tried again after ``wait`` seconds. ``reason`` is for people."""

    kind: Kind
    reason: str
    trouble: Trouble | Literal["unauthorized", "forbidden", "gone", "other"]
    wait: float
    received: float


Happening = Listed | Event | Watching | Lost
