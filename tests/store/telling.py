"""What a follower tells, made up: happenings, a line that tells them, and a cluster whose history is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.kinds import KINDS, KindListing
from selection.store.models import Cluster

from .builders import BY_KIND, Manifest, brought

__all__ = ["FakeLine", "everything", "gone", "list_failed", "list_of", "lost", "put", "watching"]


def list_of(kind: str, *objects: Manifest, version: str = "1") -> Listed:
    """A whole list."""
    listing = brought(kind, *objects)
    return Listed(KindListing(listing.kind, "complete", None, listing.objects, version, 1), time.monotonic())


def list_failed(kind: str, outcome: Any = "forbidden", reason: str = "no") -> Listed:
    """A kind without a list."""
    return Listed(KindListing(BY_KIND[kind], outcome, reason), time.monotonic())


def everything(objects: Iterable[Manifest] = ()) -> list[Happening]:
    """The first thing that a line tells: the list of each kind, and that it is watched."""
    found: dict[str, list[Manifest]] = {kind.kind: [] for kind in KINDS}
    for each in objects:
        found[each["kind"]].append(each)
    told: list[Happening] = []
    for kind, some in found.items():
        told += [list_of(kind, *some), watching(kind)]
    return told


def put(manifest: Manifest) -> Event:
    """An object came or changed."""
    return _event(manifest, "put")


def gone(manifest: Manifest) -> Event:
    """An object went."""
    return _event(manifest, "gone")


def _event(manifest: Manifest, what: Any) -> Event:
    version = manifest["metadata"]["resourceVersion"]
    return Event(BY_KIND[manifest["kind"]], what, manifest, version, time.monotonic())


def watching(kind: str, version: str = "1") -> Watching:
    """A watch is open, or a bookmark came."""
    return Watching(BY_KIND[kind], version, time.monotonic())


def lost(kind: str, reason: str = "the connection was closed", trouble: Any = "connection") -> Lost:
    """The watch broke."""
    return Lost(BY_KIND[kind], reason, trouble, 1.0, time.monotonic())


class FakeLine:
    """A line that tells what a test says, after ``first``."""

    def __init__(self, *first: Happening) -> None:
        self.first = first
        self.stopped = False
        self.opened = 0
        self.tell: Callable[[Happening], None] = lambda happening: None

    def open(self, cluster: Cluster) -> FakeLine:
        """Stand in for ``open_line``."""
        self.opened += 1
        self.stopped = False
        return self

    def start(self, tell: Callable[[Happening], None]) -> None:
        """Tell what comes first."""
        self.tell = tell
        for each in self.first:
            tell(each)

    def stop(self) -> None:
        """Remember that it was asked to."""
        self.stopped = True

    def join(self, timeout: float) -> None:
        """There is nothing to wait for."""
