"""What was read, kept in a database, and what follows from it."""

from __future__ import annotations

__all__: list[str] = []
