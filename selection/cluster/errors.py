"""What can go wrong between us and a cluster, or a file, in words for the person who has to act.

No message here ever carries a bearer token, a password or certificate data.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["ApiError", "ClusterError", "ConfigurationError", "SourceError", "Trouble", "Unauthorized"]

Trouble = Literal["throttled", "server", "connection"]
"""Why asking again may help: told to wait (429), the server failed (5xx), or the line to it did."""


class ClusterError(Exception):
    """Reading a cluster failed; ``str()`` is the reason, in one line."""


class ConfigurationError(ClusterError):
    """How to reach the cluster isn't known: a kubeconfig, a context or the in-cluster files are wrong or missing."""


class Unauthorized(ClusterError):
    """The API server doesn't know who we are (HTTP 401): no kind can be read."""


class ApiError(ClusterError):
    """One request had no usable answer.

    ``status`` is the HTTP status, or None when there was none. ``trouble`` says whether asking again may
    help, None when it won't. ``retry_after`` is the number of seconds that the server asked to wait.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        trouble: Trouble | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.trouble = trouble
        self.retry_after = retry_after


class SourceError(FileNotFoundError):
    """A file or folder that was named can't be read at all; ``str()`` is the reason, in one line."""
