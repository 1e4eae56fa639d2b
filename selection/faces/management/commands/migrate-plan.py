"""``manage.py migrate-plan``: how to leave MultiNode: a runtime's copy, a service's steps, a fleet's order."""

from __future__ import annotations

from selection.faces.cli.migrate_plan import Command

__all__ = ["Command"]
