"""The one place that decides whether, when and how often a request is made again.

Kubernetes API conventions: a 429 or 503 may carry ``Retry-After``, which is honoured. Waits grow by doubling,
with jitter so that several readers don't come back at the same moment, and everything is bounded: in number
for each kind of trouble, and in time for all of it. ``Retry`` is for who wants an answer, and gives up; ``Backoff``
for who follows, and never does.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from selection.cluster.errors import ApiError, Trouble

__all__ = ["Backoff", "Retry"]

LONGEST_ASKED = 300.0
"""Seconds; a follower that was asked to wait for longer looks earlier, or a mistaken header would end following."""
LEAST_PATIENCE = 4.0
"""Seconds that waits grow to even when less is asked for; an API server asks for one while it starts."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a request is tried, and how long it waits in between (seconds).

    ``throttled``, ``server`` and ``connection`` are the attempts in all for each kind of trouble.
    ``first_wait`` doubles up to ``longest_wait``; a ``Retry-After`` beyond ``longest_wait`` isn't waited for.
    ``patience`` is the time since the first attempt after which no new one begins. ``sleep``, ``clock`` and
    ``jitter`` (0 to 1) are there for tests.
    """

    throttled: int = 10
    server: int = 5
    connection: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    patience: float = 90.0
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def hurried(self) -> Retry:
        """Return the same with a single attempt to connect: for when the cluster was just found to be out of reach."""
        return replace(self, connection=1)

    def briefly(self, sleep: Callable[[float], object]) -> Retry:
        """Return the same for one request of a follower, which itself comes back: only being throttled is waited for.

        ``sleep`` is how the follower waits.
        """
        return replace(self, server=1, connection=1, sleep=sleep)

    def wait(self, failures: int, retry_after: float | None = None) -> float:
        """Return how long to wait after so many failures in a row, in seconds; ``retry_after`` is what was asked for.

        >>> [Retry(jitter=lambda: 1.0).wait(failures) for failures in (1, 2, 3, 100)]
        [0.5, 1.0, 2.0, 30.0]
        """
        if retry_after is not None:
            # Never sooner than asked for; a little later, so that all who were sent away don't return at once.
            return retry_after + self.first_wait * self.jitter()
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(failures - 1, 32))
        return longest * (0.5 + self.jitter() / 2)

    def around(self, seconds: float) -> float:
        """Return a time close to this one, a fifth more or less, so that many who wait don't come at once."""
        return seconds * (0.8 + 0.4 * self.jitter())

    def call(self, request: Callable[[], T]) -> T:
        """Make a request until it is answered, asking again won't help, or the limits are reached.

        Raises:
            ApiError: the last failure; its reason says how many attempts were made when there were several.
        """
        started = self.clock()
        attempts = 0
        while True:
            attempts += 1
            try:
                return request()
            except ApiError as error:
                if error.trouble is None:
                    raise
                wait = self.wait(attempts, error.retry_after)
                reason = self._enough(error.trouble, attempts, wait, self.clock() - started)
                if reason is not None:
                    raise _tell(error, attempts, reason) from error
            self.sleep(wait)

    def _enough(self, trouble: Trouble, attempts: int, wait: float, elapsed: float) -> str | None:
        """Return why no other attempt is made, "" when the number alone says it, or None to go on."""
        limit = {"throttled": self.throttled, "server": self.server, "connection": self.connection}[trouble]
        if attempts >= limit:
            return ""
        if wait > self.longest_wait + self.first_wait:
            return f"it asked to wait {wait:.0f} s"
        if elapsed + wait > self.patience:
            return f"gave up after {elapsed:.0f} s"
        return None


@dataclass(slots=True)
class Backoff:
    """The waits of one who never gives up: each is longer than the one before, until something went well."""

    retry: Retry = field(default_factory=Retry)
    failures: int = 0

    def after(self, error: Exception) -> float:
        """Return the seconds to wait after one more failure; what an :class:`ApiError` was told to wait is honoured."""
        self.failures += 1
        asked = error.retry_after if isinstance(error, ApiError) else None
        wait = self.retry.wait(self.failures)
        if asked is None:
            return wait
        return max(min(wait, LEAST_PATIENCE), self.retry.wait(self.failures, min(asked, LONGEST_ASKED)))

    def reset(self) -> None:
        """Something went well: the next failure is the first again."""
        self.failures = 0


def _tell(error: ApiError, attempts: int, reason: str) -> ApiError:
    notes = [f"{attempts} attempts"] if attempts > 1 else []
    notes += [reason] if reason else []
    if not notes:
        return error
    told = f"{error} ({', '.join(notes)})"
    return ApiError(told, status=error.status, trouble=error.trouble, retry_after=error.retry_after)
