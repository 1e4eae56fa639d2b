"""Who may use the REST interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import IsAuthenticated

if TYPE_CHECKING:  # the views import this module by its name in the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView

__all__ = ["SignedInUnlessLocal"]


class SignedInUnlessLocal(IsAuthenticated):  # type: ignore[misc]  # the base has no types
    """The same rule as for pages: in local mode everybody on this machine, otherwise who signed in."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether this request may go on."""
        return settings.LOCAL or bool(super().has_permission(request, view))
