"""What is taken off every object before anyone keeps it, wherever it was read from."""

from __future__ import annotations

from typing import Any

__all__ = ["LAST_APPLIED", "strip_noise"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the manifest: it doubles the size and keeps in clear what was a secret in an older version."""


def strip_noise(manifest: dict[str, Any]) -> dict[str, Any]:
    """Take ``managedFields`` and kubectl's copy of the manifest off an object, in place, and return it.

    >>> strip_noise({"metadata": {"name": "a", "managedFields": [], "annotations": {LAST_APPLIED: "{}"}}})
    {'metadata': {'name': 'a'}}
    """
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        return manifest
    metadata.pop("managedFields", None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        del annotations[LAST_APPLIED]
        if not annotations:
            del metadata["annotations"]
    return manifest
