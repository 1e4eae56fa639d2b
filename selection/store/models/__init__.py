"""What the database holds.

``read`` is what was read of clusters. ``derived`` is computed from it by the rules and can be rebuilt at any time, row
for row. ``history`` is what happened; it is kept for a time and can't be rebuilt.
"""

from __future__ import annotations

from .derived import (
    ComponentResult,
    ConflictRow,
    FindingRow,
    ModelResult,
    ReferenceRow,
    RuntimeResult,
    ServiceResult,
)
from .history import Change, DailyCount, ObjectChange, Tally
from .read import Cluster, KindSync, StoredObject

__all__ = [
    "Change",
    "Cluster",
    "ComponentResult",
    "ConflictRow",
    "DailyCount",
    "FindingRow",
    "KindSync",
    "ModelResult",
    "ObjectChange",
    "ReferenceRow",
    "RuntimeResult",
    "ServiceResult",
    "StoredObject",
    "Tally",
]
