"""Where a component stands on the way from LeaderWorkerSet to OMENative."""

from __future__ import annotations

import pytest

from selection.rules.migration import STATES, migration_state
from selection.rules.modes import Declared
from selection.rules.objects import ObjectRef, Workload

from .manifests import Manifest, a_model, a_runtime, a_service, deployed, explained, moded

LWS, REPLICA, DEPLOYMENT = "LeaderWorkerSet", "InferenceReplica", "Deployment"
ANNOTATED, SHAPED = Declared("OMENative", "ComponentAnnotation"), Declared("OMENative", "LeaderWorkerShape")
MULTI, RAW = Declared("MultiNode", "ComponentAnnotation"), Declared("RawDeployment", "Default")


def workloads(*kinds: str) -> list[Workload]:
    """Workloads of these kinds for one engine."""
    return [Workload(ObjectRef(kind, "team", "chat-engine"), "chat", "engine", "fast") for kind in kinds]


CASES = [
    # still in MultiNode, whatever is there
    (MULTI, [], False, False, "not-started"),
    (MULTI, [LWS], False, True, "not-started"),
    (MULTI, [LWS, REPLICA], True, False, "not-started"),
    # OMENative: both are there, or only the new one
    (ANNOTATED, [LWS, REPLICA], False, False, "cleanup-due"),
    (ANNOTATED, [REPLICA], False, False, "done"),
    (ANNOTATED, [], False, False, None),
    (ANNOTATED, [LWS], False, False, "not-started"),
    # by its shape alone, with the old one still there: an upgrade moved it
    (SHAPED, [LWS, REPLICA], False, False, "moved-by-upgrade"),
    (SHAPED, [LWS], False, False, "moved-by-upgrade"),
    (SHAPED, [REPLICA], False, False, "done"),
    # its runtime uses LeaderWorkerSet's variables: its pods don't find their leader
    (ANNOTATED, [LWS, REPLICA], False, True, "at-risk"),
    (ANNOTATED, [], False, True, "at-risk"),
    (SHAPED, [REPLICA], False, True, "at-risk"),
    # a pin holds it on the LeaderWorkerSet
    (ANNOTATED, [LWS], True, False, "waiting-on-pin"),
    (ANNOTATED, [LWS], True, True, "waiting-on-pin"),
    (ANNOTATED, [LWS, REPLICA], True, False, "cleanup-due"),
    # it left for another mode, or never had to do with it
    (RAW, [LWS, DEPLOYMENT], False, False, "cleanup-due"),
    (RAW, [DEPLOYMENT], False, True, None),
    (RAW, [], False, False, None),
    # without a runtime, what is there says it all
    (None, [LWS], False, False, "not-started"),
    (None, [REPLICA], False, True, None),
]


@pytest.mark.parametrize(("running", "kinds", "pinned", "uses", "state"), CASES)
def test_a_component_stands(
    running: Declared | None, kinds: list[str], pinned: bool, uses: bool, state: str | None
) -> None:
    assert migration_state(running, workloads(*kinds), pinned=pinned, uses_leader_worker_set=uses) == state
    assert state is None or state in STATES


RUNNER = {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}
SELECTOR = {"runner": {"name": "router", "args": ["--selector", "leaderworkerset.sigs.k8s.io/worker-index=0"]}}
CLEAN: dict[str, dict[str, object]] = {"leader": {}, "worker": {}}

LEANING: list[tuple[Manifest, Manifest, bool]] = [
    # the runtime uses LeaderWorkerSet's variables
    (a_runtime(engineConfig={"leader": RUNNER, "worker": {}}), a_service(engine=moded("OMENative")), True),
    # the service does, in any of its containers
    (a_runtime(), a_service(engine=moded("OMENative", leader=RUNNER, worker={})), True),
    (a_runtime(), a_service(engine=moded("OMENative", leader={}, worker=RUNNER)), True),
    (
        a_runtime(),
        a_service(engine=moded("OMENative", **CLEAN, containers=[{"name": "side", "command": ["$LWS_WORKER_INDEX"]}])),
        True,
    ),
    # the router selects leaders by LeaderWorkerSet's label, of the service or of the runtime
    (a_runtime(), a_service(engine=moded("OMENative", **CLEAN), router=SELECTOR), True),
    (a_runtime(routerConfig=SELECTOR), a_service(engine=moded("OMENative", **CLEAN), router={}), True),
    # a router that nobody declares doesn't run
    (a_runtime(routerConfig=SELECTOR), a_service(engine=moded("OMENative", **CLEAN)), False),
    (a_runtime(), a_service(engine=moded("OMENative", **CLEAN)), False),
]


@pytest.mark.parametrize(("runtime", "service", "at_risk"), LEANING)
def test_what_runs_on_omenative_with_names_of_leader_worker_set_is_at_risk_whoever_wrote_them(
    runtime: Manifest, service: Manifest, at_risk: bool
) -> None:
    found = explained(a_model(), runtime, service, deployed("InferenceReplica"))
    assert found.modes["engine"].migration == ("at-risk" if at_risk else "done")


def test_on_multi_node_names_of_leader_worker_set_are_no_risk() -> None:
    service = a_service(engine=moded("MultiNode", leader=RUNNER, worker={}))
    found = explained(a_model(), a_runtime(), service, deployed("LeaderWorkerSet"))
    assert found.modes["engine"].migration == "not-started"
