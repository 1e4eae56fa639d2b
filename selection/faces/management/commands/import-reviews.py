"""``manage.py import-reviews``: brings what ``export-reviews`` wrote into the database."""

from __future__ import annotations

from selection.faces.cli.keeping import ImportCommand as Command

__all__ = ["Command"]
