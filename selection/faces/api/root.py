"""Where everything begins: the lists, by name, and where they are described."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from django.urls import reverse

from selection.faces.api.shapes import Shape, mapped, text
from selection.faces.api.views import ReadView

__all__ = ["Root"]

LISTS = ("clusters", "kinds", "objects", "services", "runtimes", "models", "conflicts", "findings", "changes")
PEOPLE = ("reviews", "comments", "acts")
MIGRATION = ("migration-components", "migration-runtimes")


class Index(Shape):
    """The resources of the interface."""

    version = text("The version of the interface.")
    resources = mapped("The paths of the lists, by name.", text("The path."))
    schema = text("The path of the OpenAPI document.")
    docs = text("The path of the page that describes it all.")


class Root(ReadView):
    """Read the index.

    The lists of this interface, by name, and where it is described.
    """

    operation, tag, shape = "readIndex", "index", Index

    def state(self, **names: str) -> Hashable:
        """It changes with the version alone."""
        return ()

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The index."""
        return {
            "version": "v1",
            "resources": {name.replace("-", "_"): reverse(f"api-v1:{name}") for name in (*LISTS, *PEOPLE, *MIGRATION)},
            "schema": reverse("api-v1:schema"),
            "docs": reverse("api-docs"),
        }
