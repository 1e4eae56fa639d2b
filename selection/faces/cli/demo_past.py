"""The demo fleet as it was before its last edits, so that there are changes to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from selection.cluster.files import Documents, SourceObject
from selection.rules.merge_patches import merge_patched
from selection.rules.objects import ObjectRef

__all__ = ["past_of"]

Edit = dict[ObjectRef, dict[str, Any]]


def past_of(folder: Path, documents: Documents) -> Iterator[Documents]:
    """The cluster of a folder before each of its last edits, the oldest state first; nothing where none are told.

    Args:
        folder: the cluster's folder; ``<folder>.past.yaml`` beside it tells the edits.
        documents: the cluster as it is now.
    """
    told = folder.with_name(f"{folder.name}.past.yaml")
    if not told.is_file():
        return
    edits: list[Edit] = [
        {ObjectRef(each["kind"], each.get("namespace", ""), each["name"]): each for each in edit}
        for edit in yaml.safe_load(told.read_text(encoding="utf-8"))
    ]
    for number in range(len(edits)):
        to_come = {ref: each for edit in edits[number:] for ref, each in edit.items()}
        yield replace(documents, objects=tuple(_before(documents.objects, to_come)))


def _before(objects: tuple[SourceObject, ...], edits: Edit) -> Iterator[SourceObject]:
    for each in objects:
        metadata = each.manifest["metadata"]
        edit = edits.get(ObjectRef(each.kind.kind, metadata.get("namespace", ""), metadata["name"]))
        if edit is None:
            yield each
        elif "before" in edit:
            yield replace(each, manifest=merge_patched(each.manifest, edit["before"]))
