"""Remarks of a plan: a stable code and the facts that its sentence needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Note"]


@dataclass(frozen=True, slots=True)
class Note:
    """A code and its facts. Sentences live in ``templates/sentences/plan/``.

    >>> Note("name-taken", {"name": "fast-omenative"}).to_dict()
    {'code': 'name-taken', 'facts': {'name': 'fast-omenative'}}
    """

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON."""
        return {"code": self.code, "facts": dict(self.facts)}
