"""Tags and filters of the pages: ``{% load ome %}``."""

from __future__ import annotations

__all__: list[str] = []
