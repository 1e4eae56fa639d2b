"""Objects, and somebody who changes them at random: what people and controllers do to a cluster, only faster."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import urllib3

from bench.fleet import Size, manifests
from tests.soak.client import Client, Manifest, Refused

__all__ = ["Herd", "Restless"]

MODES = ("RawDeployment", "MultiNode", "OMENative", None)
RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})


@dataclass
class Herd:
    """The objects of one cluster, by what is done to them."""

    everything: list[Manifest]
    dice: random.Random
    services: list[Manifest] = field(init=False)
    runtimes: list[Manifest] = field(init=False)
    gone: list[Manifest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.services = [each for each in self.everything if each["kind"] == "InferenceService"]
        self.runtimes = [each for each in self.everything if each["kind"] in RUNTIMES]

    @classmethod
    def of(cls, size: Size, seed: int = 1) -> Herd:
        """The bench's fleet of a size."""
        return cls(manifests(size, seed), random.Random(seed))

    def part(self, number: int, of: int) -> Herd:
        """A part of the services, for one of several who change at the same time; the runtimes are everybody's."""
        return Herd([*self.runtimes, *self.services[number::of]], random.Random(number))

    def change_one(self, client: Client) -> None:
        """Do one thing to one object."""
        what: Callable[[Client], None] = self.dice.choices(
            (self.ask_for_a_mode, self.name_a_runtime, self.edit_a_runtime, self.delete_one, self.bring_one_back),
            (8, 4, 2, 1, 1),
        )[0]
        what(client)

    def ask_for_a_mode(self, client: Client) -> None:
        """A service's engine asks for a mode, or for none."""
        mode = self.dice.choice(MODES)
        patch = {"spec": {"engine": {"annotations": {"ome.io/deploymentMode": mode}}}}
        client.patch(self.dice.choice(self.services), patch)

    def name_a_runtime(self, client: Client) -> None:
        """A service names a runtime, or leaves it to OME."""
        runtime = self.dice.choice(self.runtimes)
        named = {"name": runtime["metadata"]["name"], "kind": runtime["kind"]}
        client.patch(self.dice.choice(self.services), {"spec": {"runtime": self.dice.choice((named, None))}})

    def edit_a_runtime(self, client: Client) -> None:
        """A runtime is switched off or on, or declares another mode."""
        runtime = self.dice.choice(self.runtimes)
        if self.dice.random() < 0.5:
            client.patch(runtime, {"spec": {"disabled": self.dice.random() < 0.3}})
        else:
            mode = self.dice.choice(MODES)
            client.patch(runtime, {"spec": {"engineConfig": {"annotations": {"ome.io/deploymentMode": mode}}}})

    def delete_one(self, client: Client) -> None:
        """A service is deleted."""
        if len(self.services) > 10:
            service = self.dice.choice(self.services)
            _unless(404, lambda: client.delete(service))
            self.services.remove(service)
            self.gone.append(service)

    def bring_one_back(self, client: Client) -> None:
        """A service that was deleted is created again, under its name."""
        if self.gone:
            service = self.dice.choice(self.gone)
            _unless(409, lambda: client.create(service))
            self.gone.remove(service)
            self.services.append(service)


def _unless(status: int, request: Callable[[], object]) -> None:
    """Make a request that may have been done already: its answer was lost when the server died."""
    try:
        request()
    except Refused as refusal:
        if refusal.status != status:
            raise


class Restless(threading.Thread):
    """Changes the herd until it is told to stop, so many times a second. An API server that is away is waited for."""

    def __init__(self, herd: Herd, client: Client, *, per_second: float) -> None:
        super().__init__(daemon=True)
        self.herd, self.client, self.pause = herd, client, 1 / per_second
        self.done = 0
        self._stop_now = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Change until stopped."""
        try:
            while not self._stop_now.is_set():
                began = time.monotonic()
                # What was sent when the server died may have been done or not: the next change finds out.
                with suppress(urllib3.exceptions.HTTPError, Refused):
                    self.herd.change_one(self.client)
                    self.done += 1
                self._stop_now.wait(max(0.0, self.pause - (time.monotonic() - began)))
        except BaseException as failure:  # told by stop(), in the thread of the test
            self.failure = failure

    def stop(self) -> int:
        """End, and tell how many changes were made."""
        self._stop_now.set()
        self.join(30)
        if self.failure is not None:
            raise self.failure
        return self.done
