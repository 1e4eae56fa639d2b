"""Which AcceleratorClass a component gets once its runtime is known, and what the class makes of its pods' requests.

Follows OME: accelerator classes, select accelerators. A class counts only with a runtime that lists some. A name wins
over a policy, a component's override over the service's selector. The class's resources take the place of the runtime's
in the runner, and in leader's and worker's, unless the service writes resources for that runner itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .objects import Runtime

__all__ = ["NO_CLASS", "ClassChoice", "chosen_class", "with_class"]

Manifest = Mapping[str, Any]

_FIRST = "FirstAvailable"
_OVERRIDES = "acceleratorOverride"
_PODS = ("leader", "worker")


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """What is known of a component's class.

    Attributes:
        name: the class, ``""`` for none or when a policy picks it.
        policy: the policy that picks one by what classes can do, cost and are constrained to, ``""`` for none.
    """

    name: str = ""
    policy: str = ""


NO_CLASS = ClassChoice()


def chosen_class(spec: Manifest, runtime: Runtime | None, component: str) -> ClassChoice:
    """The class of a component of a service with this spec.

    >>> from .objects import ObjectRef
    >>> runtime = Runtime(ObjectRef("ClusterServingRuntime", "", "fast"), accelerator_classes=("h100", "h200"))
    >>> chosen_class({"acceleratorSelector": {"acceleratorClass": "h200"}}, runtime, "engine")
    ClassChoice(name='h200', policy='')
    >>> chosen_class({"engine": {"acceleratorOverride": {"policy": "Cheapest"}}}, runtime, "engine")
    ClassChoice(name='', policy='Cheapest')
    """
    if runtime is None or not runtime.accelerator_classes:
        return NO_CLASS
    places = (_at(_at(spec, component), _OVERRIDES), _at(spec, "acceleratorSelector"))
    name = next((found for place in places if (found := _at(place, "acceleratorClass"))), "")
    if name:
        return ClassChoice(name=str(name))
    policy = str(next((found for place in places if (found := _at(place, "policy"))), ""))
    if policy == _FIRST and not _at(places[1], "constraints"):
        return ClassChoice(name=runtime.accelerator_classes[0])
    return ClassChoice(policy=policy)


def with_class(component: Manifest, declared: Manifest | None, found: Manifest) -> dict[str, Any]:
    """A merged component with the requests that its class makes; the inputs are not changed.

    Args:
        component: the component, the service's fields over the runtime's.
        declared: the service's own fields of it.
        found: the class's manifest.

    >>> runner = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": 4}}}
    >>> h100 = {"spec": {"resources": [{"name": "nvidia.com/gpu", "quantity": "8"}]}}
    >>> with_class({"runner": runner}, None, h100)["runner"]["resources"]["limits"]
    {'nvidia.com/gpu': '8'}
    >>> with_class({"runner": runner}, {"runner": runner}, h100)["runner"]["resources"]["limits"]
    {'nvidia.com/gpu': 4}
    """
    asked = _at(_at(found, "spec"), "resources")
    wanted = {
        str(each["name"]): each.get("quantity", "1")
        for each in (asked if isinstance(asked, list) else ())
        if isinstance(each, Mapping) and each.get("name")
    }
    changed = _with_resources(component, declared, wanted)
    for name in _PODS:
        if isinstance(component.get(name), Mapping):
            changed[name] = _with_resources(component[name], _at(declared, name), wanted)
    return changed


def _with_resources(pod: Manifest, declared: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    runner = pod.get("runner")
    if not isinstance(runner, Mapping) or _at(_at(declared, "runner"), "resources"):
        return dict(pod)
    resources = runner.get("resources")
    known = resources if isinstance(resources, Mapping) else {}
    merged = {key: {**(_at(known, key) or {}), **wanted} for key in ("limits", "requests")}
    return {**pod, "runner": {**runner, "resources": {**known, **merged}}}


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
