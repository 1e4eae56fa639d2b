"""Following: one kind in a loop that never ends, and a whole cluster, a thread for each kind.

A kind is listed, then watched from its list on. When a watch can't go on from where it is, the kind is listed again.
Whatever happens is told and followed by another attempt, after a wait that grows.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from selection.cluster.config import Connection
from selection.cluster.connections import Connections
from selection.cluster.errors import ApiError, ClusterError
from selection.cluster.events import Event, Happening, Listed, Lost, Watching
from selection.cluster.kinds import KINDS, OME_NAMESPACE, Kind, KindListing
from selection.cluster.listing import list_kind
from selection.cluster.retry import Backoff, Retry
from selection.cluster.stopping import Stop, Stopped
from selection.cluster.watching import Stream, lost, streams_of, wait_out, watch_on

__all__ = ["FollowedCluster", "follow", "follow_kind"]

logger = logging.getLogger(__name__)

ASK_AGAIN = 15.0
"""Seconds until a kind that isn't served, or is forbidden, is asked for again: its CRD may be created, a role bound."""
CONFIRM = 60.0
"""Seconds after which what didn't change about such a kind is told again."""
AHEAD = 16
"""Events that a stream reads ahead while another one's are being taken."""
LINGER = 1.0
"""Seconds that streams get to end; one that is just connecting may take longer, and is waited for no more."""

Tell = Callable[[Happening], None]


def follow(
    open: Callable[[], Connection],
    *,
    kinds: Sequence[Kind] = KINDS,
    ome_namespace: str = OME_NAMESPACE,
    retry: Retry | None = None,
) -> FollowedCluster:
    """Return a cluster to follow; nothing is sent before it is started.

    ``open`` makes a connection, such as ``lambda: from_kubeconfig(path, context)``. It is called by a thread of the
    follower, again whenever credentials may have expired; what it raises is told as ``Lost``. ``ome_namespace`` is
    where OME itself is installed.
    """
    return FollowedCluster(Connections(open, retry=retry), kinds=kinds, ome_namespace=ome_namespace, retry=retry)


class FollowedCluster:
    """A cluster that is followed from ``start`` to ``stop``, each kind by a thread of its own. Can be started once."""

    def __init__(
        self,
        connections: Connections,
        *,
        kinds: Sequence[Kind] = KINDS,
        ome_namespace: str = OME_NAMESPACE,
        retry: Retry | None = None,
    ) -> None:
        self._connections = connections
        self._kinds = tuple(kinds)
        self._ome_namespace = ome_namespace
        self._retry = retry or Retry()
        self._stop = Stop()
        self._threads: list[threading.Thread] = []

    def start(self, tell: Tell) -> None:
        """Begin to follow. ``tell`` is called from several threads, in order for each kind; it may block.

        Happenings of a kind wait in its connection while ``tell`` blocks: nothing piles up here.
        """
        for kind in self._kinds:
            thread = threading.Thread(target=self._run, args=(kind, tell), name=f"follow {kind.plural}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Ask to end, and return at once. ``tell`` isn't called any more once it has returned from a call under way."""
        self._stop.set()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until all threads have ended, so many seconds at most; return whether they have."""
        until = None if timeout is None else time.monotonic() + timeout
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        if self.alive():
            return False
        self._connections.close()
        return True

    def alive(self) -> bool:
        """Whether any of its threads still runs."""
        return any(thread.is_alive() for thread in self._threads)

    def _run(self, kind: Kind, tell: Tell) -> None:
        """Follow one kind. What nobody thought of is logged, and following begins anew."""
        backoff = Backoff(self._retry)
        with suppress(Stopped), self._stop as stop:
            while True:
                started = time.monotonic()
                try:
                    self._follow(kind, tell, stop)
                    return
                except Stopped:
                    raise
                except Exception as error:
                    stop.check()
                    if time.monotonic() - started > CONFIRM:
                        backoff.reset()
                    wait = backoff.after(error)
                    what = type(error).__name__
                    logger.error("following a kind failed", extra={"kind": kind.kind, "error": what, "at": _at(error)})
                    with suppress(Exception):  # it may have been tell that failed
                        reason = f"an unexpected error ({what}); the log says where"
                        tell(Lost(kind, reason, "other", wait, time.monotonic()))
                    stop.wait(wait)

    def _follow(self, kind: Kind, tell: Tell, stop: Stop) -> None:
        happenings = follow_kind(
            self._connections, kind, ome_namespace=self._ome_namespace, stop=stop, retry=self._retry
        )
        with closing(happenings):
            for happening in happenings:
                stop.check()
                tell(happening)


def follow_kind(
    connections: Connections,
    kind: Kind,
    *,
    ome_namespace: str = OME_NAMESPACE,
    stop: Stop,
    retry: Retry | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[Happening, None, None]:
    """Follow one kind for ever: list it, watch it from there on, and list it again when the watch can't go on.

    To be iterated in a thread that ``stop`` is bound to; it ends when that is set.
    """
    retry = retry or Retry()
    brief = retry.briefly(stop.wait)
    backoff = Backoff(retry)
    known = _Known(clock)

    def read(connection: Connection) -> KindListing:
        listing = list_kind(connection, kind, ome_namespace=ome_namespace, retry=brief)
        if listing.outcome == "complete" and not listing.resource_version:
            raise ApiError(f"{connection.server}: the list doesn't say its resourceVersion")
        return listing

    with suppress(Stopped):
        while True:
            stop.check()
            try:
                listing = connections.use(read, stop)
            except ClusterError as error:
                stop.check()
                trouble = lost(kind, error, backoff)
                if known.is_news(KindListing(kind, "failed", str(error))):
                    yield known.told()
                recoveries = connections.recoveries
                yield trouble
                wait_out(trouble, connections, recoveries, stop, backoff)
                continue
            if listing.outcome != "complete":
                backoff.reset()
                if known.is_news(listing):
                    yield known.told()
                stop.wait(retry.around(ASK_AGAIN))
                continue
            known.forget()
            version = listing.resource_version or ""
            yield Listed(listing, clock())
            del listing  # a large list isn't kept for as long as the watch lasts
            streams = streams_of(kind, ome_namespace)
            if len(streams) == 1:
                yield from watch_on(connections, streams[0], version, stop=stop, backoff=backoff, clock=clock)
            else:
                yield from _watch_all(connections, streams, version, stop=stop, retry=retry)


class _Known:
    """What was told last of a kind that has no list, so that it isn't told again and again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._listing: KindListing | None = None
        self._at = 0.0

    def is_news(self, listing: KindListing) -> bool:
        """Whether this is to be told: it is new, or was told a while ago. To be followed by ``told``."""
        if listing == self._listing and self._clock() - self._at < CONFIRM:
            return False
        self._listing = listing
        return True

    def told(self) -> Listed:
        """Return what to tell."""
        assert self._listing is not None  # noqa: S101 - it was news
        self._at = self._clock()
        return Listed(self._listing, self._at)

    def forget(self) -> None:
        """The kind has a list."""
        self._listing = None


def _watch_all(
    connections: Connections, streams: Sequence[Stream], version: str, *, stop: Stop, retry: Retry
) -> Iterator[Happening]:
    """Watch the streams of one kind side by side; end when one of them needs a new list.

    The kind is being watched while all of them are.
    """
    heard: queue.Queue[tuple[Stream, Happening | Exception | None]] = queue.Queue(AHEAD)
    part = stop.child()

    def put(stream: Stream, what: Happening | Exception | None) -> None:
        while not part.is_set():
            with suppress(queue.Full):
                heard.put((stream, what), timeout=0.2)
                return

    def run(stream: Stream) -> None:
        ended: Exception | None = None
        with part:
            try:
                for happening in watch_on(connections, stream, version, stop=part, backoff=Backoff(retry)):
                    put(stream, happening)
            except Stopped:
                return
            except Exception as error:
                ended = error
        put(stream, ended)

    own = threading.current_thread().name
    threads = [
        threading.Thread(target=run, args=(each,), name=f"{own} {' '.join(each.named)}", daemon=True)
        for each in streams
    ]
    for thread in threads:
        thread.start()
    watching: set[Stream] = set()
    try:
        while True:
            stop.check()
            try:
                stream, what = heard.get(timeout=0.2)
            except queue.Empty:
                continue
            match what:
                case None:
                    return
                case Exception():
                    raise what
                case Watching():
                    watching.add(stream)
                    if len(watching) == len(streams):
                        yield what
                case Lost():
                    watching.discard(stream)
                    yield what
                case Event() | Listed():
                    yield what
    finally:
        # Whatever they still put is dropped with the queue, so nothing old is told after the next list.
        part.set()
        for thread in threads:
            thread.join(LINGER)


def _at(error: Exception) -> str:
    """Return where an error comes from, innermost first; its text could quote what isn't to be logged."""
    frames = traceback.extract_tb(error.__traceback__)
    return ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-6:]))
