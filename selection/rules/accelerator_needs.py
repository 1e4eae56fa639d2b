"""How many accelerators a component's pods ask for, and how many a workload holds.

Counted as the scheduler does: the containers of a pod together, or its largest init container when that asks for
more; a limit counts where no request is written. Follows Kubernetes: resource management for pods, device plugins.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .merge import WrongType, merge_specs
from .quantities import QuantityError, parse_quantity

__all__ = ["Accelerators", "Pods", "added", "component_pods", "merged_component", "workload_pods"]

Accelerators = tuple[tuple[str, int], ...]
"""Numbers by resource, such as ``nvidia.com/gpu``, sorted; what isn't asked for isn't there."""

_DEVICE = re.compile(r"[\w.-]+/[\w.-]*(?:gpu|mig-|gaudi|tpu|npu|neuron|ascend|mlu|dcu|xpu)[\w.-]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pods:
    """What a component comes to.

    Attributes:
        replicas: how many Instances, groups or pods there are at least.
        leaders: pods of one replica that serve: 1.
        workers: further pods of one replica.
        accelerators: what all of them ask for.
    """

    replicas: int
    leaders: int
    workers: int
    accelerators: Accelerators = ()

    @property
    def total(self) -> int:
        """How many pods there are in all."""
        return self.replicas * (self.leaders + self.workers)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON."""
        return {
            "replicas": self.replicas,
            "leaders": self.leaders,
            "workers": self.workers,
            "pods": self.total,
            "accelerators": dict(self.accelerators),
        }


def added(parts: Iterable[Accelerators]) -> Accelerators:
    """Accelerators together.

    >>> added([(("nvidia.com/gpu", 8),), (), (("nvidia.com/gpu", 16),)])
    (('nvidia.com/gpu', 24),)
    """
    total: Counter[str] = Counter()
    for part in parts:
        total.update(dict(part))
    return _sorted(total)


def merged_component(
    config: Mapping[str, Any] | None, declared: Mapping[str, Any] | None, component: str
) -> Mapping[str, Any]:
    """A component as OME renders it: what the service declares over the runtime's config.

    Where the two can't be merged, the runtime's config is all that is known.
    """
    field = f"{component}Config"
    try:
        found = merge_specs([{field: each} for each in (config, declared) if each is not None] or [{}]).get(field)
    except WrongType:
        found = config
    return found or {}


def component_pods(component: Mapping[str, Any]) -> Pods:
    """What a merged component comes to, with ``minReplicas`` replicas.

    >>> gpus = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    >>> component_pods({"minReplicas": 2, "leader": {"runner": gpus}, "worker": {"size": 3, "runner": gpus}})
    Pods(replicas=2, leaders=1, workers=3, accelerators=(('nvidia.com/gpu', 64),))
    """
    replicas = _number(component.get("minReplicas"), 1)
    leader, worker = component.get("leader"), component.get("worker")
    if leader is None and worker is None:
        return Pods(replicas, 1, 0, _times(_requests(component), replicas))
    size = _number(_at(worker, "size"), 1) if worker is not None else 0
    group = added([_requests(leader), _times(_requests(worker), size)])
    return Pods(replicas, 1, size, _times(group, replicas))


def workload_pods(manifest: Mapping[str, Any], rendered: Pods) -> Pods:
    """What a LeaderWorkerSet or a Deployment holds, by its own manifest.

    Args:
        manifest: the workload's manifest.
        rendered: what its component comes to, for a workload whose templates don't say what they ask for.
    """
    spec = manifest.get("spec")
    replicas = _number(_at(spec, "replicas"), 1)
    group = _at(spec, "leaderWorkerTemplate")
    if group is None:
        asked = _requests(_at(_at(spec, "template"), "spec"))
        return Pods(replicas, 1, 0, _times(asked or _each(rendered), replicas))
    workers = max(_number(_at(group, "size"), 1) - 1, 0)
    worker = _at(_at(group, "workerTemplate"), "spec")
    leader = _at(_at(group, "leaderTemplate"), "spec") or worker
    asked = added([_requests(leader), _times(_requests(worker), workers)])
    return Pods(replicas, 1, workers, _times(asked or _each(rendered), replicas))


def _each(pods: Pods) -> Accelerators:
    return tuple((name, number // pods.replicas) for name, number in pods.accelerators) if pods.replicas else ()


def _requests(pod: Any) -> Accelerators:
    """What one pod asks for."""
    containers = [*_list(pod, "containers"), *([runner] if (runner := _at(pod, "runner")) is not None else [])]
    together = dict(added(_of_container(each) for each in containers))
    for each in _list(pod, "initContainers"):
        for name, number in _of_container(each):
            together[name] = max(together.get(name, 0), number)
    return _sorted(together)


def _of_container(container: Any) -> Accelerators:
    resources = _at(container, "resources")
    asked = {**(_at(resources, "limits") or {}), **(_at(resources, "requests") or {})}
    found = {}
    for name, value in asked.items():
        if _DEVICE.fullmatch(str(name)):
            try:
                quantity = parse_quantity(value)
            except QuantityError:
                continue
            if abs(quantity.exponent) < 19:
                found[str(name)] = math.ceil(quantity.mantissa * 10**quantity.exponent)
    return _sorted(found)


def _times(asked: Accelerators, number: int) -> Accelerators:
    return _sorted({name: each * number for name, each in asked})


def _sorted(asked: Mapping[str, int]) -> Accelerators:
    return tuple(sorted((name, number) for name, number in asked.items() if number > 0))


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _list(value: Any, key: str) -> list[Any]:
    found = _at(value, key)
    return found if isinstance(found, list) else []


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
