"""Everything that talks to Kubernetes or reads manifests; the only importer of the Kubernetes client."""

from __future__ import annotations

__all__: list[str] = []
