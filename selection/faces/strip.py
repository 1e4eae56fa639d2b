"""What the strip at the foot of every page is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from selection.faces.seen import Seen
from selection.store.freshness import Freshness

__all__ = ["SHOWN", "strip_values"]

SHOWN = 4
"""Clusters that are named; the others are counted."""


def strip_values(state: Sequence[Freshness], seen: Seen) -> dict[str, Any]:
    """The values of ``templates/components/freshness.html``."""
    return {
        "shown": state[:SHOWN],
        "more": max(0, len(state) - SHOWN),
        "seen": str(seen),
        "now": timezone.now(),
    }
