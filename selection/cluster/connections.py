"""The way to one cluster that all who follow it share, opened anew when its credentials may be what fails.

Credentials expire: an exec plugin's token, a token file, a client certificate that is replaced on disk. What is read
of them when a connection is opened is read again by opening another one, once for all who found it to fail.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from selection.cluster.config import Connection
from selection.cluster.errors import ApiError, ClusterError, Unauthorized
from selection.cluster.retry import Retry
from selection.cluster.stopping import Stop, make_interruptible

__all__ = ["Connections"]

T = TypeVar("T")

OPENING = 30.0
"""Seconds after which those who wait for a connection say so: a plugin may be waiting for somebody to sign in."""


class Connections:
    """One cluster's connection. ``open`` makes it, anew each time: it reads the kubeconfig, files, runs the plugin.

    ``retry`` says how long is waited between openings that didn't help. May be shared between threads.
    """

    def __init__(
        self,
        open: Callable[[], Connection],
        *,
        retry: Retry | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open
        self._retry = retry or Retry()
        self._clock = clock
        self._lock = threading.Lock()
        self._current: Connection | None = None
        self._error: ClusterError | None = None
        self._openings = 0  # since one of them last helped
        self._not_before = clock()
        self._down = False
        self._recoveries = 0

    @property
    def recoveries(self) -> int:
        """How often the cluster could be reached again after it couldn't be."""
        return self._recoveries

    def use(self, request: Callable[[Connection], T], stop: Stop) -> T:
        """Make a request; when the credentials, TLS or the line may be why it fails, open anew and make it once more.

        Raises:
            ClusterError: what the request raised, or why the connection can't be opened.
            Stopped: ``stop`` was set while another thread was opening.
        """
        connection = self._get(None, stop)
        try:
            answer = request(connection)
        except ClusterError as error:
            if isinstance(error, ApiError) and error.trouble == "connection":
                self._down = True
            if not _may_be_ours(error):
                raise
            stop.check()
            renewed = self._get(connection, stop)
            if renewed is connection:
                raise
            answer = request(renewed)
        self._openings = 0
        if self._down:
            self._down = False
            self._recoveries += 1
        return answer

    def close(self) -> None:
        """Close what is open; the next request opens anew."""
        with self._lock:
            current, self._current = self._current, None
        if current is not None:
            current.close()

    def _get(self, failed: Connection | None, stop: Stop) -> Connection:
        """Return a connection, another one than what failed if it is time for that.

        Raises:
            ClusterError: it can't be opened, or couldn't a moment ago, or somebody has been trying to for long.
        """
        until = self._clock() + OPENING
        while not self._lock.acquire(timeout=0.2):  # a plugin may take its time
            stop.check()
            if self._clock() > until:
                raise ClusterError(f"its credentials are awaited, for {OPENING:.0f} s by now: does its plugin hang?")
        try:
            current = self._current
            if current is not None and current is not failed:
                return current
            if self._openings and self._clock() < self._not_before:
                if self._error is not None:
                    raise self._error
                if current is not None:
                    return current
            return self._opened()
        finally:
            self._lock.release()

    def _opened(self) -> Connection:
        try:
            connection = self._open()
            self._error = None
        except ClusterError as error:
            self._error = error
            raise
        finally:
            self._openings += 1
            self._not_before = self._clock() + self._retry.wait(self._openings)
        make_interruptible(connection.client)
        # The one before isn't closed: others may be in the middle of an answer. It goes when the last of them is done.
        self._current = connection
        return connection


def _may_be_ours(error: ClusterError) -> bool:
    """Tell whether what we sign in with, or where we look, may be why there is no answer."""
    return isinstance(error, Unauthorized) or (isinstance(error, ApiError) and error.status is None)
