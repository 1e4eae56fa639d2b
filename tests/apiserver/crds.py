"""The kinds that tests need on an API server, as small CustomResourceDefinitions.

Every field is let through, so that a test can store any object, malformed ones too. What OME's own
definitions *write* into an object is here as well, because selection depends on it: weight 1 and
operator Equal on formats, and the cluster-scoped kinds in references that name none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["BUILT_IN", "CUSTOM", "KINDS", "Kind", "definitions", "kind_of"]

Schema = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind as the API server serves it: ``path`` gives the address of its objects."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short: str = ""
    status: bool = True

    @property
    def api_version(self) -> str:
        """``group/version`` as in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of one object, or of a list when no name is given."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        middle = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{middle}/{self.plural}" + (f"/{name}" if name else "")


OME = ("ome.io", "v1beta1")
RBAC = ("rbac.authorization.k8s.io", "v1")

#: Defined by us.
CUSTOM = (
    Kind(*OME, "InferenceService", "inferenceservices", short="isvc"),
    Kind(*OME, "ServingRuntime", "servingruntimes", status=False),
    Kind(*OME, "ClusterServingRuntime", "clusterservingruntimes", namespaced=False, status=False),
    Kind(*OME, "BaseModel", "basemodels"),
    Kind(*OME, "ClusterBaseModel", "clusterbasemodels", namespaced=False),
    Kind(*OME, "AcceleratorClass", "acceleratorclasses", namespaced=False),
    Kind(*OME, "InferenceReplica", "inferencereplicas", short="irep"),
    Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", short="lws"),
)
#: Always there.
BUILT_IN = (
    Kind("", "v1", "Namespace", "namespaces", namespaced=False),
    Kind("", "v1", "Secret", "secrets"),
    Kind("apps", "v1", "Deployment", "deployments"),
    Kind("apps", "v1", "ControllerRevision", "controllerrevisions"),
    Kind(*RBAC, "ClusterRole", "clusterroles", namespaced=False),
    Kind(*RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Kind(*RBAC, "Role", "roles"),
    Kind(*RBAC, "RoleBinding", "rolebindings"),
)
KINDS = {kind.kind: kind for kind in CUSTOM + BUILT_IN}

ANY: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(**properties: Schema) -> Schema:
    return {**ANY, "properties": properties}


def _text(default: str) -> Schema:
    return {"type": "string", "default": default}


FORMAT = _object(weight={"type": "integer", "format": "int64", "default": 1}, operator=_text("Equal"))
MODEL = _object(spec=_object(modelFormat=FORMAT, modelFramework=FORMAT))
RUNTIME = _object(
    spec=_object(
        supportedModelFormats={"type": "array", "items": _object(modelFormat=FORMAT, modelFramework=FORMAT)},
    )
)
SERVICE = _object(
    spec=_object(
        model=_object(kind=_text("ClusterBaseModel"), apiGroup=_text("ome.io")),
        runtime=_object(kind=_text("ClusterServingRuntime"), apiGroup=_text("ome.io")),
    )
)
SCHEMAS = {
    "InferenceService": SERVICE,
    "ServingRuntime": RUNTIME,
    "ClusterServingRuntime": RUNTIME,
    "BaseModel": MODEL,
    "ClusterBaseModel": MODEL,
}


def kind_of(manifest: dict[str, Any]) -> Kind:
    """The kind of a manifest, which must be one of :data:`KINDS`."""
    return KINDS[manifest["kind"]]


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinitions, ready to be created."""
    return [_definition(kind) for kind in CUSTOM]


def _definition(kind: Kind) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": SCHEMAS.get(kind.kind, ANY)},
    }
    if kind.status:
        version["subresources"] = {"status": {}}
    annotations = {}
    if kind.group.endswith(".k8s.io"):
        # The API server protects this group: who defines a kind of it must say so.
        annotations["api-approved.kubernetes.io"] = "unapproved, for tests"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}", "annotations": annotations},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": [kind.short] if kind.short else [],
            },
            "versions": [version],
        },
    }
