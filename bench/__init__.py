"""Measures the dashboard on a fleet of the size it is designed for: ``make bench``."""

from __future__ import annotations

__all__: list[str] = []
