"""Which kinds are read, and which of their objects matter."""

from __future__ import annotations

from typing import Any

import pytest

from selection.cluster.kinds import (
    BASE_MODEL,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    KINDS,
    LEADER_WORKER_SET,
    Kind,
)
from selection.cluster.objects import LAST_APPLIED, strip_noise

OF_A_SERVICE = {"ome.io/inferenceservice": "chat"}


def named(name: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels or {}}}


def test_each_kind_is_there_once() -> None:
    assert len({kind.kind for kind in KINDS}) == len(KINDS) == 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_path_of_all_namespaces_names_none(kind: Kind) -> None:
    assert kind.path() == f"/apis/{kind.api_version}/{kind.plural}"


def test_a_namespace_in_a_path_is_escaped() -> None:
    assert CONTROLLER_REVISION.path("a/../b") == "/apis/apps/v1/namespaces/a%2F..%2Fb/controllerrevisions"


@pytest.mark.parametrize(
    ("kind", "manifest", "wanted"),
    [
        # OME's own kinds are read whole, malformed ones too: they are shown as unreadable.
        (INFERENCE_SERVICE, named("chat"), True),
        (INFERENCE_SERVICE, {}, True),
        (BASE_MODEL, {"metadata": "no object"}, True),
        # Workloads count when OME made them.
        (LEADER_WORKER_SET, named("lws-chat-engine", OF_A_SERVICE), True),
        (LEADER_WORKER_SET, named("training"), False),
        (LEADER_WORKER_SET, {"metadata": {"name": "x", "labels": None}}, False),
        (LEADER_WORKER_SET, {}, False),
        (DEPLOYMENT, named("chat-engine", OF_A_SERVICE), True),
        (DEPLOYMENT, named("web", {"app": "web"}), False),
        (DEPLOYMENT, named("ome-controller-manager"), True),
        # Revisions count when they are of a runtime.
        (CONTROLLER_REVISION, named("cr-srt-deepseek-v3-0a1b2c3d"), True),
        (CONTROLLER_REVISION, named("r-team-a-vllm-00000000"), True),
        (CONTROLLER_REVISION, named("ome-model-agent-7d9c8b6f5"), False),
        (CONTROLLER_REVISION, named("cr-vllm-0A1B2C3D"), False),
        (CONTROLLER_REVISION, named("cr-vllm-0a1b2c3"), False),
        (CONTROLLER_REVISION, named("xcr-vllm-0a1b2c3d"), False),
        (CONTROLLER_REVISION, named("r-vllm-0a1b2c3d"), False),
        (CONTROLLER_REVISION, {"metadata": {}}, False),
    ],
)
def test_only_objects_that_matter_are_wanted(kind: Kind, manifest: dict[str, Any], wanted: bool) -> None:
    assert kind.wants(manifest) is wanted


def test_noise_is_taken_off_and_the_rest_stays() -> None:
    manifest = {
        "metadata": {
            "name": "a",
            "managedFields": [{"manager": "kubectl"}],
            "annotations": {LAST_APPLIED: '{"token": "x"}', "ome.io/accelerator-class": ""},
        },
        "spec": {"managedFields": "stays"},
    }
    assert strip_noise(manifest) == {
        "metadata": {"name": "a", "annotations": {"ome.io/accelerator-class": ""}},
        "spec": {"managedFields": "stays"},
    }


@pytest.mark.parametrize("manifest", [{}, {"metadata": None}, {"metadata": {"annotations": "x"}}])
def test_an_object_of_any_shape_can_be_stripped(manifest: dict[str, Any]) -> None:
    assert strip_noise(dict(manifest)) == manifest
