"""The Django app of this floor."""

from __future__ import annotations

from django.apps import AppConfig

__all__ = ["StoreConfig"]


class StoreConfig(AppConfig):
    """``selection.store``, known to Django as ``store``."""

    name = "selection.store"
    label = "store"
    default_auto_field = "django.db.models.BigAutoField"
