"""Clusters for the tests of the pages: manifests stored and judged as a sync does it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponseBase

from selection.cluster.kinds import KINDS, KindListing
from selection.store.models import Cluster
from selection.store.sync import open_cluster, sync_cluster

__all__ = ["store", "text_of"]


def store(*manifests: Mapping[str, Any], name: str = "prod", version: str = "1.3", failed: str = "") -> Cluster:
    """A cluster with these objects. ``failed`` is a kind that can't be listed."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for manifest in manifests:
        by_kind.setdefault(manifest["kind"], []).append(dict(manifest))
    cluster = open_cluster(name, source="a test", ome_version=version)
    listings = [
        KindListing(kind, "failed", "the server is on fire")
        if kind.kind == failed
        else KindListing(kind, "complete", objects=by_kind.get(kind.kind, []))
        for kind in KINDS
    ]
    sync_cluster(cluster, listings)
    return cluster


def text_of(response: HttpResponseBase) -> str:
    """What a person reads of a page: without tags, blanks folded."""
    content = getattr(response, "content", b"").decode()
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", content, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", body)))
