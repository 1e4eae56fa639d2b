"""A watch of one kind: one call, and one that resumes where the last call ended.

Kubernetes API concepts: efficient detection of changes. A watch begins at the version of a list and sends what
happened since, an event a line. Bookmarks tell a version without an object, so that a kind where nothing happens can
be resumed too. A version that the API server doesn't remember any more is Gone (410): the kind is to be listed again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from selection.cluster.config import Connection
from selection.cluster.connections import Connections
from selection.cluster.errors import ApiError, ClusterError, Trouble, Unauthorized
from selection.cluster.events import Event, Lost, Watching
from selection.cluster.kinds import Kind
from selection.cluster.objects import strip_noise
from selection.cluster.retry import Backoff, Retry
from selection.cluster.stopping import Stop
from selection.cluster.transport import TROUBLES, Lines, Silence, get_json, open_lines, parse_object

__all__ = ["Stream", "lost", "streams_of", "wait_out", "watch", "watch_on"]

SHORTEST, LONGEST = 240.0, 300.0
"""Seconds that one watch call is asked to last: chosen anew each time, so that not all kinds come back at once."""
SILENCE = 90.0
"""Seconds without a byte after which a watch is asked for anew, as the line may be dead: the API server sends a
bookmark about once a minute, as far as it has a newer version to tell."""
AT_ONCE = 1.0
"""Seconds; a watch that ends sooner without a word was refused in a way of its own, and isn't asked for at once."""
SETTLED = 5.0
"""Seconds after which a watch that is open counts as something that went well."""
FRUITLESS = 3
"""So many refusals in a row at one version, and the kind is listed again: that version may be what is wrong."""
LIST_AGAIN = {403, 404, 410}
"""Statuses that a new list helps against, or says more about."""
FORBIDDEN_WAIT = 30.0
"""Seconds between lists of a kind that may be listed, but not watched."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What one watch sends: the objects at a path, those that a selector picks. ``named`` are names that it is for.

    A kind whose objects are picked in two ways has two streams; each object belongs to one of them.
    """

    kind: Kind
    path: str
    selector: tuple[tuple[str, str], ...] = ()
    named: tuple[str, ...] = ()
    others_namespace: str = ""

    def tells(self, manifest: dict[str, Any]) -> bool:
        """Whether this stream is the one that tells of an object, as far as its name says."""
        metadata = manifest["metadata"]
        name = metadata.get("name")
        if self.named:
            return name in self.named
        if name in self.kind.also_named and metadata.get("namespace") == self.others_namespace:
            return False  # another stream's
        return not self.kind.name_pattern or bool(re.fullmatch(self.kind.name_pattern, str(name)))


def streams_of(kind: Kind, ome_namespace: str) -> list[Stream]:
    """Return the streams that together tell of all objects of a kind that matter."""
    selector = (("labelSelector", kind.selector),) if kind.selector else ()
    path = kind.path(ome_namespace if kind.namespace_scope == "ome" else None)
    streams = [Stream(kind, path, selector, others_namespace=ome_namespace)]
    for name in kind.also_named:
        selector = (("fieldSelector", f"metadata.name={name}"),)
        streams.append(Stream(kind, kind.path(ome_namespace), selector, (name,)))
    return streams


class Garbled(ApiError):
    """What came isn't an event."""


def watch(
    connections: Connections, stream: Stream, version: str, *, stop: Stop, backoff: Backoff, doubtful: bool = False
) -> Iterator[Event | Watching]:
    """Watch with one call, from a version on, until the API server ends it.

    ``doubtful`` asks first whether the cluster still has that version: one that was restored from a backup goes on
    from an older one, and sends nothing until it has come past ours.

    Raises:
        Unauthorized: HTTP 401.
        ApiError: it can't be watched from there (``status`` 410), or the line broke, or what came makes no sense.
        Stopped: it was asked to end.
    """
    seconds = SHORTEST + (LONGEST - SHORTEST) * backoff.retry.jitter()
    query = [
        *stream.selector,
        ("watch", "true"),
        ("allowWatchBookmarks", "true"),
        ("resourceVersion", version),
        ("timeoutSeconds", f"{seconds:.0f}"),
    ]

    def ask(connection: Connection) -> tuple[Lines, str]:
        if doubtful and _went_back(connection, stream, version, backoff.retry.briefly(stop.wait)):
            raise ApiError(f"{connection.server}: its history goes back to before what was read", status=410)
        return open_lines(connection, stream.path, query, silence=SILENCE), connection.server

    lines, server = connections.use(ask, stop)
    with lines:
        yield Watching(stream.kind, version, time.monotonic())
        for line in lines:
            stop.check()
            happening = _read(stream, line, server)
            if happening is not None:
                yield happening
    stop.check()


def _went_back(connection: Connection, stream: Stream, version: str, retry: Retry) -> bool:
    """Whether the newest version of the cluster is older than one that was read. Versions are numbers by contract
    since Kubernetes 1.35, and were before."""
    answer = get_json(connection, stream.path, [*stream.selector, ("limit", "1")], retry=retry)
    metadata = answer.get("metadata")
    newest = str(metadata.get("resourceVersion")) if isinstance(metadata, dict) else ""
    return newest.isdigit() and version.isdigit() and int(newest) < int(version)


def _read(stream: Stream, line: bytes, server: str) -> Event | Watching | None:
    """Return what a line tells, None when it is of an object that doesn't matter.

    Raises:
        ApiError: it tells an error, or isn't an event.
    """
    received = time.monotonic()
    try:
        event = parse_object(line)
    except ValueError as error:
        raise Garbled(f"{server}: an event is {error}") from None
    word, manifest = event.get("type"), event.get("object")
    if not isinstance(manifest, dict):
        raise Garbled(f"{server}: an event is without its object")
    if word == "ERROR":
        raise _told(manifest, server)
    metadata = manifest.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if not isinstance(version, str) or not version:
        raise Garbled(f"{server}: an event's object has no resourceVersion")
    if word == "BOOKMARK":
        return Watching(stream.kind, version, received)
    if word not in ("ADDED", "MODIFIED", "DELETED"):
        raise Garbled(f"{server}: an event is of an unknown type")
    if not stream.tells(manifest):
        return None
    change: Literal["put", "gone"] = "put" if word != "DELETED" and stream.kind.wants(manifest) else "gone"
    whole = {"apiVersion": stream.kind.api_version, "kind": stream.kind.kind, **manifest}
    return Event(stream.kind, change, strip_noise(whole), version, received)


def _told(status: dict[str, Any], server: str) -> ApiError:
    """Return the error that the API server tells in the middle of a watch, as a Status."""
    code, message, details = status.get("code"), status.get("message"), status.get("details")
    code = code if isinstance(code, int) and code is not True and code else 500
    words = " ".join(message.split())[:500] if isinstance(message, str) and message else "no reason given"
    asked = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    return ApiError(
        f"{server}: the watch failed: {words}",
        status=code,
        trouble=TROUBLES.get(code),
        retry_after=float(asked) if isinstance(asked, int) and asked > 0 else None,
    )


def watch_on(
    connections: Connections,
    stream: Stream,
    version: str,
    *,
    stop: Stop,
    backoff: Backoff,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Event | Watching | Lost]:
    """Watch from a version on, call after call, each from where the last one ended; end when a new list is needed.

    After each ``Lost`` it waits as long as that says, before the next call as before its end. What a new list helps
    against has no wait, unless there was a new list just now.

    Raises:
        Stopped: it was asked to end.
    """
    refusals = 0
    fresh = True  # nothing happened since the list
    failed = False
    while True:
        opened: float | None = None
        told = False
        try:
            for happening in watch(connections, stream, version, stop=stop, backoff=backoff, doubtful=failed):
                if opened is None:
                    opened, failed = clock(), False
                else:
                    told, fresh, refusals = True, False, 0
                version = happening.resource_version
                yield happening
            if not told and opened is not None and clock() - opened < AT_ONCE:
                raise ApiError("the watch was ended as soon as it was open", status=500, trouble="server")
            backoff.reset()
            fresh = False
            continue
        except Silence:
            # A kind where nothing happens may have no bookmarks either: whether the line is dead shows right now.
            stop.check()
            fresh = False
            continue
        except ClusterError as caught:
            error = caught
        stop.check()  # whoever ended the read did it for this
        failed = True
        status = _status(error)
        if opened is not None and (told or clock() - opened >= SETTLED):
            backoff.reset()
            fresh = False
        fresh = fresh and status in LIST_AGAIN
        refusals += _refused(error)
        again = status in LIST_AGAIN or refusals >= FRUITLESS
        if status == 404 and not fresh:
            return  # it may not be served any more: the list will tell
        happened = lost(stream.kind, error, backoff, helped=status in LIST_AGAIN and not fresh)
        recoveries = connections.recoveries
        yield happened
        wait_out(happened, connections, recoveries, stop, backoff)
        if again:
            return


def wait_out(happened: Lost, connections: Connections, recoveries: int, stop: Stop, backoff: Backoff) -> None:
    """Wait as long as was told; no longer when the cluster couldn't be reached, and somebody else can meanwhile.

    ``recoveries`` is how often that was the case when it was told.

    Raises:
        Stopped: it was asked to end.
    """
    if happened.trouble != "connection":
        stop.wait(happened.wait)
    elif stop.wait(happened.wait, lambda: connections.recoveries != recoveries):
        backoff.reset()


def lost(kind: Kind, error: ClusterError, backoff: Backoff, *, helped: bool = False) -> Lost:
    """Return what to tell of a failure, and how long to wait after it; counts it.

    ``helped`` says that what helps is done next, so that there is nothing to wait for.
    """
    trouble = _trouble(error)
    if helped:
        wait = 0.0
    elif trouble == "forbidden":
        wait = backoff.retry.around(FORBIDDEN_WAIT)
    else:
        wait = backoff.after(error)
    return Lost(kind, str(error), trouble, wait, time.monotonic())


def _trouble(error: ClusterError) -> Trouble | Literal["unauthorized", "forbidden", "gone", "other"]:
    if isinstance(error, Unauthorized):
        return "unauthorized"
    if not isinstance(error, ApiError):
        return "other"
    if error.status == 403:
        return "forbidden"
    if error.status == 410:
        return "gone"
    return error.trouble or "other"


def _status(error: ClusterError) -> int | None:
    return error.status if isinstance(error, ApiError) else None


def _refused(error: ClusterError) -> bool:
    """Whether the API server answered, and with something that a new list may help against."""
    return isinstance(error, Garbled) or _status(error) not in {None, 429}
