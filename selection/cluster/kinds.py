"""The kinds that are read, and which of their objects matter.

OME's own kinds are read whole. Of the workloads only those that OME made for a service are (they carry the
label ``ome.io/inferenceservice``), of the Deployments OME's own manager too (its image tells OME's version),
and of the ControllerRevisions those that keep a runtime's revisions (OME: pinned runtimes; they live in OME's
own namespace and are named ``cr-<runtime>-<8 hex>`` or ``r-<namespace>-<runtime>-<8 hex>``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

__all__ = [
    "ACCELERATOR_CLASS",
    "BASE_MODEL",
    "CLUSTER_BASE_MODEL",
    "CLUSTER_SERVING_RUNTIME",
    "CONTROLLER_REVISION",
    "DEPLOYMENT",
    "INFERENCE_REPLICA",
    "INFERENCE_SERVICE",
    "KINDS",
    "LEADER_WORKER_SET",
    "OME_MANAGER",
    "OME_NAMESPACE",
    "SERVING_RUNTIME",
    "Kind",
    "KindListing",
    "Outcome",
]

OME_NAMESPACE = "ome"
"""The namespace that OME is installed in, unless said otherwise."""

OME_MANAGER = "ome-controller-manager"
"""The name of OME's own Deployment."""

SERVICE_LABEL = "ome.io/inferenceservice"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object that is read.

    ``selector`` is the label an object must carry, whatever its value; None for all objects.
    ``namespace_scope`` is ``"ome"`` when the kind is read in OME's own namespace only.
    ``also_named`` are objects in OME's own namespace that are read whatever their labels.
    ``name_pattern`` is what the name of an object must match as a whole; "" for any name.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    selector: str | None = None
    namespace_scope: Literal["all", "ome"] = "all"
    also_named: tuple[str, ...] = ()
    name_pattern: str = ""

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` of this kind's objects.

        >>> DEPLOYMENT.api_version
        'apps/v1'
        """
        return f"{self.group}/{self.version}"

    def path(self, namespace: str | None = None) -> str:
        """Return the path to list this kind at, in one namespace or in all.

        >>> CONTROLLER_REVISION.path("ome")
        '/apis/apps/v1/namespaces/ome/controllerrevisions'
        """
        where = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return f"/apis/{self.group}/{self.version}{where}/{self.plural}"

    def wants(self, manifest: Mapping[str, Any]) -> bool:
        """Tell whether an object of this kind matters, by its name and labels.

        >>> DEPLOYMENT.wants({"metadata": {"name": "web", "labels": {"app": "web"}}})
        False
        >>> DEPLOYMENT.wants({"metadata": {"name": "ome-controller-manager"}})
        True
        """
        metadata = manifest.get("metadata")
        if not isinstance(metadata, Mapping):
            return self.selector is None and not self.name_pattern
        name = metadata.get("name")
        if name in self.also_named:
            return True
        if self.name_pattern and not (isinstance(name, str) and re.fullmatch(self.name_pattern, name)):
            return False
        if self.selector is None:
            return True
        labels = metadata.get("labels")
        return isinstance(labels, Mapping) and self.selector in labels


def _ome(plural: str, kind: str, *, namespaced: bool) -> Kind:
    return Kind("ome.io", "v1beta1", plural, kind, namespaced)


ACCELERATOR_CLASS = _ome("acceleratorclasses", "AcceleratorClass", namespaced=False)
CLUSTER_BASE_MODEL = _ome("clusterbasemodels", "ClusterBaseModel", namespaced=False)
BASE_MODEL = _ome("basemodels", "BaseModel", namespaced=True)
CLUSTER_SERVING_RUNTIME = _ome("clusterservingruntimes", "ClusterServingRuntime", namespaced=False)
SERVING_RUNTIME = _ome("servingruntimes", "ServingRuntime", namespaced=True)
INFERENCE_SERVICE = _ome("inferenceservices", "InferenceService", namespaced=True)
INFERENCE_REPLICA = _ome("inferencereplicas", "InferenceReplica", namespaced=True)
LEADER_WORKER_SET = Kind(
    "leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", namespaced=True, selector=SERVICE_LABEL
)
DEPLOYMENT = Kind(
    "apps", "v1", "deployments", "Deployment", namespaced=True, selector=SERVICE_LABEL, also_named=(OME_MANAGER,)
)
CONTROLLER_REVISION = Kind(
    "apps",
    "v1",
    "controllerrevisions",
    "ControllerRevision",
    namespaced=True,
    namespace_scope="ome",
    name_pattern=r"(cr-.+|r-.+-.+)-[0-9a-f]{8}",
)

KINDS: tuple[Kind, ...] = (
    ACCELERATOR_CLASS,
    CLUSTER_BASE_MODEL,
    BASE_MODEL,
    CLUSTER_SERVING_RUNTIME,
    SERVING_RUNTIME,
    INFERENCE_SERVICE,
    INFERENCE_REPLICA,
    LEADER_WORKER_SET,
    DEPLOYMENT,
    CONTROLLER_REVISION,
)
"""Every kind that is read, in the order of reading: what services refer to, services, what they run as."""

Outcome = Literal["complete", "not-served", "forbidden", "failed"]
"""How reading one kind ended; only ``complete`` comes with objects."""


@dataclass(frozen=True, slots=True)
class KindListing:
    """All objects of one kind as they stood at one moment, or the reason why there are none to show.

    ``objects`` is None unless ``outcome`` is ``complete``: never half of a list. ``reason`` is None when it is.
    ``resource_version`` is what a watch may start from; None for files. ``pages`` is the number of answers the
    list came in, 0 for files.
    """

    kind: Kind
    outcome: Outcome
    reason: str | None = None
    objects: list[dict[str, Any]] | None = None
    resource_version: str | None = None
    pages: int = 0
