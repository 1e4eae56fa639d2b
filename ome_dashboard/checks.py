"""Django system checks of the configuration: every problem has an id and says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from selection.store.declarations import DeclarationError, read_environment, read_file

__all__ = ["check_clusters", "check_environment"]


def check_environment(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report what :mod:`ome_dashboard.settings` found wrong in the environment, all of it at once."""
    environment = settings.ENVIRONMENT
    found: list[CheckMessage] = [Error(each.message, hint=each.hint, id=each.id) for each in environment.problems]
    found += [
        Warning(
            f"{name} is set, but there is no such setting.",
            hint="docs/configuration.md has the table; this one is most likely a typing error.",
            id="ome_dashboard.W001",
        )
        for name in environment.unknown("OME_DASHBOARD_")
    ]
    return found


def check_clusters(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Report what is wrong with the clusters that are to be followed, with the file and line or the entry."""
    found: list[CheckMessage] = []
    hint = "docs/following.md shows the form."
    try:
        read_environment(settings.CLUSTERS)
    except DeclarationError as error:
        found.append(Error(f"OME_DASHBOARD_CLUSTERS: {error}.", hint=hint, id="ome_dashboard.E007"))
    if settings.CLUSTERS_FILE:
        try:
            read_file(Path(settings.CLUSTERS_FILE))
        except DeclarationError as error:
            found.append(Error(f"OME_DASHBOARD_CLUSTERS_FILE: {error}.", hint=hint, id="ome_dashboard.E008"))
    return found
