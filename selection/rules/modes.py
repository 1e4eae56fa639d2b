"""Deployment modes: what each side declares for matching, and what a component runs in.

Follows OME: runtime deployment-mode matching, and deployment modes ("how OME resolves the mode").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .objects import Component, Runtime, RuntimeComponent, Service
from .semantics import Semantics

__all__ = [
    "COMPONENTS",
    "MODE_ANNOTATION",
    "MULTI_NODE",
    "OME_NATIVE",
    "RAW_DEPLOYMENT",
    "VIRTUAL_DEPLOYMENT",
    "Declared",
    "merged_annotation",
    "merged_shape",
    "mismatch_text",
    "requested_mode",
    "running_mode",
    "runtime_mode",
    "written_mode",
]

MODE_ANNOTATION = "ome.io/deploymentMode"
COMPONENTS = ("engine", "decoder", "router")
RAW_DEPLOYMENT = "RawDeployment"
OME_NATIVE = "OMENative"
MULTI_NODE = "MultiNode"
VIRTUAL_DEPLOYMENT = "VirtualDeployment"

_SERVICE_MODES = frozenset({RAW_DEPLOYMENT, OME_NATIVE})


@dataclass(frozen=True, slots=True)
class Declared:
    """A mode and where it comes from: a path for a declared one, the name of a rule for a running one."""

    mode: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """The mode as JSON."""
        return {"mode": self.mode, "source": self.source}


def requested_mode(service: Service, component: str, semantics: Semantics) -> Declared | None:
    """The mode that a service asks for, or None. Values that don't count are no mode.

    ``spec.deploymentMode`` speaks for the engine even when there is no ``spec.engine`` block, and for
    the decoder only when there is a ``spec.decoder``.
    """
    declared = service.components.get(component)
    if declared is not None:
        value = declared.annotations.get(MODE_ANNOTATION)
        if value is not None and value in semantics.modes:
            return Declared(value, f"spec.{component}.annotations")
    speaks = component == "engine" or declared is not None
    if speaks and semantics.reads_service_mode and service.deployment_mode in _SERVICE_MODES:
        return Declared(service.deployment_mode, "spec.deploymentMode")
    return None


def written_mode(service: Service, component: str) -> str:
    """The mode as the webhook reads it: a non-empty annotation of the service, valid or not, else its spec's."""
    declared = service.components.get(component)
    annotation = declared.annotations.get(MODE_ANNOTATION) if declared else None
    return annotation or service.deployment_mode or ""


def runtime_mode(runtime: Runtime, component: str, semantics: Semantics) -> Declared | None:
    """The mode that a runtime declares for a component, or None."""
    config = runtime.components.get(component)
    value = config.annotation(MODE_ANNOTATION) if config is not None else None
    if value is None or value not in semantics.modes:
        return None
    return Declared(value, f"spec.{component}Config.annotations")


def mismatch_text(component: str, runtimes: str, requested: str) -> str:
    """OME's reason when both sides declare a mode for a component and they differ.

    >>> mismatch_text("engine", "MultiNode", "OMENative")
    'runtime engine deployment mode MultiNode does not match requested engine deployment mode OMENative'
    """
    return (
        f"runtime {component} deployment mode {runtimes} "
        f"does not match requested {component} deployment mode {requested}"
    )


def merged_annotation(declared: Component | None, config: RuntimeComponent | None) -> str | None:
    """The mode annotation after the runtime's config is merged under the service's component.

    The service's value wins even when it doesn't count: a misspelt or empty one hides the runtime's.
    """
    if declared is not None and MODE_ANNOTATION in declared.annotations:
        return declared.annotations[MODE_ANNOTATION]
    return config.annotation(MODE_ANNOTATION) if config is not None else None


def merged_shape(declared: Component | None, config: RuntimeComponent | None) -> tuple[bool, bool]:
    """Whether the merged component has a ``leader`` and a ``worker``."""
    if declared is None:
        return (False, False) if config is None else (config.leader, config.worker)
    if config is None:
        return declared.leader, declared.worker
    return declared.leader or config.leader, declared.worker or config.worker


def running_mode(
    service: Service,
    component: str,
    configs: Mapping[str, RuntimeComponent],
    semantics: Semantics,
) -> Declared:
    """The mode a declared component runs in and the rule that decided: the first that applies.

    Args:
        service: the service that declares the component.
        component: ``engine``, ``decoder`` or ``router``.
        configs: the configs of the runtime that the component is rendered from (empty for none).
        semantics: the release of OME.
    """
    if service.annotations.get(MODE_ANNOTATION) == VIRTUAL_DEPLOYMENT:
        return Declared(VIRTUAL_DEPLOYMENT, "ServiceAnnotation")
    declared, config = service.components.get(component), configs.get(component)
    annotation = merged_annotation(declared, config)
    if component in semantics.annotated and annotation is not None and annotation in semantics.modes:
        return Declared(annotation, "ComponentAnnotation")
    if semantics.reads_service_mode and service.deployment_mode in _SERVICE_MODES:
        return Declared(service.deployment_mode, "ServiceSpec")
    if component != "router" and any(merged_shape(declared, config)):
        return Declared(semantics.shape_mode, "LeaderWorkerShape")
    return Declared(RAW_DEPLOYMENT, "Default")
