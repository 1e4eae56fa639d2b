"""``manage.py export-reviews``: everything that people wrote, as one JSON file."""

from __future__ import annotations

from selection.faces.cli.keeping import ExportCommand as Command

__all__ = ["Command"]
