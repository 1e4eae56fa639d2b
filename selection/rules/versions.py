"""Model and framework versions, and when an entry's version accepts a model's.

Follows OME: model version matching (package ``modelver`` and the selector's version comparison).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .go import parse_uint

__all__ = ["Version", "accepts", "parse_version"]


@dataclass(frozen=True, slots=True)
class Version:
    """A parsed version. ``parts`` is how many of the three numbers were written; the rest are 0."""

    numbers: tuple[int, int, int]
    prefix: str
    parts: int
    pre: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()

    @property
    def unofficial(self) -> bool:
        """Whether it has a pre-release, build or dev part; such versions only match their equals."""
        return bool(self.pre or self.build or self.dev)

    @property
    def identity(self) -> tuple[object, ...]:
        """What equality looks at: neither the ``v`` nor the number of written parts."""
        return (self.numbers, self.pre, self.build, self.dev)


@lru_cache(maxsize=65536)
def parse_version(text: str) -> Version | None:
    """Parse a version; None when OME can't parse it, and then it never matches.

    >>> parse_version("4.47.0.dev0").dev
    ('dev0',)
    >>> [parse_version(text) for text in ("", "V1.0.0", "1.08.0", "1.2-beta", "1.0.0-")]
    [None, None, None, None, None]
    """
    if not text:
        return None
    pieces = text.split(".", 2)
    prefix = "v" if pieces[0].startswith("v") else ""
    patch, build = _cut(pieces[2], "+") if len(pieces) > 2 else ("0", None)
    patch, pre = _cut(patch, "-")
    patch, dev = _cut(patch, ".")
    numbers = [_number(pieces[0].removeprefix("v")), _number(pieces[1] if len(pieces) > 1 else "0"), _number(patch)]
    major, minor, micro = numbers
    if major is None or minor is None or micro is None:
        return None
    if any(not part for suffix in (pre, build, dev) for part in suffix or ()):
        return None
    return Version((major, minor, micro), prefix, len(pieces), pre or (), build or (), dev or ())


def _cut(text: str, mark: str) -> tuple[str, tuple[str, ...] | None]:
    head, found, tail = text.partition(mark)
    return (head, tuple(tail.split("."))) if found else (text, None)


def _number(text: str) -> int | None:
    if len(text) > 1 and text[0] == "0":
        return None
    return parse_uint(text)


@lru_cache(maxsize=65536)
def accepts(entry: str, operator: str | None, model: str) -> bool:
    """Whether an entry's version with its operator accepts the model's version.

    The entry's version is an upper limit: ``GreaterThan`` asks that **it** is greater than the
    model's. An operator that isn't known compares for equality, after the same-parts rule.

    >>> accepts("1.8.0", "GreaterThan", "1.7.0"), accepts("1.8", "GreaterThan", "1.7.0")
    (True, False)
    >>> accepts("1.0.0", None, "1.0"), accepts("4.50.0", "GreaterThanOrEqual", "4.45.0.dev0")
    (True, False)
    """
    theirs, ours = parse_version(model), parse_version(entry)
    if theirs is None or ours is None:
        return False
    effective = "Equal" if operator is None else operator
    if effective == "Equal" or theirs.unofficial or ours.unofficial:
        return ours.identity == theirs.identity
    if ours.parts != theirs.parts or ours.prefix != theirs.prefix:
        return False
    if effective == "GreaterThan":
        return ours.numbers > theirs.numbers
    if effective == "GreaterThanOrEqual":
        return ours.numbers >= theirs.numbers
    return ours.numbers == theirs.numbers
