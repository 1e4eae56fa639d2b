"""Ending what a thread does from another thread: its waits, and the read of an answer that it blocks in.

A watch blocks in a read for up to a minute, and Python can't interrupt that. The socket can be shut down though: the
read ends at once, as if the server had hung up. So that every read can be ended, from the wait for an answer's first
byte on, each connection that an API client opens hands its socket to the stop of the thread that uses it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from kubernetes.client import ApiClient

__all__ = ["Stop", "Stopped", "make_interruptible", "release"]

LOOK = 0.2
"""Seconds between looks at whether there is anything left to wait for."""

_thread = threading.local()


class Stopped(Exception):
    """It was asked to end."""


class Stop:
    """Asks threads to end. ``with stop:`` binds the thread that runs it: from then on its reads end with the stop."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._sockets: dict[int, socket.socket] = {}
        self._children: set[Stop] = set()
        self._parent: Stop | None = None

    def child(self) -> Stop:
        """Return a stop for a part of the work: it is set with this one, and may be set alone.

        It is to be set in the end, which is when this one forgets it.
        """
        part = Stop()
        part._parent = self
        with self._lock:
            self._children.add(part)
        if self.is_set():
            part.set()
        return part

    def set(self) -> None:
        """Ask to end; returns at once. May be called from any thread, again and again."""
        self._event.set()
        with self._lock:
            sockets, self._sockets = list(self._sockets.values()), {}
            children, self._children = list(self._children), set()
        for each in sockets:
            _hang_up(each)
        for child in children:
            child.set()
        if self._parent is not None:
            with self._parent._lock:
                self._parent._children.discard(self)

    def is_set(self) -> bool:
        """Tell whether it was asked to end."""
        return self._event.is_set()

    def check(self) -> None:
        """Go on, unless it was asked to end.

        Raises:
            Stopped: it was.
        """
        if self._event.is_set():
            raise Stopped

    def wait(self, seconds: float, unless: Callable[[], bool] | None = None) -> bool:
        """Wait so long, or until ``unless`` is true, which is looked at now and then; return whether it was.

        Raises:
            Stopped: it was asked to end, at once when that happens.
        """
        until = time.monotonic() + seconds
        while True:
            left = max(0.0, until - time.monotonic())
            if self._event.wait(left if unless is None else min(LOOK, left)):
                raise Stopped
            if unless is not None and unless():
                return True
            if time.monotonic() >= until:
                return False

    def __enter__(self) -> Stop:
        _thread.stop = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        release()
        _thread.stop = None

    def _hold(self, used: socket.socket) -> None:
        with self._lock:
            self._sockets[threading.get_ident()] = used
        # Set after it looked and before it knew of this socket: nobody else would end the read.
        if self._event.is_set():
            raise Stopped

    def _release(self) -> None:
        with self._lock:
            self._sockets.pop(threading.get_ident(), None)


def _hang_up(used: Any) -> None:
    """Shut down the connection below, and leave to TLS what is TLS's: the thread that reads is in the middle of it."""
    below = getattr(used, "socket", used)  # TLS within a proxy's TLS keeps its socket there
    with suppress(OSError):  # closed meanwhile
        socket.socket.shutdown(below, socket.SHUT_RDWR)


def release() -> None:
    """Tell that this thread's answer is read: its connection is free for others, and no stop of ours ends those."""
    stop: Stop | None = getattr(_thread, "stop", None)
    if stop is not None:
        stop._release()


def make_interruptible(client: ApiClient) -> None:
    """Let the connections of a client hand their sockets to the stop of the thread that uses them."""
    manager = client.rest_client.pool_manager
    manager.pool_classes_by_scheme = {
        scheme: _interruptible(pool) for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _interruptible(pool: Any) -> Any:
    """Return the class of connection pools with connections that can be interrupted, whatever theirs were."""

    def getresponse(self: Any) -> Any:
        stop: Stop | None = getattr(_thread, "stop", None)
        if stop is not None:
            stop._hold(self.sock)
        return super(connection, self).getresponse()

    connection: Any = type(pool.ConnectionCls.__name__, (pool.ConnectionCls,), {"getresponse": getresponse})
    return type(pool.__name__, (pool,), {"ConnectionCls": connection})
