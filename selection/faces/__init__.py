"""What people and programs see: pages, REST and commands."""

from __future__ import annotations

__all__: list[str] = []
