"""What the database holds.

``read`` is what was read of clusters. ``derived`` is computed from it by the rules and can be rebuilt at any time, row
for row. ``history`` is what happened; it is kept for a time and can't be rebuilt. ``stream`` has the findings: they
follow from the rules, and when each was seen is kept.
"""

from __future__ import annotations

from .derived import (
    ComponentResult,
    ConflictRow,
    ModelResult,
    ReferenceRow,
    RuntimeResult,
    ServiceResult,
)
from .history import Change, DailyCount, ObjectChange, Tally
from .read import Cluster, KindSync, StoredObject
from .stream import Finding, FindingEvent, SeveritySetting

__all__ = [
    "Change",
    "Cluster",
    "ComponentResult",
    "ConflictRow",
    "DailyCount",
    "Finding",
    "FindingEvent",
    "KindSync",
    "ModelResult",
    "ObjectChange",
    "ReferenceRow",
    "RuntimeResult",
    "ServiceResult",
    "SeveritySetting",
    "StoredObject",
    "Tally",
]
