"""The REST interface under ``/api/v1/``: the same rows and values that pages and commands show, for programs."""

from __future__ import annotations

__all__: list[str] = []
