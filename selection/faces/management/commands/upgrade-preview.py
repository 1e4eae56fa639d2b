"""``manage.py upgrade-preview``: what an upgrade from OME v1.2 to v1.3 changes, and the pins that hold it back."""

from __future__ import annotations

from selection.faces.cli.upgrade_preview import Command

__all__ = ["Command"]
