"""The manifests for Kubernetes: an API server takes them, and they grant what is read and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import load_command_class

from selection.cluster.kinds import KINDS
from tests.apiserver.crds import BUILT_IN, CUSTOM
from tests.apiserver.server import ApiError, ApiServer

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "kubernetes"


def documents(name: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all((FOLDER / name).read_text()) if each]


def rules(kind: str) -> set[tuple[str, str]]:
    """Group and resource of each rule in the role of this kind."""
    (role,) = [each for each in documents("rbac.yaml") if each["kind"] == kind]
    assert all(rule["verbs"] == ["get", "list", "watch"] for rule in role["rules"])
    return {(group, name) for rule in role["rules"] for group in rule["apiGroups"] for name in rule["resources"]}


def test_the_roles_grant_the_kinds_that_are_read_and_no_more() -> None:
    everywhere = {(kind.group, kind.plural) for kind in KINDS if kind.namespace_scope == "all"}
    in_the_namespace_of_ome = {(kind.group, kind.plural) for kind in KINDS if kind.namespace_scope == "ome"}
    assert rules("ClusterRole") == everywhere
    assert rules("Role") == in_the_namespace_of_ome


def test_the_commands_of_the_containers_exist() -> None:
    (sync,) = documents("sync.yaml")
    (container,) = sync["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][:3] == ["python", "manage.py", "sync"]
    parsed = load_command_class("selection.faces", "sync").create_parser("manage.py", "sync")
    assert parsed.parse_args(container["command"][3:]).in_cluster is True


def test_the_image_has_all_that_the_server_imports() -> None:
    copied = (FOLDER.parent / "Containerfile").read_text()
    for name in ("requirements.txt", "manage.py", "ome_dashboard", "selection", "templates", "static"):
        assert f"COPY {name}" in copied


def test_kustomize_names_every_manifest() -> None:
    (kustomization,) = documents("kustomization.yaml")
    assert {*kustomization["resources"], "kustomization.yaml"} == {path.name for path in FOLDER.iterdir()}


@pytest.mark.apiserver
def test_an_api_server_takes_every_manifest(apiserver: ApiServer) -> None:
    paths = {
        "Namespace": "/api/v1/namespaces",
        "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
        "Service": "/api/v1/namespaces/{}/services",
        "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
        "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
        "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
        "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    }
    apiserver.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ome"}})
    (kustomization,) = documents("kustomization.yaml")
    taken = 0
    for name in kustomization["resources"]:
        for manifest in documents(name):
            if manifest["kind"] == "Namespace":
                apiserver.apply(manifest)
            path = paths[manifest["kind"]].format(manifest["metadata"].get("namespace", ""))
            if manifest["kind"] != "Namespace":
                # Strict: a field that the API server doesn't know is an error, not a warning.
                apiserver.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", manifest)
            taken += 1
    assert taken == 9


@pytest.mark.apiserver
def test_the_roles_are_enough_to_read_and_not_enough_to_write(apiserver: ApiServer) -> None:
    subject = {"kind": "User", "name": "restricted", "apiGroup": "rbac.authorization.k8s.io"}
    bound = [each for each in documents("rbac.yaml") if each["kind"] != "ServiceAccount"]
    bound = [{**each, "subjects": [subject]} if "subjects" in each else each for each in bound]
    token = apiserver.tokens["restricted"]
    readable = {(kind.group, kind.plural) for kind in KINDS}
    try:
        for manifest in bound:
            apiserver.apply(manifest)
        for kind in CUSTOM + BUILT_IN:
            path = kind.path("ome")
            if (kind.group, kind.plural) in readable:
                apiserver.request("GET", path, token=token)
                refused = "POST"
            else:
                refused = "GET"
            with pytest.raises(ApiError) as refusal:
                apiserver.request(refused, path, {} if refused == "POST" else None, token=token)
            assert refusal.value.status == 403, f"{refused} {path}"
    finally:
        for manifest in bound:
            apiserver.delete(manifest)
