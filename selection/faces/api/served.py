"""What the OpenAPI document is made from: the addresses of the interface alone."""

from __future__ import annotations

from django.urls import include, path

__all__ = ["urlpatterns"]

urlpatterns = [path("api/v1/", include("selection.faces.api.urls"))]
"""The interface, where the project has it."""
