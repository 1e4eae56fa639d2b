"""What the pages of plans share: manifests from the database, a diff line by line, downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse

from selection.faces.comparing import DiffLine
from selection.rules.objects import ObjectRef
from selection.store.lookup import manifests_of
from selection.store.models import Cluster

__all__ = ["FORMATS", "diff_lines", "download", "stored_manifests"]

FORMATS = {
    "yaml": ("yaml", "application/yaml"),
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "json": ("json", "application/json"),
}
"""What ``?format=`` may say: the ending of the file, and its media type."""

_KINDS = {"+": "add", "-": "del", "@": "at"}


def stored_manifests(cluster: Cluster) -> Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, Mapping[str, Any]]]:
    """Gives manifests as they are stored, secrets replaced. One query for each kind each time it is asked."""

    def manifests(refs: Sequence[ObjectRef]) -> Mapping[ObjectRef, Mapping[str, Any]]:
        return manifests_of(cluster, refs)

    return manifests


def diff_lines(text: str) -> list[DiffLine]:
    """A unified diff line by line, without the two lines that name the files."""
    lines = text.splitlines()
    return [DiffLine(_KINDS.get(line[:1], ""), line) for line in lines[2:]]


def download(form: str, name: str, text: str) -> HttpResponse:
    """Send a text as a file.

    Args:
        form: a key of :data:`FORMATS`.
        name: the file's name without its ending; what no file is called becomes ``_``.
        text: its content.
    """
    ending, media = FORMATS[form]
    safe = "".join(each if each.isascii() and (each.isalnum() or each in ".-_") else "_" for each in name)
    disposition = f'attachment; filename="{safe}.{ending}"'
    return HttpResponse(text.rstrip("\n") + "\n", content_type=media, headers={"Content-Disposition": disposition})
