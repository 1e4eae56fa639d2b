"""``manage.py what-if``: what would be if manifests were applied, or objects deleted."""

from __future__ import annotations

from selection.faces.cli.what_if import Command

__all__ = ["Command"]
