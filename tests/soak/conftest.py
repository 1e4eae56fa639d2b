"""Fixtures of the soak tests."""

from __future__ import annotations

from tests.store.databases import own_database, template_database

__all__ = ["own_database", "template_database"]
