"""Whoever acts in a test."""

from __future__ import annotations

from selection.people.persons import Person
from selection.people.writing import Writer

__all__ = ["by"]


def by(name: str) -> Writer:
    """Somebody of this name, at a shell."""
    return Writer(Person(name), "command")
