"""How a name stands in an address: one segment each, so that no name can be taken for the way on.

A cluster is often called by its context in a kubeconfig, and those may have slashes, which proxies and servers decode
at will. So a slash in a name is written ``~1`` and a tilde ``~0``, as in a JSON Pointer (RFC 6901); the rest is
percent-encoded as always. ``-`` stands for the namespace of what has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from selection.faces.links import CLUSTER_SCOPE

__all__ = ["SEGMENT", "Number", "Segment", "address", "namespace_of", "read_segment", "scope_of", "segment"]

SEGMENT = r"^[^/\u0000]+$"
"""What a segment of an address looks like, once percent-decoded."""

_WRONG = re.compile("~(?![01])|\0")
_LONGEST = 1000


def segment(name: str) -> str:
    """A name as one segment.

    >>> segment("arn:aws:eks:eu:1:cluster/a~b"), read_segment("a~1b~01")
    ('arn:aws:eks:eu:1:cluster~1a~0b', 'a/b~1')
    """
    return name.replace("~", "~0").replace("/", "~1")


def read_segment(text: str) -> str:
    """The name that a segment stands for.

    Raises:
        ValueError: it stands for none.
    """
    if len(text) > _LONGEST or _WRONG.search(text):
        raise ValueError("not a name")
    return text.replace("~1", "/").replace("~0", "~")


class Segment:
    """The converter ``segment`` of addresses: what can't be read leads nowhere."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """The name that stands in an address."""
        return read_segment(value)

    def to_url(self, value: str) -> str:
        """How a name stands in an address."""
        return segment(value)


class Number:
    """The converter ``change``: a number as databases count their rows."""

    regex = "[1-9][0-9]{0,17}"

    def to_python(self, value: str) -> int:
        """The number."""
        return int(value)

    def to_url(self, value: int) -> str:
        """The number as text."""
        return str(value)


def namespace_of(scope: str) -> str:
    """The namespace that a scope stands for, ``""`` for the cluster's own."""
    return "" if scope == CLUSTER_SCOPE else scope


def scope_of(namespace: str) -> str:
    """The scope that a namespace is written as."""
    return namespace or CLUSTER_SCOPE


def address(view: str, names: Mapping[str, Any]) -> str:
    """The path of a view of the interface; ``""`` for what no path can say, such as an object without a name."""
    if any(value in {"", ".", ".."} for value in names.values()):
        return ""
    return reverse(f"api-v1:{view}", kwargs=dict(names))
