"""What a page about one object shows of its past: the newest moments, and where all changes are."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from selection.rules.objects import ObjectRef
from selection.store.models import Cluster
from selection.store.recent import felt_by
from selection.store.timeline import (
    Moment,
    got_or_lost,
    model_timeline,
    runtime_key,
    runtime_timeline,
    service_timeline,
)

__all__ = ["SHOWN", "Timeline", "timeline_of"]

SHOWN = 20
"""Moments that are told on the page of their object."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The past of one object, for ``templates/timeline/timeline.html``.

    Attributes:
        ref: the object.
        cluster: its cluster's name.
        moments: the newest ones, at most :data:`SHOWN`.
        lists: where all its changes are listed: how many, what they are in words, and the address.
    """

    ref: ObjectRef
    cluster: str
    moments: list[Moment]
    lists: list[tuple[int, str, str]]


def timeline_of(cluster: Cluster, ref: ObjectRef) -> Timeline:
    """The timeline of a service, a runtime or a model. At most seven queries."""
    narrow = {"cluster": cluster.name}
    caused = {"cause_kind": ref.kind, "cause_name": ref.name, "cause_namespace": ref.namespace}
    if ref.kind == "InferenceService":
        moments = service_timeline(cluster, ref.namespace, ref.name, limit=SHOWN)
        narrow |= {"namespace": ref.namespace, "service": ref.name}
        lists = [(felt_by(cluster, ref).count(), "of this service", narrow)]
    elif ref.kind in {"ServingRuntime", "ClusterServingRuntime"}:
        moments = runtime_timeline(cluster, ref, limit=SHOWN)
        lists = [
            (
                got_or_lost(cluster, ref).count(),
                "where a service got or lost it",
                narrow | {"runtime": runtime_key(ref)},
            ),
            (felt_by(cluster, ref).count(), "that its own edits caused", narrow | caused),
        ]
    else:
        moments = model_timeline(cluster, ref, limit=SHOWN)
        lists = [(felt_by(cluster, ref).count(), "that its own edits caused", narrow | caused)]
    return Timeline(
        ref, cluster.name, moments, [(count, words, _address(query)) for count, words, query in lists if count]
    )


def _address(query: dict[str, str]) -> str:
    return f"{reverse('changes')}?{urlencode({name: value for name, value in query.items() if value})}"
