"""What people have and write: their tokens, their rights, and what they say about what was read."""

from __future__ import annotations

__all__: list[str] = []
