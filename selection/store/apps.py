"""The Django app of this floor."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.backends.signals import connection_created

__all__ = ["StoreConfig"]


class StoreConfig(AppConfig):
    """``selection.store``, known to Django as ``store``."""

    name = "selection.store"
    label = "store"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Every connection of every process is looked after."""
        from .keepalives import ask_for_keepalives

        connection_created.connect(ask_for_keepalives, dispatch_uid="keepalives")
