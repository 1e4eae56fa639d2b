"""Where a component stands on the way from LeaderWorkerSet to OMENative."""

from __future__ import annotations

import pytest

from selection.rules.migration import STATES, migration_state
from selection.rules.modes import Declared
from selection.rules.objects import ObjectRef, Workload

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
