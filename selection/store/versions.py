"""Which release of OME a cluster runs, from its controller's image tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from selection.cluster.kinds import OME_MANAGER
from selection.rules.semantics import V1_3, VERSIONS

from .models import Cluster, StoredObject

__all__ = ["detect_version", "update_version"]

_TAG = re.compile(r":v?(\d+)\.(\d+)(?:[.\-+][\w.\-+]*)?(?:@.*)?$")


def detect_version(manager: Mapping[str, Any]) -> str | None:
    """The release line (``1.3``) that OME's own Deployment runs, or None when its image doesn't tell.

    A newer line than is known is judged by the newest known rules.

    >>> detect_version({"spec": {"template": {"spec": {"containers": [{"image": "ghcr.io/x/ome-manager:v1.2.2"}]}}}})
    '1.2'
    """
    spec: Any = manager
    for key in ("spec", "template", "spec", "containers"):
        spec = spec.get(key) if isinstance(spec, Mapping) else None
    for container in spec if isinstance(spec, list) else []:
        image = container.get("image") if isinstance(container, Mapping) else None
        found = _TAG.search(image) if isinstance(image, str) else None
        if found:
            line = f"{found.group(1)}.{found.group(2)}"
            newer = (int(found.group(1)), int(found.group(2))) > (1, 3)
            return line if line in VERSIONS else V1_3.version if newer else "1.2"
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
        cluster.ome_version, cluster.ome_version_source = version, source
        cluster.save(update_fields=["ome_version", "ome_version_source"])
