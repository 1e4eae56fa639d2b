"""A listener that keeps what it is told, and waits for what a test expects."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.kinds import Kind

__all__ = ["Hearing"]


class Hearing:
    """Everything that was told, in order."""

    def __init__(self) -> None:
        self.all: list[Happening] = []
        self._changed = threading.Condition()

    def tell(self, happening: Happening) -> None:
        """To be told."""
        with self._changed:
            self.all.append(happening)
            self._changed.notify_all()

    @property
    def mark(self) -> int:
        """Where it is now: what comes later is after it."""
        return len(self.all)

    def of(self, kind: Kind) -> list[Happening]:
        """What was told of one kind."""
        return [each for each in self.all if each.kind == kind]

    def changes(self, kind: Kind) -> list[tuple[str, str]]:
        """The events of one kind, by what happened and the object's name."""
        return [(each.type, each.manifest["metadata"]["name"]) for each in self.of(kind) if isinstance(each, Event)]

    def state(self, kind: Kind) -> dict[tuple[str, str], str]:
        """The objects of a kind as they stand by what was told: namespace and name, and the version."""
        state: dict[tuple[str, str], str] = {}
        for each in self.of(kind):
            match each:
                case Listed(listing=listing) if listing.outcome in {"complete", "not-served"}:
                    state = dict(_identified(item) for item in listing.objects or [])
                case Event(type="put", manifest=manifest):
                    state.update([_identified(manifest)])
                case Event(manifest=manifest):
                    state.pop(_identified(manifest)[0], None)
        return state

    def watching(self, kind: Kind, *, after: int = 0, within: float = 10.0) -> Happening:
        """Wait until a kind is watched."""
        return self.wait_for(lambda each: isinstance(each, Watching) and each.kind == kind, after=after, within=within)

    def lost(self, kind: Kind) -> Happening:
        """Wait until a kind's watch or list failed."""
        return self.wait_for(lambda each: isinstance(each, Lost) and each.kind == kind)

    def wait_for(self, expected: Callable[[Happening], bool], *, after: int = 0, within: float = 10.0) -> Happening:
        """Return the first that is as expected, told after a mark; wait for it some seconds."""
        until = time.monotonic() + within
        with self._changed:
            while True:
                for each in self.all[after:]:
                    if expected(each):
                        return each
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise AssertionError(f"not told within {within:g} s: {self.all[after:][-5:]}")


def _identified(manifest: dict[str, Any]) -> tuple[tuple[str, str], str]:
    metadata = manifest["metadata"]
    return (metadata.get("namespace", ""), metadata["name"]), metadata.get("resourceVersion", "")
