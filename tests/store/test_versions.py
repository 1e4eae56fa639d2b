"""Which release of OME a cluster runs."""

from __future__ import annotations

from typing import Any

import pytest

from selection.store.models import Cluster
from selection.store.versions import detect_version, update_version

from .builders import manager, model, sync


def deployment(*images: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"image": image} for image in images]}}}}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("ghcr.io/moirai-internal/ome-manager:v1.3.0", "1.3"),
        ("ome-manager:1.3", "1.3"),
        ("ome-manager:v1.3.0-rc.1", "1.3"),
        ("ome-manager:v1.3.1+build.7", "1.3"),
        ("ome-manager:v1.2.2", "1.2"),
        ("registry:5000/ome/ome-manager:v1.2.2@sha256:0123456789abcdef", "1.2"),
        # Older and newer than what is known: the nearest known rules.
        ("ome-manager:v0.1.5", "1.2"),
        ("ome-manager:v1.1.0", "1.2"),
        ("ome-manager:v1.4.0", "1.3"),
        ("ome-manager:v1.10.0", "1.3"),
        ("ome-manager:v2.0.0", "1.3"),
        # It doesn't say.
        ("ome-manager:latest", None),
        ("ome-manager", None),
        ("ome-manager:main-0123456", None),
        ("ome-manager@sha256:0123456789abcdef", None),
        ("registry:5000/ome-manager", None),
        ("ome-manager:v1", None),
        ("ome-manager:v1.3rc1", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_the_image_tells_the_release(image: Any, version: str | None) -> None:
    assert detect_version(deployment(image)) == version


def test_a_sidecar_does_not_tell_it() -> None:
    assert detect_version(deployment("gcr.io/kube-rbac-proxy:v0.15.0", "ghcr.io/x/ome-manager:v1.3.0")) == "1.3"
    manifest = deployment("istio/proxyv2:1.20.0", "registry/custom:v1.2.0")
    manifest["spec"]["template"]["spec"]["containers"][1]["name"] = "manager"
    assert detect_version(manifest) == "1.2"


def test_a_sidecar_alone_tells_nothing() -> None:
    assert detect_version(deployment("gcr.io/kube-rbac-proxy:v0.15.0", "ome-manager:latest")) is None


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"spec": None},
        {"spec": []},
        {"spec": {"template": {"spec": {"containers": "x"}}}},
        {"spec": {"template": {"spec": {"containers": ["x", None, {}]}}}},
        deployment({}),
    ],
)
def test_a_deployment_of_another_form_does_not_say(manifest: dict[str, Any]) -> None:
    assert detect_version(manifest) is None


def version(cluster: Cluster) -> tuple[str, str]:
    return cluster.ome_version, cluster.ome_version_source


@pytest.mark.django_db
def test_without_a_manager_the_newest_rules_apply() -> None:
    assert version(sync("east", model())[0]) == ("1.3", "default")


@pytest.mark.django_db
def test_it_is_detected_at_every_sync() -> None:
    assert version(sync("east", manager("ome-manager:v1.2.2"))[0]) == ("1.2", "detected")
    assert version(sync("east", manager("ome-manager:v1.3.0"))[0]) == ("1.3", "detected")
    assert version(sync("east")[0]) == ("1.3", "default")


@pytest.mark.django_db
def test_what_a_person_sets_wins_until_it_is_set_to_auto() -> None:
    old = manager("ome-manager:v1.2.2")
    assert version(sync("east", old, ome_version="1.3")[0]) == ("1.3", "set")
    assert version(sync("east", old)[0]) == ("1.3", "set")
    assert version(sync("east", old, ome_version="auto")[0]) == ("1.2", "detected")
    assert version(sync("east", model(), ome_version="1.2")[0]) == ("1.2", "set")
    assert version(sync("east", model(), ome_version="auto")[0]) == ("1.3", "default")


@pytest.mark.django_db
def test_what_a_person_sets_while_a_sync_runs_wins() -> None:
    cluster, _ = sync("east", manager("ome-manager:v1.2.2"))
    stale = Cluster.objects.get(pk=cluster.pk)
    stale.ome_version_source = "default"
    Cluster.objects.update(ome_version="1.3", ome_version_source="set")
    update_version(stale)
    assert version(stale) == version(Cluster.objects.get(pk=cluster.pk)) == ("1.3", "set")


@pytest.mark.django_db
def test_only_the_manager_in_omes_own_namespace_counts() -> None:
    assert version(sync("east", manager("ome-manager:v1.2.2", "elsewhere"))[0]) == ("1.3", "default")
    assert version(sync("east", manager("ome-manager:v1.2.2", "elsewhere"), ome_namespace="elsewhere")[0])[0] == "1.2"
