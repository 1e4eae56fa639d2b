"""What a merged spec holds only because Go writes it: fields that nobody set and that nobody has to.

OME merges specs as Go types. Written again, a field without ``omitempty`` stands there with its zero (``name: ""`` of
an entry of ``supportedModelFormats``), and an object that is no pointer as ``{}`` (``resources``). A person wouldn't
write them, and read again they mean the same as nothing; so does a null, which the API server takes out itself. A
required field stays, whatever else it holds: without it the API server refuses the object.

Follows OME: the CRDs of ServingRuntime and ClusterServingRuntime (v1beta1), whose ``required`` lists say what has to
be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .typed_fields import SPEC, Json, Type, fields_of

__all__ = ["without_unset_fields"]

_OPTIONAL: Mapping[tuple[str, str], tuple[Json, ...]] = {
    ("Container", "resources"): ({},),
    ("EphemeralContainer", "resources"): ({},),
    ("PersistentVolumeClaimSpec", "resources"): ({},),
    ("PersistentVolumeClaimTemplate", "metadata"): ({}, {"creationTimestamp": None}),
    ("ResourceFieldSelector", "divisor"): ("0",),
    ("RunnerSpec", "resources"): ({},),
    ("SupportedModelFormat", "name"): ("",),
}
"""By type and field, every value of an optional field that Go writes where nothing was set."""


def without_unset_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A runtime's merged spec as a person would write it; the input is not changed.

    >>> without_unset_fields({"containers": None, "engineConfig": {"runner": {"name": "", "resources": {}}}})
    {'engineConfig': {'runner': {'name': ''}}}
    """
    found: dict[str, Any] = _cleaned(spec, SPEC)
    return found


def _cleaned(value: Json, type_: Type) -> Json:
    if type_.shape == "struct" and isinstance(value, Mapping):
        fields = fields_of(type_)
        return {
            key: _cleaned(item, fields[key].type) if key in fields else item
            for key, item in value.items()
            if item is not None and item not in _OPTIONAL.get((type_.struct, key), ())
        }
    if type_.element is not None and isinstance(value, list):
        return [_cleaned(item, type_.element) for item in value]
    if type_.element is not None and isinstance(value, Mapping):
        return {key: _cleaned(item, type_.element) for key, item in value.items()}
    return value
