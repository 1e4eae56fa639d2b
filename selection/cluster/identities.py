"""Which object a document describes: its kind among those that are read, its namespace and its name.

What looks like an OME object and doesn't say properly which one it is can't be used, and says why.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from selection.cluster.kinds import KINDS, Kind

__all__ = ["BY_KIND", "Unusable", "check_name", "check_namespace", "is_list", "kind_of", "settle"]

BY_KIND = {kind.kind: kind for kind in KINDS}
OME_GROUP = "ome.io"
# Kubernetes API conventions: object names. Dots only where labels are joined to a subdomain.
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class Unusable(ValueError):
    """An object that would matter and can't be used; says why."""


def settle(manifest: dict[str, Any], kind: Kind, namespace: str) -> bool:
    """Check what makes an object's identity, and complete it, in place, as the API server would.

    Returns:
        whether it says no namespace where it needs one, so that it got the given one.

    Raises:
        Unusable: it has no metadata, no name, or one that Kubernetes doesn't take.
    """
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        raise Unusable(f"{kind.kind} without metadata" if metadata is None else "metadata is not an object")
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        if name:
            raise Unusable("metadata.name is not a string")
        hint = ": metadata.generateName names no object that could be judged" if metadata.get("generateName") else ""
        raise Unusable(f"{kind.kind} without metadata.name{hint}")
    check_name(name)
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return False
    within = metadata.get("namespace")
    if within is None or within == "":
        metadata["namespace"] = namespace
        return True
    if not isinstance(within, str):
        raise Unusable("metadata.namespace is not a string")
    check_namespace(within)
    return False


def check_name(name: str) -> None:
    """Check an object's name.

    Raises:
        Unusable: Kubernetes takes no such name.
    """
    if len(name) > 253 or not SUBDOMAIN.fullmatch(name):
        raise Unusable(f"metadata.name {name[:80]!r} is not a name that Kubernetes takes")


def check_namespace(namespace: str) -> None:
    """Check a namespace's name.

    Raises:
        Unusable: Kubernetes takes no such name.
    """
    if len(namespace) > 63 or not LABEL.fullmatch(namespace):
        raise Unusable(f"metadata.namespace {namespace[:80]!r} is not a name that Kubernetes takes")


def is_list(value: Any) -> bool:
    """Kubernetes API conventions: the name of a list kind ends with List, and it has ``items``."""
    return isinstance(value, dict) and "items" in value and str(value.get("kind")).endswith("List")


def kind_of(manifest: Any) -> Kind | None:
    """Return the kind of an object, None when it isn't one that is read.

    Raises:
        Unusable: it isn't an object at all, or looks like an OME object but doesn't say properly of which kind.
    """
    if not isinstance(manifest, dict):
        raise Unusable(f"not an object but {_type_name(manifest)}")
    api_version, name = manifest.get("apiVersion"), manifest.get("kind")
    if not isinstance(api_version, str) or not isinstance(name, str):
        _require_type(manifest, api_version, name)
        return None
    group, _, version = api_version.rpartition("/")
    kind = BY_KIND.get(name)
    if kind is not None and kind.group == group:
        if kind.version != version:
            raise Unusable(f"{name} of {api_version} is not read, only of {kind.api_version}")
        return kind
    if group == OME_GROUP:
        ours = [each.kind for each in KINDS if each.group == OME_GROUP]
        near = get_close_matches(name, ours, n=1, cutoff=0.85)
        if near:
            raise Unusable(f"{group} has no kind {name[:80]!r}; did you mean {near[0]}?")
    return None


def _require_type(manifest: dict[str, Any], api_version: Any, name: Any) -> None:
    """Pass over what isn't a Kubernetes object; say so when it looks like one that matters."""
    of_ome = isinstance(api_version, str) and api_version.startswith(f"{OME_GROUP}/")
    shaped = isinstance(manifest.get("spec"), dict) and isinstance(manifest.get("metadata"), dict)
    if not (of_ome or shaped or (isinstance(name, str) and name in BY_KIND)):
        return
    wrong = [
        f"{key} is {'missing' if value is None else 'not a string'}"
        for key, value in (("apiVersion", api_version), ("kind", name))
        if not isinstance(value, str)
    ]
    raise Unusable(" and ".join(wrong))


def _type_name(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string"
    return "true or false" if isinstance(value, bool) else "null" if value is None else "a number"
