"""The manifests for Kubernetes: an API server takes them, and they grant what is read and no more."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import load_command_class
from django.test import Client
from django.urls import resolve

from selection.cluster.kinds import KINDS
from selection.store.declarations import read_environment
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


def pods() -> dict[str, dict[str, Any]]:
    """What each Deployment runs."""
    found = [
        each for name in ("dashboard.yaml", "sync.yaml") for each in documents(name) if each["kind"] == "Deployment"
    ]
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in found}


def container(deployment: str) -> dict[str, Any]:
    (only,) = pods()[deployment]["containers"]
    return dict(only)


def test_the_commands_of_the_containers_exist() -> None:
    command = container("ome-dashboard-sync")["command"]
    assert command[:3] == ["python", "manage.py", "sync"]
    options = load_command_class("selection.faces", "sync").create_parser("manage.py", "sync").parse_args(command[3:])
    assert (options.watch, options.declared_only) == (True, True)
    for pod in pods().values():
        (first,) = pod["initContainers"]
        assert first["command"][:2] == ["python", "-m"]
        assert importlib.util.find_spec(first["command"][2]) is not None


def test_what_is_followed_is_the_cluster_it_runs_in() -> None:
    given = {each["name"]: each["value"] for each in container("ome-dashboard-sync")["env"]}
    (declared,) = read_environment(given["OME_DASHBOARD_CLUSTERS"])
    assert (declared.name, declared.in_cluster) == ("in-cluster", True)


def test_only_what_follows_has_a_token_for_the_cluster() -> None:
    assert pods()["ome-dashboard"]["automountServiceAccountToken"] is False
    assert pods()["ome-dashboard-sync"]["serviceAccountName"] == "ome-dashboard-sync"


@pytest.mark.parametrize(
    ("probe", "path"), [("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")]
)
def test_the_pages_are_probed_where_probes_are_answered(client: Client, db: None, probe: str, path: str) -> None:
    asked = container("ome-dashboard")[probe]["httpGet"]
    assert asked == {"path": path, "port": "http"}
    assert client.get(asked["path"], headers={"host": "10.244.1.7:8000"}).status_code == 200


def test_what_follows_is_probed_by_the_file_that_it_renews(tmp_path: Path) -> None:
    sync = container("ome-dashboard-sync")
    (file,) = [word.removeprefix("--alive=") for word in sync["command"] if word.startswith("--alive=")]
    assert any(file.startswith(f"{each['mountPath']}/") for each in sync["volumeMounts"])
    ours = tmp_path / "alive"

    def probed(probe: str) -> bool:
        command = [word.replace(file, str(ours)) for word in sync[probe]["exec"]["command"]]
        assert command != sync[probe]["exec"]["command"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    assert (probed("startupProbe"), probed("livenessProbe")) == (False, False)
    ours.touch()
    assert (probed("startupProbe"), probed("livenessProbe")) == (True, True)
    os.utime(ours, (time.time() - 300,) * 2)
    assert (probed("startupProbe"), probed("livenessProbe")) == (True, False)


def test_prometheus_is_told_where_metrics_are() -> None:
    (pages,) = [each for each in documents("dashboard.yaml") if each["kind"] == "Deployment"]
    told = pages["spec"]["template"]["metadata"]["annotations"]
    assert resolve(told["prometheus.io/path"]).url_name == "metrics"
    assert [str(each["containerPort"]) for each in container("ome-dashboard")["ports"]] == [told["prometheus.io/port"]]


def test_no_container_may_do_more_than_it_needs() -> None:
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        for each in [*pod["initContainers"], *pod["containers"]]:
            held = each["securityContext"]
            assert (held["allowPrivilegeEscalation"], held["readOnlyRootFilesystem"]) == (False, True)
            assert held["capabilities"] == {"drop": ["ALL"]}
            assert each["resources"]["limits"]["memory"]


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
                version = apiserver.request("GET", path, token=token)["metadata"]["resourceVersion"]
                watch = f"watch=true&timeoutSeconds=1&resourceVersion={version}"
                apiserver.request("GET", f"{path}?{watch}", token=token)
                refused = "POST"
            else:
                refused = "GET"
            with pytest.raises(ApiError) as refusal:
                apiserver.request(refused, path, {} if refused == "POST" else None, token=token)
            assert refusal.value.status == 403, f"{refused} {path}"
    finally:
        for manifest in bound:
            apiserver.delete(manifest)
