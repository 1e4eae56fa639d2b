"""The Django app of this floor."""

from __future__ import annotations

from django.apps import AppConfig

__all__ = ["PeopleConfig"]


class PeopleConfig(AppConfig):
    """``selection.people``, known to Django as ``people``."""

    name = "selection.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"
