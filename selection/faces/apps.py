"""The Django app of this floor."""

from __future__ import annotations

from django.apps import AppConfig

__all__ = ["FacesConfig"]


class FacesConfig(AppConfig):
    """``selection.faces``, known to Django as ``faces``."""

    name = "selection.faces"
    label = "faces"
    default_auto_field = "django.db.models.BigAutoField"
