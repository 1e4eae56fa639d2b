"""Which release of OME a cluster runs, from its controller's image tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from selection.cluster.kinds import OME_MANAGER
from selection.rules.semantics import V1_2, V1_3, VERSIONS

from .models import Cluster, StoredObject

__all__ = ["detect_version", "set_version", "update_version"]

_TAG = re.compile(r":v?(\d+)\.(\d+)(?:[.\-+][\w.\-+]*)?(?:@.*)?$")
_CONTAINER = "manager"
_IMAGE = re.compile(r"(?:^|/)ome-manager(?:[:@]|$)")


def detect_version(manager: Mapping[str, Any]) -> str | None:
    """The release line (``1.3``) that OME's own Deployment runs, or None when its image doesn't tell.

    A line that isn't known is judged by the nearest known rules.

    >>> detect_version({"spec": {"template": {"spec": {"containers": [{"image": "ghcr.io/x/ome-manager:v1.2.2"}]}}}})
    '1.2'
    """
    spec: Any = manager
    for key in ("spec", "template", "spec", "containers"):
        spec = spec.get(key) if isinstance(spec, Mapping) else None
    containers = [each for each in spec if isinstance(each, Mapping)] if isinstance(spec, list) else []
    # A proxy may stand beside it, with a version of its own.
    managers = [each for each in containers if each.get("name") == _CONTAINER or _IMAGE.search(str(each.get("image")))]
    for container in managers or (containers if len(containers) == 1 else []):
        found = _TAG.search(str(container.get("image")))
        if found:
            line = (int(found.group(1)), int(found.group(2)))
            name = f"{line[0]}.{line[1]}"
            return name if name in VERSIONS else V1_3.version if line > (1, 3) else V1_2.version
    return None


def update_version(cluster: Cluster) -> None:
    """Set the cluster's release line from its manager Deployment, unless a person has set it."""
    if cluster.ome_version_source == Cluster.VersionSource.SET:
        return
    manager = StoredObject.objects.filter(
        cluster=cluster, kind="Deployment", namespace=cluster.ome_namespace, name=OME_MANAGER
    ).first()
    detected = detect_version(manager.manifest) if manager else None
    source = Cluster.VersionSource.DETECTED if detected else Cluster.VersionSource.DEFAULT
    version = detected or V1_3.version
    if (cluster.ome_version, cluster.ome_version_source) != (version, source):
        set_version(cluster, version, source, unless_set=True)


def set_version(cluster: Cluster, version: str, source: str, *, unless_set: bool = False) -> None:
    """Give the cluster a release line; ``unless_set`` leaves one that a person has set, also just now.

    By another line every answer may differ, as if all objects had changed, so the generation grows: a process that
    judged by the old line, and sees it come back, must not take the rows that others wrote meanwhile for its own.
    """
    with transaction.atomic():
        now = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if not (unless_set and now.ome_version_source == Cluster.VersionSource.SET):
            now.generation += now.ome_version != version
            now.ome_version, now.ome_version_source = version, source
            now.save(update_fields=["ome_version", "ome_version_source", "generation"])
    cluster.refresh_from_db(fields=["ome_version", "ome_version_source", "generation"])
