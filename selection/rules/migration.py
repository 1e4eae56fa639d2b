"""Where each component stands on the way from MultiNode (LeaderWorkerSet) to OMENative.

Follows OME: move from LeaderWorkerSet to OMENative. The state comes from what the component runs in by
today's rules and from the workloads that exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from .modes import MULTI_NODE, OME_NATIVE, Declared
from .objects import Workload

__all__ = ["STATES", "migration_state"]

STATES = ("at-risk", "waiting-on-pin", "moved-by-upgrade", "cleanup-due", "not-started", "done")
"""Every state, the one that needs a person most first."""


def migration_state(
    running: Declared | None, workloads: Sequence[Workload], *, pinned: bool, uses_leader_worker_set: bool
) -> str | None:
    """The state of one engine or decoder, or None when it has nothing to do with multi-node serving.

    Args:
        running: the mode it runs in and the rule that decided, None when no runtime resolves.
        workloads: the workloads of this component that exist in the cluster.
        pinned: whether the service follows a revision, or drift pauses its updates.
        uses_leader_worker_set: whether it, its runtime or the router in front of it refers to LeaderWorkerSet's
            variables or labels, which OMENative doesn't have.

    >>> migration_state(Declared("MultiNode", "ComponentAnnotation"), (), pinned=False, uses_leader_worker_set=True)
    'not-started'
    >>> migration_state(Declared("OMENative", "LeaderWorkerShape"), (), pinned=False, uses_leader_worker_set=True)
    'at-risk'
    """
    kinds = {workload.ref.kind for workload in workloads}
    if running is None:
        return "not-started" if "LeaderWorkerSet" in kinds else None
    if running.mode == MULTI_NODE:
        return "not-started"
    if running.mode != OME_NATIVE:
        return "cleanup-due" if "LeaderWorkerSet" in kinds else None
    if pinned and kinds == {"LeaderWorkerSet"}:
        return "waiting-on-pin"  # nothing moves until the pin does, whatever the old revision refers to
    if uses_leader_worker_set:
        return "at-risk"
    if "LeaderWorkerSet" in kinds:
        if running.source == "LeaderWorkerShape":
            return "moved-by-upgrade"
        return "cleanup-due" if "InferenceReplica" in kinds else "not-started"
    return "done" if "InferenceReplica" in kinds else None
