"""Django system checks of the configuration: every problem has an id and says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

__all__ = ["check_environment"]


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
