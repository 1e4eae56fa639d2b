"""Follows one cluster: takes what its line tells in batches, stores each, and judges what it reaches.

A batch is kept until the database has it. When the database is gone, nothing more is taken from the queue; the queue
is bounded, so the line stops reading, and the API server keeps the rest.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from selection.cluster.errors import ClusterError
from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.kinds import DEPLOYMENT, KINDS

from .applying import WHOLE, Applier, LostClaim
from .evaluate import evaluate
from .models import Cluster
from .secrettext import storable
from .versions import update_version

__all__ = ["Following", "Line", "OpenLine"]

logger = logging.getLogger(__name__)

MOST_WAITING = 2000
"""Happenings that may wait in the queue: what a storm can take of the memory."""
MOST_AT_ONCE = 1000
TOGETHER = 0.1
"""Seconds that a batch waits for what comes right behind its first happening."""
IDLE = 0.5
"""Seconds that a step waits for something to do."""
MUCH = 200
UNJUDGED = 1.0
"""Seconds for which storing may go on without judging, while so much is waiting that it is a storm."""
FIRST_LISTS = 30.0
"""Seconds that judging waits for the first list of every kind."""
LOOK_EVERY = 2.0
AFTER_FAILURE = 30.0
"""Seconds until what could not be judged is tried again."""
LONGEST_WAIT = 10.0
LINE_ENDS = 2.0
"""Seconds that a line gets to end its threads; they end by themselves otherwise."""


class Line(Protocol):
    """The followers of a cluster's kinds."""

    def start(self, tell: Callable[[Happening], None]) -> None:
        """Begin to tell; ``tell`` may block, and is called from several threads."""

    def stop(self) -> None:
        """Tell nothing more, as soon as may be. Doesn't wait."""

    def join(self, timeout: float) -> object:
        """Wait until all of its threads have ended, so many seconds at most."""


OpenLine = Callable[[Cluster], Line]
"""Makes a line to a cluster; raises :class:`ClusterError` when how to reach it isn't known."""


class Following:
    """One cluster, followed under one claim, by steps. ``run`` takes them until ``stop`` or the claim is lost.

    Attributes:
        ended: why following ended by itself, ``""`` while it goes on.
    """

    def __init__(
        self, cluster: Cluster, claim: int, open_line: OpenLine, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.cluster = cluster
        self.claim = claim
        self.ended = ""
        self._open_line = open_line
        self._line: Line | None = None
        self._clock = clock
        self._applier = Applier(cluster, claim, clock=clock)
        self._queue: queue.Queue[Happening] = queue.Queue(MOST_WAITING)
        self._stopping = threading.Event()
        self._batch: list[Happening] = []
        self._owed = True  # an earlier process may have died before it judged
        self._version_owed = True
        self._unjudged_since: float | None = None
        self._oldest_event: float | None = None
        self._awaited = {kind.kind for kind in KINDS}
        self._troubles: dict[str, str] = {}
        self._error: str | None = None
        self._listed = False
        self._not_before = clock()
        self._started = clock()
        self._looked = clock()
        self._objects = 0
        self._failures = 0

    # --- from other threads ---------------------------------------------------------------------

    def hear(self, happening: Happening) -> None:
        """Put a happening into the queue, waiting while it is full; after :meth:`stop` it is dropped."""
        while not self._stopping.is_set():
            try:
                self._queue.put(happening, timeout=0.2)
            except queue.Full:
                continue
            return

    def stop(self) -> None:
        """End after the transaction that is under way."""
        self._stopping.set()
        if self._line is not None:
            self._line.stop()

    @property
    def waiting(self) -> int:
        """How many happenings wait in the queue."""
        return self._queue.qsize()

    # --- its own thread -------------------------------------------------------------------------

    def run(self) -> None:
        """Take steps until the end; the thread's connection to the database is closed then."""
        try:
            while not self._stopping.is_set():
                if not self.step() and self._failures:
                    self._stopping.wait(min(LONGEST_WAIT, 0.25 * 2 ** min(self._failures, 6)))
        except LostClaim as error:
            self.ended = str(error)
        except ClusterError as error:
            self.ended = str(error)
            self._note_error(str(error))
        except Exception:
            logger.exception("following failed", extra={"cluster": self.cluster.name})
            self.ended = "it failed; the log says how"
        finally:
            self.stop()
            connection.close()
            if self._line is not None:
                self._line.join(LINE_ENDS)

    def step(self) -> bool:
        """Take one batch, if there is one, store it, and judge when it is time; return whether anything was done.

        When the database can't be reached the batch is kept for the next step.

        Raises:
            LostClaim: the cluster isn't ours any more.
            ClusterError: how to reach the cluster isn't known.
        """
        try:
            self._open()
            done = self._store()
            self._look()
            done = self._judge() or done
        except (OperationalError, InterfaceError) as error:
            if not self._failures:
                reason = " ".join(str(error).split())[:300]
                logger.warning("the database is gone", extra={"cluster": self.cluster.name, "reason": reason})
            self._failures += 1
            connection.close()
            return False
        if self._failures:
            logger.info("the database is back", extra={"cluster": self.cluster.name})
            self._failures = 0
        return done

    def _open(self) -> None:
        if self._line is None:
            Cluster.objects.filter(pk=self.cluster.pk, claim=self.claim).update(sync_started_at=timezone.now())
            self._line = self._open_line(self.cluster)
            self._line.start(self.hear)

    def _store(self) -> bool:
        if not self._batch:
            self._batch = self._gather()
        if not self._batch:
            return False
        applied = self._applier.apply(self._batch)
        batch, self._batch = self._batch, []
        for happening in batch:
            self._heard(happening)
        if applied.changed:
            self._owed = True
            self._version_owed |= DEPLOYMENT.kind in applied.kinds
            if self._unjudged_since is None:
                self._unjudged_since = self._clock()
        if not self._owed:
            self._oldest_event = None  # the answers that stand were right before it came
        self._note_state()
        return True

    def _gather(self) -> list[Happening]:
        """What waits: the first happening, and what comes right behind it."""
        try:
            batch = [self._queue.get(timeout=0.0 if self._due() else IDLE)]
        except queue.Empty:
            return []
        until = self._clock() + TOGETHER
        while len(batch) < MOST_AT_ONCE:
            try:
                batch.append(self._queue.get(timeout=max(0.0, until - self._clock())))
            except queue.Empty:
                break
        return batch

    def _heard(self, happening: Happening) -> None:
        kind = happening.kind.kind
        match happening:
            case Event(received=received):
                self._oldest_event = received if self._oldest_event is None else min(self._oldest_event, received)
            case Listed(listing=listing):
                self._awaited.discard(kind)
                self._objects += len(listing.objects or ())
                if listing.outcome in WHOLE:
                    self._troubles.pop(kind, None)
                else:
                    self._troubles[kind] = listing.reason or listing.outcome
            case Lost(reason=reason):
                self._awaited.discard(kind)
                self._troubles[kind] = reason
            case Watching():
                self._troubles.pop(kind, None)

    def _note_state(self) -> None:
        """Tell on the cluster, and in the log, when it can't be reached at all, and when it can again."""
        if self._awaited:
            return
        error = next(iter(self._troubles.values())) if len(self._troubles) == len(KINDS) else ""
        if error == self._error:
            return
        self._note_error(error)
        fields = {"cluster": self.cluster.name}
        if error and not self._error:
            logger.warning("lost", extra={**fields, "reason": error})
        elif not error and not self._listed:
            seconds = round(self._clock() - self._started, 2)
            kinds = len(KINDS) - len(self._troubles)
            logger.info("listed", extra={**fields, "kinds": kinds, "objects": self._objects, "seconds": seconds})
            self._listed = True
        elif not error:
            logger.info("resumed", extra=fields)
        self._error = error

    def _note_error(self, error: str) -> None:
        try:
            mine = Cluster.objects.filter(pk=self.cluster.pk, claim=self.claim)
            mine.update(sync_error=storable(error), sync_finished_at=timezone.now())
        except (OperationalError, InterfaceError):
            connection.close()  # it stands in the log, and is found again by the next attempt

    def _look(self) -> None:
        """Look now and then whether the cluster is still there and ours, and whether answers are owed to it."""
        now = self._clock()
        if now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        fields = ("claim", "generation", "evaluated_generation")
        row = Cluster.objects.filter(pk=self.cluster.pk).values_list(*fields).first()
        if row is None or row[0] != self.claim:
            raise LostClaim(
                f"{self.cluster.name}: " + ("it was forgotten" if row is None else "another one follows it")
            )
        self._owed |= row[1] != row[2]

    def _due(self) -> bool:
        """Whether judging is owed and may begin: all kinds were listed once, or it took too long."""
        now = self._clock()
        waits = bool(self._awaited) and now - self._started < FIRST_LISTS
        return self._owed and not waits and now >= self._not_before

    def _judge(self) -> bool:
        if not self._due():
            return False
        since = self._unjudged_since
        if self.waiting >= MUCH and since is not None and self._clock() - since < UNJUDGED:
            return False
        cluster = Cluster.objects.filter(pk=self.cluster.pk).first()
        if cluster is None:
            raise LostClaim(f"{self.cluster.name}: it was forgotten")
        if self._version_owed:
            update_version(cluster)
            self._version_owed = False
        if cluster.generation != cluster.evaluated_generation and not self._evaluate(cluster):
            return False
        self._owed, self._unjudged_since = False, None
        if self._oldest_event is not None:
            lag = max(0, round((self._clock() - self._oldest_event) * 1000))
            Cluster.objects.filter(pk=cluster.pk, claim=self.claim).update(lag_ms=lag)
            self._oldest_event = None
        return True

    def _evaluate(self, cluster: Cluster) -> bool:
        """Judge; a failure that isn't the database's is told, and doesn't keep objects from being stored."""
        try:
            evaluate(cluster)
        except (OperationalError, InterfaceError):
            raise
        except Cluster.DoesNotExist:
            raise LostClaim(f"{self.cluster.name}: it was forgotten") from None
        except Exception as error:
            logger.exception("judging failed", extra={"cluster": self.cluster.name})
            self._note_error(f"what was read is stored, but judging it failed ({type(error).__name__})")
            self._error = None
            self._not_before = self._clock() + AFTER_FAILURE
            return False
        return True
