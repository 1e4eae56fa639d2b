"""The project as a Django app, so that its checks are known."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register

from ome_dashboard.checks import check_clusters, check_environment

__all__ = ["DashboardConfig"]


class DashboardConfig(AppConfig):
    """``ome_dashboard``: no models, only the checks of the configuration."""

    name = "ome_dashboard"

    def ready(self) -> None:
        """Register the checks."""
        register(check_environment)
        register(check_clusters)
