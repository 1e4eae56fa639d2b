"""Reads where the fleet stands on its way from MultiNode to OMENative."""

from __future__ import annotations

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from selection.rules.migration import STATES
from selection.rules.modes import MULTI_NODE

from .models import ComponentResult, ReferenceRow, RuntimeResult

__all__ = ["components_on_the_way", "references_of", "runtimes_to_move", "state_counts"]

_MULTI_NODE = (MULTI_NODE, "MultiNodeRayVLLM")


def components_on_the_way() -> QuerySet[ComponentResult]:
    """Every component that runs MultiNode, or did, with its service. ``urgency`` is 0 for the state that is worst."""
    urgency = Case(
        *(When(migration=state, then=Value(place)) for place, state in enumerate(STATES)),
        default=Value(len(STATES)),
        output_field=IntegerField(),
    )
    rows = ComponentResult.objects.exclude(migration="").select_related("result__cluster")
    return rows.annotate(urgency=urgency)


def state_counts(rows: QuerySet[ComponentResult]) -> list[tuple[str, int]]:
    """How many components are in each state, every state named, the one that needs a person most first."""
    found = dict(rows.order_by().values_list("migration").annotate(Count("pk")))
    return [(state, found.get(state, 0)) for state in STATES]


def runtimes_to_move() -> QuerySet[RuntimeResult]:
    """The runtimes that declare MultiNode or refer to LeaderWorkerSet, with their references."""
    declares = Q(engine_mode__in=_MULTI_NODE) | Q(decoder_mode__in=_MULTI_NODE) | Q(router_mode__in=_MULTI_NODE)
    rows = RuntimeResult.objects.filter(declares | Q(references__gt=0))
    return rows.select_related("cluster").prefetch_related("reference_rows")


def references_of(runtime: RuntimeResult) -> list[ReferenceRow]:
    """The LeaderWorkerSet references of one runtime, by path."""
    return list(runtime.reference_rows.all())
