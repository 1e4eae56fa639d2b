"""A plan's own commands, run by kubectl against a real API server: they give what the outcome was computed on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.config import from_kubeconfig
from selection.cluster.listing import read_cluster
from selection.faces.migrating import manifest_yaml
from selection.rules.explain import explain_service
from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.planning import plan_services
from selection.rules.service_plan import ServicePlan
from tests.apiserver.build import NoApiServer, kubectl
from tests.apiserver.server import ApiError, ApiServer
from tests.rules.manifests import a_model, a_service, deployed, moded
from tests.rules.test_planning import leaning

pytestmark = [pytest.mark.apiserver, pytest.mark.usefixtures("bare_environment")]

Manifest = dict[str, Any]
NAMESPACE = "of-real-migration"
PINNED = {"name": "wide", "autoSync": False, "revision": "cr-wide-0123abcd"}

MULTI = moded("MultiNode")
CASES: list[tuple[str, Manifest, Manifest]] = [
    ("one", leaning("wide"), a_service(engine=MULTI, runtime={"name": "wide"})),
    ("selected", leaning("wide"), a_service(engine=MULTI, runtime=None)),
    ("pair", leaning("wide"), a_service(engine=MULTI, decoder=MULTI, runtime={"name": "wide"})),
    ("pinned", leaning("wide"), a_service(engine=MULTI, runtime=PINNED)),
    ("scoped", leaning("wide", NAMESPACE), a_service(engine=MULTI, runtime={"name": "wide"})),
]


@pytest.fixture
def command() -> Path:
    try:
        return kubectl()
    except NoApiServer as error:
        pytest.skip(f"no kubectl: {error}")


@pytest.fixture
def fleet(apiserver: ApiServer, request: pytest.FixtureRequest) -> Iterator[list[Manifest]]:
    """The objects of a case on the server, and nothing of them afterwards."""
    runtime, service = request.param
    left = [deployed("LeaderWorkerSet", name) for name in ("engine", "decoder") if name in service["spec"]]
    objects = [a_model(), runtime, *({**each, "metadata": {**each["metadata"]}} for each in (service, *left))]
    for each in objects[2:]:
        each["metadata"]["namespace"] = NAMESPACE
    for each in objects:
        apiserver.apply(each)
    yield objects
    copy = {**runtime, "metadata": {**runtime["metadata"], "name": "wide-omenative"}}
    for each in [copy, *objects]:
        with suppress(ApiError):  # what the plan deleted is gone
            apiserver.delete(each)


def in_cluster(kubeconfig: Path) -> list[Manifest]:
    with from_kubeconfig(kubeconfig) as connection:
        return [dict(each) for listing in read_cluster(connection) for each in listing.objects or ()]


def planned(manifests: list[Manifest]) -> ServicePlan:
    ref = ObjectRef("InferenceService", NAMESPACE, "chat")
    (found,) = plan_services(read_fleet(manifests), [ref], {ref_of(each): each for each in manifests})
    return found


def run(commands: tuple[str, ...], kubeconfig: Path, binary: Path, folder: Path) -> None:
    path = f"{binary.parent}{os.pathsep}{os.environ['PATH']}"
    for each in commands:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PATH": path}
        done = subprocess.run(
            ["sh", "-c", each], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{each}: {done.stderr}"


def told(manifests: list[Manifest]) -> Any:
    explanation = explain_service(read_fleet(manifests), NAMESPACE, "chat", brief=True)
    modes = {name: (each.running, each.runtime, each.requested) for name, each in explanation.modes.items()}
    return explanation.outcome, explanation.selected and explanation.selected.ref, modes, explanation.admission


@pytest.mark.parametrize(
    "fleet", [(runtime, service) for _, runtime, service in CASES], ids=[case[0] for case in CASES], indirect=True
)
def test_the_commands_of_a_plan_lead_to_its_outcome_and_back(
    fleet: list[Manifest], apiserver: ApiServer, command: Path, tmp_path: Path
) -> None:
    kubeconfig = apiserver.kubeconfig()
    before = in_cluster(kubeconfig)
    plan = planned(before)
    assert plan.ready, plan.reasons
    assert plan.copy is not None
    (tmp_path / f"{plan.copy.copy.name}.yaml").write_text(manifest_yaml(plan.copy.manifest))

    steps = {step.purpose: step for step in plan.steps}
    for purpose in ("create-runtime", "move", "delete-leftovers"):
        run(steps[purpose].commands, kubeconfig, command, tmp_path)
    after = in_cluster(kubeconfig)

    found = {ref_of(each): each for each in after}
    assert found[plan.copy.copy]["spec"] == plan.copy.manifest["spec"]
    service = found[plan.service]
    assert service["metadata"].get("annotations") == plan.patched["metadata"].get("annotations")
    assert without_defaults(service["spec"]) == without_defaults(plan.patched["spec"])
    assert not [each for each in after if each["kind"] == "LeaderWorkerSet"]
    expected = plan.after
    modes = {name: (each.running, each.runtime, each.requested) for name, each in expected.modes.items()}
    assert told(after) == (expected.outcome, expected.selected and expected.selected.ref, modes, expected.admission)

    run(steps["move"].back, kubeconfig, command, tmp_path)
    run(steps["create-runtime"].back, kubeconfig, command, tmp_path)
    undone = in_cluster(kubeconfig)
    assert {mode.mode for mode, _, _ in told(undone)[2].values()} == {"MultiNode"}
    spec = next(each for each in undone if ref_of(each) == plan.service)["spec"]
    original = next(each for each in before if ref_of(each) == plan.service)["spec"]
    assert without_defaults(spec) == without_defaults(original)


def without_defaults(spec: Manifest) -> Manifest:
    """A service's spec without what the API server writes into a reference that leaves it out."""
    written = {"kind": "ClusterServingRuntime", "apiGroup": "ome.io"}
    runtime = {key: value for key, value in (spec.get("runtime") or {}).items() if written.get(key) != value}
    return {**spec, "runtime": runtime or None}
