"""Keeps what is declared followed: claims clusters, starts and stops following them, and says that it is there.

The loop that never ends is made of small steps. Each cluster has threads of its own, so one that is down or large
keeps nobody else waiting; what the keeper itself does is short.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import DatabaseError, connection

from . import claims
from .declarations import Declaration, DeclarationError
from .declared import declare, declare_settings, to_follow, undeclare
from .following import Following, OpenLine
from .models import Cluster

__all__ = ["Keeper"]

logger = logging.getLogger(__name__)

DECLARE_EVERY = 5.0
BEAT_EVERY = 5.0
CHECK_EVERY = 3.0
"""Seconds between looks at whether our claims are still ours."""
AGAIN_AFTER = 15.0
"""Seconds until a cluster is claimed again that this process could not follow, more after the next times; another
process may fare better meanwhile."""
STOP_WITHIN = 3.0
"""Seconds that threads get to end."""
PAUSE = 0.2


@dataclass(slots=True)
class _Held:
    """A cluster that this process follows."""

    following: Following
    thread: threading.Thread
    number: int
    reached_by: tuple[str, ...]


@dataclass(slots=True)
class _Every:
    """Tells when something is due that is done again and again."""

    seconds: float
    at: float = float("-inf")

    def due(self, now: float) -> bool:
        """Whether it is due; asking starts the next period."""
        if now < self.at:
            return False
        self.at = now + self.seconds
        return True


@dataclass(slots=True)
class Keeper:
    """Follows every declared cluster that no other process follows.

    Attributes:
        open_line: makes the line to a cluster.
        own: what this process's command declares, beside the file, the environment and the page.
        locks: what keeps other processes away.
        alive: called between steps, also while the database is gone: as long as it is, this process isn't stuck.
        chores: what else is to be done now and then: the seconds between, and the function; it may raise DatabaseError.
        clock: monotonic seconds.
        jitter: 0 to 1; processes that start together don't take everything in the same order and rhythm.
    """

    open_line: OpenLine
    own: tuple[Declaration, ...] = ()
    locks: claims.Locks = field(default_factory=claims.open_locks)
    alive: Callable[[], object] = bool
    chores: tuple[tuple[float, Callable[[], object]], ...] = ()
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random
    stopping: bool = False
    _held: dict[int, _Held] = field(default_factory=dict)
    _declared: dict[int, Cluster] = field(default_factory=dict)
    _not_before: dict[int, float] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _take_at: float = float("-inf")
    _quiet_until: float = float("-inf")
    _gone_since: float | None = None
    _failures: dict[int, int] = field(default_factory=dict)
    _timers: dict[str, _Every] = field(default_factory=dict)

    @property
    def following(self) -> set[str]:
        """The names of the clusters that this process follows."""
        return {each.following.cluster.name for each in self._held.values()}

    def run(self) -> None:
        """Take steps until ``stopping`` is set, by a signal's handler, then end cleanly."""
        try:
            while not self.stopping:
                self.alive()
                if not self.step():
                    time.sleep(PAUSE)
        finally:
            self.close()

    def step(self) -> bool:
        """Do what is due; return whether a cluster was claimed. While the database is gone, it is tried again."""
        if self.clock() < self._quiet_until:
            return False
        try:
            if self._due("check", CHECK_EVERY) and not self.locks.alive():
                self._lost()
            if self._due("declare", DECLARE_EVERY):
                self._declare()
            self._drop()
            if self._due("beat", BEAT_EVERY):
                self._beat()
            for seconds, chore in self.chores:
                if self._due(f"chore {chore!r}", seconds):
                    chore()
            claimed = self._claim()
        except DatabaseError as error:
            self._failed(error)
            return False
        except Exception:  # whatever nobody thought of: the clusters are followed on, and it is tried again
            logger.exception("keeping failed")
            self._quiet_until = self.clock() + 5.0
            return False
        if self._gone_since is not None:
            logger.info("the database is back", extra={"seconds": round(self.clock() - self._gone_since, 1)})
            self._gone_since = None
        return claimed

    def _failed(self, error: DatabaseError) -> None:
        """Go on soon with a connection of its own, and see first which claims are left."""
        connection.close()
        self._timers.clear()
        self._quiet_until = self.clock() + 0.5 + self.jitter()
        if self._gone_since is None:
            self._gone_since = self.clock()
            logger.warning("the database is gone", extra={"reason": " ".join(str(error).split())[:300]})

    def close(self) -> None:
        """Stop following everything, say so in the database, and give the claims back. Takes some seconds at most."""
        self._stop(list(self._held), "stopped", at_the_end=True)
        try:
            _wait_for_nobody()
            for each in self.own:
                undeclare(each.name, Cluster.DeclaredBy.COMMAND)
        except DatabaseError:
            pass  # forget_commands is for those
        self.locks.close()
        connection.close()

    def _due(self, name: str, seconds: float) -> bool:
        return self._timers.setdefault(name, _Every(seconds)).due(self.clock())

    def _declare(self) -> None:
        problems = set(declare_settings())
        for each in self.own:
            try:
                declare(each, Cluster.DeclaredBy.COMMAND)
            except DeclarationError as error:
                problems.add(str(error))
        for problem in problems - self._told:
            logger.error("a declaration is wrong; what it said before holds", extra={"reason": problem})
        self._told = problems | (self._told & {_NOTHING, _WAITING})
        self._declared = {cluster.pk: cluster for cluster in to_follow({each.name for each in self.own})}
        self._tell_once(_NOTHING, not self._declared)

    def _drop(self) -> None:
        """Stop following what isn't declared any more, is reached in another way by now, or has ended by itself."""
        stopped = []
        for pk, held in self._held.items():
            cluster = self._declared.get(pk)
            if cluster is None or _reached_by(cluster) != held.reached_by:
                stopped.append(pk)
            elif not held.thread.is_alive():
                self._failures[pk] = failures = self._failures.get(pk, 0) + 1
                self._not_before[pk] = self.clock() + AGAIN_AFTER * min(failures, 4) * (0.5 + self.jitter())
                stopped.append(pk)
        if stopped:
            self._stop(stopped, "followed no more")

    def _beat(self) -> None:
        lost = claims.beat({pk: held.number for pk, held in self._held.items()})
        self._stop(list(lost), "lost to another process")
        for pk, held in self._held.items():
            if held.thread.is_alive():
                self._failures.pop(pk, None)

    def _claim(self) -> bool:
        """Claim one cluster that nobody follows. A process that has some already is slower to take more."""
        now = self.clock()
        free = [pk for pk in self._declared if pk not in self._held and self._not_before.get(pk, now) <= now]
        if not free or now < self._take_at:
            return False
        self._take_at = now + (0.2 + 0.4 * self.jitter()) * (1 + len(self._held))
        random.shuffle(free)
        for pk in free:
            if self.locks.take(self._declared[pk]):
                self._start(self._declared[pk])
                self._tell_once(_WAITING, False)
                return True
        self._tell_once(_WAITING, not self._held)
        return False

    def _start(self, cluster: Cluster) -> None:
        """Begin to follow a cluster whose lock is ours."""
        try:
            claim = claims.record(cluster)
        except Cluster.DoesNotExist:
            self.locks.give(cluster.pk)
            del self._declared[cluster.pk]
            return
        except DatabaseError:
            self.locks.give(cluster.pk)
            raise
        cluster = Cluster.objects.get(pk=cluster.pk)
        following = Following(cluster, claim.number, self.open_line)
        thread = threading.Thread(target=following.run, name=f"follow {cluster.name}", daemon=True)
        self._held[cluster.pk] = _Held(following, thread, claim.number, _reached_by(cluster))
        fields = {"cluster": cluster.name, "claim": claim.number}
        if claim.after:
            logger.info("taken over", extra={**fields, "after": claim.after})
        else:
            logger.info("claimed", extra=fields)
        thread.start()

    def _lost(self) -> None:
        """The connection that held our claims is gone, and they with it: others may follow these clusters by now."""
        self._stop(list(self._held), "the claim's connection was lost")

    def _stop(self, pks: list[int], reason: str, *, at_the_end: bool = False) -> None:
        stopped = [self._held.pop(pk) for pk in pks]
        for held in stopped:
            held.following.stop()
        until = time.monotonic() + STOP_WITHIN
        for held in stopped:
            held.thread.join(max(0.0, until - time.monotonic()))
            name = held.following.cluster.name
            logger.info("left", extra={"cluster": name, "reason": held.following.ended or reason})
            try:
                if at_the_end:
                    _wait_for_nobody()
                claims.release(held.following.cluster.pk, held.number)
            except DatabaseError:
                connection.close()  # the holder's heartbeat grows old, which says the same
            self.locks.give(held.following.cluster.pk)

    def _tell_once(self, what: str, true: bool) -> None:
        """Log a state when it begins."""
        if true and what not in self._told:
            self._told.add(what)
            logger.info(what)
        elif not true:
            self._told.discard(what)


_NOTHING = "no cluster is declared: waiting for one"
_WAITING = "another process follows: waiting to take over"


def _wait_for_nobody() -> None:
    """Have what is written on the way out fail, instead of waiting for a large transaction that dies with us."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET lock_timeout = '500ms'")
        else:
            cursor.execute("PRAGMA busy_timeout = 500")


def _reached_by(cluster: Cluster) -> tuple[str, ...]:
    """All that following depends on: with another value it begins anew."""
    return (cluster.access, cluster.context, cluster.kubeconfig, cluster.ome_namespace)
