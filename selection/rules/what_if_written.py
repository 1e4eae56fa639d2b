"""What the API server writes into an object that somebody applies, so that an object given again is the same object.

Follows OME's CustomResourceDefinitions: ``weight: 1`` and ``operator: Equal`` on formats and frameworks, the
cluster-scoped kinds in references that name none; and Kubernetes' default of a container port's protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .merge import normalised_spec

__all__ = ["same_specs", "written"]

Manifest = Mapping[str, Any]

_FORMATS = ("modelFormat", "modelFramework")
_FORMAT = {"weight": 1, "operator": "Equal"}
_REFERENCES = {
    "model": {"kind": "ClusterBaseModel", "apiGroup": "ome.io"},
    "runtime": {"kind": "ClusterServingRuntime", "apiGroup": "ome.io"},
}


def written(manifest: Manifest) -> Manifest:
    """The manifest with what the API server writes into fields that aren't set; what is malformed stays as it is.

    >>> written({"kind": "InferenceService", "spec": {"model": {"name": "llama"}}})["spec"]["model"]
    {'kind': 'ClusterBaseModel', 'apiGroup': 'ome.io', 'name': 'llama'}
    """
    kind, spec = manifest.get("kind"), manifest.get("spec")
    if not isinstance(spec, Mapping):
        return manifest
    if kind == "InferenceService":
        return {**manifest, "spec": {**spec, **_filled(spec, _REFERENCES)}}
    if kind in {"BaseModel", "ClusterBaseModel"}:
        return {**manifest, "spec": {**spec, **_formats(spec)}}
    entries = spec.get("supportedModelFormats")
    if kind in {"ServingRuntime", "ClusterServingRuntime"} and isinstance(entries, list):
        filled = [{**each, **_formats(each)} if isinstance(each, Mapping) else each for each in entries]
        return {**manifest, "spec": {**spec, "supportedModelFormats": filled}}
    return manifest


def _formats(value: Manifest) -> dict[str, Any]:
    return _filled(value, dict.fromkeys(_FORMATS, _FORMAT))


def _filled(value: Manifest, defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The nested objects that are there, with their defaults. A null is no value, so it gets the default, too."""
    return {
        name: {**default, **{key: each for key, each in nested.items() if each is not None or key not in default}}
        for name, default in defaults.items()
        if isinstance(nested := value.get(name), Mapping)
    }


def same_specs(one: Manifest, other: Manifest) -> bool:
    """Whether two specs of runtimes are rendered alike: by OME's types, and with what Kubernetes writes into them.

    >>> same_specs({"engineConfig": {"runner": {"ports": [{"containerPort": 80}]}}},
    ...            {"engineConfig": {"runner": {"ports": [{"containerPort": 80, "protocol": "TCP"}]}}})
    True
    """
    if one is other:
        return True
    first, second = (
        normalised_spec(written({"kind": "ServingRuntime", "spec": each})["spec"]) for each in (one, other)
    )
    return bool(_with_protocols(first) == _with_protocols(second))


def _with_protocols(value: Any) -> Any:
    if isinstance(value, Mapping):
        found = {key: _with_protocols(each) for key, each in value.items()}
        return {"protocol": "TCP", **found} if "containerPort" in found else found
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_with_protocols(each) for each in value]
    return value
